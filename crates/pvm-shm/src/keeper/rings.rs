//! What the keeper knows of trace rings beside their segments.

use pvm_wire::Tid;
use pvm_wire::request::{Ring, SegmentId};
use std::collections::{BTreeMap, VecDeque};

/// What the keeper knows of trace rings beside their segments.
#[derive(Debug, Default)]
pub(super) struct Rings {
    /// Somebody reads them.
    pub(super) recorded: bool,
    /// All tasks note, those to come included.
    pub(super) all: bool,
    /// Of tasks that note, or have noted.
    pub(super) living: BTreeMap<Tid, SegmentId>,
    /// Of tasks that are gone, the oldest first.
    pub(super) ended: VecDeque<Ring>,
    /// How tasks ended whose rings are still to be ended.
    pub(super) statuses: BTreeMap<Tid, i32>,
}

impl Rings {
    /// True while all tasks note.
    pub(super) const fn all(&self) -> bool {
        self.all
    }
}
