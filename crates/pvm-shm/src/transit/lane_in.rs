//! A lane to another host, as the daemon reads it.

use crate::broker::{Broker, map};
use crate::inlet::may_pass;
use crate::lane::{self, Ring};
use pvm_wire::request::SegmentId;
use pvm_wire::{Code, HostIndex, Tid};
use std::collections::VecDeque;

/// One ring of a lane.
#[derive(Debug)]
pub(super) struct RingIn {
    pub(super) receiver: lane::Receiver,
    pub(super) segment: SegmentId,
    /// The entries that were read and are not confirmed.
    pub(super) ahead: VecDeque<Ahead>,
    /// It has been read to the cell that says where the lane goes on.
    pub(super) left: bool,
}

/// An entry that was read ahead: whether it is a message, and how many cells it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) is_message: bool,
    pub(super) cells: usize,
}

#[derive(Debug)]
pub(super) struct LaneIn {
    pub(super) sender: Tid,
    /// A host, or a task there: then it is the lane of a direct route.
    pub(super) to: Tid,
    /// The lane of a direct route is opened only when it is released.
    pub(super) closed: Option<(SegmentId, Ring)>,
    /// Oldest first; all but the last one are left.
    pub(super) rings: VecDeque<RingIn>,
}

/// The reason why a lane gives no further entry now.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// There is none.
    Empty,
    /// For want of memory or descriptors the next one cannot be read.
    OutOfReach,
}

impl RingIn {
    pub(super) fn new(segment: SegmentId, ring: Ring) -> Self {
        let receiver = lane::Receiver::new(ring);
        Self { receiver, segment, ahead: VecDeque::new(), left: false }
    }
}

impl LaneIn {
    pub(super) fn has(&self, segment: SegmentId) -> bool {
        self.rings.iter().any(|ring| ring.segment == segment)
            || self.closed.as_ref().is_some_and(|(id, _)| *id == segment)
    }

    pub(super) const fn host(&self) -> HostIndex {
        self.to.host()
    }

    /// True if it is of this task, and leads to that one if there is one.
    pub(super) fn is_of(&self, (sender, to): (Tid, Option<Tid>)) -> bool {
        self.sender == sender && to.is_none_or(|to| to == self.to)
    }

    /// Opens the lane of a direct route that has been released.
    pub(super) fn open_released(&mut self) {
        if let Some((segment, ring)) = self.closed.take_if(|(_, ring)| ring.is_released()) {
            self.rings.push_back(RingIn::new(segment, ring));
        }
    }

    pub(super) fn unconfirmed(&self) -> usize {
        self.rings.iter().map(|ring| ring.ahead.len()).sum()
    }

    /// Goes on in the ring that a cell names; false if it leads nowhere, and the lane ends.
    ///
    /// # Errors
    /// [`End::OutOfReach`] while that ring cannot be mapped.
    pub(super) fn go_on(
        &mut self,
        broker: &mut dyn Broker,
        id: SegmentId,
        cells: usize,
    ) -> Result<bool, End> {
        let next = open(broker, id, self.sender);
        if next.as_ref().is_err_and(|code| may_pass(*code)) {
            return Err(End::OutOfReach);
        }
        if let Some(ring) = self.rings.back_mut() {
            ring.receiver.step(cells);
            ring.left = true;
        }
        let next = next.ok().filter(|(_, to)| *to == self.to);
        let leads_on = next.is_some();
        self.rings.extend(next.map(|(ring, _)| RingIn::new(id, ring)));
        self.settle(broker);
        Ok(leads_on)
    }

    /// An entry of the last ring was read, and waits to be confirmed.
    pub(super) fn read_ahead(&mut self, ahead: Ahead) {
        if let Some(ring) = self.rings.back_mut() {
            ring.receiver.step(ahead.cells);
            ring.ahead.push_back(ahead);
        }
    }

    /// Moves the marks past cells that are no messages, and lets go of rings that are done with.
    pub(super) fn settle(&mut self, broker: &mut dyn Broker) {
        while let Some(ring) = self.rings.front_mut() {
            while let Some(nonsense) = ring.ahead.pop_front_if(|ahead| !ahead.is_message) {
                ring.receiver.confirm(nonsense.cells);
            }
            if !(ring.left && ring.ahead.is_empty()) {
                return;
            }
            broker.drop_segment(ring.segment);
            self.rings.pop_front();
        }
    }
}

/// A ring of a lane, and the host or task that it leads to.
pub(super) fn open(
    broker: &mut dyn Broker,
    id: SegmentId,
    sender: Tid,
) -> Result<(Ring, Tid), Code> {
    let (segment, mapping) = broker.map(id).and_then(map)?;
    let is_theirs = segment.owner == sender;
    is_theirs.then_some((Ring::Shared(mapping), segment.to)).ok_or(Code::BadParam)
}
