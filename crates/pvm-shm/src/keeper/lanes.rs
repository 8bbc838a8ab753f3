//! Inboxes, and the lanes that lead to them.

use super::Keeper;
use super::boxes::Box_;
use super::kept::{Use, cells_of};
use crate::credit::Charge;
use crate::inbox::Inbox;
use crate::lane::{CELLS_FIRST, CELLS_MAX, segment_size};
use crate::segment::{Mapping, PAGE};
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Blob, Code, Tid};
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Drained lanes of dead senders are dropped when an inbox has this many lanes of dead senders.
const ORPHANS_MAX: usize = 8;

impl Keeper {
    /// An inbox for a task, before it exists. The task will bind `doorbell`. Asked again, the
    /// same inbox.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn create_inbox(&mut self, tid: Tid, doorbell: Blob) -> Result<(Segment, &OwnedFd), Code> {
        if let Some(old) = self.boxes.get(&tid) {
            return self.segment(old.segment);
        }
        let mut mapped = None;
        let id = self.create(Inbox::SIZE, |fd| {
            mapped = Mapping::new(fd, Inbox::SIZE, true).ok();
            Ok(Use::Inbox)
        })?;
        let inbox = Inbox::new(Arc::new(mapped.ok_or(Code::NoMem)?));
        if self.rings.all() && tid.is_task() {
            inbox.note_records(true);
        }
        if tid.is_daemon() {
            self.daemon = tid;
        }
        self.boxes.insert(tid, Box_::new(id, inbox, doorbell));
        self.segment(id)
    }

    /// The task whose inbox has the lanes to `to`: lanes to another host lie in the daemon's.
    pub(super) fn box_for(&self, to: Tid) -> Tid {
        if to.is_host() || self.is_elsewhere(to) { self.daemon } else { to }
    }

    /// True for a task of another host: a lane to it is that of a direct route.
    pub(super) fn is_elsewhere(&self, to: Tid) -> bool {
        to.is_task() && self.daemon != Tid::NONE && to.host() != self.daemon.host()
    }

    /// A lane from one task (or the host itself, `Tid::NONE`) to a task of this host, or to
    /// another host by way of this one's daemon; if there is one, the segment in which it goes on.
    ///
    /// # Errors
    /// [`Code::NoTask`] if there is no such receiver, [`Code::NoMem`].
    pub fn open_lane(
        &mut self,
        from: Tid,
        to: Tid,
        cells: u32,
    ) -> Result<(Segment, &OwnedFd), Code> {
        let owner = self.box_for(to);
        if self.is_elsewhere(to) {
            // A route before this one broke; its lane is the daemon's.
            self.orphan_lanes(|lane| lane == (from, to));
        }
        if self.boxes.get(&owner).ok_or(Code::NoTask)?.orphans() >= ORPHANS_MAX {
            self.drop_drained_lanes(owner);
        }
        let place = self.boxes[&owner].place_for((from, to));
        let id = self.make_ring((from, to), place, cells)?;
        self.boxes.get_mut(&owner).expect("found above").add_ring((from, to), place, id);
        self.segment(id)
    }

    /// A ring of a lane, whose cells are charged to the receiver.
    fn make_ring(
        &mut self,
        (from, to): (Tid, Tid),
        place: u32,
        cells: u32,
    ) -> Result<SegmentId, Code> {
        let size = segment_size(cells.clamp(4, CELLS_MAX));
        // `create` rounds the size up to whole pages.
        let charge = Charge::Cells(to, cells_of(size.next_multiple_of(PAGE)));
        if cells <= CELLS_FIRST || from == Tid::NONE {
            // Every sender gets its first ring, and the host itself is never held up.
            self.account.charge(charge);
        } else {
            let unmatched = self.boxes.get(&self.box_for(to)).map(|own| own.inbox.unmatched());
            self.account.take(charge, unmatched.unwrap_or(0).into())?;
        }
        let made = self.create(size, |_| Ok(Use::Lane(from, to, place)));
        made.inspect_err(|_| self.account.give_back(charge))
    }

    /// The inbox of a task, and its doorbell: for a task that wakes it.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn map_inbox(&self, of: Tid) -> Result<(Segment, &OwnedFd), Code> {
        let found = self.boxes.get(&of).ok_or(Code::NoTask)?;
        let (segment, fd) = self.segment(found.segment)?;
        Ok((Segment { doorbell: found.doorbell.clone(), ..segment }, fd))
    }

    /// The lanes into a task's inbox that were opened after the `after`-th.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn list_lanes(&self, asker: Tid, after: u32) -> Result<Vec<Segment>, Code> {
        let own = self.boxes.get(&asker).ok_or(Code::NoTask)?;
        own.lanes
            .iter()
            .flatten()
            .filter(|lane| lane.opening > after)
            .filter_map(|lane| lane.segments.first())
            .map(|id| self.segment(*id).map(|(segment, _)| segment))
            .collect()
    }
}
