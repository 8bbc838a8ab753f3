//! A deleted space while its copies remove their files.

use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The servers that may still have files.
#[derive(Debug)]
pub(super) struct Erasing {
    /// Servers that have not answered.
    left: BTreeSet<Tid>,
    /// The time at which the wait for them ends.
    pub(super) until: u64,
    /// True if a server could not remove its file, or has ended.
    has_failed: bool,
}

impl Erasing {
    pub(super) const fn new(left: BTreeSet<Tid>, until: u64) -> Self {
        Self { left, until, has_failed: false }
    }

    /// Notes that a server has removed its file, or has failed to; true for the last server.
    pub(super) fn answered(&mut self, from: Tid, is_gone: bool) -> bool {
        let was_asked = self.left.remove(&from);
        self.has_failed |= was_asked && !is_gone;
        was_asked && self.left.is_empty()
    }

    /// True if files may be left.
    pub(super) fn is_partial(&self) -> bool {
        self.has_failed || !self.left.is_empty()
    }
}
