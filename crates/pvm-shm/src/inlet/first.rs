//! The choice of the earliest message among the lanes that have one.

use super::{Arrival, Glance, Inlet, LOOKS, LaneIn, MOVES, Next, TURN, is_whole, settle, widen};
use crate::broker::Broker;
use crate::clock::BEFORE_ALL;
use crate::inbox::LANE_BITS;
use crate::lane::{self, room_for};
use crate::sync::Ordering;
use crate::watch::SLOTS;

/// True if an entry of the queue stands for the next message of its lane.
pub(super) fn is_queued(lanes: &[Option<LaneIn>], next: &Next) -> bool {
    let lane = lanes.get(next.place).and_then(Option::as_ref);
    lane.is_some_and(|lane| lane.queued == Some(next.since))
}

impl Inlet {
    /// The earliest of the messages that lie next in all lanes. All lanes are looked at once more
    /// before one is chosen: the cause of the chosen message is there by then, perhaps in a lane
    /// that was empty a moment ago.
    pub(super) fn earliest(&mut self, broker: &mut dyn Broker) -> Option<Next> {
        let host = self.activity.clock().load(Ordering::Relaxed);
        if super::is_later(host, self.seen) {
            self.seen = host;
        }
        settle(LOOKS, || {
            self.take_bits(broker);
            let mut first = self.look_at_all(broker);
            if self.ready != 0 {
                // A lane was watched until this look.
                self.take_bits(broker);
                first = self.look_at_all(broker);
            }
            first
        })
    }

    fn look_at_all(&mut self, broker: &mut dyn Broker) -> Option<Next> {
        let lanes = &self.lanes;
        let mut first = self.queue.first(|next| is_queued(lanes, next));
        for slot in 0..SLOTS {
            let since = self.watched[slot].last;
            if let Some(place) = self.watched[slot].place
                && let Some(moment) = self.look(broker, place)
                && self.watched[slot].place == Some(place)
            {
                let next = Next { moment, since, place };
                first = Some(first.map_or(next, |first| first.min(next)));
            }
        }
        first
    }

    /// Looks at the lanes that the inbox tells of.
    pub(super) fn take_bits(&mut self, broker: &mut dyn Broker) {
        self.ready |= self.inbox.header().take();
        if self.ready == 0 {
            return;
        }
        let mut bits = std::mem::take(&mut self.ready);
        if !self.refresh(broker) {
            // A lane that is not known yet may be one of these.
            self.look_again(bits);
        }
        while bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            for place in (bit..self.lanes.len()).step_by(LANE_BITS as usize) {
                self.enqueue(broker, place);
            }
        }
    }

    /// Queues a lane that has something. A watched lane is not queued, as each look includes it.
    pub(super) fn enqueue(&mut self, broker: &mut dyn Broker, place: usize) {
        let is_free = |lane: &LaneIn| lane.slot.is_none() && lane.queued.is_none();
        if !self.lanes[place].as_ref().is_some_and(is_free) {
            return;
        }
        if let Some(moment) = self.look(broker, place)
            && let Some(lane) = &mut self.lanes[place]
        {
            self.turn += 1;
            self.findings += 1;
            lane.queued = Some(self.turn);
            self.queue.push(Next { moment, since: self.turn, place });
        }
    }

    /// The moment of the next message in a lane. One that is still being written is not there yet.
    pub(super) fn look(&mut self, broker: &mut dyn Broker, place: usize) -> Option<u64> {
        for _ in 0..MOVES {
            let lane = self.lanes.get_mut(place)?.as_mut()?;
            let Some((kind, moment)) = lane.receiver.next_head() else {
                lane.receiver.report();
                return None;
            };
            if kind == lane::Kind::Moved as u8 {
                let mut room = self.spare.take().unwrap_or_else(|| room_for(0));
                let moved = lane.receiver.peek(&mut room).is_some();
                let followed = moved && self.follow(broker, place, &room);
                self.spare = Some(room);
                if followed {
                    continue;
                }
                return None;
            }
            if kind == lane::Kind::Stream as u8 && !self.is_whole(broker, place) {
                let slot = self.lanes.get(place)?.as_ref()?.slot;
                let _ = slot.map(|slot| self.unwatch(slot));
                return None;
            }
            return Some(widen(moment, self.seen));
        }
        None
    }

    fn is_whole(&mut self, broker: &mut dyn Broker, place: usize) -> bool {
        let mut room = self.spare.take().unwrap_or_else(|| room_for(0));
        let Some(Some(lane)) = self.lanes.get(place) else { return true };
        let popped = lane.receiver.peek(&mut room);
        let whole = popped.is_none_or(|popped| is_whole(&mut self.slabs, broker, &popped, &room));
        self.spare = Some(room);
        whole
    }

    /// Takes the message that comes first.
    pub(super) fn take(
        &mut self,
        broker: &mut dyn Broker,
        next: Next,
        alone: bool,
    ) -> Option<Arrival> {
        let Next { place, .. } = next;
        self.turn += 1;
        if self.turn.is_multiple_of(TURN) {
            self.tell_latest();
        }
        let arrival = self.pop(broker, place, |_| true);
        let lane = self.lanes.get_mut(place)?.as_mut()?;
        if let Some(slot) = lane.slot {
            self.watched[slot].last = self.turn;
            return arrival;
        }
        lane.queued = None;
        self.queue.remove_first(next);
        if arrival.is_some() && alone && place != 0 {
            self.begin_watch(place);
        }
        self.enqueue(broker, place);
        arrival
    }

    /// Sets the host's clock to the latest moment that waits. Otherwise a sender that hears of
    /// nothing would stay at an earlier moment and come first for ever.
    #[cold]
    pub(super) fn tell_latest(&self) {
        let watched = (0..SLOTS).filter_map(|slot| self.watched_moment(slot));
        let latest = watched.chain(self.queue.latest()).filter(|moment| *moment > BEFORE_ALL).max();
        latest.into_iter().for_each(|latest| self.activity.set_clock(latest));
    }

    /// The moment of the next message in a watched lane. Where the lane goes on in another ring, a
    /// message there may be earlier than all others, so that ring is looked at first.
    fn watched_moment(&self, slot: usize) -> Option<u64> {
        let lane = self.lanes.get(self.watched[slot].place?)?.as_ref()?;
        let (kind, moment) = lane.receiver.next_head()?;
        let is_moved = kind == lane::Kind::Moved as u8;
        Some(if is_moved { BEFORE_ALL } else { widen(moment, self.seen) })
    }

    /// The slot of the watched lane whose next message is the earliest.
    #[inline(never)]
    pub(super) fn earliest_watched(&mut self) -> Glance<usize> {
        if self.turn.is_multiple_of(TURN) {
            self.tell_latest();
        }
        let first = settle(LOOKS, || {
            let next = |slot| {
                let (moment, since) = (self.watched_moment(slot)?, self.watched[slot].last);
                Some(Next { moment, since, place: slot })
            };
            (0..SLOTS).filter_map(next).min()
        });
        first.map_or(Glance::Nothing, |first| Glance::Taken(first.place))
    }

    /// True if anything waits outside of this slot's lane.
    pub(super) fn has_others(&self, slot: usize) -> bool {
        let others = (0..SLOTS).filter(|other| *other != slot);
        self.holds_more()
            || others.into_iter().any(|other| self.watched_moment(other).is_some())
            || self.inbox.header().has_pending()
    }
}
