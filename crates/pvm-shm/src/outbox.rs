//! The sending half of a process: its lanes into other inboxes, and its slabs.

mod fast;
pub(crate) mod pairs;
mod pushing;
mod slabs;
mod spilled;
mod spread;
mod streams;

use crate::activity::Activity;
use crate::bells;
use crate::broker::{Broker, map};
use crate::clock::Clock;
use crate::inbox::{Inbox, Marked};
use crate::lane::{self, CELLS_MAX, INLINE_MAX, SPANNING_MAX};
use crate::recent::Recent;
use crate::slab::{Pool, Slab};
use crate::spill::{Draft, Spill};
use pvm_wire::request::{ACTIVITY_SEGMENT, SegmentId};
use pvm_wire::{Code, Envelope, Tid};
use rustix::fd::OwnedFd;
use rustix::net::SocketAddrUnix;
use std::collections::BTreeMap;

/// The body of a message: data and run list.
#[derive(Debug)]
pub enum Body<'a> {
    /// In pieces, one behind the other, in private memory.
    Bytes(&'a [&'a [u8]]),
    /// In a slab of this outbox's.
    Slab(&'a mut Slab),
    /// In a file of this outbox's.
    Draft(&'a mut Draft),
}

/// A message to be published.
#[derive(Clone, Copy)]
struct Outgoing<'a> {
    kind: lane::Kind,
    envelope: &'a Envelope,
    payload: &'a [u8],
}

/// The result of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It is in the receiver's inbox.
    Delivered,
    /// There is no such task (any more).
    Gone,
    /// There is no credit now: nothing was sent.
    Full,
}

#[derive(Debug)]
struct LaneOut {
    sender: lane::Sender,
    segment: SegmentId,
    /// The task that sends by it.
    owner: Tid,
    place: u32,
    inbox: Inbox,
    doorbell: Option<SocketAddrUnix>,
    /// It leads to a task, not to a host.
    to_task: bool,
    /// Messages sent to the task: the number of the last one.
    number: u64,
}

impl LaneOut {
    /// Asked after a publication: true if the receiver is there and sees it by itself.
    #[inline]
    fn is_watched(&self) -> bool {
        // The inbox is seldom written while the ring is watched, so this look costs no cache line's
        // way.
        self.sender.is_watched() && !self.inbox.header().is_closed()
    }
}

/// The sending half.
#[derive(Debug)]
pub struct Outbox {
    lanes: Recent<Tid, LaneOut>,
    pool: Pool,
    bell: OwnedFd,
    clock: Clock,
    spill: Spill,
    /// Messages without credit go to disk.
    spills: bool,
    /// The open slabs have more bytes than one receiver's share.
    pressed: bool,
    /// Bytes unread by each receiver, as they were counted last, and sends until the next count.
    unread: BTreeMap<Tid, usize>,
    uncounted: usize,
    /// The number of slabs that the sender does not ask for any more after a refusal.
    refused: u32,
    /// Calls of [`Outbox::shrink`] that do nothing.
    rest: usize,
    /// There are more slabs than are kept, or files.
    has_grown: bool,
    /// Some ring may be worth leaving.
    has_large_rings: bool,
    /// The last send that found no credit had no place in its lane.
    lacks_cells: bool,
}

/// A ring of this many cells is left when it is empty after a burst: 8 MiB.
const LARGE_RING: u32 = CELLS_MAX / 2;
/// A ring of this many cells does not grow for messages in several cells: 1 MiB.
const SPANNED_RING: u32 = CELLS_MAX / 16;
/// Each opening of a lane looks at this many other lanes, and leaves those whose receivers are
/// gone.
const WEEDED: usize = 4;
/// After the host has refused a slab, this many others are not asked for.
const REFUSED_REST: u32 = 64;

impl Outbox {
    /// No lanes yet.
    ///
    /// # Errors
    /// The process has no descriptors left, or the keeper gives no segment.
    pub fn new(broker: &mut dyn Broker) -> Result<Self, Code> {
        let (_, mapping) = map(broker.map(ACTIVITY_SEGMENT)?)?;
        Self::beside(Activity::new(mapping))
    }

