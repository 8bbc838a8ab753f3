//! What one of two hosts knows of the other one, and what follows from it.

use pvm_wire::Blob;

/// What a host knows of the other one of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// There is a link.
    pub up: bool,
    /// There was one since this daemon began, or it began with the host.
    pub met: bool,
    /// Nothing has been heard for so long that it counts as dead.
    pub suspected: bool,
    /// The rules name a witness.
    pub decides: bool,
    /// This host has the witness's lock.
    pub lock: bool,
}

impl Standing {
    /// Whether nothing is committed before the other one has it; true inside where this host leads
    /// only while the other one answers.
    pub const fn need(self) -> Option<bool> {
        let free = if self.decides { self.lock } else { self.met || self.suspected };
        if self.up || !free { Some(self.decides && !self.lock) } else { None }
    }
}

/// What a witness grants to one of two hosts. What another witness has granted is another lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lock {
    pub(crate) witness: Blob,
    /// Which two hosts.
    pub(crate) pair: u64,
}
