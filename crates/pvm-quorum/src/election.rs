//! Elections.

use crate::core::{BEAT_NS, Core, NEVER, Role, SILENCE_NS};
use crate::flow::Peer;
use crate::frame::{What, Word};
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use std::collections::BTreeMap;

/// The interval of heartbeats to members that do not vote. There are many of them, and they only
/// follow.
const FOLLOWER_BEAT_NS: u64 = 400_000_000;
/// The interval of heartbeats to members that do not vote, where the log goes along a tree.
const TREE_BEAT_NS: u64 = 550_000_000;
/// Members that do not vote wait this many election timeouts for a leader.
const FOLLOWER_PATIENCE: u64 = 2;
/// They wait this many election timeouts where the log goes along a tree.
const TREE_PATIENCE: u64 = 4;

/// The time for which a leader goes on without answers from a majority.
pub(crate) const UNANSWERED_NS: u64 = 2 * SILENCE_NS;

impl Core {
    /// The number of voters that are a majority.
    pub(crate) fn majority(&self) -> usize {
        self.voters().len() / 2 + 1
    }

    /// Postpones the next election by an election timeout.
    pub(crate) fn wait_for_silence(&mut self) {
        let unwell = if self.unwell_until > self.now { SILENCE_NS } else { 0 };
        self.next_at = self.now + self.silence() + unwell + self.draw(SILENCE_NS);
    }

    /// The time for which this member waits for a leader's message before it assumes that there is
    /// no leader.
    pub(crate) fn silence(&self) -> u64 {
        match self.tree.is_used() {
            _ if self.is_voter() => SILENCE_NS,
            true => TREE_PATIENCE * SILENCE_NS,
            false => FOLLOWER_PATIENCE * SILENCE_NS,
        }
    }

    /// Leader: members that decide get every heartbeat. The others get one when they have answered
    /// nothing for the longer interval.
    fn is_beat_due(&self, member: Member) -> bool {
        let heard = self.peers.get(&member).map_or(0, |peer| peer.heard);
        let seldom = if self.tree.is_used() { TREE_BEAT_NS } else { FOLLOWER_BEAT_NS };
        self.decides(member) || heard + seldom <= self.now
    }

    /// Stands for election. Without `firm` the member only asks whether it would be elected.
    pub(crate) fn stand(&mut self, firm: bool, wanted: bool) {
        self.wait_for_silence();
        if !self.is_voter() && !self.is_blank() && !planted::is(Bug::LostOutsideTheTree) {
            // If it has missed many entries, it may not know the member that is above it by now.
            return self.find_foster();
        }
        let Some(me) = self.me.filter(|_| self.is_voter() && !self.may_not_stand()) else {
            return;
        };
        if firm {
            let term = self.term() + 1;
            self.raise_term(term);
            self.ballot.voted = Some(me);
            self.role = Role::Candidate;
        } else {
            self.role = Role::Asking;
        }
        self.votes.clear();
        self.votes.insert(me);
        if self.is_elected() {
            return self.elected(firm);
        }
        for voter in self.voters().to_vec() {
            self.ask_as(voter, wanted);
        }
    }

    /// Asks a member for its vote.
    pub(crate) fn ask(&mut self, member: Member) {
        if self.voters().contains(&member) {
            self.ask_as(member, false);
        }
    }

    fn ask_as(&mut self, voter: Member, wanted: bool) {
        let firm = self.role == Role::Candidate;
        let (last, last_term) = (self.log.last(), self.log.last_term());
        self.send(voter, Word::Ask { firm, last, last_term, wanted });
    }

    fn is_elected(&self) -> bool {
        let votes = self.voters().iter().filter(|voter| self.votes.contains(voter)).count();
        let less = usize::from(planted::is(Bug::LeadByMinority) && self.voters().len() > 1);
        votes >= self.majority() - less
    }

    fn elected(&mut self, firm: bool) {
        if firm { self.lead() } else { self.stand(true, false) }
    }

