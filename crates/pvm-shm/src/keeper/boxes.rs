//! An inbox and its lanes, as the book knows them.

use crate::inbox::Inbox;
use pvm_wire::request::SegmentId;
use pvm_wire::{Blob, Tid};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) from: Tid,
    /// The segments that the receiver has not left yet, oldest first.
    pub(super) segments: Vec<SegmentId>,
    /// The opening's number.
    pub(super) opening: u32,
    pub(super) orphan: bool,
}

#[derive(Debug)]
pub(super) struct Box_ {
    pub(super) segment: SegmentId,
    pub(super) inbox: Inbox,
    pub(super) doorbell: Blob,
    pub(super) lanes: Vec<Option<Lane>>,
    /// Places by sender, and by what the lane leads to: the daemon has a lane for each host.
    pub(super) by_sender: BTreeMap<(Tid, Tid), u32>,
    pub(super) opened: u32,
}

impl Box_ {
    /// An inbox without lanes.
    pub(super) fn new(segment: SegmentId, inbox: Inbox, doorbell: Blob) -> Self {
        // The host's own lane is the first: notices are told apart by their place.
        let lanes = vec![None];
        Self { segment, inbox, doorbell, lanes, by_sender: BTreeMap::new(), opened: 0 }
    }

    /// The number of lanes whose senders are gone.
    pub(super) fn orphans(&self) -> usize {
        self.lanes.iter().flatten().filter(|lane| lane.orphan).count()
    }

    /// The place of a sender's lane, or a free one.
    pub(super) fn place_for(&self, (from, to): (Tid, Tid)) -> u32 {
        match self.by_sender.get(&(from, to)) {
            Some(place) => *place,
            None if from == Tid::NONE => 0,
            None => {
                let free = self.lanes.iter().skip(1).position(Option::is_none);
                free.map_or(self.lanes.len(), |free| free + 1) as u32
            }
        }
    }

    /// Adds a ring to the lane in this place, which is begun if its sender has none.
    pub(super) fn add_ring(&mut self, (from, to): (Tid, Tid), place: u32, id: SegmentId) {
        if self.by_sender.insert((from, to), place).is_some() {
            let lane = self.lanes[place as usize].as_mut().expect("known by its sender");
            return lane.segments.push(id);
        }
        self.opened += 1;
        let opening = self.opened;
        let lane = Some(Lane { from, segments: vec![id], opening, orphan: false });
        if place as usize == self.lanes.len() {
            self.lanes.push(lane);
        } else {
            self.lanes[place as usize] = lane;
        }
        self.inbox.count_lane(opening, place);
    }
}
