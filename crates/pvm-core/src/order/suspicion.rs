//! The hosts that this one suspects, what others say of them, and which of them is to go.

use super::doubts::{Doubts, Hears};
use crate::quorum::Member;
use pvm_wire::HostIndex;
use std::collections::BTreeSet;

/// The suspected hosts.
#[derive(Debug, Default)]
pub(super) struct Suspicion {
    /// Hosts that this one has heard nothing of for too long.
    hosts: BTreeSet<HostIndex>,
    /// The answers of others about them, if this host leads.
    doubts: Doubts,
    /// The suspects whose removal is being ordered, in this term.
    fencing: BTreeSet<HostIndex>,
    /// Until this time this host does not give way again to one that is to go itself.
    gave_way_until: u64,
}

impl Suspicion {
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    pub(super) fn contains(&self, host: HostIndex) -> bool {
        self.hosts.contains(&host)
    }

    pub(super) fn hosts(&self) -> Vec<HostIndex> {
        self.hosts.iter().copied().collect()
    }

    pub(super) fn add(&mut self, host: HostIndex) {
        self.hosts.insert(host);
    }

    /// Nobody needs to be asked about this host: it is gone.
    pub(super) fn set_dead(&mut self, host: HostIndex) {
        self.doubts.set_dead(host);
    }

    /// The host is heard, here or as far as this host needs to know.
    pub(super) fn clear(&mut self, host: HostIndex) {
        self.hosts.remove(&host);
        self.doubts.forget(host);
    }

    /// There is another leader: it asks others again, and orders again.
    pub(super) fn begin_term(&mut self) {
        self.fencing.clear();
        self.doubts.clear();
    }

    /// The suspects about which others are to be asked.
    pub(super) fn open(&self) -> Vec<HostIndex> {
        self.hosts.iter().copied().filter(|host| self.doubts.is_open(*host)).collect()
    }

    /// These hosts are asked; returns the number of the question.
    pub(super) fn ask(&mut self, now: u64, host: HostIndex, whom: &[HostIndex]) -> u64 {
        self.doubts.ask(now, host, whom)
    }

    /// An answer has come. Returns the best of the hosts that hear the suspect once all have
    /// answered.
    pub(super) fn told(
        &mut self,
        now: u64,
        host: HostIndex,
        answer: (HostIndex, u64),
        hears: Option<Hears>,
    ) -> Option<(Hears, HostIndex)> {
        self.doubts.told(now, host, answer, hears)
    }

    /// Ends questions that are due. Returns none if no time was, else the best host for each
    /// suspect that another host hears.
    pub(super) fn end_questions(&mut self, now: u64) -> Option<Vec<(Hears, HostIndex)>> {
        self.doubts.next_time().filter(|at| *at <= now)?;
        Some(self.doubts.end(now))
    }

    pub(super) fn next_time(&self) -> Option<u64> {
        self.doubts.next_time()
    }

    /// The suspects that others hear.
    pub(super) fn spared(&self) -> Vec<HostIndex> {
        self.hosts.iter().copied().filter(|host| self.doubts.is_spared(*host)).collect()
    }

    /// True where this host is the only suspect that may have to go first.
    pub(super) fn is_first(&self, host: HostIndex) -> bool {
        self.hosts.iter().all(|other| *other == host || self.doubts.is_spared(*other))
    }

    /// The next host to take out, because no host hears it. They go one after the other: each may
    /// be a voter that is to be replaced first.
    pub(super) fn next_to_go(
        &mut self,
        member: impl Fn(HostIndex) -> Option<Member>,
    ) -> Option<Member> {
        self.hosts.retain(|host| member(*host).is_some());
        if self.hosts.intersection(&self.fencing).next().is_some() {
            return None;
        }
        self.hosts.iter().find(|host| self.doubts.is_dead(**host)).and_then(|host| member(*host))
    }

    /// The removal of this host is being ordered.
    pub(super) fn set_going(&mut self, host: HostIndex) {
        self.fencing.insert(host);
    }

    /// A host that is to go itself leads only to bring the others up to date, so it gets the lead
    /// once. If some still do not hear each other then, a host that this leader does not hear ends
    /// after a minute, and the deletion goes on; otherwise the two would give way to one another
    /// without an end.
    pub(super) fn gives_way_in_vain(&mut self, now: u64, until: u64) -> bool {
        let in_vain = self.gave_way_until > now;
        if !in_vain {
            self.gave_way_until = until;
        }
        in_vain
    }
}
