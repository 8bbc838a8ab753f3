//! Threads that this program starts for itself, where the user may have no more processes
//! (`ulimit -u`).

use crate::failure::{Failure, Status};
use std::io::Error;
use std::thread::{Builder, JoinHandle};

/// Starts a thread.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Failure> {
    Builder::new().spawn(work).map_err(|error| shortage(&error))
}

/// The error that a thread cannot be started.
pub(crate) fn shortage(error: &Error) -> Failure {
    use rustix::process::{Resource, getrlimit};
    let most = getrlimit(Resource::Nproc).current;
    let most = most.map_or_else(|| "no limit".to_owned(), |most| format!("{most}"));
    let text = format!(
        "no thread can be started: {error}\n  this user has as many processes and threads as \
         `ulimit -u` allows ({most}), or memory is short: end some processes, or raise the limit"
    );
    Failure::new(Status::Refused, text)
}
