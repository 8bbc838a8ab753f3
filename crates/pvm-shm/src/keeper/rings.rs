//! The keeper's book of trace rings, beside that of segments.

use pvm_wire::Tid;
use pvm_wire::request::{Ring, SegmentId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The keeper's book of trace rings, beside that of segments.
#[derive(Debug, Default)]
pub(super) struct Rings {
    /// Somebody reads them.
    pub(super) recorded: bool,
    /// All tasks note, those to come included.
    pub(super) all: bool,
    /// The rings of tasks that note, or have noted.
    pub(super) living: BTreeMap<Tid, SegmentId>,
    /// The rings of tasks that are gone, the oldest first.
    pub(super) ended: VecDeque<Ring>,
    /// The exit statuses of tasks whose rings are still to be ended.
    pub(super) statuses: BTreeMap<Tid, i32>,
    /// The host's recorder.
    pub(super) reader: Option<Tid>,
    /// Rings that the recorder has mapped: it reads them to their end.
    pub(super) mapped: BTreeSet<SegmentId>,
    /// Rings that were dropped unread, until the recorder has told what was in them.
    pub(super) dropped: VecDeque<Ring>,
    /// The last one of these was listed, so nothing is added to it any more.
    pub(super) is_listed: bool,
}

impl Rings {
    /// True while all tasks note.
    pub(super) const fn all(&self) -> bool {
        self.all
    }

    /// The oldest ring of a dead task that the recorder does not know, if there are more than
    /// `most` such rings.
    pub(super) fn take_unknown(&mut self, most: usize) -> Option<Ring> {
        let is_unknown = |ring: &&Ring| !self.mapped.contains(&ring.id);
        if self.ended.iter().filter(is_unknown).count() <= most {
            return None;
        }
        let at = self.ended.iter().position(|ring| is_unknown(&ring))?;
        self.ended.remove(at)
    }

    /// A ring was dropped. Beyond `most` of them they are added up.
    pub(super) fn add_dropped(&mut self, ring: Ring, most: usize) {
        let room = self.dropped.len() < most;
        let sum = self.dropped.back_mut().filter(|last| last.owner == Tid::NONE && !self.is_listed);
        if let (Some(sum), Some(more)) = (sum.and_then(|ring| ring.dropped.as_mut()), ring.dropped)
        {
            sum.from = sum.from.min(more.from);
            sum.to = sum.to.max(more.to);
            sum.noted = sum.noted.saturating_add(more.noted);
            sum.lost = sum.lost.saturating_add(more.lost);
            return;
        }
        let owner = if room { ring.owner } else { Tid::NONE };
        self.dropped.push_back(Ring { owner, ..ring });
        self.is_listed = false;
    }
}
