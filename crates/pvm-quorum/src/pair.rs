//! Two members of which one votes: what the other one must have, and which of them may go on alone.
//!
//! A majority of one voter protects nothing. So while the leader is the *sole voter* beside other
//! members, the machine says which of them it needs: nothing is committed before these have it. If
//! a witness decides which of two hosts goes on, the leader's lease depends on these members, too:
//! it leads and answers only while they answer, because a silent one may have taken over. The list
//! of needed members is not stored: a restarted leader commits nothing before the machine has sent
//! it again.

use crate::core::{Core, LEASE_NS, SILENCE_NS};
use crate::election::UNANSWERED_NS;
use crate::need::Need;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;

impl Core {
    /// True if this member is the only voter.
    pub(crate) fn is_sole_voter(&self) -> bool {
        matches!(self.voters(), [voter] if Some(*voter) == self.me)
    }

    /// See [`pvm_core::quorum::Voting::With`].
    pub(crate) fn needs(&mut self, members: Vec<Member>, lease: bool) {
        let since = self.now;
        self.need = Some(Need { members, lease, since });
        if self.tree.is_used() {
            self.relay.changes += 1;
            self.serve();
        }
        self.advance();
        self.arrange();
    }

    /// The members have changed: the machine has to name the members that a sole voter needs anew.
    pub(crate) fn forget_need(&mut self) {
        if self.is_sole_voter() {
            self.need = None;
        }
    }

    /// True for a sole voter for which the machine has not yet named the members that it needs.
    pub(crate) fn need_is_unknown(&self) -> bool {
        let unknown = self.need.is_none() && self.is_sole_voter() && self.members.len() > 1;
        unknown && !planted::is(Bug::NeedForgotten)
    }

    /// The needed members that are still members.
    pub(crate) fn needed(&self) -> impl Iterator<Item = Member> + '_ {
        let members = self.need.iter().flat_map(|need| need.members.iter().copied());
        members.filter(|member| self.is_member(*member))
    }

    /// True if this member may be the next voter. Beside a sole voter only a needed member may: it
    /// may go on alone until it knows that it votes.
    pub(crate) fn may_vote_next(&self, member: Member) -> bool {
        let mut needed = self.needed().peekable();
        !self.is_sole_voter() || needed.peek().is_none() || needed.any(|other| other == member)
    }

    /// The last entry that all needed members have; none if these members are not known.
    pub(crate) fn needed_through(&self) -> Option<u64> {
        if self.need_is_unknown() {
            return None;
        }
        let matched = |member| self.peers.get(&member).map_or(0, |peer| peer.matched);
        Some(self.needed().map(matched).min().unwrap_or(u64::MAX))
    }

    /// The members on which the lease depends, besides the majority.
    fn leased(&self) -> impl Iterator<Item = Member> + '_ {
        let hangs = self.need.as_ref().is_some_and(|need| need.lease);
        self.needed().filter(move |_| hangs && !planted::is(Bug::LeadsUnanswered))
    }

    /// True if this leader leads and answers only while that member answers.
    pub(crate) fn is_leased_to(&self, member: Member) -> bool {
        self.leased().any(|other| other == member)
    }

    /// The time of the latest message that all leased members have answered.
    pub(crate) fn leased_at(&self) -> u64 {
        let heard = |member| self.peers.get(&member).map_or(0, |peer| peer.heard);
        self.leased().map(heard).min().unwrap_or(u64::MAX / 2)
    }

    /// True while the lease holds, as far as it depends on the needed members.
    pub(crate) fn is_leased(&self, now: u64) -> bool {
        !self.need_is_unknown() && now < self.leased_at() + LEASE_NS
    }

    /// True if the needed members have been silent for so long that this leader steps down.
    pub(crate) fn is_left_alone(&self) -> bool {
        let since = self.need.as_ref().map_or(0, |need| need.since).max(self.leads_since);
        self.leased_at().max(since) + UNANSWERED_NS <= self.now
    }

    /// True if this member would be elected, as the only voter, but could not lead.
    pub(crate) fn may_not_stand(&self) -> bool {
        let alone = self.is_sole_voter() && self.leased().any(|member| !self.is_up(member));
        alone || self.need_is_unknown()
    }

    /// True if this member may go on without the other one.
    ///
    /// If a witness decides, and the death of the other one is not certain, the two must be the
    /// only voters: no change of voters may be under way. Otherwise the other one and a third one
    /// may be a majority already. The leader's lease must be over, too.
    ///
    /// A leader whose death is certain may have let in a third member that leads now.
    pub(crate) fn may_go_on(&self, certain: bool) -> bool {
        let changing = self.log.last_change().is_some_and(|number| number > self.commit);
        let was_sole = self.log.voters_at(self.commit).len() == 1;
        if self.members.len() < 2 {
            return true;
        }
        if certain {
            return !(changing && was_sole);
        }
        let two = self.members.len() == 2 && self.voters().iter().all(|v| self.is_member(*v));
        let silent = self.heard_at == 0 || self.heard_at + SILENCE_NS <= self.now;
        !changing && two && silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Entry, What};
    use crate::log::Start;
    use pvm_wire::HostIndex;

    const A: Member = Member::new(1, HostIndex(1));
    const B: Member = Member::new(2, HostIndex(2));
    const C: Member = Member::new(3, HostIndex(3));

    /// B, which hears nothing of A.
    fn second() -> Core {
        let mut core = Core::new(1);
        core.me = Some(B);
        core.members = vec![A, B].into();
        core.log.begin(Start { number: 5, term: 1, voters: vec![A] });
        core.commit = 5;
        core
    }

    #[test]
    fn nobody_goes_on_alone_where_a_third_one_may_be_voting_already() {
        let mut core = second();
        assert!(core.may_go_on(false) && core.may_go_on(true));
        core.log.push(Entry { term: 1, what: What::Voters { voters: vec![A, B] } });
        assert!(!core.may_go_on(false), "a change of voters is under way");
        assert!(!core.may_go_on(true), "and A voted alone before it");
        core.commit = 6;
        assert!(core.may_go_on(false) && core.may_go_on(true));
        core.log.push(Entry { term: 1, what: What::Voters { voters: vec![A, B, C] } });
        core.commit = 7;
        assert!(!core.may_go_on(false), "C votes, whether it is known here as a member or not");
        core.members = vec![A, B, C].into();
        assert!(!core.may_go_on(false));
    }

    #[test]
    fn nobody_goes_on_alone_while_the_leader_may_have_its_lease() {
        let mut core = second();
        (core.heard_at, core.now) = (1000, 1000 + SILENCE_NS - 1);
        assert!(!core.may_go_on(false));
        core.now += 1;
        assert!(core.may_go_on(false));
    }
}
