//! The plan of a space that is to be made.

use pvm_tuples::frames::Options;
use pvm_wire::Blob;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The loss windows that a durable space can have, in milliseconds.
const WINDOW_MS: RangeInclusive<u32> = 10..=60_000;

/// A space that is to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Its options.
    pub options: Options,
    /// It ends with the task that makes it.
    pub owned: bool,
    /// If this is not empty the space is durable: each host that keeps it has a file in this
    /// directory, and it begins with the tuples of a file that is found there.
    pub directory: Blob,
}

impl Plan {
    /// True if only a durable space has a loss window, and one that it can have; a directory has a
    /// path from the root, since servers of other hosts use it, too.
    pub(super) fn is_sound(&self) -> bool {
        let (loss_ms, directory) = (self.options.loss_ms, &self.directory.0);
        match directory.first() {
            None => loss_ms == 0,
            Some(first) => *first == b'/' && (loss_ms == 0 || WINDOW_MS.contains(&loss_ms)),
        }
    }
}

/// The directory of a durable space, with its path from the root; none if there is no working
/// directory that a relative path could begin with, or the path is empty.
pub fn directory(path: &[u8]) -> Option<Blob> {
    let path = std::path::absolute(OsStr::from_bytes(path)).ok()?;
    Some(Blob(path.into_os_string().into_vec()))
}
