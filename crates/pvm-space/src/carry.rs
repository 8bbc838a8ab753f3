//! Frames in messages of raw bytes.

use pvm::{Buffer, Glance, Pattern, Task};
use pvm_tuples::Tuple;
use pvm_tuples::carried::{Frame, LARGE_BYTES};
use pvm_tuples::frames::{CONTEXT, GONE, JOINED};
use pvm_tuples::outside::Parcel;
use pvm_wire::request::Request;
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Matches all messages of servers and clients to this task.
const ALL: Pattern = Pattern { context: CONTEXT, source: None, tag: None };

/// Matches the notices of ended tasks among them.
const ENDS: Pattern =
    Pattern { context: CONTEXT, source: Some(Tid::NOTICE_SOURCE), tag: Some(GONE) };

/// A message from this size on is kept where it lies, if there is room. A slab of this size has no
/// unused memory beside the message.
const KEPT_MIN: usize = 256 << 10;
/// The most bytes of kept messages. Memory of this kind counts against the machine's limit for
/// messages; larger numbers of large tuples lie in the memory of the process.
const KEPT_MAX: usize = 16 << 20;

/// Sends and receives frames. A small message is built in the memory of the one before.
#[derive(Debug)]
pub(crate) struct Post {
    task: &'static Task,
    bytes: Vec<u8>,
    sent: Buffer,
    received: Buffer,
    /// The bytes of all kept messages.
    kept: Arc<AtomicUsize>,
}

impl Post {
    pub(crate) fn new(task: &'static Task) -> Self {
        let (sent, received) = (Buffer::new(Encoding::Raw), Buffer::new(Encoding::Raw));
        Self { task, bytes: Vec::new(), sent, received, kept: Arc::default() }
    }

    /// Sends a frame.
    pub(crate) fn send(&mut self, to: Tid, tag: i32, frame: &impl Frame) -> Result<(), Code> {
        let address = Address { to, tag: Tag(tag), context: Context(CONTEXT) };
        self.bytes.clear();
        let large = frame.encode_apart(&mut self.bytes);
        if let Some(sent) = large.as_ref().and_then(|tuple| self.send_kept(tuple, address)) {
            return sent;
        }
        self.sent.begin(Encoding::Raw);
        self.sent.pack(Kind::Byte, &self.bytes)?;
        let Some(tuple) = large else {
            return self.task.send(&mut self.sent, address);
        };
        self.sent.pack(Kind::Byte, tuple.encoded())?;
        let sent = self.task.send(&mut self.sent, address);
        drop(self.sent.vacate());
        sent
    }

    /// Sends a large tuple from where it lies, behind the frame that has been encoded. None if it
    /// does not lie in a kept message, or the one to whom that was sent last still reads it.
    fn send_kept(&self, tuple: &Tuple, address: Address) -> Option<Result<(), Code>> {
        let outside = tuple.parcel()?;
        let kept: &KeptMessage = outside.parcel().as_any().downcast_ref()?;
        if self.bytes.len() != outside.start() {
            return None;
        }
        let parts: Vec<_> = outside.checked_parts().collect();
        let mut message = kept.message();
        let is_whole = message.rewrite(0, &self.bytes)
            && parts.iter().all(|(at, part)| message.rewrite(outside.start() + at, part));
        is_whole.then(|| self.task.send(&mut message, address))
    }

    /// Receives the next message if the fast path can do so without a wait.
    pub(crate) fn glance(&mut self) -> Glance<()> {
        self.task.fast_receive(&ALL, &mut self.received)
    }

    /// The task of the next notice that has arrived, even if other messages arrived before it.
    pub(crate) fn next_end(&mut self) -> Result<Option<Tid>, Code> {
        let has_come = self.task.receive_into(&ENDS, &mut self.received)?;
        Ok(if has_come { self.noticed() } else { None })
    }

    /// Receives the next message; false if there is none.
    pub(crate) fn receive(&mut self) -> Result<bool, Code> {
        match self.glance() {
            Glance::Taken(()) => Ok(true),
            Glance::Nothing | Glance::More => self.task.receive_into(&ALL, &mut self.received),
        }
    }

