//! The receiving half of a process: the lanes into its inbox.

use crate::inbox::{Inbox, LANE_BITS};
use crate::lane::{self, INLINE_MAX, Popped, Ring};
use crate::mappings::Mappings;
use crate::outbox::{Broker, map};
use crate::slab::{Descriptor, SlabView};
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Bytes, Envelope, Tid};
use std::collections::VecDeque;

/// A pass over the lanes takes at most this many messages from each: a quick sender must not
/// keep its receiver busy for ever.
const BATCH: usize = 256;

/// The data (and run list) of a received message.
#[derive(Debug)]
pub enum Payload {
    /// They came in the cell.
    Inline {
        /// The bytes, of which `size` count.
        bytes: [u8; INLINE_MAX],
        /// How many.
        size: usize,
    },
    /// They lie in the sender's slab.
    Slab(SlabView),
}

impl Payload {
    /// Data and run list, in bytes.
    pub const fn size(&self) -> usize {
        match self {
            Self::Inline { size, .. } => *size,
            Self::Slab(view) => view.size(),
        }
    }
}

impl Bytes for Payload {
    fn size(&self) -> usize {
        Self::size(self)
    }
    fn copy_to(&self, offset: usize, out: &mut [u8]) {
        match self {
            Self::Inline { bytes, size } => {
                out.copy_from_slice(&bytes[..*size][offset..offset + out.len()]);
            }
            Self::Slab(view) => view.read(offset, out),
        }
    }
}

#[derive(Debug)]
struct LaneIn {
    receiver: lane::Receiver,
    segment: SegmentId,
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
}

/// A message as it came out of its lane.
pub type Arrival = (Envelope, Payload);

impl Inlet {
    /// Reads this inbox, as `me`.
    pub fn new(me: Tid, inbox: Inbox) -> Self {
        // A reader before this one may have died between taking the bits and reading the lanes.
        inbox.header().put_back(u64::MAX);
        Self { me, inbox, lanes: Vec::new(), opened: 0, slabs: Mappings::default(), dropped: 0 }
    }

    /// The inbox.
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Messages that were dropped because they made no sense.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes what waits. The order of each sender is kept, and what the host itself says (lane
    /// 0: notices) comes behind everything that was sent before it was said.
    pub fn poll(&mut self, broker: &mut dyn Broker, out: &mut VecDeque<Arrival>) {
        let mut bits = self.inbox.header().take();
        if bits == 0 {
            return;
        }
        let mut said = VecDeque::new();
        if bits & 1 != 0 {
            self.refresh(broker);
            self.drain(broker, 0, &mut said);
            // What a task sent before the host told of its death has its bit set by now. The
            // host's own bit may be set again: that is for the next time.
            let more = self.inbox.header().take();
            self.inbox.header().put_back(more & 1);
            bits |= more;
        }
        self.refresh(broker);
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            let first = if bit == 0 { LANE_BITS } else { bit };
            for place in (first as usize..self.lanes.len()).step_by(LANE_BITS as usize) {
                self.drain(broker, place, out);
            }
        }
        out.append(&mut said);
    }

    /// Learns of lanes that were opened since the last time.
    fn refresh(&mut self, broker: &mut dyn Broker) {
        let opened = self.inbox.opened();
        if opened == self.opened {
            return;
        }
        let Ok(lanes) = broker.list_lanes(self.opened) else { return };
        self.opened = opened;
        for segment in lanes {
            let place = segment.lane as usize;
            // The keeper counts lanes; more than this is nobody's doing but a scribbler's.
            if place > 1 << 20 {
                continue;
            }
            if self.lanes.len() <= place {
                self.lanes.resize_with(place + 1, || None);
            }
            // An opening may be listed twice; a sender that starts anew has another segment.
            if self.lanes[place].as_ref().is_some_and(|lane| lane.segment == segment.id) {
                continue;
            }
            self.lanes[place] = open(broker, &segment);
        }
    }

    fn drain(&mut self, broker: &mut dyn Broker, place: usize, out: &mut VecDeque<Arrival>) {
        for _ in 0..BATCH {
            let Some(lane) = self.lanes.get_mut(place).and_then(Option::as_mut) else { return };
            let Some(popped) = lane.receiver.pop() else { return };
            if popped.kind == lane::Kind::Moved as u16 {
                self.follow(broker, place, &popped);
                continue;
            }
            let sender = lane.sender;
            match self.open_message(broker, sender, popped) {
                Some(arrival) => out.push_back(arrival),
                None => self.dropped += 1,
            }
        }
        self.inbox.header().put_back(1 << (place as u32 % LANE_BITS));
    }

    /// The lane goes on in a larger ring.
    fn follow(&mut self, broker: &mut dyn Broker, place: usize, popped: &Popped) {
        let Some(Some(lane)) = self.lanes.get_mut(place) else { return };
        let id = popped.payload.first_chunk().map_or(0, |id| u32::from_le_bytes(*id));
        let old = lane.segment;
        let next = broker.map(id).and_then(map);
        match next {
            Ok((segment, mapping)) if segment.owner == lane.sender => {
                lane.receiver = lane::Receiver::new(Ring::Shared(mapping));
                lane.segment = id;
            }
            // A lane that leads nowhere ends.
            _ => {
                self.lanes[place] = None;
                self.dropped += 1;
            }
        }
        broker.drop_segment(old);
    }

    fn open_message(
        &mut self,
        broker: &mut dyn Broker,
        sender: Tid,
        popped: Popped,
    ) -> Option<Arrival> {
        let envelope = Envelope::from_array(&popped.envelope).ok()?;
        // Only the host itself speaks for others.
        let from_host = sender == Tid::NONE || sender.is_daemon();
        if (!from_host && envelope.src != sender) || envelope.is_spread() {
            return None;
        }
        let size = envelope.body_size();
        if popped.kind == lane::Kind::Inline as u16 {
            (size == popped.size as u64)
                .then_some((envelope, Payload::Inline { bytes: popped.payload, size: popped.size }))
        } else if popped.kind == lane::Kind::Slab as u16 {
            let descriptor = Descriptor::from_slice(&popped.payload[..popped.size])?;
            let mapping = self.slabs.get(broker, descriptor.segment)?;
            Some((envelope, Payload::Slab(SlabView::new(mapping, self.me, descriptor, size)?)))
        } else {
            None
        }
    }
}

fn open(broker: &mut dyn Broker, segment: &Segment) -> Option<LaneIn> {
    let (found, mapping) = broker.map(segment.id).and_then(map).ok()?;
    let receiver = lane::Receiver::new(Ring::Shared(mapping));
    Some(LaneIn { receiver, segment: found.id, sender: segment.owner })
}
