//! The records that calls note of themselves: one record a call, at its end, and parts before it.
//!
//! A call that takes its fast path notes itself with [`Noting`] alone. A call that takes the long
//! way first names itself ([`begin`]), so that what happens below (a wait, a copy, a message) knows
//! the call that it is a part of. The only message of a call is told with the call itself, further
//! ones as parts. Nothing here has a destructor, so a handler may leave a call by `longjmp`.

mod transfers;
pub(crate) mod waits;

use crate::pattern::Pattern;
use crate::sys;
use pvm_shm::lane::Head;
use pvm_shm::probe::Probes;
pub(crate) use pvm_shm::probe::RECORDS;
use pvm_shm::recorder::Recorder;
use pvm_wire::record::{Class, Record, RouteKind, RouteStep, Transfer, What, calls};
use pvm_wire::{Address, Encoding, Envelope, Tid};
use std::cell::Cell;
use std::collections::BTreeMap;
use transfers::{origin, sent, taken, wire_bytes};

/// Numbers of names in a task's records.
pub(crate) type Numbers = BTreeMap<(Class, Vec<u8>), u32>;

/// The call that this thread is in, and the number of calls around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Current {
    /// Its number.
    pub call: u16,
    /// Calls around it.
    pub depth: u8,
}

impl Current {
    const NONE: Self = Self { call: calls::NONE, depth: 0 };
}

/// A message that a call has sent or taken.
#[derive(Clone, Copy)]
struct CallRecord {
    begin: u64,
    length: u64,
    message: Transfer,
    how: How,
}

/// The facts that only senders or only receivers know.
#[derive(Clone, Copy)]
enum How {
    Sent { wire: u64, pieces: u32 },
    Taken { any_source: bool, any_tag: bool },
}

impl CallRecord {
    fn what(self) -> What {
        let message = self.message;
        match self.how {
            How::Sent { wire, pieces } => What::Send { message, wire, pieces },
            How::Taken { any_source, any_tag } => What::Receive { message, any_source, any_tag },
        }
    }
}

/// A group call's facts about its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupTold {
    /// Members, 0 if that is not known.
    pub members: u32,
    /// The caller's place.
    pub instance: u32,
    /// The root, -1 for none.
    pub root: i32,
    /// Items, or members of a barrier.
    pub count: u64,
}

impl GroupTold {
    const NONE: Self = Self { members: 0, instance: 0, root: -1, count: 0 };
}

/// The facts that the group call of this thread has found out.
pub fn take_group() -> GroupTold {
    GROUP.replace(GroupTold::NONE)
}

/// A group call that is noted has found out more of its group.
pub fn tell_group(more: impl FnOnce(&mut GroupTold)) {
    let mut told = GROUP.get();
    more(&mut told);
    GROUP.set(told);
}

thread_local! {
    static GROUP: Cell<GroupTold> = const { Cell::new(GroupTold::NONE) };
    static CURRENT: Cell<Current> = const { Cell::new(Current::NONE) };
    static TOLD: Cell<Option<CallRecord>> = const { Cell::new(None) };
    /// The call has sent or taken more than one message.
    static SEVERAL: Cell<bool> = const { Cell::new(false) };
    /// The pieces in which the message that is sent just now has gone so far.
    static PIECES: Cell<u32> = const { Cell::new(0) };
}

fn thread() -> u16 {
    sys::thread_number().get() as u16
}

/// This thread is in a call from now on, which goes its long way. Returns the call that it was in
/// before.
pub fn begin(call: u16, depth: u8) -> Current {
    TOLD.set(None);
    SEVERAL.set(false);
    GROUP.set(GroupTold::NONE);
    PIECES.set(0);
    CURRENT.replace(Current { call, depth })
}

/// The call is over. A call that is in no other one leaves nothing, whatever was left by longjmp.
fn leave(depth: u8, outer: Current) {
    CURRENT.set(if depth == 0 { Current::NONE } else { outer });
}

/// A moment at which something began that is to be noted.
#[derive(Clone, Copy, Debug)]
pub struct Noting {
    recorder: &'static Recorder,
    me: Tid,
    begin: u64,
}

impl Noting {
    /// The moment now, if something is to be noted and there is a ring.
    #[inline]
    pub(crate) fn now(probes: &'static Probes, me: Tid) -> Option<Self> {
        if !probes.is_on() {
            return None;
        }
        let recorder = probes.recorder()?;
        Some(Self { recorder, me, begin: recorder.now() })
    }

    /// Notes a call without arguments but for the bytes that it packed or unpacked.
    #[inline]
    pub fn call(self, current: Current, (thread, result): (u16, i32), bytes: u64) {
        self.put(current, (thread, result), What::Call { bytes });
    }

    /// Notes a call that has sent a small message of this number within the host.
    #[inline]
    pub fn sent(
        self,
        current: Current,
        thread: u16,
        to: Address,
        (number, bytes, encoding): (u64, usize, Encoding),
    ) {
        let (route, hops, bytes) = (RouteKind::Memory, 0, bytes as u64);
        let (peer, tag, context) = (to.to, to.tag.0, to.context.0);
        let message = Transfer { peer, tag, context, number, bytes, encoding, route, hops };
        self.put(current, (thread, 0), What::Send { message, wire: bytes, pieces: 1 });
    }

