//! A leader's knowledge of the questions that wait for it, and every host's record of the barriers
//! that leaders have released. [`crate::Machine`]'s part of the same name says how it is used.

use crate::barrier::Gatherings;
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Released;
use pvm_wire::request::Request;
use pvm_wire::{HostIndex, Tid};
use std::collections::{BTreeSet, VecDeque};

/// A request that a leader was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) host: HostIndex,
    pub(crate) ask: u64,
    pub(crate) asker: Tid,
    pub(crate) again: bool,
    pub(crate) since: u64,
    pub(crate) request: Request,
    /// Counts the linearizable reads; 0 for a request that gathers.
    pub(crate) mark: u64,
}

impl Asked {
    /// True if it waits for other tasks, or ends such a wait.
    pub(crate) fn gathers(&self) -> bool {
        use Request::{Barrier, FreezeGroup, GiveUp};
        matches!(self.request, Barrier { .. } | FreezeGroup { .. } | GiveUp { .. })
    }
}

/// The knowledge of a leader; all hosts keep the barriers that it has released.
#[derive(Debug)]
pub(crate) struct LeaderView {
    /// The term in which this host leads, 0 where another leads.
    pub(crate) term: u64,
    /// Hosts that have reported; when this leader is sure that it leads, those it waits for.
    pub(crate) reported: BTreeSet<HostIndex>,
    pub(crate) awaited: Option<BTreeSet<HostIndex>>,
    /// All have reported.
    pub(crate) open: bool,
    pub(crate) told: Vec<Released>,
    pub(crate) asked: VecDeque<Asked>,
    pub(crate) count: u64,
    /// The number of questions that need an up-to-date answer; `confirmed` is the last one for
    /// which the answer is known to be up to date.
    pub(crate) marks: u64,
    pub(crate) confirmed: u64,
    pub(crate) gatherings: Gatherings,
    /// The barriers that leaders have released, as far as this host has heard.
    pub(crate) released: Table<(u64, u64), Released>,
    /// The term whose leader this host has reported to.
    pub(crate) heard: Slot<u64>,
}

impl LeaderView {
    pub(crate) const fn new() -> Self {
        Self {
            term: 0,
            reported: BTreeSet::new(),
            awaited: None,
            open: false,
            told: Vec::new(),
            asked: VecDeque::new(),
            count: 0,
            marks: 0,
            confirmed: 0,
            gatherings: Gatherings::new(),
            released: Table::new(b'8'),
            heard: Slot::new(b'J', 0),
        }
    }

    /// Another term: what was known for the last one is gone.
    pub(crate) fn begin(&mut self, term: u64) {
        let Self { released, heard, marks, confirmed, .. } = std::mem::replace(self, Self::new());
        *self = Self { term, released, heard, marks, confirmed, ..Self::new() };
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.released.take_changes(out);
        self.heard.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.released.restore(key, value) || self.heard.restore(key, value)
    }
}
