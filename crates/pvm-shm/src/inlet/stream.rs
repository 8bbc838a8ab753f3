//! Messages that their senders are still writing.

use super::whole::slot_of;
use super::{Arrival, Inlet, Payload};
use crate::broker::Broker;
use crate::lane::{self, room_for};
use crate::slab::{Descriptor, SlabView};
use crate::watch::SLOTS;
use pvm_wire::{Envelope, Tid};

impl Inlet {
    /// Takes a message that its sender is still writing, if it lies next in a watched lane and is
    /// wanted: for a thread that waits for it. All other looks see such a message when it is whole.
    pub fn take_stream(
        &mut self,
        broker: &mut dyn Broker,
        source: Option<Tid>,
        wants: impl Fn(&Envelope) -> bool,
    ) -> Option<Arrival> {
        let mut room = room_for(0);
        for slot in 0..SLOTS {
            let Some(place) = self.watched[slot].place else { continue };
            let Some(Some(lane)) = self.lanes.get_mut(place) else { continue };
            let Some(popped) = lane.receiver.peek(&mut room) else { continue };
            let own = |e: &Envelope| e.src == lane.sender && !e.is_spread() && wants(e);
            let Some(envelope) = popped.envelope.filter(own) else { continue };
            if popped.kind != lane::Kind::Stream as u8 {
                continue;
            }
            if source.is_none() && self.has_others(slot) {
                // The message that caused this one may be among them.
                return None;
            }
            let Some(Some(lane)) = self.lanes.get_mut(place) else { continue };
            let Some(descriptor) = Descriptor::from_slice(&room[..popped.size]) else { continue };
            let Some(mapping) = self.slabs.get(broker, descriptor.segment) else { continue };
            let view = SlabView::new(mapping, self.me, descriptor, envelope.body_size());
            let (Some(view), Some(words)) = (view, slot_of(&room)) else { continue };
            lane.receiver.step(popped.cells);
            lane.receiver.report_now_and_then();
            self.watch.set(slot, &lane.receiver);
            self.watched[slot].last = self.turn;
            let envelope = self.taken_in(envelope);
            return Some((envelope, Payload::Slab(view.following(words))));
        }
        None
    }
}
