//! Taking out a member that votes.
//!
//! A majority of those that vote now orders that, and a majority of those that are left orders all
//! that comes behind it. One that lags behind, or whose cable was cut a moment ago, counts for
//! nothing in the first and may be needed for the second: of three that vote two order that one of
//! them goes, and the third may not even know the leader. So the leader asks first: of those that
//! are left a majority must have answered something that was said after the question, and have all
//! of the log. An entry that goes into the log meanwhile ends the question.
//!
//! A leader that does not hear a member needs not ask about that one: a majority answers it, this
//! member is not among those, and a majority of all is one of the others, too.

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
