//! The voters: one of up to two members, three of three and four, five from five members on, seven
//! from nine and nine from thirteen on, distributed over computers. They are changed one at a time,
//! by entries of the log that take effect as soon as they are appended.
//!
//! So any quarter of the members, up to four, may fail at once. All members get the log anyway, so
//! more voters need no more messages; the leader only waits for more answers.

use crate::core::{BEAT_NS, Core, SILENCE_NS};
use crate::flow::Peer;
use crate::frame::{What, Word};
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::HostIndex;
use std::cmp::Reverse;

/// The time for which a leader tries to give way.
const RESIGN_NS: u64 = 5_000_000_000;
/// The time for which the other members wait with an election if a member was named to lead.
const UNWELL_NS: u64 = 30_000_000_000;
/// If a voter is silent for this long, another member becomes a voter in its place.
const STAND_IN_NS: u64 = 1_500_000_000;
/// A member that lacks this many entries or more is not caught up.
const BEHIND_COUNT: u64 = 100;

impl Core {
    /// The members have changed.
    pub(crate) fn set_members(&mut self, mut members: Vec<Member>) {
        members.sort_unstable();
        if members != self.members {
            self.computers.retain(|member, _| members.binary_search(member).is_ok());
            self.members = members;
            self.forget_need();
        }
        self.grow_tree();
        if self.is_leader() && !self.has_successor() {
            self.resigning = None;
        }
        self.serve();
        self.advance();
        self.arrange();
    }

    /// Adapts the peers to the members to which this one sends now.
    pub(crate) fn serve(&mut self) {
        let others = self.others();
        self.peers.retain(|member, _| others.binary_search(member).is_ok());
        for member in others {
            let next = self.told_last(member) + 1;
            let new = !self.peers.contains_key(&member);
            self.peers.entry(member).or_insert_with(|| Peer::new(next, 0));
            if new {
                self.send_entries(member);
            }
        }
        if self.is_leader() && !self.peers.is_empty() {
            self.next_at = self.next_at.min(self.now + BEAT_NS);
        }
    }

    /// The number of members that should vote.
    pub(crate) fn voter_count(&self) -> usize {
        match self.members.len() {
            0..=2 if self.resigning.is_some() => 2,
            0..=2 => 1,
            count => 2 * count.div_ceil(4).min(self.limits.failures_max) + 1,
        }
    }

    /// Leader: changes the voters by one, if that is due and the last change is committed.
    pub(crate) fn arrange(&mut self) {
        let ready = self.log.term(self.commit) == Some(self.term());
        let done = self.log.last_change().is_none_or(|number| number <= self.commit);
        if !self.is_leader()
            || !ready
            || !done
            || self.commit < self.removal
            || self.need_is_unknown()
            || planted::is(Bug::VoterNotReplaced)
        {
            return;
        }
        let mut voters = self.voters().to_vec();
        let count = self.voter_count();
        if let Some(at) = voters.iter().position(|voter| !self.is_member(*voter)) {
            voters.remove(at);
        } else if self.is_behind {
            // A member may be gone already. The members are told before the next message comes.
            return;
        } else if voters.len() < count {
            let fits = |core: &Self, member| {
                !core.voters().contains(&member) && core.may_vote_next(member)
            };
            let Some(next) = self.best(fits) else { return };
            voters.push(next);
        } else if voters.len() > count {
            let me = self.me;
            let worst = voters
                .iter()
                .copied()
                .filter(|voter| Some(*voter) != me)
                .min_by_key(|v| (self.is_healthy(*v), Reverse(self.crowd(*v)), Reverse(*v)));
            voters.retain(|voter| Some(*voter) != worst);
        } else if let Some(next) = self.stand_in().or_else(|| self.of_another_computer()) {
            // The silent one goes when this is done, whether it is dead or not; so does the one
            // that shares its computer with most others.
            voters.push(next);
        } else {
            return;
        }
        voters.sort_unstable();
        self.append(What::Voters { voters });
    }

