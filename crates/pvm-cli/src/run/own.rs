//! The machine that `pvm run` works on: the one that runs, or one of its own.

use crate::failure::{Failure, Status};
use crate::launch::{Bound, Launch};
use crate::operator::{OF_RUN, Operator};

/// A machine of our own, if we start one. It has a name of its own, so that no other `pvm run`
/// joins it by chance and ends it.
pub(super) struct Own {
    /// Its daemon.
    pub(super) bound: Bound,
    /// Its name.
    pub(super) vmid: String,
}

/// The machine that runs, or one of our own.
pub(super) fn machine() -> Result<(Option<Own>, Operator), Failure> {
    if let Some(operator) = Operator::connect_if_running()? {
        return Ok((None, operator));
    }
    let vmid = format!("{OF_RUN}{}", std::process::id());
    let bound = Launch { vmid: Some(vmid.clone()), ..Launch::default() }.bound()?;
    let operator = Operator::connect_at(&bound.socket)?;
    let operator = operator.ok_or_else(|| Failure::new(Status::Daemon, "the daemon went away"))?;
    Ok((Some(Own { bound, vmid }), operator))
}

/// The connection ended, which only the end of the parent process does.
pub(super) fn lost() -> Failure {
    let text = "the daemon ended before the tasks did, and they with it\n  run it again: a new \
                daemon is started if none runs";
    Failure::new(Status::Daemon, text)
}
