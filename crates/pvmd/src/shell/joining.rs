//! A host on its way into the machine.

use crate::launch::invitation::Invitation;
use crate::launch::remote::NotStarted;
use crate::tls::Fingerprint;
use pvm_wire::hostfile::HostLine;
use pvm_wire::peer::HostFacts;
use std::time::Instant;

/// A daemon that was asked for, or why there is none.
pub(super) type Started = (u64, Result<HostFacts, NotStarted>);

/// A host on its way into the machine.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// The line that names it, and what it was told; none on this computer.
    pub(super) elsewhere: Option<(HostLine, Invitation)>,
    /// Until when it must call, and the key that it will show.
    pub(super) call: Option<(Instant, Fingerprint)>,
}

impl Joining {
    /// When it is too late.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.call.as_ref().map(|(until, _)| *until)
    }
}