    /// A member to vote in the place of a voter that has been silent for a while.
    fn stand_in(&self) -> Option<Member> {
        let silent = |voter: &Member| {
            let heard = self.peers.get(voter).map_or(0, |peer| peer.seen);
            Some(*voter) != self.me && heard.max(self.leads_since) + STAND_IN_NS <= self.now
        };
        if !self.voters().iter().any(silent) {
            return None;
        }
        self.best(|core, member| !core.voters().contains(&member))
    }

    /// The number of other voters on the computer of a member.
    fn crowd(&self, member: Member) -> usize {
        let Some(computer) = self.computers.get(&member) else { return 0 };
        let shares = |v: &&Member| **v != member && self.computers.get(v) == Some(computer);
        self.voters().iter().filter(shares).count()
    }

    /// A member to vote in the place of one that shares its computer with more voters than it
    /// would, so that the loss of a computer costs few voters.
    fn of_another_computer(&self) -> Option<Member> {
        let others = self.voters().iter().copied().filter(|voter| Some(*voter) != self.me);
        let most = others.map(|voter| self.crowd(voter)).max().unwrap_or(0);
        if most == 0 || planted::is(Bug::VotersOnOneComputer) {
            return None;
        }
        self.best(|core, member| !core.voters().contains(&member) && core.crowd(member) < most)
    }

    fn is_healthy(&self, member: Member) -> bool {
        let last = self.log.last();
        self.is_up(member)
            && self.peers.get(&member).is_some_and(|peer| {
                peer.heard + SILENCE_NS > self.now && peer.matched + BEHIND_COUNT > last
            })
    }

    /// The healthy member that shares its computer with the fewest voters and then has most of the
    /// log, among the members that fit.
    fn best(&self, fits: impl Fn(&Self, Member) -> bool) -> Option<Member> {
        let spoken_to = self.peers.keys().copied().filter(|member| self.is_member(*member));
        let mut all: Vec<_> = spoken_to.filter(|member| fits(self, *member)).collect();
        all.retain(|member| Some(*member) != self.me && self.is_healthy(*member));
        let matched = |member: &Member| self.peers.get(member).map_or(0, |peer| peer.matched);
        all.into_iter().min_by_key(|m| (self.crowd(*m), Reverse(matched(m)), *m))
    }

    /// There is another member, which could lead instead.
    fn has_successor(&self) -> bool {
        self.members.iter().any(|member| Some(*member) != self.me)
    }

    /// See [`pvm_core::quorum::QuorumInput::Transfer`].
    pub(crate) fn resign(&mut self, to: Option<HostIndex>) {
        if self.is_leader() && self.resigning.is_none() && self.has_successor() {
            if to.is_some() {
                self.unwell_until = self.now + UNWELL_NS;
            }
            self.heir = to;
            self.resigning = Some(self.now + RESIGN_NS);
            self.arrange();
            self.hand_over();
        }
    }

    /// Lets another voter lead, once one has everything.
    pub(crate) fn hand_over(&mut self) {
        let Some(until) = self.resigning.filter(|_| self.is_leader()) else { return };
        if until <= self.now {
            // It may have been asked to lead and not have done so yet.
            self.set_leader(None);
            return self.step_down();
        }
        let last = self.log.last();
        let next = self.best(|core, member| {
            core.voters().contains(&member)
                && core.heir.is_none_or(|heir| heir == member.host())
                && core.peers.get(&member).is_some_and(|peer| peer.matched == last)
        });
        if let Some(next) = next.filter(|_| self.commit == last) {
            self.send(next, Word::Lead);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput, Voting};

    const ME: Member = Member::new(1, HostIndex(1));
    const OTHER: Member = Member::new(2, HostIndex(2));

    #[test]
    fn a_leader_that_was_to_give_way_and_is_left_alone_ordered_nothing_any_more() {
        let mut core = Core::new(1);
        core.handle(Time(1), QuorumInput::Begin { me: ME });
        for members in [vec![ME, OTHER], vec![ME]] {
            core.handle(Time(1), QuorumInput::Members { members });
            core.handle(
                Time(1),
                QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false }),
            );
            core.handle(Time(1), QuorumInput::Transfer { to: None });
            assert_eq!(core.is_current(Time(1)), core.members.len() == 1);
        }
    }
}
