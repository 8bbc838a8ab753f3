//! The short ways of an inlet: what lies next in a lane that is watched.

use super::{Arrival, Glance, Inlet, TURN, Watched};
use crate::broker::Broker;
use crate::lane::Wanted;
use crate::watch::SLOTS;
use pvm_wire::{Envelope, Tid};

/// What is wanted of a sender: in its lane it speaks for itself only.
struct OwnWanted<'a, W> {
    sender: Tid,
    wanted: &'a W,
}

impl<W: Wanted> Wanted for OwnWanted<'_, W> {
    type Found = W::Found;
    #[inline(always)]
    fn find(&self, envelope: &Envelope) -> Option<W::Found> {
        if envelope.src != self.sender || envelope.is_spread() {
            return None;
        }
        self.wanted.find(envelope)
    }
}

impl Inlet {
    /// [`Inlet::next`] of one sender whose lane is watched, the others staying where they are. None says nothing.
    pub fn next_of(&mut self, broker: &mut dyn Broker, source: Tid) -> Option<Arrival> {
        if !self.gathered.is_empty() || self.watch.has_rested() {
            return None;
        }
        let of_source = |watched: &Watched| watched.place.is_some() && watched.sender == source;
        let slot = self.watched.iter().position(of_source)?;
        self.turn = self.turn.wrapping_add(1);
        let arrival = self.pop(broker, self.watched[slot].place?)?;
        self.watched[slot].last = self.turn;
        Some(arrival)
    }

    /// The short way of [`Inlet::next`] for a message that rides in its lane, is no longer than `room`, lies next in a watched
    /// lane and is wanted: its payload goes to `room`, and what was found in it is given out. The inbox itself is
    /// not looked at, and of the lanes only that of `source`, if it is given. After [`Glance::Nothing`] a
    /// [`Watch::look_for`] looks there, too.
    #[inline(always)]
    pub fn take_wanted<W: Wanted>(
        &mut self,
        source: Option<Tid>,
        wanted: &W,
        room: &mut [u8],
    ) -> Glance<(Envelope, usize, W::Found)> {
        let turn = self.turn.wrapping_add(1);
        let mut slot = self.recent;
        if turn.is_multiple_of(TURN) {
            if self.watch.has_rested() || self.inbox.header().has_pending() {
                return Glance::More;
            }
            // No lane is looked at first for ever.
            slot = (slot + 1) % SLOTS;
        }
        if !self.gathered.is_empty() {
            return Glance::More;
        }
        let mut sole = None;
        for _ in 0..SLOTS {
            let watched = &self.watched[slot % SLOTS];
            if let Some(place) = watched.place
                && source.is_none_or(|source| source == watched.sender)
            {
                match self.take_wanted_of((slot % SLOTS, place), wanted, room) {
                    Glance::Taken(taken) => {
                        self.turn = turn;
                        return Glance::Taken(taken);
                    }
                    Glance::More => return Glance::More,
                    Glance::Nothing => sole = Some(slot % SLOTS),
                }
            }
            slot += 1;
        }
        if source.is_some() {
            self.watch.look_only_at(sole);
            return if sole.is_some() { Glance::Nothing } else { Glance::More };
        }
        self.watch.look_only_at(None);
        // What the inbox told of before is still to be read.
        if self.ready == 0 { Glance::Nothing } else { Glance::More }
    }

    #[inline(always)]
    fn take_wanted_of<W: Wanted>(
        &mut self,
        (slot, place): (usize, usize),
        wanted: &W,
        room: &mut [u8],
    ) -> Glance<(Envelope, usize, W::Found)> {
        let Some(Some(lane)) = self.lanes.get_mut(place) else { return Glance::More };
        let own = OwnWanted { sender: lane.sender, wanted };
        let Some(taken) = lane.receiver.pop_wanted(&own, room) else {
            return if lane.receiver.is_ready() { Glance::More } else { Glance::Nothing };
        };
        self.watch.set(slot, &lane.receiver);
        self.watched[slot].last = self.turn;
        self.recent = slot;
        self.streak = self.streak.saturating_add(1);
        Glance::Taken(taken)
    }
}
