//! The ranks that one line of a file starts.

use crate::failure::{Failure, Status};
use std::path::PathBuf;

/// The most ranks of a job. Each rank keeps a table of all, so the memory of a job grows with the
/// square of this number: 3.2 GB in the largest one.
pub(super) const RANKS_MAX: usize = 16384;

/// Ranks that are started together, on one host if it is named.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cluster {
    /// The number of ranks.
    pub(crate) ranks: u32,
    /// They share memory: one process is started, and forks the others.
    pub(crate) shares: bool,
    /// None where the machine chooses.
    pub(crate) host: Option<String>,
    /// None for what the command line names.
    pub(crate) program: Option<PathBuf>,
    /// None for the current one.
    pub(crate) folder: Option<PathBuf>,
    /// The line of the file that says so, for people.
    pub(crate) line: String,
}

/// At most as many as a run may have.
pub(super) fn check_size(clusters: &[Cluster]) -> Result<(), Failure> {
    let ranks: usize = clusters.iter().map(|cluster| cluster.ranks as usize).sum();
    if ranks <= RANKS_MAX {
        return Ok(());
    }
    let text = format!("{ranks} ranks are more than a job can have: {RANKS_MAX}");
    Err(Failure::new(Status::Usage, text))
}
