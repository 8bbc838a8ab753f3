//! A space that is over, while copies remove their files.

use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The servers that may still have files.
#[derive(Debug)]
pub(super) struct Erasing {
    /// Servers that have not answered.
    left: BTreeSet<Tid>,
    /// At the latest.
    pub(super) until: u64,
    /// A server could not remove its file, or has ended.
    has_failed: bool,
}

impl Erasing {
    pub(super) const fn new(left: BTreeSet<Tid>, until: u64) -> Self {
        Self { left, until, has_failed: false }
    }

    /// A server has removed its file, or not; true if it was the last one.
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
