//! The links of this host, the hosts of which it hears nothing, and what others say of them.

use super::consensus::Consensus;
use super::links::Links;
use super::near::{Near, wanted};
use super::suspicion::Suspicion;
use crate::planted::{self, Bug};
use crate::quorum::Member;
use pvm_wire::HostIndex;
use std::collections::BTreeSet;

/// The number of hosts of each kind that are asked about one host.
const ASKED_COUNT: usize = 4;

/// A question to others: about which host, its number, and who is asked.
pub(super) type Question = (HostIndex, u64, Vec<HostIndex>);

/// The hearing of this host: its links, and the suspects among the others.
#[derive(Debug)]
pub(crate) struct Hearing {
    me: HostIndex,
    links: Links,
    near: Near,
    pub(super) suspicion: Suspicion,
}

impl Hearing {
    pub(super) fn new(me: HostIndex) -> Self {
        let (links, near) = (Links::default(), Near::default());
        Self { me, links, near, suspicion: Suspicion::default() }
    }

    /// True where there is a link.
    pub(crate) fn is_up(&self, host: HostIndex) -> bool {
        self.links.is_up(host)
    }

    /// True where the link broke.
    pub(crate) fn is_lost(&self, host: HostIndex) -> bool {
        self.links.is_lost(host)
    }

    /// True where no link needs to stand to a host, and none broke.
    pub(crate) fn may_rest(&self, host: HostIndex) -> bool {
        !self.near.contains(host) && !self.is_lost(host)
    }

    /// The members that this host should hear and does not hear.
    pub(crate) fn unheard(&self, log: &Consensus) -> impl Iterator<Item = HostIndex> {
        let is_unheard =
            |host: &HostIndex| *host != self.me && !self.may_rest(*host) && !self.is_up(*host);
        log.members().into_iter().map(Member::host).filter(is_unheard)
    }

    /// The number of them.
    pub(crate) fn unheard_count(&self, log: &Consensus) -> u32 {
        u32::try_from(self.unheard(log).count()).unwrap_or(u32::MAX)
    }

    pub(super) fn link_up(&mut self, host: HostIndex) {
        self.links.set_up(host);
        self.suspicion.clear(host);
        self.near.lacks_no_more(host);
    }

    pub(super) fn link_down(&mut self, host: HostIndex, now: u64) {
        self.links.set_down(host);
        self.near.lacks(host, now);
    }

    /// The link to a host was closed by agreement, or the host is no member any more.
    pub(super) fn forget_link(&mut self, host: HostIndex) {
        self.links.forget(host);
        self.near.lacks_no_more(host);
    }

    /// The hosts to which links are to stand, if they are others than before.
    pub(super) fn near(&mut self, log: &Consensus, now: u64) -> Option<BTreeSet<HostIndex>> {
        let cause = log.cause_of_links();
        if !self.near.is_news(&cause) {
            return None;
        }
        let hosts = wanted(log, self.me);
        for &host in hosts.iter().filter(|host| !self.links.is_up(**host)) {
            self.near.lacks(host, now);
        }
        self.near.set(cause, hosts.clone()).then_some(hosts)
    }

    /// As a leader: another host hears nothing of this one. Returns true if a link to it is to be
    /// made: along a tree there need be none from here.
    pub(super) fn report(&mut self, host: HostIndex, now: u64) -> bool {
        self.near.report(host, now);
        !self.near.contains(host)
    }

    /// A report that a host is silent counts only if this leader has had no link to it for a while,
    /// or could not make one: so a host whose daemon is just being started again is not taken out.
    pub(super) fn count_reports(&mut self, log: &Consensus, now: u64) {
        for host in self.near.take_reported(now) {
            if log.is_leader() && log.member(host).is_some() {
                self.suspicion.add(host);
            }
        }
    }

    /// As a leader: the questions about suspects that were not asked yet.
    pub(super) fn questions(&mut self, log: &Consensus, now: u64) -> Vec<Question> {
        let open = self.suspicion.open().into_iter().filter(|host| log.member(*host).is_some());
        let mut questions = Vec::new();
        for about in open.collect::<Vec<_>>() {
            let whom = self.others_to_ask(log, about);
            if whom.is_empty() || planted::is(Bug::NoSecondOpinion) {
                self.suspicion.set_dead(about);
                continue;
            }
            questions.push((about, self.suspicion.ask(now, about, &whom), whom));
        }
        questions
    }

    /// Some of the hosts that this one can ask: neighbours of the other host, which watch it, and
    /// some voters, of which one could lead.
    fn others_to_ask(&self, log: &Consensus, about: HostIndex) -> Vec<HostIndex> {
        // Where links to most hosts rest, one is made with the question.
        let tree = log.kin().is_some();
        let can = |host| self.is_up(host) || tree && !self.is_lost(host);
        let asked = |host: &HostIndex| *host != self.me && *host != about && can(*host);
        let watch = log.neighbours(about).into_iter().filter(asked);
        let vote = log.voters().into_iter().filter(asked);
        let some: BTreeSet<_> = watch.take(ASKED_COUNT).chain(vote.take(ASKED_COUNT)).collect();
        some.into_iter().collect()
    }

    /// A host to which no link is to stand here, and which others hear, is silent for one of them
    /// only.
    pub(super) fn end_suspicions(&mut self, log: &Consensus) {
        if log.kin().is_none() {
            return;
        }
        for host in self.suspicion.spared() {
            if self.may_rest(host) {
                self.suspicion.clear(host);
            }
        }
    }

    /// As a leader: the next host to take out, because neither this host nor others hear it.
    pub(super) fn next_to_go(&mut self, log: &Consensus) -> Option<Member> {
        self.suspicion.next_to_go(|host| log.member(host))
    }

    pub(super) fn next_time(&self) -> Option<u64> {
        [self.suspicion.next_time(), self.near.next_time()].into_iter().flatten().min()
    }
}
