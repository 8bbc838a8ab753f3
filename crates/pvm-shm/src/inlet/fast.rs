//! The fast path of a receive: the next message of a watched lane.

use super::{Glance, Inlet, TURN, Watched};
use crate::lane::{Head, INLINE_MAX, Key, LINE_MAX};
use pvm_wire::Tid;

impl Inlet {
    /// The fast path of [`Inlet::next`] for a plain message that rides in its lane, is no longer
    /// than `room`, lies next in a watched lane and is wanted: its data go to `room`, its head to
    /// `about`, and its size is returned. The look skips the inbox, and all lanes but that of
    /// `source`, if it is given. After [`Glance::Nothing`] a
    /// [`Watch::look_for`](crate::watch::Watch::look_for) looks there, too.
    // One copy, out of line: it does not disturb the registers of its callers.
    #[inline(never)]
    pub fn take_small(
        &mut self,
        source: Option<Tid>,
        wanted: &Key,
        about: &mut Head,
        room: &mut [u8],
    ) -> Glance<usize> {
        self.hold_on();
        let taken = self.take_small_now(source, wanted, about, room);
        if taken == Glance::Nothing && self.streak == 1 {
            self.hold.missed();
            self.watch.tell_soon(false);
        }
        taken
    }

    #[inline]
    fn take_small_now(
        &mut self,
        source: Option<Tid>,
        wanted: &Key,
        about: &mut Head,
        room: &mut [u8],
    ) -> Glance<usize> {
        let slot = match source {
            Some(source) => self.slot_of_source(source),
            None => self.slot_of_first(),
        };
        let Glance::Taken(slot) = slot else { return self.nothing_or_more(slot) };
        let taken = self.take_small_of(slot, wanted, about, room);
        if source.is_some() && taken == Glance::Nothing {
            self.watch.look_only_at(Some(slot));
        }
        taken
    }

    /// [`Inlet::take_small`] of at most [`FEW`](crate::bytes::FEW) bytes out of the lane that gave
    /// the last message, in place: for callers that do nothing else. Returns the size, and whether
    /// the data are raw and of no type; none does not tell that nothing waits.
    // Inlined: see `Receiver::take_few`.
    #[inline(always)]
    pub fn take_few(
        &mut self,
        source: Option<Tid>,
        wanted: &Key,
        about: &mut Head,
        room: &mut [u8],
    ) -> Option<(usize, bool)> {
        let slot = self.recent;
        let watched = self.watched.get(slot)?;
        let may = match source {
            Some(source) => {
                watched.sender == source
                    && (!(self.turn + 1).is_multiple_of(TURN)
                        || !self.watch.has_rested() && !self.inbox.header().has_pending())
            }
            None => self.ready == 0 && self.queue.is_empty() && self.only == Some(slot),
        };
        if !may {
            return None;
        }
        let place = watched.place?;
        self.hold_on();
        let awaits_lines = self.awaits_lines();
        let lane = self.lanes.get_mut(place)?.as_mut()?;
        if awaits_lines {
            lane.receiver.fetch_behind_first(self.last_size);
        }
        // The inbox is asked once the message is found: a message that caused it may have come
        // meanwhile, and goes first.
        let is_first = || source.is_some() || !self.inbox.header().has_pending();
        let taken = lane.receiver.take_few((lane.sender, wanted), about, room, is_first)?;
        self.watch.advance(slot, &lane.receiver);
        self.last_size = taken.0;
        if self.streak == 1 {
            self.hold.found(|| self.watch.came_soon());
        } else {
            lane.receiver.fetch_next();
        }
        self.turn += 1;
        self.watched[slot].last = self.turn;
        self.streak = self.streak.wrapping_add(1);
        self.note_moment(about.received_by(self.me));
        Some(taken)
    }

    /// Before the first look after a send: waits until the answer is about to be there, if that is
    /// most likely one cell.
    #[inline]
    fn hold_on(&mut self) {
        if self.streak == 0 {
            self.streak = 1;
            if self.last_size <= INLINE_MAX {
                self.hold.wait();
            }
        }
    }

    /// True until a message is taken behind a send, if the answer is most likely one cell, but more
    /// than one cache line.
    #[inline]
    const fn awaits_lines(&self) -> bool {
        self.last_size.wrapping_sub(LINE_MAX + 1) < INLINE_MAX - LINE_MAX && self.streak == 1
    }

    /// The slot of a sender's lane; more where that is not watched, or it is time to look at the
    /// inbox.
    #[inline]
    fn slot_of_source(&self, source: Tid) -> Glance<usize> {
        let is_of = |watched: &Watched| watched.place.is_some() && watched.sender == source;
        if (self.turn + 1).is_multiple_of(TURN)
            && (self.watch.has_rested() || self.inbox.header().has_pending())
        {
            return Glance::More;
        }
        if is_of(&self.watched[self.recent]) {
            return Glance::Taken(self.recent);
        }
        match self.watched.iter().position(is_of) {
            Some(found) => Glance::Taken(found),
            None => {
                self.watch.look_only_at(None);
                Glance::More
            }
        }
    }

    /// The slot of the lane that has the earliest message; more where a lane that is not watched
    /// may have an earlier one.
    #[inline]
    fn slot_of_first(&mut self) -> Glance<usize> {
        if self.holds_more() {
            return Glance::More;
        }
        let slot = match self.only {
            Some(slot) if self.is_ready(slot) => Glance::Taken(slot),
            Some(_) => Glance::Nothing,
            None => self.earliest_watched(),
        };
        // The inbox is asked once the message is found: a message that caused it may have come
        // meanwhile, and goes first.
        match slot {
            Glance::Taken(_) if self.inbox.header().has_pending() => Glance::More,
            slot => slot,
        }
    }

    /// No lane is looked at now: a wait looks at all of them.
    #[inline]
    fn nothing_or_more<T>(&self, slot: Glance<usize>) -> Glance<T> {
        if slot == Glance::Nothing {
            self.watch.look_only_at(None);
            return Glance::Nothing;
        }
        Glance::More
    }

    #[inline]
    fn is_ready(&self, slot: usize) -> bool {
        let lane = self.watched[slot].place.and_then(|place| self.lanes.get(place)?.as_ref());
        lane.is_some_and(|lane| lane.receiver.is_ready())
    }

    // Inlined: pvm_recv of 1000 bytes takes 70 instructions less, with what calls it.
    #[inline(always)]
    fn take_small_of(
        &mut self,
        slot: usize,
        wanted: &Key,
        about: &mut Head,
        room: &mut [u8],
    ) -> Glance<usize> {
        let Some(place) = self.watched[slot].place else { return Glance::More };
        let awaits_lines = self.awaits_lines();
        let Some(Some(lane)) = self.lanes.get_mut(place) else { return Glance::More };
        if awaits_lines {
            lane.receiver.fetch_behind_first(self.last_size);
        }
        let Some(taken) = lane.receiver.take((lane.sender, wanted), about, room) else {
            return if lane.receiver.is_ready() { Glance::More } else { Glance::Nothing };
        };
        self.watch.set(slot, &lane.receiver);
        self.last_size = taken;
        if self.streak == 1 && taken <= INLINE_MAX {
            self.hold.found(|| self.watch.came_soon());
        } else {
            lane.receiver.fetch_next();
        }
        self.turn += 1;
        self.watched[slot].last = self.turn;
        self.recent = slot;
        self.streak = self.streak.wrapping_add(1);
        self.note_moment(about.received_by(self.me));
        Glance::Taken(taken)
    }
}
