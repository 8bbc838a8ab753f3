//! The records of calls: those of the fast paths, and those of the long ones.

use pvm::probe::{Current, Noting, begin};
use pvm::probes::EVENTS;
use pvm::{Buffer, Head};
use pvm_wire::record::What;
use pvm_wire::{Address, Encoding};
use std::sync::atomic::Ordering;

use crate::selection::{Partner, Selection};
use crate::thread::{self, Thread};
use crate::{probe, session};

/// A call that tries its fast path, from its begin on.
pub(crate) struct Begun {
    noting: Noting,
    thread: &'static Thread,
}

impl Begun {
    /// None if nothing is recorded, or more than that, or if the call is not the program's own:
    /// then the long way looks closer.
    #[inline]
    pub(crate) fn now() -> Option<Self> {
        let (thread, task) = (thread::known()?, session::current()?);
        let events = task.probe_word().load(Ordering::Relaxed) & EVENTS != 0;
        if events || thread.inside.is_set() || thread.telling.get() != 0 {
            return None;
        }
        Some(Self { noting: task.noting()?, thread })
    }

    #[inline]
    fn current(&self, call: u16) -> (Current, u16) {
        let thread = self.thread.number.get().map_or(0, |number| number.get() as u16);
        (Current { call, depth: self.thread.depth.get() }, thread)
    }

    /// The call is done, and has packed or unpacked `bytes` bytes.
    #[inline]
    pub(crate) fn end(self, call: u16, result: i32, bytes: usize) {
        let (current, thread) = self.current(call);
        self.noting.call(current, (thread, result), bytes as u64);
    }

    /// The call has sent a message of this number, size and encoding within the host.
    #[inline]
    pub(crate) fn sent(&self, call: u16, to: Address, message: (u64, usize, Encoding)) {
        let (current, thread) = self.current(call);
        self.noting.sent(current, thread, to, message);
    }

    /// The call has sent this buffer within the host, under this number.
    #[inline]
    pub(crate) fn sent_buffer(&self, call: u16, to: Address, (number, buffer): (u64, &Buffer)) {
        self.sent(call, to, (number, buffer.sent_size(), buffer.sent_encoding()));
    }

    /// The call has taken `buffer`, for which it was asked by sender and tag, -1 for any.
    #[inline]
    pub(crate) fn taken(&self, call: u16, result: i32, buffer: &Buffer, asked: Partner) {
        self.taken_items(call, result, (buffer.head(), buffer.sent_size()), asked);
    }

    /// [`Self::taken`] of a message with this head and size.
    #[inline]
    pub(crate) fn taken_items(
        &self,
        call: u16,
        result: i32,
        message: (&Head, usize),
        asked: Partner,
    ) {
        let (current, thread) = self.current(call);
        let any = (asked.tid == -1, asked.tag == -1);
        self.noting.taken(current, (thread, result), message, any);
    }
}

/// A call that goes its long way has taken a message by the fast path.
#[inline]
pub(crate) fn taken_within(buffer: &Buffer, tid: i32, tag: i32) {
    if probe::is_on() {
        tell_taken(buffer, tid, tag);
    }
}

#[cold]
fn tell_taken(buffer: &Buffer, tid: i32, tag: i32) {
    if let Some(task) = session::current() {
        let envelope = buffer.envelope();
        task.note_taken(
            &envelope,
            &Selection { source: tid, tag, context: envelope.context }.pattern(),
        );
    }
}

/// Like `taken_within`, for a message with this head and `bytes` bytes.
#[inline]
pub(crate) fn items_within((head, bytes): (&Head, usize), tid: i32, tag: i32) {
    if probe::is_on() {
        tell_items(head, bytes, tid, tag);
    }
}

#[cold]
fn tell_items(head: &Head, bytes: usize, tid: i32, tag: i32) {
    if let (Some(task), Some(mut envelope)) = (session::current(), head.envelope()) {
        envelope.data_size = bytes as u64;
        task.note_taken(
            &envelope,
            &Selection { source: tid, tag, context: envelope.context }.pattern(),
        );
    }
}

/// A call that goes its long way, from its begin on.
pub(crate) struct Noted {
    noting: Noting,
    outer: Current,
}

impl Noted {
    /// None if nothing is recorded.
    pub(crate) fn begin(call: u16) -> Option<Self> {
        let noting = session::current()?.noting_slowly()?;
        let depth = thread::here(|thread| thread.depth.get());
        Some(Self { noting, outer: begin(call, depth) })
    }

    /// The call is done. None: it was its only message, or nothing but itself.
    pub(crate) fn end(self, result: i32, what: Option<What>) {
        self.noting.end(self.outer, result, what);
    }
}
