//! The hosts that are to be left.

use crate::planted::{self, Bug};
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeSet;

/// The hosts that are to be left.
#[derive(Default, Debug)]
pub(super) struct Drains(pub(super) BTreeSet<HostIndex>);

impl Drains {
    /// True for a server on one of these hosts.
    pub(super) fn has(&self, server: Tid) -> bool {
        self.0.contains(&server.host())
    }

    /// The number of copies to be kept, if this many were asked for. A primary that is to leave its
    /// host keeps one more, which replaces it.
    pub(super) fn wanted(&self, copies: u8, primary: Tid) -> usize {
        let leaves = self.has(primary) && !planted::is(Bug::LeavesNothing);
        usize::from(copies) + usize::from(leaves)
    }
}