    /// The sender of the received message, and its tag.
    pub(crate) const fn from(&self) -> (Tid, i32) {
        (self.received.source(), self.received.tag())
    }

    /// The bytes of the received message.
    pub(crate) fn bytes(&self) -> usize {
        self.received.data_size()
    }

    /// The received frame; none if the bytes are not a frame of this type.
    pub(crate) fn read<T: Frame>(&mut self) -> Option<T> {
        let size = self.received.data_size();
        if size >= LARGE_BYTES {
            let mut message = vec![0; size];
            let read = self.received.unpack(Kind::Byte, &mut message);
            drop(self.received.vacate());
            read.ok()?;
            return T::decode_whole(message).ok();
        }
        self.bytes.clear();
        self.bytes.resize(size, 0);
        self.received.unpack(Kind::Byte, &mut self.bytes).ok()?;
        T::from_bytes(&self.bytes).ok()
    }

    /// As [`Post::read`], but a large tuple stays in the message if there is room and `stays`
    /// allows it.
    pub(crate) fn read_or_keep<T: Frame>(&mut self, stays: impl FnOnce(&T) -> bool) -> Option<T> {
        self.keep(stays).or_else(|| self.read())
    }

    fn keep<T: Frame>(&mut self, stays: impl FnOnce(&T) -> bool) -> Option<T> {
        let size = self.received.data_size();
        if size < KEPT_MIN || self.kept.load(Ordering::Relaxed) + size > KEPT_MAX {
            return None;
        }
        let head = T::decode_head(size, |at, out| self.received.read_at(at, out));
        let (frame, start) = head.ok().filter(|(frame, _)| stays(frame))?;
        if self.received.own() != Ok(true) {
            return None;
        }
        let message = std::mem::replace(&mut self.received, Buffer::new(Encoding::Raw));
        frame.with_parcel(Box::new(KeptMessage::new(message, &self.kept)), start).ok()
    }

    /// The task that the received notice is about. None if the message is not a notice: notices
    /// come from the machine, whereas any task can send a message with their tag.
    pub(crate) fn noticed(&mut self) -> Option<Tid> {
        if self.received.source() != Tid::NOTICE_SOURCE {
            return None;
        }
        let mut number = [0; 4];
        self.received.unpack(Kind::Int, &mut number).ok()?;
        Some(Tid::from_c_int(i32::from_ne_bytes(number)))
    }
}

/// A message in a slab of this task's, with the large tuple that has come in it.
#[derive(Debug)]
struct KeptMessage {
    message: Mutex<Buffer>,
    size: usize,
    all: Arc<AtomicUsize>,
}

impl KeptMessage {
    fn new(message: Buffer, all: &Arc<AtomicUsize>) -> Self {
        let size = message.data_size();
        all.fetch_add(size, Ordering::Relaxed);
        Self { message: Mutex::new(message), size, all: Arc::clone(all) }
    }

    fn message(&self) -> MutexGuard<'_, Buffer> {
        self.message.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for KeptMessage {
    fn drop(&mut self) {
        self.all.fetch_sub(self.size, Ordering::Relaxed);
    }
}

impl Parcel for KeptMessage {
    fn size(&self) -> usize {
        self.size
    }

    fn read(&self, offset: usize, out: &mut [u8]) {
        self.message().read_at(offset, out);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The numbers of `PvmTaskExit` and `PvmHostAdd`.
const TASK_EXIT: i32 = 1;
const HOST_ADD: i32 = 3;

/// Asks the machine for a notice when a task has ended.
pub(crate) fn watch(task: &Task, of: Tid) -> Result<(), Code> {
    notify(task, TASK_EXIT, GONE, vec![of])
}

/// Asks the machine for a notice of each host that joins.
pub(crate) fn watch_hosts(task: &Task) -> Result<(), Code> {
    notify(task, HOST_ADD, JOINED, Vec::new())
}

fn notify(task: &Task, kind: i32, tag: i32, tids: Vec<Tid>) -> Result<(), Code> {
    let (cancel, context, count) = (false, CONTEXT, -1);
    task.request(&Request::Notify { kind, cancel, context, tag, count, tids }).map(drop)
}
