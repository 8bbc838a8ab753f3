//! Looks for the next message of one sender, which leave the messages of others in their lanes.

use super::first::is_queued;
use super::{Arrival, Glance, Inlet, LaneIn, TURN, Watched};
use crate::broker::Broker;
use pvm_wire::{Envelope, Tid};

/// A look for one sender goes through the list of lanes, up to this many.
const LANES_MAX: usize = 64;

impl Inlet {
    /// [`Inlet::next`] of one sender whose lane is watched, the others staying where they are, if
    /// it is wanted. None does not tell that nothing waits.
    pub fn next_of(
        &mut self,
        broker: &mut dyn Broker,
        source: Tid,
        wants: impl Fn(&Envelope) -> bool,
    ) -> Option<Arrival> {
        if self.watch.has_rested() {
            return None;
        }
        let of_source = |watched: &Watched| watched.place.is_some() && watched.sender == source;
        let slot = self.watched.iter().position(of_source)?;
        self.turn += 1;
        let arrival = self.pop(broker, self.watched[slot].place?, wants)?;
        self.watched[slot].last = self.turn;
        Some(arrival)
    }

    /// [`Inlet::next`] of one sender, alone: its next message, if it is wanted. It takes the marks
    /// of all lanes, and leaves the messages of others there. After [`Glance::Nothing`] the caller
    /// waits for this sender only ([`Watch::look`](crate::watch::Watch::look)): messages of others
    /// may lie in watched lanes. The next message of this sender comes by a lane that is watched,
    /// or sets a bit that is clear.
    ///
    /// [`Glance::More`] asks for a look at all lanes: the next message of the sender is not wanted,
    /// the host itself says something, a message in the context `urgent` waits, or there is more
    /// than one lane of the sender, or more lanes than a look should go through.
    pub fn next_from(
        &mut self,
        broker: &mut dyn Broker,
        (source, urgent): (Tid, i32),
        wants: impl Fn(&Envelope) -> bool,
    ) -> Glance<Arrival> {
        if self.watch.take_rested() {
            self.end_watch();
        }
        self.take_bits(broker);
        let Some(place) = lane_of(&self.lanes, source, urgent) else { return Glance::More };
        let Some(place) = place.filter(|&place| self.look(broker, place).is_some()) else {
            // The look may have ended a watch, or lacked memory.
            let is_whole = self.ready == 0 && !self.watch.is_lacking();
            return if is_whole { Glance::Nothing } else { Glance::More };
        };
        self.turn += 1;
        if self.turn.is_multiple_of(TURN) {
            self.tell_latest();
        }
        let Some(arrival) = self.pop(broker, place, wants) else { return Glance::More };
        if let Some(Some(lane)) = self.lanes.get_mut(place) {
            if let Some(slot) = lane.slot {
                self.watched[slot].last = self.turn;
                return Glance::Taken(arrival);
            }
            // Its entry in the queue means nothing any more.
            lane.queued = None;
            self.begin_watch(place);
            self.enqueue(broker, place);
            let lanes = &self.lanes;
            self.queue.shrink(2 * LANES_MAX, |next| is_queued(lanes, next));
        }
        Glance::Taken(arrival)
    }
}

/// The place of a sender's lane, none if it has none; no answer if all lanes must be looked at.
fn lane_of(lanes: &[Option<LaneIn>], source: Tid, urgent: i32) -> Option<Option<usize>> {
    if lanes.len() > LANES_MAX {
        return None;
    }
    let mut found = None;
    for (place, lane) in lanes.iter().enumerate() {
        let Some(lane) = lane else { continue };
        if lane.sender == source && found.replace(place).is_some() {
            return None;
        }
        if lane.sender != source && lane.is_urgent(urgent) {
            return None;
        }
    }
    Some(found)
}

impl LaneIn {
    /// True if something may lie here for which everybody looks: a word of the host, or a message
    /// in this context.
    fn is_urgent(&self, context: i32) -> bool {
        let is_known = self.slot.is_some() || self.queued.is_some();
        let is_host = self.sender == Tid::NONE || self.sender.is_daemon();
        is_known
            && (is_host && self.receiver.is_ready()
                || self.receiver.next_context() == Some(context))
    }
}
