//! What holds while a machine has two hosts, where no majority can decide.

use crate::records::{Change, Slot};
use pvm_wire::{Blob, record};

record! {
    /// What the second host does when it hears nothing of the first one.
    pub struct Rules {
        /// `witness=`: an account (as for ssh) on a third computer where only one of the two gets
        /// a lock; empty for none. Then both need it to go on without the other.
        pub witness: Blob,
        /// `on_silence=survive`: it goes on. Both may then; when they hear of each other again the
        /// one that did not take over ends.
        pub survive: bool,
    }
}

impl Rules {
    /// The first host goes on, the second one only if the first is gone for certain.
    pub fn plain() -> Self {
        Self { witness: Blob::default(), survive: false }
    }
}

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

/// The rules, the same on every host.
#[derive(Debug)]
pub(crate) struct RuleSlot(Slot<Rules>);

impl RuleSlot {
    pub(crate) fn new() -> Self {
        Self(Slot::new(b'U', Rules::plain()))
    }

    pub(crate) const fn get(&self) -> &Rules {
        self.0.get()
    }

    pub(crate) fn set(&mut self, rules: Rules) {
        self.0.set(rules);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.0.take_changes(out);
    }

    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.0.records(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.0.restore(key, value)
    }

    pub(crate) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.0.adopt(key, value)
    }
}
