//! Publishing a message the long way: lanes are opened, and go on in larger rings.

use super::{LARGE_RING, LaneOut, Outbox, Outgoing, Sent, WEEDED};
use crate::broker::{Broker, map};
use crate::inbox::Inbox;
use crate::lane::{self, CELLS_FIRST, CELLS_MAX, GROWTH, Ring};
use pvm_wire::request::Segment;
use pvm_wire::{Code, Envelope, Tid};
use rustix::fd::OwnedFd;
use rustix::net::SocketAddrUnix;

impl Outbox {
    /// Publishes a message in the lane to `to`, which is opened, or goes on in a larger ring, where
    /// that is needed.
    pub(super) fn push(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        message: Outgoing<'_>,
    ) -> Result<Sent, Code> {
        let stands = self.lanes.get(to).is_some();
        match self.push_once(broker, to, message)? {
            // Its receiver is gone, and the lane with it. The number may be another task's by now.
            Sent::Gone if stands => self.push_once(broker, to, message),
            sent => Ok(sent),
        }
    }

    fn push_once(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        Outgoing { kind, envelope, payload }: Outgoing<'_>,
    ) -> Result<Sent, Code> {
        if self.lanes.get(to).is_none() {
            match open(broker, to, CELLS_FIRST) {
                Err(Code::NoTask) => return Ok(Sent::Gone),
                lane => {
                    let lane = lane?;
                    self.clock.belongs_to(lane.owner);
                    self.lanes.weed(WEEDED, |lane| lane.inbox.header().is_closed());
                    self.lanes.insert(to, lane)
                }
            };
        }
        let envelope = &self.timed(to, envelope);
        let Some(lane) = self.lanes.get_mut(to) else { return Ok(Sent::Gone) };
        if lane.sender.push(kind, envelope, payload).is_err() {
            // Full: a closed inbox would let a lane grow for nobody.
            let cells = lane.sender.cells().saturating_mul(GROWTH).min(CELLS_MAX);
            let mut next = match open(broker, to, cells) {
                Err(Code::NoTask) => {
                    self.lanes.remove(to);
                    return Ok(Sent::Gone);
                }
                Err(Code::OutOfRes) => {
                    self.lacks_cells = true;
                    return Ok(Sent::Full);
                }
                next => next?,
            };
            self.has_large_rings |= cells >= LARGE_RING;
            lane.sender.push_moved(next.segment);
            next.number = lane.number;
            next.sender.push(kind, envelope, payload).expect("an empty ring has room");
            *lane = next;
        }
        Ok(self.tell(to))
    }

    /// The envelope as it stands in a cell: in a lane to a task the moment takes the place of the
    /// receiver's name, which the receiver knows.
    pub(super) fn timed(&mut self, to: Tid, envelope: &Envelope) -> Envelope {
        if !to.is_task() {
            return *envelope;
        }
        Envelope { dst: Tid(self.clock.moment_of_any()), ..*envelope }
    }
}

/// A ring of so many cells that leads to a task or a host.
pub(super) fn open(broker: &mut dyn Broker, to: Tid, cells: u32) -> Result<LaneOut, Code> {
    let opened = broker.open_lane(to, cells)?;
    let id = opened.0.id;
    let lane = enter(broker, to, opened);
    if lane.is_err() {
        // Its receiver would wait for messages in this ring, while the next opening is another one.
        broker.drop_segment(id);
    }
    lane
}

fn enter(broker: &mut dyn Broker, to: Tid, opened: (Segment, OwnedFd)) -> Result<LaneOut, Code> {
    let (segment, mapping) = map(opened)?;
    // A receiver that has died since takes its inbox with it.
    let gone = |code| if code == Code::NotFound { Code::NoTask } else { code };
    let (_, inbox) = map(broker.map(segment.inbox).map_err(gone)?)?;
    Ok(LaneOut {
        sender: lane::Sender::new(Ring::Shared(mapping)),
        segment: segment.id,
        owner: segment.owner,
        place: segment.lane,
        inbox: Inbox::new(inbox),
        doorbell: SocketAddrUnix::new(segment.doorbell.0.as_slice()).ok(),
        to_task: to.is_task(),
        number: 0,
    })
}
