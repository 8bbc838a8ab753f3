//! A leader that does not hear a host asks others before it has it taken out. If another host hears
//! it, it stays, and a voter that hears more hosts than the leader leads from then on: a network
//! card that loses messages of some hosts takes out only its own host.

use super::Machine;
use crate::doubts::Hears;
use crate::leadership::LOST_NS;
use crate::near::neighbours;
use crate::pending::Asker;
use crate::planted::{self, Bug};
use crate::quorum::QuorumInput;
use pvm_wire::peer::Command;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeSet;

/// So many of each kind are asked about one host.
const ASKED_COUNT: usize = 4;

impl Machine {
    /// As a leader: asks about each host that it suspects, unless that was done.
    pub(super) fn ask_opinions(&mut self) {
        if self.suspects.is_empty() || !self.consensus.is_current(self.now) {
            return;
        }
        let open =
            |host: &&HostIndex| self.agreed.hosts().contains(**host) && self.doubts.is_open(**host);
        let open: Vec<_> = self.suspects.iter().filter(open).copied().collect();
        for host in open {
            let whom = self.others_to_ask(host);
            if whom.is_empty() || planted::is(Bug::NoSecondOpinion) {
                self.doubts.set_dead(host);
                continue;
            }
            let round = self.doubts.ask(self.now.0, host, &whom);
            for by in whom {
                let asker = Asker::Opinion { of: host, by, round };
                self.ask(by, asker, Tid::NONE, Request::Hears { host });
            }
        }
    }

    /// Some of the hosts that this one can ask: neighbours of the other host, which watch it, and
    /// some voters, of which one could lead.
    fn others_to_ask(&self, about: HostIndex) -> Vec<HostIndex> {
        let all = self.agreed.hosts().indices();
        // Where links to most hosts rest, one is made with the question.
        let tree = self.consensus.kin().is_some();
        let can = |host| self.sessions.is_up(host) || tree && !self.sessions.is_lost(host);
        let asked = |host: &HostIndex| *host != self.me() && *host != about && can(*host);
        let voters = self.consensus.voters();
        let watch = neighbours(&all, about).into_iter().filter(asked);
        let vote = voters.into_iter().filter(asked);
        let some = watch.take(ASKED_COUNT).chain(vote.take(ASKED_COUNT));
        let some: BTreeSet<HostIndex> = some.collect();
        some.into_iter().collect()
    }

    /// Another member has said whether it hears a host, or is a member no more.
    pub(super) fn opinion_told(&mut self, of: HostIndex, answer: (HostIndex, u64), reply: &Reply) {
        let hears = match reply {
            Reply::Heard { heard: true, unheard } => {
                let votes_not = !self.consensus.voters().contains(&answer.0);
                Some(Hears { votes_not, unheard: *unheard })
            }
            _ => None,
        };
        let best = self.doubts.told(self.now.0, of, answer, hears);
        self.give_way_to(best);
        self.end_suspicions();
    }

    /// A host that has not answered by now counts as hearing nothing.
    pub(super) fn end_opinions(&mut self) {
        if self.doubts.next_time().is_none_or(|at| at > self.now.0) {
            return;
        }
        for best in self.doubts.end(self.now.0) {
            self.give_way_to(Some(best));
        }
        self.end_suspicions();
    }

    /// A host to which no link is to stand here, and which others hear, is silent for one of them
    /// only.
    fn end_suspicions(&mut self) {
        if self.consensus.kin().is_none() {
            return;
        }
        let rests = |host: HostIndex| !self.near.contains(host) && !self.sessions.is_lost(host);
        let spared = |host: &HostIndex| self.doubts.is_spared(*host) && rests(*host);
        let ended: Vec<_> = self.suspects.iter().copied().filter(spared).collect();
        for host in ended {
            self.suspects.remove(&host);
            self.doubts.forget(host);
        }
    }

    /// As a leader: one that votes and hears a host that is not heard here leads from now on, if it
    /// hears more hosts on the whole.
    fn give_way_to(&mut self, best: Option<(Hears, HostIndex)>) {
        let Some((hears, host)) = best else { return };
        let better = hears.unheard < self.unheard_hosts() && !hears.votes_not;
        let may = better && self.consensus.is_current(self.now) && !self.gave_way_in_vain(host);
        if may && !planted::is(Bug::LeadsHalfDeaf) {
            self.log(format!(
                "host {host} hears hosts that this one does not: it leads from now on"
            ));
            self.consensus.input(self.now, QuorumInput::Resign { to: Some(host) });
        }
    }

    /// A host that is to go itself leads only to bring the others up to date, so it gets the lead
    /// once. If some still do not hear each other then, a host that this leader does not hear ends
    /// after a minute, and the deletion goes on; otherwise the two would give way to one another
    /// without an end.
    fn gave_way_in_vain(&mut self, host: HostIndex) -> bool {
        let goes = match self.consensus.first_held() {
            Some(Command::RemoveHost { host, .. } | Command::Retire { host }) => Some(*host),
            _ => None,
        };
        let in_vain = goes == Some(host) && self.gave_way_until > self.now.0;
        if goes == Some(host) && !in_vain {
            self.gave_way_until = self.after(2 * LOST_NS);
        }
        in_vain
    }
}
