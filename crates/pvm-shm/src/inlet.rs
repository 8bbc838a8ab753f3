//! The receiving half of a process: the lanes into its inbox.

mod distant;
mod fast;
mod first;
mod hold;
mod line;
mod opening;
mod payload;
mod queue;
mod single;
mod stream;
mod watching;
mod whole;

pub use payload::{Payload, Unmapped};

use crate::activity::Activity;
use crate::activity::is_later;
use crate::broker::Broker;
use crate::clock::{self, settle, widen};
use crate::inbox::{Inbox, LANE_BITS};
use crate::lane::{self, INLINE_MAX, Popped, Room, try_room_for};
use crate::mappings::Mappings;
use crate::slab::Descriptor;
use crate::watch::{Retired, SLOTS, Watch};
use hold::Hold;
use pvm_wire::request::SegmentId;
use pvm_wire::{Code, Envelope, Tid};
use queue::{Next, Queue};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::Arc;
use whole::{is_whole, slot_of};

/// A watched ring that has given nothing for this many turns makes room for another one.
const SILENT: u64 = 64;
/// Once in this many turns a look for one sender alone asks the inbox, too, and the host's clock is
/// set to the latest moment that waits.
const TURN: u64 = 32;
/// A stream is expected once the streak is this long: one look and the messages that followed it
/// without an answer.
const STREAM: u32 = 9;
/// Most looks until two in a row have found the same; only a neighbour that scribbles makes it more
/// than a few.
const LOOKS: usize = 64;
/// Most rings into which one look follows a lane: an honest lane moves on a few times at once, a
/// scribbler's may do so for ever.
const MOVES: usize = 64;

/// The result of a look at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glance<T> {
    /// The wanted item.
    Taken(T),
    /// Nothing is there.
    Nothing,
    /// Something is there, or may be: a full look is needed.
    More,
}

#[derive(Debug)]
struct LaneIn {
    receiver: lane::Receiver,
    segment: SegmentId,
    sender: Tid,
    /// Its place among the watched ones.
    slot: Option<usize>,
    /// The name of its entry in the queue.
    queued: Option<u64>,
}

/// A place for a watched lane: which one, and when it last gave something.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    place: Option<usize>,
    last: u64,
    sender: Tid,
}

/// The receiving half.
#[derive(Debug)]
pub struct Inlet {
    me: Tid,
    inbox: Inbox,
    lanes: Vec<Option<LaneIn>>,
    /// Openings of lanes that are known.
    opened: u32,
    slabs: Mappings,
    /// Messages dropped because they made no sense.
    dropped: u64,
    /// Bits whose lanes have not been looked at since.
    ready: u64,
    /// Lanes that have something and are not watched.
    queue: Queue,
    /// See [`Inlet::findings`].
    findings: u64,
    activity: Activity,
    /// A moment after those of all messages that were taken in.
    seen: u64,
    watch: Arc<Watch>,
    watched: [Watched; SLOTS],
    retired: Retired,
    /// Counts the messages, and how often a lane has something new.
    turn: u64,
    /// The slot that gave the last message of the fast path.
    recent: usize,
    /// The slot of the only watched lane, if there is but one.
    only: Option<usize>,
    /// 0 after a send, 1 after the first look of the fast path behind it, and one more for each
    /// message that it has taken since.
    streak: u32,
    /// When it first looks.
    hold: Hold,
    /// Bytes of the last message of the fast path.
    last_size: usize,
    /// Room that the last look did not need.
    spare: Option<Room>,
    /// The file that was read last.
    file: Option<(SegmentId, OwnedFd)>,
    /// Messages that were sent from this moment on are for the next look.
    line: Option<u64>,
}

/// A message as it came out of its lane.
pub type Arrival = (Envelope, Payload);

