//! The sending half of a process: its lanes into other inboxes, and its slabs.

use crate::activity::Activity;
use crate::inbox::{Inbox, Marked};
use crate::lane::{self, CELLS_FIRST, CELLS_MAX, GROWTH, INLINE_MAX, Ring, SLAB_PAYLOAD_MAX};
use crate::pair::{self, PairLane};
use crate::recent::Recent;
use crate::segment::Mapping;
use crate::slab::{Descriptor, Pool, Slab};
use pvm_wire::request::{ACTIVITY_SEGMENT, Segment, SegmentId};
use pvm_wire::spread::{self, Receiver};
use pvm_wire::{Code, Envelope, Tid};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::sync::Arc;

/// Who gives out segments: the keeper, asked directly or over a socket.
pub trait Broker {
    /// A (larger) lane to a task of this host. `NoTask` if there is none.
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code>;
    /// A segment for slabs.
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code>;
    /// A segment by its number.
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code>;
    /// The caller's own lanes opened after the `after`-th.
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code>;
    /// The caller needs this one no more.
    fn drop_segment(&mut self, id: SegmentId);
}

/// Maps a segment that came with its description.
pub(crate) fn map((segment, fd): (Segment, OwnedFd)) -> Result<(Segment, Arc<Mapping>), Code> {
    let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
    let mapping = Mapping::new(&fd, size, size <= 1 << 20).map_err(|_| Code::NoMem)?;
    Ok((segment, Arc::new(mapping)))
}

/// What goes with an envelope: data and run list.
#[derive(Debug)]
pub enum Body<'a> {
    /// In pieces, one behind the other, in private memory.
    Bytes(&'a [&'a [u8]]),
    /// In a slab of this outbox's.
    Slab(&'a mut Slab),
}

/// What is to be published.
#[derive(Clone, Copy)]
struct Outgoing<'a> {
    kind: lane::Kind,
    envelope: &'a Envelope,
    payload: &'a [u8],
}

/// What became of a message for the lane of a direct route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pushed {
    /// It is kept there, and may go over the socket.
    Kept,
    /// It is kept there, and the daemon sends it.
    Taken,
    /// Too much waits to be confirmed: it must go by the daemons.
    Full,
    /// The daemon reads this lane: it must go by the daemons.
    Released,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It is in the receiver's inbox.
    Delivered,
    /// There is no such task (any more).
    Gone,
}

#[derive(Debug)]
struct LaneOut {
    sender: lane::Sender,
    segment: SegmentId,
    place: u32,
    inbox: Inbox,
    doorbell: Option<SocketAddrUnix>,
}

/// The sending half.
#[derive(Debug)]
pub struct Outbox {
    lanes: Recent<Tid, LaneOut>,
    pool: Pool,
    bell: OwnedFd,
    activity: Activity,
}

