//! Messages that are read while they are written.

use super::{Outbox, Sent};
use crate::lane;
use crate::slab::{Descriptor, Slab};
use pvm_wire::{Envelope, Tid};

impl Outbox {
    /// True if the receiver waits for just this message, and looks at its lane by itself: then it
    /// can read while it is written ([`Outbox::begin_stream`]).
    pub fn is_awaited(&mut self, to: Tid, envelope: &Envelope) -> bool {
        let Some(lane) = self.lanes.get_mut(to) else { return false };
        lane.inbox.wish().fits(envelope) && lane.sender.is_watched()
    }

    /// Announces a message whose body is written to `slab` from now on, which
    /// [`Slab::fill_stream`](crate::Slab::fill_stream) and at last [`Outbox::end_stream`] tell of.
    /// None if it must go another way.
    pub fn begin_stream(&mut self, to: Tid, envelope: &Envelope, slab: &mut Slab) -> Option<()> {
        let descriptor = slab.hold_for(to)?;
        let slot = slab.begin_stream();
        let mut payload = [0; Descriptor::SIZE + size_of::<u32>()];
        payload[..Descriptor::SIZE].copy_from_slice(&descriptor.to_array());
        payload[Descriptor::SIZE..].copy_from_slice(&slot.to_ne_bytes());
        let envelope = &self.timed(to, envelope);
        let lane = self.lanes.get_mut(to)?;
        if lane.sender.push(lane::Kind::Stream, envelope, &payload).is_err() {
            slab.release(descriptor);
            return None;
        }
        if self.tell(to) == Sent::Gone {
            // The number may be another task's by now: the long way looks.
            slab.release(descriptor);
            return None;
        }
        Some(())
    }

    /// The body is written: a receiver that did not wait for it sees it from now on.
    pub fn end_stream(&mut self, to: Tid) -> Sent {
        let Some(lane) = self.lanes.get(to) else { return Sent::Gone };
        if self.mark(&lane.inbox, lane.place, lane.doorbell.as_ref()) {
            return Sent::Delivered;
        }
        self.lanes.remove(to);
        Sent::Gone
    }
}
