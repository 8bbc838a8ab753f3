//! Removing a voter.
//!
//! A majority of the present voters commits the removal, and a majority of the remaining voters
//! commits everything after it. A voter that lags behind, or whose link broke a moment ago, does
//! not matter for the first majority and may be needed for the second: of three voters two commit
//! the removal of one of them, and the third may not even know the leader. So the leader asks
//! first: a majority of the remaining voters must have answered a message that was sent after the
//! question, and must have the whole log. An entry that is appended meanwhile ends the question.
//!
//! That majority may still be lost after it has answered. So the answer of the voter that goes does
//! not count for its own removal, where a majority is left without it (in the Raft paper a new set
//! of voters counts as soon as it is in the log). Until the removal is committed that voter is not
//! sent that entry, nor a later one; and if it is not committed for too long while a majority
//! answers, the leader takes it out of its log and steps down. A leader may forget what it has not
//! committed: its own log counts for nobody but itself.
//!
//! A leader need not ask about a member that it does not hear: a majority of all answers without
//! that member, and is therefore also a majority of the others.

use crate::core::Core;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;

impl Core {
    /// Leader: the next entry takes out a member.
    pub(crate) fn note_leaving(&mut self, member: Member) {
        let left = self.left_by(member).len();
        let votes = left < self.voters().len() && Some(member) != self.me;
        if votes && left >= self.majority() {
            self.leaving.begin(member, self.log.last() + 1, self.now);
        }
    }

    /// See [`pvm_core::quorum::QuorumInput::Part`].
    pub(crate) fn part(&mut self, member: Member) {
        let asked = self.parting.is_some_and(|(other, _)| other == member);
        if asked || !self.is_leader() {
            return;
        }
        // The next message has a later stamp than this, even if the clock stands still.
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
        // A member that does not vote is not missed, and a leader that alone is left needs nobody.
        let free = left.is_empty() || left.len() == self.voters().len() || there(u64::MAX) >= least;
        if free || planted::is(Bug::PartsUnasked) {
            return Some(true);
        }
        let (_, said) = self.parting.filter(|(other, _)| *other == member)?;
        Some(there(said) >= least)
    }

    /// The voters other than this member.
    fn left_by(&self, member: Member) -> Vec<Member> {
        self.voters().iter().copied().filter(|voter| *voter != member).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Role;
    use crate::frame::{Frame, Word};
    use crate::log::Start;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput, QuorumOutput};
    use pvm_wire::{Blob, HostIndex, Wire};

    const MS: u64 = 1_000_000;
    const ME: Member = Member::new(1, HostIndex(1));
    const STAYS: Member = Member::new(2, HostIndex(2));
    const GOES: Member = Member::new(3, HostIndex(3));

    /// The leader of three voters. Both others have the whole log but its last entry, number 7,
    /// which removes one of them.
    fn leader() -> Core {
        let mut core = Core::new(1);
        core.me = Some(ME);
        core.members = vec![ME, STAYS, GOES];
        core.log.begin(Start { number: 5, term: 1, voters: core.members.clone() });
        (core.commit, core.ballot.term) = (5, 1);
        for host in [STAYS.host(), GOES.host()] {
            core.handle(Time(MS), QuorumInput::Linked { host, up: true });
        }
        core.raise_term(2);
        core.lead();
        [STAYS, GOES].into_iter().for_each(|member| has(&mut core, 2, member, 6));
        assert_eq!(core.commit, 6);
        while core.poll_output().is_some() {}
        let command = Blob(b"out".to_vec());
        core.handle(Time(2 * MS), QuorumInput::Propose { command, without: Some(GOES) });
        core
    }

    fn has(core: &mut Core, now: u64, from: Member, through: u64) {
        let word = Word::Agree { through, stamp: core.stamp };
        let bytes = Blob(Frame { from, to: ME, term: 2, word, kin: None }.to_bytes());
        core.handle(Time(now * MS), QuorumInput::Heard { host: from.host(), bytes });
    }

    /// The hosts that were sent entries.
    fn told(core: &mut Core) -> Vec<HostIndex> {
        let outputs = std::iter::from_fn(|| core.poll_output());
        let told = outputs.filter_map(|output| match output {
            QuorumOutput::Send { host, bytes, .. } => {
                Some((host, Frame::from_bytes(&bytes.0).ok()?))
            }
            _ => None,
        });
        let is_entry =
            |word: &Word| matches!(word, Word::Append { entries, .. } if !entries.is_empty());
        told.filter(|(_, frame)| is_entry(&frame.word)).map(|(host, _)| host).collect()
    }

    #[test]
    fn a_voter_that_goes_confirmed_its_own_removal() {
        let mut core = leader();
        assert_eq!(told(&mut core), [STAYS.host()], "whom it takes out is not told yet");
        has(&mut core, 3, GOES, 6);
        assert_eq!(core.commit, 6);
        has(&mut core, 3, STAYS, 7);
        assert_eq!(core.commit, 7);
        assert_eq!(told(&mut core), [GOES.host()], "now it is told");
        assert_eq!(core.leaving.take_back(), None);
    }

    #[test]
    fn a_removal_that_nobody_else_confirms_stood_in_the_log_for_ever() {
        let mut core = leader();
        for now in 1..40 {
            has(&mut core, now * 50, GOES, 6);
            core.handle_timeout(Time(now * 50 * MS));
        }
        assert_eq!((core.log.last(), core.commit), (6, 6), "it is taken back");
        assert!(core.role != Role::Leader && core.leaving.take_back().is_none());
    }
}
