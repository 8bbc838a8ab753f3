//! The short ways of an inlet: what lies next in a lane that is watched.

use super::{Arrival, Glance, Inlet, TURN, Watched};
use crate::broker::Broker;
use crate::lane::Wanted;
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
    /// [`Inlet::next`] of one sender whose lane is watched, the others staying where they are, if it is wanted. None says
    /// nothing.
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
        let Some(source) = source else { return self.take_first_wanted(wanted, room) };
        let turn = self.turn + 1;
        if turn.is_multiple_of(TURN)
            && (self.watch.has_rested() || self.inbox.header().has_pending())
        {
            return Glance::More;
        }
        let of_source = |watched: &Watched| watched.place.is_some() && watched.sender == source;
        let mut slot = self.recent;
        if !of_source(&self.watched[slot]) {
            let found = self.watched.iter().position(of_source);
            let Some(found) = found else {
                self.watch.look_only_at(None);
                return Glance::More;
            };
            slot = found;
        }
        match self.take_wanted_of(slot, wanted, room) {
            Glance::Nothing => self.watch.look_only_at(Some(slot)),
            Glance::Taken(taken) => {
                self.turn = turn;
                return Glance::Taken(taken);
            }
            Glance::More => return Glance::More,
        }
        Glance::Nothing
    }

    /// The same from anybody: the earliest, and nothing if a lane that is not watched may have an earlier one.
    #[inline(always)]
    fn take_first_wanted<W: Wanted>(
        &mut self,
        wanted: &W,
        room: &mut [u8],
    ) -> Glance<(Envelope, usize, W::Found)> {
        if self.holds_more() {
            return Glance::More;
        }
        let slot = match self.only {
            Some(slot) if self.is_ready(slot) => slot,
            Some(_) => {
                self.watch.look_only_at(None);
                return Glance::Nothing;
            }
            None => match self.earliest_watched() {
                Glance::Taken(slot) => slot,
                _ => {
                    self.watch.look_only_at(None);
                    return Glance::Nothing;
                }
            },
        };
        // Behind the look that has found it, for what it may have been sent because of.
        if self.inbox.header().has_pending() {
            return Glance::More;
        }
        let taken = self.take_wanted_of(slot, wanted, room);
        if matches!(taken, Glance::Taken(_)) {
            self.turn += 1;
        }
        taken
    }

    #[inline(always)]
    fn is_ready(&self, slot: usize) -> bool {
        let lane = self.watched[slot].place.and_then(|place| self.lanes.get(place)?.as_ref());
        lane.is_some_and(|lane| lane.receiver.is_ready())
    }

    #[inline(always)]
    fn take_wanted_of<W: Wanted>(
        &mut self,
        slot: usize,
        wanted: &W,
        room: &mut [u8],
    ) -> Glance<(Envelope, usize, W::Found)> {
        let Some(place) = self.watched[slot].place else { return Glance::More };
        let Some(Some(lane)) = self.lanes.get_mut(place) else { return Glance::More };
        let own = OwnWanted { sender: lane.sender, wanted };
        let Some((envelope, size, found)) = lane.receiver.pop_wanted(&own, room) else {
            return if lane.receiver.is_ready() { Glance::More } else { Glance::Nothing };
        };
        self.watch.set(slot, &lane.receiver);
        self.watched[slot].last = self.turn;
        self.recent = slot;
        self.streak = self.streak.saturating_add(1);
        Glance::Taken((self.taken_in(envelope), size, found))
    }
}
