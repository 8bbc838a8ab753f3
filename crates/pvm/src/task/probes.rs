//! The probe points of calls and waits, and the switch for them.

use super::Task;
use crate::probe;
use pvm_shm::probe::RECORDS;
use pvm_shm::recorder::{Point, RECORDS as RING, Reader, Record, Recorder};
use pvm_shm::segment::Mapping;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

impl Task {
    /// The word that the probe points look at: bits of [`crate::probes`]. For layers above, whose
    /// calls are probe points, too.
    pub fn probe_word(&self) -> &AtomicU32 {
        self.probes.word()
    }

    /// Notes that a call begins or ends. `call` is its number as a kind of event.
    pub fn probe_call(&self, point: Point, call: u16, result: i32) {
        if self.probes.is_on() {
            self.ready_probes();
            self.probes.note(Record { call, result, ..probe::at(point) });
        }
    }

    /// Which probe points of this task note something from now on.
    pub fn set_own_probes(&self, mask: u32) {
        let events = self.probes.word().load(Ordering::Relaxed) & !RECORDS;
        self.probes.word().store(events | mask & RECORDS, Ordering::Relaxed);
    }

    /// Switches the probe points of any task of the machine: 1 on, 0 off. The task takes no part.
    ///
    /// # Errors
    /// [`Code::NoTask`], and others of the machine.
    pub fn set_probes(&self, tid: Tid, mask: u32) -> Result<(), Code> {
        self.request(&Request::SetProbes { tid, mask }).map(drop)
    }

    /// The trace ring of a task of this host. One reader at a time: records are read once.
    ///
    /// # Errors
    /// [`Code::NotFound`] if it has noted nothing yet.
    pub fn read_recorder(&self, tid: Tid) -> Result<Reader, Code> {
        let mut state = self.live()?.enter()?;
        let (segment, fd) = state.connection.ask_segment(&Request::MapRecorder { tid })?;
        let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
        let mapping = Mapping::new(&fd, size, true).map_err(|_| Code::NoMem)?;
        Ok(Reader::new(Arc::new(mapping)))
    }

    /// Has a ring if one is needed. Not to be called with the gate in hand.
    #[inline]
    pub(super) fn ready_probes(&self) {
        if self.probes.is_on() && self.probes.recorder().is_none() {
            self.open_recorder();
        }
    }

    #[cold]
    fn open_recorder(&self) {
        let Ok(mut state) = self.enter() else { return };
        if self.probes.recorder().is_some() {
            return;
        }
        let request = Request::OpenRecorder { records: RING };
        let opened = state.connection.ask_segment(&request).and_then(|(segment, fd)| {
            let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
            Mapping::new(&fd, size, true).map_err(|_| Code::NoMem)
        });
        match opened {
            Ok(mapping) => self.probes.set_recorder(Recorder::new(Arc::new(mapping))),
            // Without memory for a trace the work goes on; nobody asks again and again.
            Err(_) => self.set_own_probes(0),
        }
    }

    /// Copies of the program's data, noted.
    #[inline]
    pub(super) fn probe_copy<T>(&self, bytes: usize, copy: impl FnOnce() -> T) -> T {
        if !self.probes.is_on() {
            return copy();
        }
        let record = |point| Record { bytes: bytes as u64, ..probe::at(point) };
        self.probes.note(record(Point::CopyBegin));
        let done = copy();
        self.probes.note(record(Point::CopyEnd));
        done
    }

    /// A wait, noted. Nothing in here has a destructor: a handler may leave it by longjmp.
    #[inline]
    pub(super) fn probe_wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        if !self.probes.is_on() {
            return wait();
        }
        self.probes.note(probe::at(Point::WaitBegin));
        let done = wait();
        self.probes.note(probe::at(Point::WaitEnd));
        done
    }

    /// Asks for a segment of another task's exposed memory or the like; what comes is an answer.
    pub(super) fn done(&self, request: &Request) -> Result<(), Code> {
        match self.request(request)? {
            Reply::Done => Ok(()),
            _ => Err(Code::DSysErr),
        }
    }
}
