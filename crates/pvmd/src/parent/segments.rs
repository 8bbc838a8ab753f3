//! The parent's side of shared memory: requests for segments, and the machine's own messages.

use crate::config::Spilling;
use pvm_core::Standstill;
use pvm_shm::credit::{HOST_BYTES, Limits, SPILL_BYTES};
use pvm_shm::{Body, Keeper, Outbox, Sent};
use pvm_wire::request::{ACTIVITY_SEGMENT, Lack, MEMORY_BYTES_MAX, Reply, Request, Segment};
use pvm_wire::{Blob, Code, Message, Tid};
use rustix::process::Resource;

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time after a task's end at which its unread slabs are looked at first; then more and more
/// rarely.
const SWEEP_DELAY: Duration = Duration::from_secs(1);
const SWEEP_DELAY_MAX: Duration = Duration::from_secs(64);

/// The book of segments, and the lanes of the host itself.
#[derive(Debug)]
pub(crate) struct Segments {
    keeper: Keeper,
    outbox: Outbox,
    sweep: Option<(Instant, Duration)>,
    standstill: Standstill,
}

impl Segments {
    /// An empty book. Segments may take most of the host's memory; what waits unread in them has
    /// limits of its own.
    pub(crate) fn new(spilling: &Spilling, machine: &Path) -> Result<Self, Code> {
        let info = rustix::system::sysinfo();
        let memory = (info.totalram as u64).saturating_mul(info.mem_unit.into());
        let mut keeper = Keeper::new(memory / 10 * 9)?;
        let limits = Limits {
            host_bytes: spilling.slab_bytes.unwrap_or(HOST_BYTES).min(memory / 4),
            spill_bytes: spilling.file_bytes.unwrap_or(SPILL_BYTES),
            descriptors: descriptors(),
            ..Limits::default()
        };
        keeper.limit(limits, spilling.folders(machine));
        let outbox = Outbox::new(&mut keeper.broker(Tid::NONE))?;
        Ok(Self { keeper, outbox, sweep: None, standstill: Standstill::new() })
    }

    /// The inbox of a task, made if there is none.
    pub(crate) fn inbox(&mut self, tid: Tid, bell: &Path) -> Result<(Segment, OwnedFd), Code> {
        let bell = Blob(bell.as_os_str().as_bytes().to_vec());
        owned(self.keeper.create_inbox(tid, bell))
    }

    /// The host's count of awake tasks.
    pub(crate) fn activity(&mut self) -> Result<OwnedFd, Code> {
        owned(self.keeper.map(Tid::NONE, ACTIVITY_SEGMENT)).map(|(_, fd)| fd)
    }

    /// Answers a request of a task (or of a process that is none).
    pub(crate) fn answer(
        &mut self,
        asker: Option<Tid>,
        request: &Request,
    ) -> (Reply, Option<OwnedFd>) {
        let found = asker.ok_or(Code::Denied).and_then(|asker| self.find(asker, request));
        match found {
            Ok((reply, fd)) => (reply, fd),
            Err(code) => (Reply::Failed { code }, None),
        }
    }

    fn find(&mut self, asker: Tid, request: &Request) -> Result<(Reply, Option<OwnedFd>), Code> {
        let keeper = &mut self.keeper;
        let found = match *request {
            Request::OpenLane { to, cells } => keeper.open_lane(asker, to, cells),
            Request::OpenSlab { bytes } => keeper.open_slab(asker, bytes),
            Request::OpenSpill { bytes } => keeper.open_spill(asker, bytes),
            Request::MapSpill { id } => keeper.map_spill(asker, id),
            Request::Blocked { ref to, ref lack } => {
                return self.blocked(asker, to, lack).map(|()| (Reply::Done, None));
            }
            Request::Unblocked => {
                self.standstill.clear(asker);
                return Ok((Reply::Done, None));
            }
            Request::MapInbox { of } => keeper.map_inbox(of),
            Request::MapGroup { ref group } => keeper.map_group(group),
            Request::OpenGroup { ref group } => keeper.open_group(asker, group),
            Request::MapSegment { id } => keeper.map(asker, id),
            Request::ListLanes { after } => {
                let lanes = keeper.list_lanes(asker, after)?;
                return Ok((Reply::Lanes { lanes }, None));
            }
            Request::DropSegment { id } => {
                keeper.drop_segment(asker, id);
                return Ok((Reply::Done, None));
            }
            Request::OpenRecorder => keeper.open_recorder(asker),
            Request::MapRecorder { tid } => keeper.map_recorder(tid),
            Request::ListRings => {
                return Ok((Reply::Rings { rings: keeper.list_rings(asker)? }, None));
            }
            Request::MapRing { id } => keeper.map_ring(asker, id),
            Request::DropRing { id } => {
                keeper.drop_ring(asker, id)?;
                return Ok((Reply::Done, None));
            }
            Request::Expose { number, bytes } => keeper.expose(asker, number, bytes),
            Request::MapExposed { owner, number } => keeper.map_exposed(owner, number),
            Request::Withdraw { number } => {
                keeper.withdraw(asker, number)?;
                return Ok((Reply::Done, None));
            }
            _ => Err(Code::BadParam),
        };
        owned(found).map(|(segment, fd)| (Reply::Segment { segment }, Some(fd)))
    }

