//! Removing a voter.
//!
//! A majority of the present voters commits the removal, and a majority of the remaining voters
//! commits everything after it. A voter that lags behind, or whose link broke a moment ago, does
//! not matter for the first majority and may be needed for the second: of three voters two commit
//! the removal of one of them, and the third may not even know the leader. So the leader asks
//! first: a majority of the remaining voters must have answered a message that was sent after the
//! question, and must have the whole log. An entry that is appended meanwhile ends the question.
//!
//! A leader need not ask about a member that it does not hear: a majority of all answers without
//! that member, and is therefore also a majority of the others.

use crate::core::Core;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;

impl Core {
    /// See [`pvm_core::quorum::QuorumInput::Part`].
    pub(crate) fn part(&mut self, member: Member) {
        let asked = self.parting.is_some_and(|(other, _)| other == member);
        if asked || !self.is_leader() {
            return;
        }
        // The clock may stand: what is said next is later than this all the same.
        self.stamp = self.stamp.max(self.now);
        self.parting = Some((member, self.stamp));
        let left = self.left_by(member).into_iter().filter(|left| Some(*left) != self.me);
        self.spread_beat_to(left.collect());
    }

    /// See [`pvm_core::quorum::Quorum::may_part`].
    pub(crate) fn may_go(&self, member: Member) -> Option<bool> {
        if !self.is_leader() || self.resigning.is_some() {
            return Some(false);
        }
        let left = self.left_by(member);
        let last = self.log.last();
        let is_there = |left: &&Member, said: u64| match self.peers.get(left) {
            _ if Some(**left) == self.me => true,
            Some(peer) => self.is_up(**left) && peer.heard > said && peer.matched == last,
            None => false,
        };
        let there = |said| left.iter().filter(|left| is_there(left, said)).count();
        let least = left.len() / 2 + 1;
        // Who does not vote is not missed, and one that is left needs nobody.
        let free = left.is_empty() || left.len() == self.voters().len() || there(u64::MAX) >= least;
        if free || planted::is(Bug::PartsUnasked) {
            return Some(true);
        }
        let (_, said) = self.parting.filter(|(other, _)| *other == member)?;
        Some(there(said) >= least)
    }

    /// Who votes besides a member.
    fn left_by(&self, member: Member) -> Vec<Member> {
        self.voters().iter().copied().filter(|voter| *voter != member).collect()
    }
}
