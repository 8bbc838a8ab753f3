//! The peer of each lane, the fate of lanes to hosts that are gone, and the tasks whose messages
//! are awaited.

use crate::inbox::Inbox;
use crate::link::peers::Peers;
use pvm_shm::transit::LaneNumber;
use pvm_wire::{HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// The messages that tasks have sent to other hosts.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// The highest host that was ever in the table: one beyond it is still to come.
    highest: HostIndex,
    /// Lanes to hosts that are still to come.
    early: BTreeMap<LaneNumber, HostIndex>,
    /// Lanes that have something, whatever their inbox says.
    released: Vec<(LaneNumber, HostIndex)>,
    /// Lanes to hosts that are gone.
    given_up: Vec<LaneNumber>,
    /// Tasks that are gone, and hosts to which what they have sent is awaited; the lanes, once
    /// they are known.
    draining: BTreeMap<(Tid, HostIndex), Option<Vec<LaneNumber>>>,
}

impl Traffic {
    /// The hosts of the machine.
    pub(crate) fn members_are(&mut self, members: &BTreeSet<HostIndex>) {
        self.highest = self.highest.max(members.last().copied().unwrap_or_default());
    }

    /// The host of these lanes is gone.
    pub(crate) fn give_up(&mut self, lanes: impl Iterator<Item = LaneNumber>) {
        self.given_up.extend(lanes);
    }

    /// To be told when all that a task has sent to a host is there.
    pub(crate) fn drain(&mut self, tid: Tid, host: HostIndex) {
        self.draining.entry((tid, host)).or_insert(None);
    }

    /// These lanes are to be read from now on.
    pub(crate) fn add(&mut self, lanes: Vec<(LaneNumber, HostIndex)>) {
        self.released.extend(lanes);
    }

    /// Gives each lane that has something new to its peer.
    pub(crate) fn sort(&mut self, inbox: &mut Inbox, peers: &mut Peers) {
        let mut lanes = inbox.poll();
        lanes.append(&mut self.released);
        lanes.extend(self.early.extract_if(.., |_, host| *host <= self.highest));
        for (lane, host) in lanes {
            match peers.get_mut(host) {
                Some(peer) => peer.streams.wake(lane),
                None if host > self.highest => drop(self.early.insert(lane, host)),
                // As to a task that is gone: dropped.
                None => self.given_up.push(lane),
            }
        }
        for lane in self.given_up.drain(..) {
            inbox.discard(lane);
        }
    }

    /// Takes out the requests of [`Traffic::drain`] that are fulfilled by now.
    pub(crate) fn take_drained(
        &mut self,
        inbox: &mut Inbox,
        peers: &mut Peers,
    ) -> Vec<(Tid, HostIndex)> {
        let drained = self.draining.extract_if(.., |&(tid, host), lanes| {
            let Some(peer) = peers.get_mut(host) else { return true };
            if lanes.is_none() {
                // A task that was killed may have published a message without saying so.
                *lanes = inbox.lanes_of(tid, host);
                lanes.iter().flatten().for_each(|lane| peer.streams.wake(*lane));
                peer.pump(Some(&mut *inbox));
            }
            let is_drained =
                |lane: &LaneNumber| peer.streams.is_drained(*lane) && inbox.is_within_reach(*lane);
            lanes.as_ref().is_some_and(|lanes| lanes.iter().all(is_drained))
        });
        drained.map(|(key, _)| key).collect()
    }
}