impl Inlet {
    /// Reads this inbox, as `me`, on the host whose activity this is.
    pub fn new(me: Tid, inbox: Inbox, activity: Activity) -> Self {
        // A reader before this one may have died between taking the bits and reading the lanes.
        inbox.header().put_back(u64::MAX);
        let watch = Arc::new(Watch::new());
        Self {
            me,
            inbox,
            lanes: Vec::new(),
            opened: 0,
            slabs: Mappings::default(),
            dropped: 0,
            ready: 0,
            queue: Queue::default(),
            findings: 0,
            activity,
            seen: clock::START,
            retired: Retired::new(watch.clone()),
            watch,
            watched: [Watched::default(); SLOTS],
            turn: 0,
            recent: 0,
            only: None,
            streak: 0,
            hold: Hold::default(),
            last_size: usize::MAX,
            spare: None,
            file: None,
            line: None,
        }
    }

    /// The inbox.
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// The stamps that a waiting thread looks at.
    pub const fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// The process has sent something.
    #[inline]
    pub const fn has_spoken(&mut self) {
        self.streak = 0;
    }

    /// True if something was taken in that only [`Inlet::next`] finds: neither the inbox nor a
    /// watched lane tells of it.
    #[inline]
    pub fn holds_more(&self) -> bool {
        self.ready != 0 || !self.queue.is_empty()
    }

    /// The number of times that a lane was found to have something, by its mark or in its turn.
    #[inline]
    pub const fn findings(&self) -> u64 {
        self.findings
    }

    /// A moment behind those of all messages that were taken in: for
    /// [`Outbox::follow`](crate::Outbox::follow).
    #[inline]
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// True where messages stream in that are not answered one by one.
    #[inline]
    pub const fn is_streaming(&self) -> bool {
        self.streak >= STREAM
    }

    /// Messages that were dropped because they made no sense.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes back the room of a payload that the caller has no more use for.
    pub fn give_back(&mut self, room: Room) {
        self.spare = Some(room);
    }

    /// Takes all that waits. The order of each sender is kept.
    pub fn poll(&mut self, broker: &mut dyn Broker, out: &mut VecDeque<Arrival>) {
        while let Some(arrival) = self.next(broker, false) {
            out.push_back(arrival);
        }
    }

    /// Takes the earliest message. The order of each sender is kept, a message comes behind the one
    /// that caused it, and the host's own messages (lane 0: notices) come behind all that were sent
    /// before them. None when nothing waits.
    ///
    /// `alone`: until the next look no other thread waits for messages, asleep or on a descriptor,
    /// so busy lanes may be watched.
    #[inline]
    pub fn next(&mut self, broker: &mut dyn Broker, alone: bool) -> Option<Arrival> {
        if self.watch.take_rested() || !alone {
            self.end_watch();
        }
        loop {
            let next = self.earliest(broker)?;
            if self.is_beyond_line(next.moment) {
                return None;
            }
            if let Some(arrival) = self.take(broker, next, alone) {
                return Some(arrival);
            }
            if self.watch.is_lacking() {
                // This message may be the one that lacks memory: another look now would find it
                // again.
                return None;
            }
        }
    }

    /// The next message of a lane, if it is wanted.
    #[inline]
    fn pop(
        &mut self,
        broker: &mut dyn Broker,
        place: usize,
        wants: impl Fn(&Envelope) -> bool,
    ) -> Option<Arrival> {
        loop {
            let lane = self.lanes.get_mut(place)?.as_mut()?;
            if !lane.receiver.is_ready() {
                lane.receiver.report();
                return None;
            }
            let room = self.spare.take().or_else(|| try_room_for(0));
            let popped = room.and_then(|mut room| Some((lane.receiver.peek(&mut room)?, room)));
            let Some((popped, room)) = popped else {
                self.look_again(1 << (place as u32 % LANE_BITS));
                return None;
            };
            if popped.kind == lane::Kind::Stream as u8
                && !is_whole(&mut self.slabs, broker, &popped, &room)
            {
                // As if it had not been sent yet. Its sender tells when it is whole, or the keeper
                // when that one is gone.
                let slot = lane.slot;
                self.spare = Some(room);
                let _ = slot.map(|slot| self.unwatch(slot));
                return None;
            }
            if popped.envelope.is_some_and(|envelope| !wants(&envelope)) {
                self.spare = Some(room);
                return None;
            }
            if popped.kind == lane::Kind::Moved as u8 {
                let followed = self.follow(broker, place, &room);
                self.spare = Some(room);
                if followed {
                    continue;
                }
                return None;
            }
            lane.receiver.step(popped.cells);
            lane.receiver.report_now_and_then();
            if let Some(slot) = lane.slot {
                self.watch.set(slot, &lane.receiver);
            }
            let sender = lane.sender;
            match self.open_message(broker, sender, popped, room) {
                Some((envelope, payload)) => return Some((self.taken_in(envelope), payload)),
                None => self.dropped += 1,
            }
        }
    }