    /// Handles a member's request for a vote in the frame's term, or, without `firm`, in the next
    /// one.
    pub(crate) fn asked(
        &mut self,
        (from, term): (Member, u64),
        its_log: (u64, u64),
        firm: bool,
        wanted: bool,
    ) {
        if self.is_blank() {
            return;
        }
        if !self.voters().contains(&from) {
            // The sender is no voter any more and does not know it, because it hears no member
            // above it.
            self.foster(from);
        }
        // A member that hears a leader elects no other one, unless that leader itself was restarted
        // and asks.
        let content = self.leader != Some(from) || self.is_leader();
        let hears = self.heard_at != 0 && self.heard_at + SILENCE_NS > self.now;
        let has_leader = if self.is_leader() { self.is_answered() } else { hears };
        if content && has_leader && !wanted {
            return;
        }
        let last = (self.log.last_term(), self.log.last());
        let good = its_log >= last || planted::is(Bug::StaleLogVotedFor);
        if !firm {
            let yes = good && term >= self.term();
            return self.send(from, Word::Vote { firm, yes });
        }
        if term > self.term() {
            self.raise_term(term);
            self.step_down();
        }
        let free =
            self.ballot.voted.is_none_or(|voted| voted == from) || planted::is(Bug::VotedTwice);
        let yes = good && free && term == self.term();
        if yes {
            self.ballot.voted = Some(from);
            self.heard_at = self.now;
            self.wait_for_silence();
        }
        self.send(from, Word::Vote { firm, yes });
    }

    pub(crate) fn voted(&mut self, from: Member, term: u64, firm: bool, yes: bool) {
        if term > self.term() {
            self.raise_term(term);
            return self.step_down();
        }
        let asked = if firm { Role::Candidate } else { Role::Asking };
        // Any later answer to the same question is as good.
        if self.role != asked || !yes || firm && term != self.term() {
            return;
        }
        self.votes.insert(from);
        if self.is_elected() {
            self.elected(firm);
        }
    }

    /// Makes this member the leader.
    pub(crate) fn lead(&mut self) {
        self.role = Role::Leader;
        self.ballot.led = true;
        self.leads_since = self.now;
        self.resigning = None;
        (self.removal, self.going) = (0, None);
        let next = self.log.last() + 1;
        let now = self.now;
        self.peers = BTreeMap::new();
        for member in self.others() {
            // A vote for this member means that its sender hears no other leader.
            let heard = if self.votes.contains(&member) { now } else { 0 };
            self.peers.insert(member, Peer::new(next, heard));
        }
        self.next_at = if self.peers.is_empty() { NEVER } else { now + BEAT_NS };
        self.relay.changes += 1;
        self.set_leader(self.me);
        self.append(What::Nothing);
    }

    /// Makes this member a follower.
    pub(crate) fn step_down(&mut self) {
        if self.role == Role::Follower {
            return;
        }
        let led = self.is_leader();
        self.log.take_back_removal(self.commit, self.ballot.led_in());
        self.role = Role::Follower;
        self.resigning = None;
        self.wait_for_silence();
        if led {
            self.peers.clear();
            self.serve();
        }
    }

    /// The time at which this leader sent the latest message that a majority has answered.
    pub(crate) fn answered_at(&self) -> u64 {
        self.majority_at(|peer| peer.heard)
    }

    /// The latest time that a majority has reached.
    fn majority_at(&self, time: impl Fn(&Peer) -> u64) -> u64 {
        let mut times: Vec<u64> = self
            .voters()
            .iter()
            .map(|voter| match self.peers.get(voter) {
                _ if Some(*voter) == self.me => u64::MAX / 2,
                Some(peer) => time(peer),
                None => 0,
            })
            .collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let most = if planted::is(Bug::AnswerCountsForAll) { 1 } else { self.majority() - 1 };
        times.get(most).copied().unwrap_or(0)
    }

    /// True if a majority has sent any message of late: the leader's last message may still be on
    /// its way to them.
    fn is_answered(&self) -> bool {
        self.majority_at(|peer| peer.seen) + UNANSWERED_NS > self.now
    }

    /// Leader: sends heartbeats, or steps down if too few members answer.
    pub(crate) fn beat(&mut self) {
        self.next_at = if self.others().is_empty() { NEVER } else { self.now + BEAT_NS };
        if !self.is_answered() || self.is_left_alone() {
            self.set_leader(None);
            return self.step_down();
        }
        self.note_everywhere();
        let due = self.others().into_iter().filter(|member| self.is_beat_due(*member)).collect();
        self.spread_beat_to(due);
        self.look_after_all();
        self.arrange();
        self.hand_over();
    }
}
