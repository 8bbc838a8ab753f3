//! The switch of the probe points, and the ring that they note into.

use super::Task;
use crate::members::Members;
use crate::pattern::Pattern;
use crate::probe::{self, Noting};
use pvm_shm::probe::{RECORDS, UNRECORDED};
use pvm_shm::recorder::{Reader, Recorder};
use pvm_shm::segment::Mapping;
use pvm_wire::record::{Class, NAME_BYTES_MAX, Record, What, calls};
use pvm_wire::request::{Reply, Request, Ring, SegmentId};
use pvm_wire::{Code, Envelope, Tid};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A program that makes up names without an end gets number 0, which has no name.
const NAMES_KEPT: usize = 1 << 16;

impl Task {
    /// The word that the probe points look at: bits of [`crate::probes`]. For layers above, whose
    /// calls are probe points, too.
    pub fn probe_word(&self) -> &AtomicU32 {
        self.probes.word()
    }

    /// Sets the probe points of this task that note something from now on.
    pub fn set_own_probes(&self, mask: u32) {
        let events = self.probes.word().load(Ordering::Relaxed) & !RECORDS;
        self.probes.word().store(events | mask & RECORDS, Ordering::Relaxed);
    }

    /// This task is a part of recording: it is never recorded, or it would record without an end
    /// that it records.
    pub fn be_unrecorded(&self) {
        self.probes.word().store(UNRECORDED, Ordering::Relaxed);
        self.turns.end();
    }

    /// This task computes when it likes, as it computes nothing for a program that is recorded.
    pub fn take_no_turns(&self) {
        self.turns.end();
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
        self.map_reader(&Request::MapRecorder { tid })
    }

    fn map_reader(&self, request: &Request) -> Result<Reader, Code> {
        let mut state = self.live()?.enter()?;
        let (segment, fd) = state.connection.ask_segment(request)?;
        let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
        let mapping = Mapping::new(&fd, size, false).map_err(|_| Code::NoMem)?;
        Ok(Reader::new(Arc::new(mapping)))
    }

    /// All trace rings of this host.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn rings(&self) -> Result<Vec<Ring>, Code> {
        match self.request(&Request::ListRings)? {
            Reply::Rings { rings } => Ok(rings),
            _ => Err(Code::DSysErr),
        }
    }

    /// One of them, to be read.
    ///
    /// # Errors
    /// [`Code::NotFound`] if it is gone, [`Code::NoMem`].
    pub fn map_ring(&self, id: SegmentId) -> Result<Reader, Code> {
        self.map_reader(&Request::MapRing { id })
    }

    /// A ring whose task is gone was read to its end.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn drop_ring(&self, id: SegmentId) -> Result<(), Code> {
        self.done(&Request::DropRing { id })
    }

    /// Has a ring if one is needed. Not to be called with the gate in hand.
    #[inline]
    pub(crate) fn ready_probes(&self) {
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
        let opened = state.connection.ask_segment(&Request::OpenRecorder);
        let opened = opened.and_then(|(segment, fd)| {
            let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
            // Most of it has no memory yet.
            Mapping::new(&fd, size, false).map_err(|_| Code::NoMem)
        });
        let host = state.outbox.activity().clone();
        match opened {
            Ok(mapping) => {
                let recorder = Recorder::new(Arc::new(mapping), host);
                self.introduce(&recorder);
                self.probes.set_recorder(recorder);
            }
            // Without memory for a trace the work goes on; nobody asks again and again.
            Err(_) => self.set_own_probes(0),
        }
    }

    /// The moment now, if calls are to be noted.
    #[inline]
    pub fn noting(&'static self) -> Option<Noting> {
        Noting::now(&self.probes, self.tid())
    }

    /// Like `noting`, for a call that goes its long way: it makes the ring where there is none yet.
    pub fn noting_slowly(&'static self) -> Option<Noting> {
        self.ready_probes();
        self.noting()
    }

    /// The first records of a ring: the task itself.
    fn introduce(&self, recorder: &Recorder) {
        // Numbers of names are counted from 1 on in each class.
        let (class, number) = (Class::Program, 1);
        let text = self.program.0.clone();
        let parent = Tid(u32::try_from(self.welcome.parent).unwrap_or(0));
        let (process, name) = (std::process::id(), number);
        let name_of = What::Name { class, number, text };
        for what in [name_of, What::Begin { parent, process, name }] {
            recorder.put_for_all(&Record { what, ..Record::call(calls::NONE, recorder.now(), 0) });
        }
    }

    /// A group call knows the members of the group.
    #[inline]
    pub(crate) fn probe_group(&self, members: &Members, count: u64) {
        if self.probes.is_on() {
            let instance = members.instance(self.tid()).unwrap_or(-1);
            probe::tell_group(|told| {
                told.members = u32::try_from(members.size()).unwrap_or(0);
                told.instance = instance.cast_unsigned();
                told.count = count;
            });
        }
    }

    /// The number of a name in this task's records; its first use tells the name.
    pub fn number_of(&'static self, class: Class, text: &[u8]) -> u32 {
        let text = &text[..text.len().min(NAME_BYTES_MAX)];
        self.ready_probes();
        let Ok(mut names) = self.names.enter() else { return 0 };
        let key = (class, text.to_vec());
        if let Some(number) = names.get(&key) {
            return *number;
        }
        // Number 1 is the program's.
        let Ok(number) = u32::try_from(names.len() + 2) else { return 0 };
        if names.len() >= NAMES_KEPT {
            return 0;
        }
        // Without a ring the name is told by its next use.
        let Some(noting) = self.noting() else { return 0 };
        names.insert(key, number);
        noting.name(What::Name { class, number, text: text.to_vec() });
        number
    }

    /// Notes what a program says of itself, if anybody records it: a mark, a state, its progress.
    /// `name` 0 is an empty text's.
    pub fn tell_own(&'static self, (class, text): (Class, &[u8]), what: impl FnOnce(u32) -> What) {
        if self.probes.is_on() {
            let name = if text.is_empty() { 0 } else { self.number_of(class, text) };
            self.note(what(name));
        }
    }

    /// Notes something that takes no time and is no part of a call, if anything is noted.
    pub fn note(&'static self, what: What) {
        if let Some(noting) = self.noting_slowly() {
            noting.alone(what);
        }
    }

    /// A message was taken on a fast path of a call that is noted the long way.
    pub fn note_taken(&self, envelope: &Envelope, pattern: &Pattern) {
        probe::note_taken(&self.probes, self.tid(), envelope, pattern);
    }

    /// Copies of the program's data, noted.
    #[inline]
    pub(super) fn probe_copy<T>(&self, bytes: usize, copy: impl FnOnce() -> T) -> T {
        let begin = probe::moment(&self.probes);
        let done = copy();
        // A message that rides in a lane is copied there, and this is no copy of its own.
        if let Some(begin) = begin.filter(|_| bytes > pvm_shm::lane::SPANNING_MAX) {
            probe::note_part(&self.probes, begin, What::Copy { bytes: bytes as u64 });
        }
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