    /// The envelope of a message that came out of a lane, where the moment stands in the receiver's
    /// place.
    #[inline]
    fn taken_in(&mut self, envelope: Envelope) -> Envelope {
        self.note_moment(envelope.dst.0);
        Envelope { dst: self.me, ..envelope }
    }

    /// A message that was sent at this moment was taken in.
    #[inline]
    fn note_moment(&mut self, half: u32) {
        let moment = widen(half, self.seen);
        if !is_later(self.seen, moment) {
            self.seen = moment.wrapping_add(1);
        }
    }

    /// The messages of these lanes cannot be had now, for want of memory or descriptors: the next
    /// look tries again.
    #[cold]
    fn look_again(&self, bits: u64) {
        self.watch.lack();
        self.inbox.header().put_back(bits);
    }

    #[inline]
    fn open_message(
        &mut self,
        broker: &mut dyn Broker,
        sender: Tid,
        popped: Popped,
        room: Room,
    ) -> Option<Arrival> {
        let envelope = popped.envelope?;
        // Only the host itself speaks for others.
        let from_host = sender == Tid::NONE || sender.is_daemon();
        if (!from_host && envelope.src != sender) || envelope.is_spread() {
            return None;
        }
        let size = envelope.body_size();
        if popped.kind == lane::Kind::Inline as u8 || popped.kind == lane::Kind::Spanning as u8 {
            let bytes = self.fitting(room, popped.size);
            (size == popped.size as u64)
                .then_some((envelope, Payload::Inline { bytes, size: popped.size }))
        } else if popped.kind == lane::Kind::Slab as u8 || popped.kind == lane::Kind::Stream as u8 {
            let descriptor = Descriptor::from_slice(&room[..popped.size])?;
            let stream = popped.kind == lane::Kind::Stream as u8;
            let follows = if stream { Some(slot_of(&room)?) } else { None };
            self.spare = Some(room);
            let body = Unmapped { descriptor, size: usize::try_from(size).ok()?, follows };
            let payload = match self.slabs.find(broker, descriptor.segment) {
                Ok(mapping) => body.payload(mapping, self.me)?,
                Err(code) if may_pass(code) => Payload::Unmapped(body),
                Err(_) => return None,
            };
            Some((envelope, payload))
        } else {
            None
        }
    }

    /// A message that is to wait keeps no more memory than one of its size needs.
    #[inline]
    fn fitting(&mut self, room: Room, size: usize) -> Room {
        if size > INLINE_MAX || room.len() == INLINE_MAX {
            return room;
        }
        let Some(mut fitting) = try_room_for(size) else { return room };
        fitting[..size].copy_from_slice(&room[..size]);
        self.spare = Some(room);
        fitting
    }
}

/// True for a thing that lacks now and may be there soon: memory, a descriptor. A segment that is
/// not there will never be there, and where the host is gone (`SysErr`) nobody may look for ever.
pub(crate) const fn may_pass(code: Code) -> bool {
    matches!(code, Code::NoMem | Code::OutOfRes)
}
