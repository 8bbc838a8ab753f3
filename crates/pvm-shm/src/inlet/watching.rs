//! Watched lanes, whose senders need not mark the inbox.

use super::{Inlet, SILENT, Watched};
use crate::inbox::LANE_BITS;
use crate::watch::SLOTS;

impl Inlet {
    /// A lane that was busy is looked at from now on, if a place is free or its owner silent.
    pub(super) fn begin_watch(&mut self, place: usize) {
        let turn = self.turn;
        let free = |watched: &Watched| watched.place.is_none() || turn - watched.last > SILENT;
        let Some(slot) = self.watched.iter().position(free) else { return };
        self.drop_watch(slot);
        let Some(Some(lane)) = self.lanes.get_mut(place) else { return };
        if lane.slot.is_some() {
            return;
        }
        lane.slot = Some(slot);
        lane.receiver.watch();
        let sender = lane.sender;
        self.watch.set_sender(slot, sender);
        self.watch.set(slot, &lane.receiver);
        self.watched[slot] = Watched { place: Some(place), last: turn, sender };
        self.count_watched();
    }

    pub(super) fn count_watched(&mut self) {
        let mut watched = (0..SLOTS).filter(|slot| self.watched[*slot].place.is_some());
        self.only = watched.next().filter(|_| watched.next().is_none());
    }

    /// The sender tells again of its messages. Those that it has published meanwhile count as told.
    pub(super) fn drop_watch(&mut self, slot: usize) {
        if let Some(place) = self.unwatch(slot) {
            self.ready |= 1 << (place as u32 % LANE_BITS);
        }
    }

    /// The sender tells again of its messages. Returns the lane, if something lies there.
    pub(super) fn unwatch(&mut self, slot: usize) -> Option<usize> {
        let place = self.watched[slot].place.take()?;
        self.watch.clear(slot);
        self.count_watched();
        let lane = self.lanes.get_mut(place)?.as_mut()?;
        lane.slot = None;
        lane.receiver.unwatch().then_some(place)
    }

    pub(super) fn end_watch(&mut self) {
        (0..SLOTS).for_each(|slot| self.drop_watch(slot));
    }
}
