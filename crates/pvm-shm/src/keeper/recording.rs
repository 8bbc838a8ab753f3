//! Trace rings: made for tasks, read by the host's recorder, kept after their tasks until it has.

use super::Keeper;
use super::kept::Use;
use crate::recorder::{self, FIRST_SIZE, Reader, SEGMENT_SIZE};
use crate::segment::{self, Mapping, PAGE};
use crate::sync::Ordering;
use pvm_wire::request::{Dropped, Ring, Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Most rings of dead tasks that wait for a recorder that does not know them; beyond it the oldest
/// is dropped, and its contents are told.
const ENDED_MAX: usize = 256;
/// This many dropped rings are told one by one, further ones as a sum.
const DROPPED_MAX: usize = 4096;

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

    /// The host's recorder is this task from now on, or there is none.
    pub fn set_reader(&mut self, reader: Option<Tid>) {
        self.rings.reader = reader;
        self.rings.mapped.clear();
    }

    fn check_reader(&self, asker: Tid) -> Result<(), Code> {
        if self.rings.reader == Some(asker) { Ok(()) } else { Err(Code::Denied) }
    }

    /// A trace ring by its segment.
    ///
    /// # Errors
    /// [`Code::Denied`] to all but the recorder, [`Code::NotFound`] if there is no such ring.
    pub fn map_ring(&mut self, asker: Tid, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        self.check_reader(asker)?;
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Recorder(..)) => {
                self.rings.mapped.insert(id);
                self.segment(id)
            }
            _ => Err(Code::NotFound),
        }
    }

    /// All trace rings, those of tasks that are gone first, and before them the contents of rings
    /// that had to be dropped.
    ///
    /// # Errors
    /// [`Code::Denied`] to all but the recorder.
    pub fn list_rings(&mut self, asker: Tid) -> Result<Vec<Ring>, Code> {
        self.check_reader(asker)?;
        self.rings.is_listed = true;
        let ring = |(owner, id): (&Tid, &SegmentId)| {
            let (id, owner, ended, status, dropped) = (*id, *owner, false, -1, None);
            Ring { id, owner, ended, status, dropped }
        };
        let gone = self.rings.dropped.iter().chain(&self.rings.ended).copied();
        Ok(gone.chain(self.rings.living.iter().map(ring)).collect())
    }

    /// The ring of a task that is gone was read to its end, or its contents were told.
    ///
    /// # Errors
    /// [`Code::Denied`] to all but the recorder.
    pub fn drop_ring(&mut self, asker: Tid, id: SegmentId) -> Result<(), Code> {
        self.check_reader(asker)?;
        self.rings.dropped.retain(|ring| ring.id != id);
        let before = self.rings.ended.len();
        self.rings.ended.retain(|ring| ring.id != id);
        if self.rings.ended.len() < before {
            self.delete_ring(id);
        }
        Ok(())
    }

    /// From now on somebody reads the rings; `all` tasks note.
    pub fn begin_recording(&mut self, all: bool) {
        self.rings.recorded = true;
        if all && !self.rings.all {
            self.rings.all = true;
            self.boxes.values().for_each(|own| own.inbox.note_records(true));
        }
    }

    /// Nobody reads the rings any more: no task notes, and waiting records are let go.
    pub fn end_recording(&mut self) {
        (self.rings.recorded, self.rings.all) = (false, false);
        self.boxes.values().for_each(|own| own.inbox.note_records(false));
        self.rings.dropped.clear();
        while let Some(ring) = self.rings.ended.pop_front() {
            self.delete_ring(ring.id);
        }
    }

    /// Sets the probe points of a task that note something from now on.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn set_probes(&self, tid: Tid, mask: u32) -> Result<(), Code> {
        self.boxes.get(&tid).ok_or(Code::NoTask)?.inbox.note_records(mask & 1 != 0);
        Ok(())
    }

    /// Notes how a task's process has ended. The keeper will hear that the task is gone, or has
    /// heard it, if the task had left before.
    pub fn note_status(&mut self, tid: Tid, status: i32) {
        if let Some(ring) = self.rings.ended.iter_mut().rfind(|ring| ring.owner == tid) {
            ring.status = status;
        } else if self.rings.living.contains_key(&tid) {
            self.rings.statuses.insert(tid, status);
        }
    }

    /// The owner is gone, or has left: then nobody knows yet how its process ends.
    pub(super) fn end_ring(&mut self, owner: Tid) {
        let status = self.rings.statuses.remove(&owner).unwrap_or(-1);
        let Some(id) = self.rings.living.remove(&owner) else { return };
        if !self.rings.recorded {
            return self.delete_ring(id);
        }
        self.rings.ended.push_back(Ring { id, owner, ended: true, status, dropped: None });
        while let Some(oldest) = self.rings.take_unknown(ENDED_MAX) {
            // A ring that cannot be mapped tells at least that it was there.
            let nothing = Dropped { parent: Tid::NONE, from: 0, to: 0, noted: 0, lost: 0 };
            let dropped = Some(self.count_unread(oldest.id).unwrap_or(nothing));
            self.rings.add_dropped(Ring { dropped, ..oldest }, DROPPED_MAX);
            self.delete_ring(oldest.id);
        }
    }

    /// Counts the unread records in the ring of a task that is gone.
    fn count_unread(&self, id: SegmentId) -> Option<Dropped> {
        let kept = self.segments.get(&id)?;
        let mapping = Mapping::new(&kept.fd, kept.size, false).ok()?;
        Some(Reader::new(Arc::new(mapping)).drop_unread())
    }

    fn delete_ring(&mut self, id: SegmentId) {
        self.rings.mapped.remove(&id);
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
    use crate::keeper::rings::Rings;
    use crate::probe::{EVENTS, RECORDS, UNRECORDED};
    use crate::recorder::Recorder;
    use pvm_wire::Blob;
    use pvm_wire::record::{Record, What};

    const READER: Tid = Tid(0x4_0001);
    const TASK: Tid = Tid(0x4_0002);

    fn keeper() -> Keeper {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.create_inbox(TASK, Blob::default()).expect("memory");
        keeper.set_reader(Some(READER));
        keeper
    }

    /// A ring with a record in it.
    fn ring(keeper: &mut Keeper) -> SegmentId {
        let host = keeper.activity().clone();
        let (segment, fd) = keeper.open_recorder(TASK).expect("memory");
        let size = usize::try_from(segment.size).expect("a size");
        let mapping = Mapping::new(fd, size, false).expect("mapped");
        let recorder = Recorder::new(Arc::new(mapping), host);
        let what = What::Begin { parent: READER, process: 1, name: 1 };
        recorder.put(&Record { what, ..Record::call(1, 2, 3) });
        segment.id
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_task_that_left_before_its_process_ended_had_no_status() {
        let mut keeper = keeper();
        keeper.begin_recording(false);
        let id = ring(&mut keeper);
        keeper.remove_task(TASK);
        let listed = |status| Ring { id, owner: TASK, ended: true, status, dropped: None };
        assert_eq!(keeper.list_rings(READER), Ok(vec![listed(-1)]));
        keeper.note_status(TASK, 9);
        assert_eq!(keeper.list_rings(READER), Ok(vec![listed(9)]));
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
        let listed = Ring { id, owner: TASK, ended: true, status: 9, dropped: None };
        assert_eq!(keeper.list_rings(READER), Ok(vec![listed]));
        let (segment, fd) = keeper.map_ring(READER, id).expect("kept");
        let mapping = Mapping::new(fd, usize::try_from(segment.size).expect("a size"), false);
        let mut cells = Vec::new();
        let mut reader = Reader::new(Arc::new(mapping.expect("mapped")));
        assert_eq!(reader.drain((9, 9), true, &mut cells).taken, 1);
        let segments = keeper.segments();
        keeper.drop_ring(READER, id).expect("the reader");
        assert_eq!((keeper.segments(), keeper.map_ring(READER, id).is_err()), (segments - 1, true));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_ring_that_nobody_reads_goes_with_its_task_and_those_that_wait_with_the_recording() {
        let mut keeper = keeper();
        let id = ring(&mut keeper);
        keeper.remove_task(TASK);
        assert!(
            keeper.map_ring(READER, id).is_err() && keeper.list_rings(READER) == Ok(Vec::new())
        );
        keeper.create_inbox(TASK, Blob::default()).expect("memory");
        keeper.begin_recording(true);
        let id = ring(&mut keeper);
        keeper.remove_task(TASK);
        assert!(keeper.map_ring(READER, id).is_ok());
        keeper.end_recording();
        assert!(
            keeper.map_ring(READER, id).is_err() && keeper.list_rings(READER) == Ok(Vec::new())
        );
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

    /// `count` tasks that note one record each and end.
    fn end_tasks(keeper: &mut Keeper, count: usize) {
        for _ in 0..count {
            keeper.create_inbox(TASK, Blob::default()).expect("memory");
            ring(keeper);
            keeper.remove_task(TASK);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn rings_of_many_tasks_that_a_recorder_that_stood_still_did_not_read_went_untold() {
        let mut keeper = keeper();
        keeper.begin_recording(false);
        let known = ring(&mut keeper);
        keeper.map_ring(READER, known).expect("a ring");
        keeper.remove_task(TASK);
        end_tasks(&mut keeper, ENDED_MAX + 40);
        let rings = keeper.list_rings(READER).expect("the reader");
        let dropped: Vec<Dropped> = rings.iter().filter_map(|ring| ring.dropped).collect();
        assert_eq!((rings.len(), dropped.len()), (ENDED_MAX + 41, 40));
        let is_told = |told: &Dropped| (told.parent, told.noted, told.lost) == (READER, 1, 1);
        assert!(dropped.iter().all(|told| is_told(told) && told.from < told.to), "{dropped:?}");
        // What the recorder has mapped it reads to its end, however long it stood still.
        assert!(rings.iter().any(|ring| ring.id == known && ring.dropped.is_none()));
        rings.iter().for_each(|ring| keeper.drop_ring(READER, ring.id).expect("the reader"));
        assert_eq!(keeper.list_rings(READER), Ok(Vec::new()));
    }

    #[test]
    fn what_is_dropped_is_bounded_and_sums_up() {
        let mut rings = Rings::default();
        let told = |lost| Dropped { parent: READER, from: lost, to: lost + 5, noted: 9, lost };
        let ring = |id: u32| {
            let dropped = Some(told(u64::from(id)));
            Ring { id, owner: TASK, ended: true, status: 0, dropped }
        };
        (1..=5).for_each(|id| rings.add_dropped(ring(id), 2));
        let lost = |rings: &Rings| -> Vec<(u32, u64)> {
            rings.dropped.iter().map(|ring| (ring.owner.0, ring.dropped.unwrap().lost)).collect()
        };
        assert_eq!(lost(&rings), [(TASK.0, 1), (TASK.0, 2), (0, 3 + 4 + 5)]);
        // What was listed may be told by now; more of it would not be.
        rings.is_listed = true;
        (6..=7).for_each(|id| rings.add_dropped(ring(id), 2));
        assert_eq!(lost(&rings)[2..], [(0, 12), (0, 13)]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn any_task_could_take_the_rings_of_others_from_the_recorder() {
        let mut keeper = keeper();
        keeper.begin_recording(false);
        let id = ring(&mut keeper);
        assert_eq!(keeper.map_ring(TASK, id).err(), Some(Code::Denied));
        assert_eq!(keeper.drop_ring(TASK, id), Err(Code::Denied));
        assert_eq!(keeper.list_rings(TASK), Err(Code::Denied));
    }
}