    /// Like `new`, where the host's count of awake tasks is mapped already.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn beside(activity: Activity) -> Result<Self, Code> {
        let bell = bells::bell().map_err(|_| Code::OutOfRes)?;
        Ok(Self {
            lanes: Recent::new(),
            pool: Pool::new(),
            bell,
            clock: Clock::new(activity),
            spill: Spill::default(),
            spills: true,
            pressed: false,
            unread: BTreeMap::new(),
            uncounted: 0,
            refused: 0,
            rest: 0,
            has_grown: false,
            has_large_rings: false,
            lacks_cells: false,
        })
    }

    /// Whether messages that find no credit in memory go to disk.
    pub const fn set_spills(&mut self, spills: bool) {
        self.spills = spills;
    }

    /// The host's count of awake tasks.
    pub const fn activity(&self) -> &Activity {
        self.clock.activity()
    }

    /// All that this process has taken in was sent before `seen`
    /// ([`Inlet::seen`](crate::Inlet::seen)).
    #[inline]
    pub fn follow(&mut self, seen: u64) {
        self.clock.follow(seen);
    }

    /// Effects of what this process does next, other than by its messages, come behind the messages
    /// that it has sent.
    pub fn tell_clock(&mut self) {
        self.clock.tell();
    }

    /// The number of the last message to a task of this host; none where there is no lane to it.
    pub fn last_number(&self, to: Tid) -> Option<u64> {
        self.lanes.get(to).map(|lane| lane.number)
    }

    /// The number of a message that was sent by the lane to a task of this host; false if there is
    /// none.
    pub fn note_number(&mut self, to: Tid, number: u64) -> bool {
        self.lanes.get_mut(to).map(|lane| lane.number = number).is_some()
    }

    /// The descriptor that rings bells, for the child of a fork to close.
    pub const fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// Rings a doorbell, whether its owner sleeps or not.
    pub fn ring(&self, doorbell: &SocketAddrUnix) {
        bells::ring(&self.bell, doorbell);
    }

    /// After [`Sent::Full`]: true if the receiver has as many unread messages as it may have, false
    /// if memory or disk are used up.
    pub const fn lacks_cells(&self) -> bool {
        self.lacks_cells
    }

    /// Puts a message into the inbox of `to`, which may differ from the envelope's receiver
    /// where a daemon hands it on. Never waits for the receiver.
    ///
    /// # Errors
    /// [`Code::NoMem`] if the host has no memory left, [`Code::OutOfRes`] if the message had to go
    /// to a disk and that is full.
    pub fn send(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        envelope: &Envelope,
        body: Body<'_>,
    ) -> Result<Sent, Code> {
        match body {
            Body::Bytes(parts) => {
                let size: usize = parts.iter().map(|part| part.len()).sum();
                let kind = lane::Kind::Inline;
                if size <= INLINE_MAX
                    && let [payload] | [payload, []] | [[], payload] = parts
                {
                    return self.push(broker, to, Outgoing { kind, envelope, payload });
                }
                if size <= INLINE_MAX {
                    let mut inline = [0; INLINE_MAX];
                    let mut at = 0;
                    for part in parts {
                        inline[at..at + part.len()].copy_from_slice(part);
                        at += part.len();
                    }
                    let message = Outgoing { kind, envelope, payload: &inline[..size] };
                    return self.push(broker, to, message);
                }
                if self.may_span(to, envelope, size) {
                    let joined;
                    let payload: &[u8] = match parts {
                        [payload] | [payload, []] | [[], payload] => payload,
                        _ => {
                            joined = parts.concat();
                            &joined
                        }
                    };
                    let kind = lane::Kind::Spanning;
                    return self.push(broker, to, Outgoing { kind, envelope, payload });
                }
                let Ok(mut slab) = self.slab(broker, size) else {
                    return self.send_spilled(broker, to, envelope, (None, parts));
                };
                let mut at = 0;
                for part in parts {
                    slab.write(at, part);
                    at += part.len();
                }
                self.send_slab(broker, to, envelope, &mut slab)
            }
            Body::Slab(slab) => self.send_slab(broker, to, envelope, slab),
            Body::Draft(draft) => self.send_draft(broker, to, envelope, draft),
        }
    }

    /// True if a body is to lie in cells of the lane. One that has grown this far is for messages
    /// that nobody reads: those are counted as slabs are, and may go to a disk.
    fn may_span(&mut self, to: Tid, envelope: &Envelope, size: usize) -> bool {
        if size > SPANNING_MAX || envelope.is_spread() || envelope.body_size() != size as u64 {
            return false;
        }
        let lane = self.lanes.get_mut(to);
        lane.is_none_or(|lane| lane.sender.cells() < SPANNED_RING || lane.sender.has_room_for(size))
    }

    /// Says that a lane has something. False if its owner is gone.
    fn mark(&self, inbox: &Inbox, place: u32, doorbell: Option<&SocketAddrUnix>) -> bool {
        let marked = inbox.header().mark(place);
        if marked == Marked::Wake {
            inbox.count_awake(self.activity());
            if let Some(doorbell) = doorbell {
                bells::ring(&self.bell, doorbell);
            }
        }
        marked != Marked::Closed
    }

    fn send_slab(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        envelope: &Envelope,
        slab: &mut Slab,
    ) -> Result<Sent, Code> {
        if self.pressed && self.has_share(to, slab.capacity()) {
            return self.send_spilled(broker, to, envelope, (Some(slab), &[]));
        }
        let Ok(descriptor) = self.hold(broker, to, slab) else {
            return self.send_spilled(broker, to, envelope, (Some(slab), &[]));
        };
        let payload = &descriptor.to_array();
        let sent = self.push(broker, to, Outgoing { kind: lane::Kind::Slab, envelope, payload });
        if sent != Ok(Sent::Delivered) {
            slab.release(descriptor);
        }
        sent
    }

    /// Something was published in the lane to `to`, which stands.
    fn tell(&mut self, to: Tid) -> Sent {
        match self.lanes.get(to) {
            Some(lane) if lane.is_watched() => Sent::Delivered,
            Some(_) => self.tell_unwatched(to),
            None => Sent::Gone,
        }
    }

    /// Like `tell`, for a receiver that does not look at the lane by itself, or is gone.
    #[inline(never)]
    fn tell_unwatched(&mut self, to: Tid) -> Sent {
        let Some(lane) = self.lanes.get(to) else { return Sent::Gone };
        if self.mark(&lane.inbox, lane.place, lane.doorbell.as_ref()) {
            return Sent::Delivered;
        }
        self.lanes.remove(to);
        Sent::Gone
    }
}