    /// Answers a request of the machine on behalf of a task, mostly on another host.
    pub(crate) fn answer_machine(&self, request: &Request) -> Reply {
        self.serve(request).unwrap_or_else(|code| Reply::Failed { code })
    }

    fn serve(&self, request: &Request) -> Result<Reply, Code> {
        let keeper = &self.keeper;
        match request {
            Request::SetProbes { tid, mask } => {
                keeper.set_probes(*tid, *mask).map(|()| Reply::Done)
            }
            Request::GetMemory { owner, number, offset, bytes } => {
                let mut out = vec![0; (*bytes as usize).min(MEMORY_BYTES_MAX)];
                keeper.exposed(*owner, *number)?.get(*offset, &mut out)?;
                Ok(Reply::Memory { bytes: Blob(out) })
            }
            Request::PutMemory { owner, number, offset, bytes } => {
                keeper.exposed(*owner, *number)?.put(*offset, &bytes.0)?;
                Ok(Reply::Done)
            }
            Request::ChangeMemory { owner, number, offset, change } => {
                let before = keeper.exposed(*owner, *number)?.change(*offset, change)?;
                Ok(Reply::Word { before })
            }
            Request::DescribeMemory { owner, number } => {
                let exposed = keeper.exposed(*owner, *number)?;
                let (bytes, writable) = (exposed.bytes() as u64, exposed.is_writable());
                Ok(Reply::Exposed { bytes, writable })
            }
            _ => Err(Code::BadParam),
        }
    }

    /// A task's send waits for credit, after one more vain try.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if no task that could give it any will ever read.
    fn blocked(&mut self, asker: Tid, to: &[Tid], lack: &Lack) -> Result<(), Code> {
        let on = match lack {
            Lack::Lane => to.iter().copied().collect(),
            Lack::Own => self.keeper.readers(Some(asker)),
            Lack::Host => self.keeper.readers(None),
        };
        if self.standstill.report(asker, on) { Err(Code::OutOfRes) } else { Ok(()) }
    }

    /// Puts a message of the machine into a task's inbox. A task that is gone needs none.
    ///
    /// # Errors
    /// The message makes no sense, or the host has no memory left.
    pub(crate) fn deliver(&mut self, to: Tid, message: &Message) -> Result<(), Code> {
        if !message.is_sound() {
            return Err(Code::BadMsg);
        }
        let mut broker = self.keeper.broker(Tid::NONE);
        let body = Body::Bytes(&[&message.body.0]);
        match self.outbox.send(&mut broker, to, &message.envelope, body)? {
            Sent::Delivered | Sent::Gone => Ok(()),
            Sent::Full => Err(Code::OutOfRes),
        }
    }

    /// The trace rings are read from now on; with `all` every task notes.
    pub(crate) fn begin_recording(&mut self, all: bool) {
        self.keeper.begin_recording(all);
    }

    /// The host's recorder is this task from now on, or there is none.
    pub(crate) fn set_reader(&mut self, reader: Option<Tid>) {
        self.keeper.set_reader(reader);
    }

    /// The trace rings are not read any more.
    pub(crate) fn end_recording(&mut self) {
        self.keeper.end_recording();
    }

    /// Notes the exit status of a task, whose end the machine will report.
    pub(crate) fn note_status(&mut self, tid: Tid, status: i32) {
        self.keeper.note_status(tid, status);
    }

    /// The task is gone; what it sent stays until it is read.
    pub(crate) fn remove_task(&mut self, tid: Tid) {
        self.keeper.remove_task(tid);
        self.standstill.clear(tid);
        self.sweep_again(SWEEP_DELAY);
    }

    /// The daemon starts anew under its old id.
    pub(crate) fn remove_sender(&mut self, tid: Tid) {
        self.keeper.remove_sender(tid);
        self.sweep_again(SWEEP_DELAY);
    }

    /// When there is something to look after.
    pub(crate) fn next_sweep(&self) -> Option<Instant> {
        self.sweep.map(|(at, _)| at)
    }

    /// Frees memory that is not read any more.
    pub(crate) fn sweep(&mut self, now: Instant) {
        if let Some((_, delay)) = self.sweep.take_if(|(at, _)| *at <= now) {
            self.sweep_again((delay * 2).min(SWEEP_DELAY_MAX));
        }
    }

    fn sweep_again(&mut self, delay: Duration) {
        self.sweep = self.keeper.sweep().then(|| (Instant::now() + delay, delay));
    }
}

/// Descriptors that slabs and files may use: the others are for lanes, connections and pipes.
fn descriptors() -> usize {
    let most = rustix::process::getrlimit(Resource::Nofile).current;
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX) / 2
}

fn owned(found: Result<(Segment, &OwnedFd), Code>) -> Result<(Segment, OwnedFd), Code> {
    let (segment, fd) = found?;
    Ok((segment, fd.try_clone().map_err(|_| Code::OutOfRes)?))
}
