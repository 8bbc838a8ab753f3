//! Lanes of direct routes: messages that go over a socket are kept here until they are confirmed.

use super::pushing::open;
use super::{Body, Outbox};
use crate::broker::Broker;
use crate::lane::{self, INLINE_MAX};
use crate::pair::{self, PairLane};
use pvm_wire::{Code, Envelope, Tid};

/// The result of a push into the lane of a direct route.
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

impl Outbox {
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
            Body::Draft(_) => return Ok(Pushed::Full),
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
                let Ok(descriptor) = self.hold(broker, host, slab) else {
                    return Ok(Pushed::Full);
                };
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

    /// The route is no more: the daemon sends the unconfirmed messages.
    pub fn release_pair(&self, pair: &PairLane) {
        pair.release();
        self.mark(&pair.inbox, pair.place, pair.doorbell.as_ref());
    }
}
