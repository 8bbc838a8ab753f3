//! Hosts that are to be left.

use crate::planted::{self, Bug};
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeSet;

/// All of them.
#[derive(Default, Debug)]
pub(super) struct Drains(pub(super) BTreeSet<HostIndex>);

impl Drains {
    /// True for a server on one of them.
    pub(super) fn has(&self, server: Tid) -> bool {
        self.0.contains(&server.host())
    }

    /// The number of copies that there should be, if this many were asked for. A primary that is to
    /// leave its host leaves a copy behind.
    pub(super) fn wanted(&self, copies: u8, primary: Tid) -> usize {
        let leaves = self.has(primary) && !planted::is(Bug::LeavesNothing);
        usize::from(copies).max(usize::from(leaves))
    }
}