    /// Notes a call that has taken a message of `bytes` bytes.
    #[inline]
    pub fn taken(
        self,
        current: Current,
        (thread, result): (u16, i32),
        (head, bytes): (&Head, usize),
        (any_source, any_tag): (bool, bool),
    ) {
        let from = (head.source(), head.sequence());
        let message = Transfer {
            tag: head.tag(),
            context: head.context(),
            bytes: bytes as u64,
            encoding: head.encoding(),
            ..origin(from, self.me)
        };
        self.put(current, (thread, result), What::Receive { message, any_source, any_tag });
    }

    /// Notes an event that is no call and takes no time.
    pub(crate) fn alone(self, what: What) {
        self.recorder.put(&self.moment(what));
    }

    /// Like `alone`, for a name, for all readers of the ring, also later ones. The caller holds the
    /// lock of names.
    pub(crate) fn name(self, what: What) {
        self.recorder.put_for_all(&self.moment(what));
    }

    fn moment(self, what: What) -> Record {
        let (begin, thread, depth) = (self.begin, thread(), CURRENT.get().depth);
        let (length, result, part, call) = (0, 0, false, calls::NONE);
        Record { begin, length, thread, depth, call, result, part, what }
    }

    /// Notes what it was.
    #[inline]
    pub fn put(self, current: Current, (thread, result): (u16, i32), what: What) {
        let Current { call, depth } = current;
        let length = self.recorder.now().saturating_sub(self.begin);
        let part = false;
        self.recorder.put(&Record {
            begin: self.begin,
            length,
            thread,
            depth,
            call,
            result,
            part,
            what,
        });
    }

    /// Ends a call that went the long way: with `what`, or with its only message.
    pub fn end(self, outer: Current, result: i32, what: Option<What>) {
        let current = CURRENT.get();
        let told = TOLD.take();
        let what = match (what, told) {
            (None, Some(told)) if !SEVERAL.get() => told.what(),
            (what, told) => {
                if let Some(told) = told {
                    flush(self.recorder, told);
                }
                what.unwrap_or(What::Call { bytes: 0 })
            }
        };
        leave(current.depth, outer);
        self.put(current, (thread(), result), what);
    }
}

/// Notes a message as a part of the call that this thread is in.
fn flush(recorder: &Recorder, told: CallRecord) {
    put_part(recorder, (told.begin, told.length), 0, told.what());
}

fn put_part(recorder: &Recorder, (begin, length): (u64, u64), result: i32, what: What) {
    let Current { call, depth } = CURRENT.get();
    let depth = if call == calls::NONE { 0 } else { depth.saturating_add(1) };
    let thread = thread();
    let part = true;
    recorder.put(&Record { begin, length, thread, depth, call, result, part, what });
}

/// A message, as it was sent or taken within a call.
fn tell(recorder: &Recorder, told: CallRecord) {
    if CURRENT.get() == Current::NONE {
        // Nobody will end this.
        return flush(recorder, told);
    }
    if let Some(before) = TOLD.replace(Some(told)) {
        SEVERAL.set(true);
        flush(recorder, before);
    }
}

/// The moment now, if something is to be noted.
#[inline]
pub(crate) fn moment(probes: &Probes) -> Option<u64> {
    if probes.is_on() { probes.recorder().map(Recorder::now) } else { None }
}

/// A message was put on its way, from `begin` until now.
#[cold]
pub(crate) fn note_sent(
    probes: &Probes,
    begin: u64,
    (to, route): (Tid, RouteKind),
    envelope: &Envelope,
) {
    let Some(recorder) = probes.recorder() else { return };
    let message = sent(envelope, to, route);
    let pieces = PIECES.take().max(1);
    let how = How::Sent { wire: wire_bytes(message.bytes, route), pieces };
    let length = recorder.now().saturating_sub(begin);
    tell(recorder, CallRecord { begin, length, message, how });
}

/// A call that looked for `pattern` has taken a message.
#[cold]
pub(crate) fn note_taken(probes: &Probes, me: Tid, envelope: &Envelope, pattern: &Pattern) {
    let Some(recorder) = probes.recorder() else { return };
    let how = How::Taken { any_source: pattern.source.is_none(), any_tag: pattern.tag.is_none() };
    let begin = recorder.now();
    tell(recorder, CallRecord { begin, length: 0, message: taken(envelope, me), how });
}

/// Something else within a call, from `begin` until now.
#[cold]
pub(crate) fn note_part(probes: &Probes, begin: u64, what: What) {
    if let Some(recorder) = probes.recorder() {
        put_part(recorder, (begin, recorder.now().saturating_sub(begin)), 0, what);
    }
}

/// A large message goes in pieces: one of `bytes` bytes was put on its way, from `begin` until now.
/// `envelope` has the message's number in its pair.
#[cold]
pub(crate) fn note_piece(
    probes: &Probes,
    begin: u64,
    (to, route): (Tid, RouteKind),
    (envelope, bytes): (&Envelope, usize),
) {
    PIECES.set(PIECES.get().saturating_add(1));
    let message = Transfer { bytes: bytes as u64, ..sent(envelope, to, route) };
    note_part(probes, begin, What::Chunk { message });
}

/// A step of the negotiation of a direct route.
pub(crate) fn note_route(probes: &Probes, peer: Tid, step: RouteStep) {
    if let Some(begin) = moment(probes) {
        note_part(probes, begin, What::Route { peer, step });
    }
}