impl Outbox {
    /// No lanes yet.
    ///
    /// # Errors
    /// The process has no descriptors left, or the keeper gives no segment.
    pub fn new(broker: &mut dyn Broker) -> Result<Self, Code> {
        let (_, mapping) = map(broker.map(ACTIVITY_SEGMENT)?)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::DGRAM;
        let bell = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)
            .map_err(|_| Code::OutOfRes)?;
        let activity = Activity::new(mapping);
        Ok(Self { lanes: Recent::new(), pool: Pool::new(), bell, activity })
    }

    /// The host's count of awake tasks.
    pub const fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The descriptor that rings bells, for the child of a fork to close.
    pub const fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// A slab for `size` bytes.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn slab(&mut self, broker: &mut dyn Broker, size: usize) -> Result<Slab, Code> {
        for segment in self.pool.surplus() {
            broker.drop_segment(segment);
        }
        self.pool.take(size, |bytes| {
            let (segment, mapping) = map(broker.open_slab(bytes as u64)?)?;
            Ok((segment.id, mapping))
        })
    }

    /// Slabs that readers still hold.
    pub fn slabs_in_flight(&self) -> usize {
        self.pool.in_flight()
    }

    /// Puts a message into the inbox of `to`, which may differ from the envelope's receiver
    /// where a daemon hands it on. Never waits for the receiver.
    ///
    /// # Errors
    /// The host has no memory left.
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
                let mut slab = self.slab(broker, size)?;
                let mut at = 0;
                for part in parts {
                    slab.write(at, part);
                    at += part.len();
                }
                self.send_slab(broker, to, envelope, &mut slab)
            }
            Body::Slab(slab) => self.send_slab(broker, to, envelope, slab),
        }
    }

    /// Puts one message for several tasks of another host on the way there.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn send_spread(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        envelope: &Envelope,
        (body, receivers): (Body<'_>, &[Receiver]),
    ) -> Result<Sent, Code> {
        let list = &spread::to_bytes(receivers);
        let mut envelope = *envelope;
        envelope.flags |= Envelope::SPREAD;
        envelope.dst = host;
        envelope.sequence = receivers.len() as u64;
        match body {
            Body::Bytes(parts) => {
                let mut whole: Vec<&[u8]> = parts.to_vec();
                whole.push(list);
                self.send(broker, host, &envelope, Body::Bytes(&whole))
            }
            Body::Slab(slab) => {
                let descriptor = self.hold(broker, host, slab)?;
                let mut payload = descriptor.to_array().to_vec();
                let mut list_slab = None;
                if payload.len() + list.len() <= SLAB_PAYLOAD_MAX {
                    payload.extend_from_slice(list);
                } else {
                    // Two descriptors: 32 bytes are no descriptor and entries of 12.
                    let mut slab = self.slab(broker, list.len())?;
                    slab.write(0, list);
                    let held = self.hold(broker, host, &mut slab)?;
                    payload.extend_from_slice(&held.to_array());
                    list_slab = Some((slab, held));
                }
                let kind = lane::Kind::Slab;
                let message = Outgoing { kind, envelope: &envelope, payload: &payload };
                let sent = self.push(broker, host, message);
                if sent != Ok(Sent::Delivered) {
                    slab.release(descriptor);
                    if let Some((slab, held)) = list_slab {
                        slab.release(held);
                    }
                }
                sent
            }
        }
    }

    /// A lane for a direct route to a task of another host.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn open_pair(&self, broker: &mut dyn Broker, to: Tid) -> Result<PairLane, Code> {
        let lane = open(broker, to, pair::CELLS)?;
        Ok(PairLane::new(lane.sender, lane.place, lane.inbox, lane.doorbell))
    }

    /// Keeps a message of a direct route until it is confirmed. Large bodies must lie in a slab.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn push_pair(
        &mut self,
        broker: &mut dyn Broker,
        pair: &mut PairLane,
        envelope: &Envelope,
        body: Body<'_>,
    ) -> Result<Pushed, Code> {
        let size = usize::try_from(envelope.body_size()).map_err(|_| Code::NoMem)?;
        if pair.is_released() {
            return Ok(Pushed::Released);
        }
        if !pair.has_room(size) {
            return Ok(Pushed::Full);
        }
        let pushed = match body {
            Body::Bytes(parts) => {
                let whole = parts.concat();
                if whole.len() > INLINE_MAX {
                    return Err(Code::NoMem);
                }
                let pushed = pair.sender.push(lane::Kind::Inline, envelope, &whole);
                pushed.map(|()| None)
            }
            Body::Slab(slab) => {
                let host = Tid::host_id(envelope.dst.host());
                let descriptor = self.hold(broker, host, slab)?;
                let payload = descriptor.to_array();
                let hold = slab.hold(descriptor);
                let pushed = pair.sender.push(lane::Kind::Slab, envelope, &payload);
                pushed.map(|()| Some(hold))
            }
        };
        let Ok(hold) = pushed else { return Ok(Pushed::Full) };
        pair.note(envelope.sequence, size, hold);
        if pair.is_released() {
            // The daemon may have read the lane to its end before this message was there.
            self.release_pair(pair);
            return Ok(Pushed::Taken);
        }
        Ok(Pushed::Kept)
    }

    /// The route is no more: the daemon sends what was not confirmed.
    pub fn release_pair(&self, pair: &PairLane) {
        pair.release();
        self.mark(&pair.inbox, pair.place, pair.doorbell.as_ref());
    }

    /// Says that a lane has something. False if its owner is gone.
    fn mark(&self, inbox: &Inbox, place: u32, doorbell: Option<&SocketAddrUnix>) -> bool {
        let marked = inbox.header().mark(place);
        if marked == Marked::Wake {
            self.activity.woke();
            if let Some(doorbell) = doorbell {
                // A full or missing doorbell means that the receiver is awake or gone.
                let _ = rustix::net::sendto(&self.bell, b"!", SendFlags::DONTWAIT, doorbell);
            }
        }
        marked != Marked::Closed
    }

    /// Notes a receiver in a slab; if all its places are taken, a copy takes the slab's stead.
    fn hold(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        slab: &mut Slab,
    ) -> Result<Descriptor, Code> {
        if let Some(descriptor) = slab.hold_for(to) {
            return Ok(descriptor);
        }
        // The next receivers share the copy. The old slab is freed by its readers.
        let size = slab.capacity();
        let copy = self.slab(broker, size)?;
        let mut block = [0; 4096];
        for at in (0..size).step_by(block.len()) {
            let n = block.len().min(size - at);
            slab.read(at, &mut block[..n]);
            copy.write(at, &block[..n]);
        }
        *slab = copy;
        slab.hold_for(to).ok_or(Code::NoMem)
    }

    fn send_slab(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        envelope: &Envelope,
        slab: &mut Slab,
    ) -> Result<Sent, Code> {
        let descriptor = self.hold(broker, to, slab)?;
        let payload = &descriptor.to_array();
        let sent = self.push(broker, to, Outgoing { kind: lane::Kind::Slab, envelope, payload });
        if sent != Ok(Sent::Delivered) {
            slab.release(descriptor);
        }
        sent
    }

    fn push(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        Outgoing { kind, envelope, payload }: Outgoing<'_>,
    ) -> Result<Sent, Code> {
        if self.lanes.get(to).is_none() {
            match open(broker, to, CELLS_FIRST) {
                Err(Code::NoTask) => return Ok(Sent::Gone),
                lane => self.lanes.insert(to, lane?),
            };
        }
        let Some(lane) = self.lanes.get_mut(to) else { return Ok(Sent::Gone) };
        if lane.sender.push(kind, envelope, payload).is_err() {
            // Full: a closed inbox would let a lane grow for nobody.
            let cells = lane.sender.cells().saturating_mul(GROWTH).min(CELLS_MAX);
            let mut next = match open(broker, to, cells) {
                Err(Code::NoTask) => {
                    self.lanes.remove(to);
                    return Ok(Sent::Gone);
                }
                next => next?,
            };
            lane.sender.push_moved(next.segment);
            next.sender.push(kind, envelope, payload).expect("an empty ring has room");
            *lane = next;
        }
        let header = lane.inbox.header();
        // Seldom written while the ring is watched, so this look costs no cache line's way.
        if lane.sender.is_watched() && !header.is_closed() {
            return Ok(Sent::Delivered);
        }
        match header.mark(lane.place) {
            Marked::Awake => Ok(Sent::Delivered),
            Marked::Wake => {
                self.activity.woke();
                if let Some(doorbell) = &lane.doorbell {
                    // A full or missing doorbell means that the receiver is awake or gone.
                    let _ = rustix::net::sendto(&self.bell, b"!", SendFlags::DONTWAIT, doorbell);
                }
                Ok(Sent::Delivered)
            }
            Marked::Closed => {
                self.lanes.remove(to);
                Ok(Sent::Gone)
            }
        }
    }
}

fn open(broker: &mut dyn Broker, to: Tid, cells: u32) -> Result<LaneOut, Code> {
    let (segment, mapping) = map(broker.open_lane(to, cells)?)?;
    let (_, inbox) = map(broker.map(segment.inbox)?)?;
    Ok(LaneOut {
        sender: lane::Sender::new(Ring::Shared(mapping)),
        segment: segment.id,
        place: segment.lane,
        inbox: Inbox::new(inbox),
        doorbell: SocketAddrUnix::new(segment.doorbell.0.as_slice()).ok(),
    })
}
