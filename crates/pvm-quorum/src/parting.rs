//! Removing a voter.
//!
//! A majority of the present voters commits the removal, and a majority of the remaining voters
//! commits everything after it. A voter that lags behind, or whose link broke a moment ago, does
//! not matter for the first majority and may be needed for the second: of three voters two commit
//! the removal of one of them, and the third may not even know the leader. So the leader asks
//! first: a majority of the remaining voters must have answered a message that was sent after the
//! question, and must have the whole log. An entry that is appended meanwhile ends the question.
//!
//! That majority may still be lost after it has answered. So a voter does not confirm its own
//! removal: as in the Raft paper the smaller set of voters counts as soon as it is in a log. In
//! front of the command that takes out a member stands the entry that takes out its vote. Until
//! that is committed the leader does not send it to that member, which can therefore elect a leader
//! under the former voters.
//!
//! A former leader takes such an entry back, with all that is behind it, if it has not committed
//! it. No other member can have committed it, as the others confirm entries of its term to it
//! alone. Its log then counts for the former voters again. This holds for a daemon that was started
//! again, too: its ballot says that it led, and its log has the entry in that term. In the log of a
//! follower such an entry may be committed, so it stays.
//!
//! A vote that another member could have goes to that member first: else the death of one host
//! more, between the two changes, could leave the others without a majority. So the leader first
//! gives a stand-in the vote, then takes out the vote of the member that goes, and only then
//! removes the member itself. Of hosts that all vote nobody can stand in, and along a tree no
//! member to which the leader does not send.
//!
//! A leader need not ask about a member that it does not hear: a majority of all answers without
//! that member, and is therefore also a majority of the others.

use crate::core::Core;
use crate::frame::{Entry, What};
use crate::voters::lacks_stand_in;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;

impl Core {
    /// Leader: the command that comes next takes out a member. If that one votes, and a majority is
    /// left without it, the entry before the command takes out its vote; but one change of voters
    /// at a time is under way. Until the command is committed no other change begins, as the member
    /// that goes could get a vote again.
    pub(crate) fn remove_member(&mut self, member: Member) {
        let settled = self.log.last_change().is_none_or(|number| number <= self.commit);
        let voters = self.left_by(member);
        let votes = voters.len() < self.voters().len() && Some(member) != self.me;
        let separate = settled && votes && voters.len() >= self.majority();
        if separate && !planted::is(Bug::GoesByItsOwnVote) {
            let term = self.term();
            self.log.push(Entry { term, what: What::Voters { voters } });
        }
        self.removal = self.log.last() + 1;
        // Where the command changes nothing in the end, the member may vote again.
        self.going = self.going.filter(|_| planted::is(Bug::VoteNotGivenBack));
    }

