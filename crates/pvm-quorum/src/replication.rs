//! How what a leader has ordered comes to all members.

use crate::core::{Core, Peer};
use crate::frame::{Entry, What, Word};
use crate::log::Start;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::{Member, QuorumOutput};
use pvm_wire::Blob;

/// Most entries, and bytes of commands, in one message.
const ENTRY_COUNT_MAX: usize = 256;
const ENTRY_BYTES_MAX: usize = 1 << 20;
/// The log is cut when so many of its entries are everywhere.
const CUT_COUNT: u64 = 32;
/// How long to wait before the state is sent again.
const STATE_NS: u64 = 1_000_000_000;

impl Core {
    /// All members but this one, and voters that are no members any more.
    pub(crate) fn others(&self) -> Vec<Member> {
        let mut all: Vec<_> = self.members.iter().chain(self.voters()).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|member| Some(*member) != self.me);
        all
    }

    /// Leader: sends everybody what is new.
    pub(crate) fn spread(&mut self) {
        for member in self.others() {
            self.send_entries(member);
        }
    }

    /// The same, and once more what was not answered since the last time.
    pub(crate) fn spread_again(&mut self) {
        for peer in self.peers.values_mut() {
            peer.next = peer.next.min(peer.matched + 1);
        }
        self.spread();
    }

    pub(crate) fn send_entries(&mut self, to: Member) {
        let last = self.log.last();
        let Some(peer) = self.peers.get(&to) else { return };
        if !self.is_up(to) {
            return;
        }
        let start = self.log.start.number;
        let before = (peer.next - 1).clamp(start, last);
        let mut entries = self.log.after(before, ENTRY_COUNT_MAX, ENTRY_BYTES_MAX);
        if planted::is(Bug::SnapshotWithoutTail) && peer.state_at.is_some() {
            entries.clear();
        }
        let next = before + 1 + entries.len() as u64;
        let before_term = self.log.term(before).unwrap_or(0);
        let (commit, everywhere, stamp) = (self.commit, self.everywhere, self.now);
        if let Some(peer) = self.peers.get_mut(&to) {
            peer.next = next;
        }
        self.send(to, Word::Append { before, before_term, entries, commit, everywhere, stamp });
    }

    /// Follower: entries of the leader.
    pub(crate) fn take(
        &mut self,
        (from, stamp): (Member, u64),
        (before, before_term): (u64, u64),
        entries: Vec<Entry>,
        (commit, everywhere): (u64, u64),
    ) {
        if self.is_blank() {
            return self.send(from, Word::Blank);
        }
        // What is ordered for good here is the same everywhere.
        let known = self.commit.saturating_sub(before);
        let differs = self.log.term(before) != Some(before_term);
        if known == 0 && differs && !planted::is(Bug::BeforeNotChecked) {
            let hint = self.log.last().min(before.saturating_sub(1)).max(self.commit);
            return self.send(from, Word::Differ { hint, stamp });
        }
        let through = before + entries.len() as u64;
        for (number, entry) in (before + 1..).zip(entries).filter(|e| e.0 > self.commit) {
            match self.log.get(number) {
                Some(mine) if mine.term == entry.term => continue,
                Some(_) if planted::is(Bug::LogNotTruncated) => continue,
                Some(_) => self.log.drop_from(number),
                None if number != self.log.last() + 1 => return,
                None => {}
            }
            self.log.push(entry);
        }
        let through = through.max(self.commit);
        // The leader's own time goes back to it: that of another clock says nothing to it.
        let stamp = if planted::is(Bug::StampOfAnother) { self.now } else { stamp };
        self.send(from, Word::Agree { through, stamp });
        self.commit_to(commit.min(through));
        self.everywhere = everywhere.min(self.commit);
        self.cut();
    }

    /// Applies everything up to `commit`.
    fn commit_to(&mut self, commit: u64) {
        for number in self.commit + 1..=commit {
            let Some(entry) = self.log.get(number) else { return };
            let what = entry.what.clone();
            self.commit = number;
            if let What::Command { bytes: command } = what {
                self.put(QuorumOutput::Apply { number, command });
            }
        }
    }

    fn peer_mut(&mut self, from: Member, stamp: u64) -> Option<&mut Peer> {
        let (leads, now) = (self.is_leader(), self.now);
        let peer = self.peers.get_mut(&from).filter(|_| leads)?;
        // What this leader has not said yet nobody has answered.
        peer.heard = peer.heard.max(stamp.min(now));
        Some(peer)
    }

    pub(crate) fn agreed(&mut self, from: Member, through: u64, stamp: u64) {
        let last = self.log.last();
        let Some(peer) = self.peer_mut(from, stamp) else { return };
        peer.matched = peer.matched.max(through.min(last));
        peer.next = peer.next.max(peer.matched + 1);
        let more = peer.next <= last;
        if !planted::is(Bug::SnapshotWithoutTail) {
            peer.state_at = None;
        }
        self.advance();
        if more {
            self.send_entries(from);
        }
        // A new member may vote as soon as it is there, not at the next beat.
        self.arrange();
        self.hand_over();
    }

    pub(crate) fn differed(&mut self, from: Member, hint: u64, stamp: u64) {
        let last = self.log.last();
        let Some(peer) = self.peer_mut(from, stamp) else { return };
        peer.next = (hint + 1).clamp(peer.matched + 1, last + 1);
        self.send_entries(from);
    }

    pub(crate) fn wants_state(&mut self, from: Member) {
        let now = self.now;
        let Some(peer) = self.peer_mut(from, 0) else { return };
        if peer.state_at.is_none_or(|at| at + STATE_NS <= now) {
            peer.state_at = Some(now);
            self.put(QuorumOutput::StateWanted { to: from });
        }
    }

    pub(crate) fn send_state(&mut self, to: Member, number: u64, state: Blob) {
        if !self.is_leader() || number > self.commit {
            return;
        }
        // Behind the last command lie only entries that change no state.
        let is_command = |n: &u64| {
            self.log.get(*n).is_some_and(|entry| matches!(entry.what, What::Command { .. }))
        };
        let mut number = (number + 1..=self.commit).find(is_command).map_or(self.commit, |n| n - 1);
        if planted::is(Bug::SnapshotTooOld) {
            number = self.log.start.number.max(number.saturating_sub(1));
        }
        let Some(number_term) = self.log.term(number) else { return };
        let voters = self.log.voters_at(number).to_vec();
        if let Some(peer) = self.peers.get_mut(&to) {
            peer.next = number + 1;
        }
        self.send(to, Word::Install { number, number_term, voters, state });
    }

    /// A new member: this is where it begins.
    pub(crate) fn install(&mut self, from: Member, start: Start, state: Blob) {
        let number = start.number;
        if self.is_blank() && number > 0 {
            self.log.begin(start);
            self.commit = number;
            self.put(QuorumOutput::Adopt { number, state });
        }
        let (through, stamp) = (self.commit, 0);
        self.send(from, Word::Agree { through, stamp });
    }

    /// Leader: orders for good what enough members have.
    pub(crate) fn advance(&mut self) {
        if !self.is_leader() {
            return;
        }
        let has = |member: &Member| self.has(*member);
        let mut places: Vec<u64> = self.voters().iter().map(has).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        let less = usize::from(planted::is(Bug::CommitByMinority) && places.len() > 1);
        let most = places.get(self.majority() - 1 - less).copied().unwrap_or(0);
        let Some(needed) = self.needed_through() else { return };
        let commit = most.min(needed);
        let mine = self.log.term(commit) == Some(self.term());
        if commit > self.commit && (mine || planted::is(Bug::EarlierTermCounted)) {
            let before = self.commit;
            self.commit = commit;
            // Told before it is applied here: a host that it removes must hear of it.
            self.spread();
            self.commit = before;
            self.commit_to(commit);
            self.arrange();
        }
        // One answer of each member changes it: looking at all of them each time would cost the
        // square of their number.
        self.answer_count += 1;
        if self.answer_count >= self.members.len() {
            self.note_everywhere();
        }
    }

    /// Leader: up to where all members have everything, and what of the log is needed no more.
    pub(crate) fn note_everywhere(&mut self) {
        self.answer_count = 0;
        let everywhere = self.members.iter().map(|member| self.has(*member)).min();
        self.everywhere = everywhere.unwrap_or(0).min(self.commit);
        if planted::is(Bug::CutTooEarly) {
            self.everywhere = self.commit;
        }
        self.cut();
    }

    /// How much of the log a member has, as far as this leader knows.
    fn has(&self, member: Member) -> u64 {
        match self.peers.get(&member) {
            _ if Some(member) == self.me => self.log.last(),
            Some(peer) => peer.matched,
            None => 0,
        }
    }

    fn cut(&mut self) {
        if self.everywhere >= self.log.start.number + CUT_COUNT {
            self.log.cut(self.everywhere);
        }
    }
}
