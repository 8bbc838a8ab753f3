//! The view of groups for the tasks of this host: a page for each group with members here.

use crate::broker::ParentBroker;
use pvm_core::io::{Departure, GroupState};
use pvm_shm::barrier::PLACES;
use pvm_shm::roster::Listed;
use pvm_shm::segment::Mapping;
use pvm_shm::{Bells, Broker as _, Outbox, Roster};
use pvm_wire::request::SegmentId;
use pvm_wire::{Blob, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The pages that this daemon writes.
#[derive(Debug)]
pub(crate) struct Rosters {
    me: HostIndex,
    open: BTreeMap<Blob, (SegmentId, Roster)>,
    /// Groups for which there was no memory: their members meet at the machine.
    refused: BTreeSet<Blob>,
    bells: Bells,
}

impl Rosters {
    pub(crate) const fn new(me: HostIndex) -> Self {
        Self { me, open: BTreeMap::new(), refused: BTreeSet::new(), bells: Bells::new() }
    }

    /// Shows a group as it is now, and wakes tasks that wait in vain or may have to look again.
    pub(crate) fn show(
        &mut self,
        (broker, outbox): (&mut ParentBroker, &Outbox),
        name: &Blob,
        group: Option<GroupState>,
        departure: Departure,
    ) {
        let group = group.map(|GroupState { members, frozen, defunct, lost }| Listed {
            members,
            frozen,
            defunct,
            lost,
        });
        let me = self.me;
        let is_here = |tid: &Tid| *tid != Tid::NONE && tid.host() == me;
        let Some(group) = group.filter(|group| group.members.iter().any(is_here)) else {
            return self.close(broker, name);
        };
        let Some(roster) = self.open(broker, name) else { return };
        let is_elsewhere = |tid: &Tid| *tid != Tid::NONE && tid.host() != me;
        let away = group.members.len() > PLACES as usize || group.members.iter().any(is_elsewhere);
        let word = roster.barrier();
        let mut woken = if away { word.move_away() } else { 0 };
        roster.table().write(Some(&group));
        word.strike_out(holes(&group));
        let size = u32::try_from(group.size()).unwrap_or(u32::MAX);
        if group.defunct {
            woken |= word.break_above(0);
        } else if departure == Departure::Gone || group.lost > 0 {
            woken |= word.break_above(size);
        }
        let members = group.members.iter().copied().enumerate();
        for (i, tid) in members.filter(|(_, tid)| is_here(tid)) {
            // A task that waits for a message of a member checks whether that still is one.
            if departure != Departure::None || (i < PLACES as usize && woken & 1 << i != 0) {
                self.bells.wake(broker, (outbox.bell(), outbox.activity()), tid);
            }
        }
    }

    fn open(&mut self, broker: &mut ParentBroker, name: &Blob) -> Option<Roster> {
        if let Some((_, roster)) = self.open.get(name) {
            return Some(roster.clone());
        }
        // Without a page the machine is asked, by all tasks of this host.
        let opened = broker
            .open_group(name)
            .ok()
            .and_then(|(segment, fd)| Some((segment, Mapping::new(&fd, Roster::SIZE, true).ok()?)));
        let Some((segment, mapping)) = opened else {
            self.refused.insert(name.clone());
            return None;
        };
        let roster = Roster::new(Arc::new(mapping));
        if self.refused.remove(name) {
            roster.barrier().move_away();
        }
        self.open.insert(name.clone(), (segment.id, roster.clone()));
        Some(roster)
    }

    /// No task of this host is in the group any more.
    fn close(&mut self, broker: &mut ParentBroker, name: &Blob) {
        self.refused.remove(name);
        let Some((segment, roster)) = self.open.remove(name) else { return };
        roster.table().write(None);
        roster.barrier().move_away();
        broker.drop_segment(segment);
    }
}

/// The places of the barrier that no member has.
fn holes(group: &Listed) -> u32 {
    let taken = group.members.iter().take(PLACES as usize).enumerate();
    !taken.filter(|(_, tid)| **tid != Tid::NONE).fold(0, |bits, (i, _)| bits | 1 << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_the_places_without_a_member() {
        let members = vec![Tid(0x40001), Tid::NONE, Tid(0x40003)];
        assert_eq!(holes(&Listed { members, ..Listed::default() }), !0b101);
        let many = vec![Tid(0x40001); 40];
        assert_eq!(holes(&Listed { members: many, ..Listed::default() }), 0);
    }
}
