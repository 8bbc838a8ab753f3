//! Trace rings: made for tasks, read by the host's recorder, kept behind their tasks until it has.

use super::{Keeper, Use};
use crate::recorder::{self, FIRST_SIZE, SEGMENT_SIZE};
use crate::segment::{self, Mapping, PAGE};
use crate::sync::Ordering;
use pvm_wire::request::{Ring, Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Rings of tasks that are gone which wait for the recorder at most; the oldest makes room.
const ENDED_MAX: usize = 256;

impl Keeper {
    /// A trace ring for a task; asked again, the same one.
    ///
    /// # Errors
    /// [`Code::NoMem`].
    pub fn open_recorder(&mut self, owner: Tid) -> Result<(Segment, &OwnedFd), Code> {
        let id = match self.rings.living.get(&owner) {
            Some(id) => *id,
            None => {
                self.check_room(FIRST_SIZE as u64)?;
                let fd = segment::create_sparse(SEGMENT_SIZE, FIRST_SIZE);
                let fd = fd.map_err(|_| Code::NoMem)?;
                let head = Mapping::new(&fd, PAGE, true).map_err(|_| Code::NoMem)?;
                let id = self.adopt(
                    fd,
                    SEGMENT_SIZE,
                    Use::Recorder(owner, Arc::new(head), FIRST_SIZE as u64),
                )?;
                self.rings.living.insert(owner, id);
                id
            }
        };
        self.segment(id)
    }

    /// The trace ring of a task.
    ///
    /// # Errors
    /// [`Code::NotFound`] if it has none, [`Code::Already`] while the host's recorder reads it.
    pub fn map_recorder(&self, owner: Tid) -> Result<(Segment, &OwnedFd), Code> {
        if self.rings.recorded {
            return Err(Code::Already);
        }
        self.segment(*self.rings.living.get(&owner).ok_or(Code::NotFound)?)
    }

    /// A trace ring by its segment.
    ///
    /// # Errors
    /// [`Code::NotFound`] if there is no such ring.
    pub fn map_ring(&self, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Recorder(..)) => self.segment(id),
            _ => Err(Code::NotFound),
        }
    }

    /// All trace rings, those of tasks that are gone first.
    pub fn list_rings(&self) -> Vec<Ring> {
        let living = self.rings.living.iter();
        let living =
            living.map(|(owner, id)| Ring { id: *id, owner: *owner, ended: false, status: -1 });
        self.rings.ended.iter().copied().chain(living).collect()
    }

    /// The ring of a task that is gone was read to its end.
    pub fn drop_ring(&mut self, id: SegmentId) {
        let before = self.rings.ended.len();
        self.rings.ended.retain(|ring| ring.id != id);
        if self.rings.ended.len() < before {
            self.delete_ring(id);
        }
    }

    /// From now on somebody reads the rings; `all` tasks note.
    pub fn begin_recording(&mut self, all: bool) {
        self.rings.recorded = true;
        if all && !self.rings.all {
            self.rings.all = true;
            self.boxes.values().for_each(|own| own.inbox.note_records(true));
        }
    }

    /// Nobody reads the rings any more: no task notes, and what waits is let go.
    pub fn end_recording(&mut self) {
        (self.rings.recorded, self.rings.all) = (false, false);
        self.boxes.values().for_each(|own| own.inbox.note_records(false));
        while let Some(ring) = self.rings.ended.pop_front() {
            self.delete_ring(ring.id);
        }
    }

    /// Which probe points of a task note something from now on.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn set_probes(&self, tid: Tid, mask: u32) -> Result<(), Code> {
        self.boxes.get(&tid).ok_or(Code::NoTask)?.inbox.note_records(mask & 1 != 0);
        Ok(())
    }

    /// How a task has ended, of which the keeper will hear that it is gone.
    pub fn note_status(&mut self, tid: Tid, status: i32) {
        if self.rings.living.contains_key(&tid) {
            self.rings.statuses.insert(tid, status);
        }
    }

    /// The owner is gone.
    pub(super) fn end_ring(&mut self, owner: Tid) {
        let status = self.rings.statuses.remove(&owner).unwrap_or(-1);
        let Some(id) = self.rings.living.remove(&owner) else { return };
        if !self.rings.recorded {
            return self.delete_ring(id);
        }
        self.rings.ended.push_back(Ring { id, owner, ended: true, status });
        if self.rings.ended.len() > ENDED_MAX
            && let Some(oldest) = self.rings.ended.pop_front()
        {
            self.delete_ring(oldest.id);
        }
    }

    fn delete_ring(&mut self, id: SegmentId) {
        if let Some(Use::Recorder(_, head, _)) = self.segments.get(&id).map(|kept| &kept.purpose) {
            let grown = recorder::grown_bytes(head);
            let less = |taken: u64| Some(taken.saturating_sub(grown));
            let rings = self.activity.rings();
            let _ = rings.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
        self.delete(id);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::probe::{EVENTS, RECORDS, UNRECORDED};
    use crate::recorder::{Reader, Recorder};
    use pvm_wire::Blob;
    use pvm_wire::record::Record;

    const TASK: Tid = Tid(0x4_0002);

    fn keeper() -> Keeper {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.create_inbox(TASK, Blob::default()).expect("memory");
        keeper
    }

    /// A ring with a record in it.
    fn ring(keeper: &mut Keeper) -> SegmentId {
        let host = keeper.activity().clone();
        let (segment, fd) = keeper.open_recorder(TASK).expect("memory");
        let size = usize::try_from(segment.size).expect("a size");
        let mapping = Mapping::new(fd, size, false).expect("mapped");
        Recorder::new(Arc::new(mapping), host).put(&Record::call(1, 2, 3));
        segment.id
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_ring_outlives_its_task_until_it_was_read() {
        let mut keeper = keeper();
        keeper.begin_recording(false);
        let id = ring(&mut keeper);
        assert_eq!(keeper.map_recorder(TASK).err(), Some(Code::Already));
        keeper.note_status(TASK, 9);
        keeper.remove_task(TASK);
        assert_eq!(keeper.list_rings(), [Ring { id, owner: TASK, ended: true, status: 9 }]);
        let (segment, fd) = keeper.map_ring(id).expect("kept");
        let mapping = Mapping::new(fd, usize::try_from(segment.size).expect("a size"), false);
        let mut cells = Vec::new();
        let mut reader = Reader::new(Arc::new(mapping.expect("mapped")));
        assert_eq!(reader.drain((9, 9), true, &mut cells).taken, 1);
        let segments = keeper.segments();
        keeper.drop_ring(id);
        assert_eq!((keeper.segments(), keeper.map_ring(id).is_err()), (segments - 1, true));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_ring_that_nobody_reads_goes_with_its_task_and_those_that_wait_with_the_recording() {
        let mut keeper = keeper();
        let id = ring(&mut keeper);
        keeper.remove_task(TASK);
        assert!(keeper.map_ring(id).is_err() && keeper.list_rings().is_empty());
        keeper.create_inbox(TASK, Blob::default()).expect("memory");
        keeper.begin_recording(true);
        let id = ring(&mut keeper);
        keeper.remove_task(TASK);
        assert!(keeper.map_ring(id).is_ok());
        keeper.end_recording();
        assert!(keeper.map_ring(id).is_err() && keeper.list_rings().is_empty());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn recording_that_was_switched_from_outside_ended_a_tasks_own_trace_events() {
        let mut keeper = keeper();
        let word = |keeper: &Keeper| keeper.boxes[&TASK].inbox.probes().load(Ordering::Relaxed);
        keeper.boxes[&TASK].inbox.probes().store(EVENTS, Ordering::Relaxed);
        keeper.set_probes(TASK, 1).expect("a task");
        assert_eq!(word(&keeper), EVENTS | RECORDS);
        keeper.set_probes(TASK, 0).expect("a task");
        assert_eq!(word(&keeper), EVENTS);
        // What is a part of recording is not recorded.
        keeper.boxes[&TASK].inbox.probes().store(UNRECORDED, Ordering::Relaxed);
        keeper.begin_recording(true);
        assert_eq!(word(&keeper), UNRECORDED);
    }
}