    /// See [`pvm_core::quorum::QuorumInput::Part`].
    pub(crate) fn part(&mut self, member: Member) {
        if self.is_leader() && lacks_stand_in(self, member) {
            self.going = Some(member);
            return self.arrange();
        }
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
        if lacks_stand_in(self, member) {
            return (self.going == Some(member)).then_some(false);
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
    use crate::frame::{Frame, What, Word};
    use crate::limits::Limits;
    use crate::log::Start;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput, QuorumOutput};
    use pvm_wire::{Blob, HostIndex, Wire};

    const MS: u64 = 1_000_000;
    const ME: Member = Member::new(1, HostIndex(1));
    const STAYS: Member = Member::new(2, HostIndex(2));
    const GOES: Member = Member::new(3, HostIndex(3));
    const NEXT: Member = Member::new(4, HostIndex(4));

    /// The leader of three voters. Both others have the whole log, which ends with number 6.
    fn leader() -> Core {
        let mut core = Core::new(1);
        core.me = Some(ME);
        core.members = vec![ME, STAYS, GOES].into();
        core.log.begin(Start { number: 5, term: 1, voters: core.members.to_vec() });
        (core.commit, core.ballot.term) = (5, 1);
        for host in [STAYS.host(), GOES.host()] {
            core.handle(Time(MS), QuorumInput::Linked { host, up: true });
        }
        core.raise_term(2);
        core.lead();
        [STAYS, GOES].into_iter().for_each(|member| has(&mut core, 2, member, 6));
        assert_eq!(core.commit, 6);
        core
    }

    /// A leader with the removal in its log.
    fn removing() -> Core {
        let mut core = leader();
        while core.poll_output().is_some() {}
        remove(&mut core);
        core
    }

    fn remove(core: &mut Core) {
        let command = Blob(b"out".to_vec());
        core.handle(Time(2 * MS), QuorumInput::Propose { command, without: Some(GOES) });
    }

    /// The numbers of all commands in the log.
    fn commands(core: &Core) -> Vec<u64> {
        let is_command = |n: &u64| {
            core.log.get(*n).is_some_and(|entry| matches!(entry.what, What::Command { .. }))
        };
        (core.log.start.number..=core.log.last()).filter(is_command).collect()
    }

    fn has(core: &mut Core, now: u64, from: Member, through: u64) {
        let word = Word::Agree { through, stamp: core.stamp };
        hear(core, now, from, word);
    }

    fn hear(core: &mut Core, now: u64, from: Member, word: Word) {
        let term = core.term();
        let to = core.me.expect("a member");
        let bytes = Blob(Frame { from, to, term, word, kin: None }.to_bytes());
        core.handle(Time(now * MS), QuorumInput::Heard { host: from.host(), bytes });
    }

    /// A member in a daemon that was started again, by the records of the one before.
    fn started_again(core: &mut Core, now: u64) -> Core {
        let mut again = Core::new(2);
        while let Some(output) = core.poll_output() {
            if let QuorumOutput::Save { key, value: Some(value) } = output {
                assert!(again.restore(&key.0, &value.0));
            }
        }
        let members = vec![ME, STAYS, GOES];
        again.handle(Time(now * MS), QuorumInput::Members { members });
        again
    }

    /// The voter that is to be removed elects it, and confirms everything that it is sent.
    fn led_by_the_word_of_the_one_that_goes(core: &mut Core, now: u64) {
        core.handle(Time(now * MS), QuorumInput::Linked { host: GOES.host(), up: true });
        core.handle_timeout(Time((now + 100) * MS));
        for firm in [false, true] {
            hear(core, now + 100, GOES, Word::Vote { firm, yes: true });
        }
        has(core, now + 101, GOES, core.log.last());
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
        let mut core = removing();
        assert_eq!(told(&mut core), [STAYS.host()], "whom it takes out is not told yet");
        has(&mut core, 3, GOES, 6);
        assert_eq!(core.commit, 6);
        let last = core.log.last();
        has(&mut core, 3, STAYS, last);
        assert_eq!(core.commit, last);
        assert_eq!(told(&mut core), [GOES.host()], "now it is told");
    }

    #[test]
    fn a_removal_that_nobody_else_confirms_stood_in_the_log_for_ever() {
        let mut core = removing();
        for now in 1..40 {
            has(&mut core, now * 50, GOES, 6);
            core.handle_timeout(Time(now * 50 * MS));
        }
        assert_eq!((core.log.last(), core.commit), (6, 6), "it is taken back");
        assert!(core.role != Role::Leader);
        assert_eq!(core.voters(), [ME, STAYS, GOES]);
    }

    #[test]
    fn a_leader_that_was_started_again_let_the_voter_that_goes_confirm_its_removal() {
        let mut core = leader();
        remove(&mut core);
        let mut core = started_again(&mut core, 10);
        assert_eq!(core.voters(), [ME, STAYS, GOES]);
        led_by_the_word_of_the_one_that_goes(&mut core, 20);
        assert!(core.role == Role::Leader && core.commit == core.log.last(), "{core:?}");
        assert_eq!(
            commands(&core),
            [],
            "the removal is taken back; who wants it proposes it again"
        );
    }

    #[test]
    fn a_removal_that_is_committed_is_not_taken_back() {
        let mut core = leader();
        remove(&mut core);
        let last = core.log.last();
        has(&mut core, 3, STAYS, last);
        let core = started_again(&mut core, 10);
        assert_eq!((core.commit, commands(&core)), (last, vec![last]));
        assert_eq!(core.voters(), [ME, STAYS]);
    }

    /// A member without a vote was to be taken out when a voter had been silent for so long that it
    /// was replaced: by the member that was going. So two of four voters were none.
    #[test]
    fn a_member_that_was_to_be_taken_out_got_a_vote() {
        const NO_VOTER: Member = Member::new(4, HostIndex(4));
        let mut core = leader();
        core.handle(Time(2 * MS), QuorumInput::Linked { host: NO_VOTER.host(), up: true });
        let members = vec![ME, STAYS, GOES, NO_VOTER];
        core.handle(Time(2 * MS), QuorumInput::Members { members });
        has(&mut core, 2, NO_VOTER, 6);
        let command = Blob(b"out".to_vec());
        core.handle(Time(2 * MS), QuorumInput::Propose { command, without: Some(NO_VOTER) });
        // The third voter is silent, and the second one has not confirmed the command.
        for now in (50..2000).step_by(50) {
            [STAYS, NO_VOTER].into_iter().for_each(|member| has(&mut core, now, member, 6));
            core.handle_timeout(Time(now * MS));
        }
        assert_eq!((core.commit, commands(&core)), (6, vec![7]));
        assert_eq!(core.voters(), [ME, STAYS, GOES]);
        // Once the command is committed, another member may replace the silent voter.
        has(&mut core, 2001, STAYS, 7);
        assert_eq!(core.commit, 7);
    }

    /// The leader of three voters and a member without a vote, which has the whole log, too.
    fn leader_of_four() -> (Core, Member) {
        let mut core = leader();
        core.handle(Time(2 * MS), QuorumInput::Linked { host: NEXT.host(), up: true });
        let members = vec![ME, STAYS, GOES, NEXT];
        core.handle(Time(2 * MS), QuorumInput::Members { members });
        has(&mut core, 2, NEXT, 6);
        (core, NEXT)
    }

    /// The leader of four after the one that is to go has given its vote to the fourth one.
    fn leader_before_a_removal() -> (Core, Member) {
        let (mut core, next) = leader_of_four();
        core.handle(Time(2 * MS), QuorumInput::Part { member: GOES });
        assert_eq!(core.voters(), [ME, STAYS, GOES, next]);
        [STAYS, next].into_iter().for_each(|member| has(&mut core, 3, member, 7));
        assert_eq!(core.voters(), [ME, STAYS, next]);
        [STAYS, next].into_iter().for_each(|member| has(&mut core, 4, member, 8));
        (core, next)
    }

    /// Of four members three voted, and one of these was taken out: until the fourth one had its
    /// vote, the death of the leader left one of two voters.
    #[test]
    fn a_voter_was_taken_out_before_another_member_had_its_vote() {
        assert_eq!(leader_of_four().0.may_part(GOES), None);
        let (core, _) = leader_before_a_removal();
        assert_eq!((core.commit, core.may_part(GOES)), (8, Some(true)), "it does not vote now");
    }

    /// The leader of three voters and two other members along a tree, as this voter.
    fn leader_along_a_tree(me: Member) -> Core {
        let limits = Limits { star_count: 3, tree_width: 1, failures_max: 1, ..Limits::USUAL };
        let mut core = Core::within(limits, 1);
        core.me = Some(me);
        core.log.begin(Start { number: 5, term: 1, voters: vec![ME, STAYS, GOES] });
        (core.commit, core.ballot.term) = (5, 1);
        let members = vec![ME, STAYS, GOES, NEXT, Member::new(5, HostIndex(5))];
        for host in members.iter().filter(|member| **member != me).map(|member| member.host()) {
            core.handle(Time(MS), QuorumInput::Linked { host, up: true });
        }
        core.handle(Time(MS), QuorumInput::Members { members });
        core.raise_term(2);
        core.lead();
        core
    }

    /// A leader sent the log to voters only, and waited for another member that could have the vote
    /// of the one that goes.
    #[test]
    fn a_leader_with_no_other_member_below_it_removed_no_voter() {
        let mut met = 0;
        for (me, goes) in [(ME, GOES), (STAYS, GOES), (GOES, ME)] {
            let mut core = leader_along_a_tree(me);
            let others: Vec<_> = [ME, STAYS, GOES].into_iter().filter(|it| *it != me).collect();
            others.iter().for_each(|member| has(&mut core, 2, *member, 6));
            if core.peers.keys().all(|peer| core.voters().contains(peer)) {
                met += 1;
                core.handle(Time(3 * MS), QuorumInput::Part { member: goes });
                others.iter().for_each(|member| has(&mut core, 4, *member, 6));
                assert_eq!(core.may_part(goes), Some(true), "as {me:?}");
            }
        }
        assert!(met > 0, "each voter has another member below it");
    }

    /// The voters after a member gave its vote away and the one that asked for its removal died
    /// before that was ordered.
    fn voters_without_the_one_that_asked() -> Vec<Member> {
        let (mut core, next) = leader_before_a_removal();
        has(&mut core, 4, GOES, 8);
        // The one that asked is silent, and taken out.
        let command = Blob(b"fence".to_vec());
        core.handle(Time(5 * MS), QuorumInput::Propose { command, without: Some(STAYS) });
        let last = core.log.last();
        [GOES, next].into_iter().for_each(|member| has(&mut core, 6, member, last));
        core.handle(Time(7 * MS), QuorumInput::Members { members: vec![ME, GOES, next] });
        has(&mut core, 8, next, last);
        core.voters().to_vec()
    }

    /// The voters after the removal of a member was ordered and changed nothing, as the member was
    /// to stay after all, and another voter was silent from then on.
    fn voters_after_a_removal_of_nobody() -> Vec<Member> {
        let (mut core, next) = leader_before_a_removal();
        remove(&mut core);
        let last = core.log.last();
        [STAYS, next].into_iter().for_each(|member| has(&mut core, 5, member, last));
        for now in (50..2000).step_by(50) {
            [GOES, next].into_iter().for_each(|member| has(&mut core, now, member, last));
            core.handle_timeout(Time(now * MS));
        }
        core.voters().to_vec()
    }

    /// It got no vote while the same leader led, and one of two voters was none.
    #[test]
    fn a_member_whose_removal_was_wanted_by_a_dead_one_voted_no_more() {
        assert_eq!(voters_without_the_one_that_asked(), [ME, GOES, NEXT]);
    }

    #[test]
    fn a_member_that_was_not_removed_after_all_voted_no_more() {
        assert_eq!(voters_after_a_removal_of_nobody(), [ME, STAYS, GOES, NEXT]);
    }

    #[cfg(feature = "planted")]
    #[test]
    fn the_tests_of_a_vote_that_comes_back_find_their_planted_bug() {
        planted::plant(Some(Bug::VoteNotGivenBack));
        let voters = [voters_without_the_one_that_asked(), voters_after_a_removal_of_nobody()];
        planted::plant(None);
        assert!(voters.iter().all(|voters| !voters.contains(&GOES)), "{voters:?}");
    }

    /// The planted bug leaves the vote where it is.
    #[cfg(feature = "planted")]
    #[test]
    fn the_test_of_the_stand_in_finds_its_planted_bug() {
        planted::plant(Some(Bug::GoesBeforeItsStandIn));
        let (mut core, _) = leader_of_four();
        core.handle(Time(2 * MS), QuorumInput::Part { member: GOES });
        let voters = core.voters().to_vec();
        planted::plant(None);
        assert_eq!(voters, [ME, STAYS, GOES]);
    }

    /// A leader that learned of a later term kept the removal: of three voters it and the one that
    /// goes could elect nobody once the third one had died.
    #[test]
    fn a_leader_that_heard_of_a_later_term_kept_a_removal_that_nobody_had_confirmed() {
        let mut core = removing();
        let term = core.term() + 1;
        let word = Word::Differ { hint: 6, stamp: 0 };
        let bytes = Blob(Frame { from: GOES, to: ME, term, word, kin: None }.to_bytes());
        core.handle(Time(3 * MS), QuorumInput::Heard { host: GOES.host(), bytes });
        assert_eq!((core.role, core.log.last()), (Role::Follower, 6));
        assert_eq!(core.voters(), [ME, STAYS, GOES]);
    }

    #[test]
    fn while_one_voter_goes_no_other_vote_is_taken_out() {
        let mut core = removing();
        let command = Blob(b"out".to_vec());
        core.handle(Time(2 * MS), QuorumInput::Propose { command, without: Some(STAYS) });
        assert_eq!(core.voters(), [ME, STAYS]);
        assert_eq!(core.commit, 6, "the leader and the one that stays must confirm both");
    }
}
