//! Replication of the leader's log to all members.

use crate::core::Core;
use crate::flow::{Flow, Peer, Sending, View};
use crate::frame::{Entry, What, Word};
use crate::limits::Limits;
use crate::log::Start;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::{Member, QuorumOutput};
use pvm_wire::Blob;

/// The most entries in one message.
const ENTRY_COUNT_MAX: usize = 256;

impl Core {
    /// The members to which this one sends without being asked. A leader sends to all members, and
    /// to voters that are no members any more. In a tree a leader sends to voters, to needed
    /// members and to those below it; the other members send only to those below them.
    pub(crate) fn others(&self) -> Vec<Member> {
        let mut all: Vec<_> = match (self.is_leader(), self.tree.is_used()) {
            (false, false) => return Vec::new(),
            (true, false) => self.members.iter().chain(self.voters()).copied().collect(),
            (true, true) => {
                let top = self.voters().iter().chain(&self.tree.top).copied();
                self.below().chain(top).chain(self.needed()).collect()
            }
            (false, true) => self.below().collect(),
        };
        all.sort_unstable();
        all.dedup();
        all.retain(|member| Some(*member) != self.me);
        all
    }

    /// Leader: sends new entries to all members, as far as the windows allow.
    pub(crate) fn spread(&mut self) {
        for member in self.others() {
            self.send_entries(member);
        }
    }

    /// Leader: sends a heartbeat with the number of the last committed entry.
    pub(crate) fn spread_beat(&mut self) {
        let others = self.others();
        self.spread_beat_to(others);
    }

    /// Sends a heartbeat to these members, and returns its time stamp.
    pub(crate) fn spread_beat_to(&mut self, members: Vec<Member>) -> u64 {
        let (commit, everywhere, stamp) = (self.commit, self.everywhere, self.next_stamp());
        for member in members {
            self.send(member, Word::Beat { commit, everywhere, stamp });
        }
        stamp
    }

    /// Leader: probes the members that have confirmed nothing for too long.
    pub(crate) fn look_after_all(&mut self) {
        let now = self.now;
        for peer in self.peers.values_mut() {
            peer.look_after(now);
        }
        self.spread();
    }

    /// Leader: sends a member the entries that it lacks, as far as the window allows.
    pub(crate) fn send_entries(&mut self, to: Member) {
        if !self.is_up(to) {
            return;
        }
        self.send_pieces(to);
        let last = self.told_last(to);
        while self.peers.get(&to).is_some_and(|peer| peer.may_send(last, &self.limits)) {
            self.send_some(to);
        }
    }

    fn send_some(&mut self, to: Member) {
        let last = self.told_last(to);
        let Some(peer) = self.peers.get_mut(&to) else { return };
        let before = (peer.next - 1).clamp(self.log.start.number, last);
        let room = usize::try_from(last - before).unwrap_or(usize::MAX);
        let count = if peer.is_probed() { 0 } else { ENTRY_COUNT_MAX.min(room) };
        let (entries, bytes) = self.log.after(before, count, self.limits.piece_bytes);
        peer.note_sent(self.now, before, entries.len() as u64, bytes);
        let before_term = self.log.term(before).unwrap_or(0);
        let (commit, everywhere, stamp) = (self.commit, self.everywhere, self.next_stamp());
        self.send(to, Word::Append { before, before_term, entries, commit, everywhere, stamp });
    }

    /// Follower: its view of the leader's log in this term.
    pub(crate) fn view(&mut self) -> &mut View {
        let (term, commit) = (self.term(), self.commit);
        if self.view.term != term {
            self.view = View { term, verified: commit, commit };
        }
        // Committed entries are equal on all members.
        self.view.verified = self.view.verified.max(commit);
        &mut self.view
    }

    /// Follower: handles a heartbeat with the leader's commit number.
    pub(crate) fn hear_beat(
        &mut self,
        (from, stamp): (Member, u64),
        (commit, everywhere): (u64, u64),
    ) {
        if self.is_blank() {
            return self.send(from, Word::Blank);
        }
        let view = self.view();
        view.commit = view.commit.max(commit);
        let (through, stamp) = (view.verified, self.stamp_of(stamp));
        self.send(from, Word::Alive { through, stamp });
        self.follow_view(everywhere);
        if self.commit >= commit {
            self.note_taken(from, false);
        }
    }

    /// An answer returns the leader's own time: the time of another clock tells it nothing.
    fn stamp_of(&self, stamp: u64) -> u64 {
        if planted::is(Bug::StampOfAnother) { self.now } else { stamp }
    }

    /// Follower: applies the committed entries of the leader's log that it has.
    pub(crate) fn follow_view(&mut self, everywhere: u64) {
        let View { verified: through, commit, .. } = *self.view();
        let through = if planted::is(Bug::CommitUnverified) { self.log.last() } else { through };
        self.commit_to(commit.min(through));
        self.everywhere = self.everywhere.max(everywhere.min(self.commit));
        self.cut();
    }

    /// Follower: handles entries of the leader.
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
        // Committed entries are equal on all members.
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
        let view = self.view();
        view.verified = view.verified.max(through);
        view.commit = view.commit.max(commit);
        let (through, stamp) = (view.verified, self.stamp_of(stamp));
        self.send(from, Word::Agree { through, stamp });
        let before = self.commit;
        self.follow_view(everywhere);
        self.note_taken(from, self.commit > before);
    }

    /// Applies everything up to `commit`.
    fn commit_to(&mut self, commit: u64) {
        for number in self.commit + 1..=commit {
            let Some(entry) = self.log.get(number) else { return };
            let what = entry.what.clone();
            self.commit = number;
            if let What::Command { bytes: command } = what {
                self.is_behind = true;
                self.put(QuorumOutput::Apply { number, command });
                continue;
            }
            self.put(QuorumOutput::Passed { number });
            if matches!(what, What::Voters { .. }) {
                self.grow_tree();
            }
        }
        if !self.is_leader() {
            self.spread();
        }
    }

    /// Leader: a member has answered something.
    pub(crate) fn note_seen(&mut self, from: Member) {
        let now = self.now;
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.seen = now;
        }
    }

    fn peer_mut(&mut self, from: Member, stamp: u64) -> Option<&mut Peer> {
        let said = self.stamp;
        let peer = self.peers.get_mut(&from)?;
        // No member can have answered a message that this leader has not sent yet.
        peer.heard = peer.heard.max(stamp.min(said));
        Some(peer)
    }

    /// Leader: a member has the log up to `through`. `in_order` is true for the answer to a message
    /// that cannot overtake the entries sent before it.
    pub(crate) fn agreed(&mut self, from: Member, through: u64, stamp: u64, in_order: bool) {
        let (last, now) = (self.told_last(from), self.now);
        let Some(peer) = self.peer_mut(from, stamp) else { return };
        let before = peer.matched;
        peer.note_matched(now, through.min(last));
        if in_order {
            peer.note_answer(stamp);
        }
        if peer.matched > before {
            self.advance();
        } else {
            self.count_answer();
        }
        self.send_entries(from);
        // A new member may become a voter as soon as it has the log, not only at the next
        // heartbeat.
        self.arrange();
        self.hand_over();
    }

    pub(crate) fn differed(&mut self, from: Member, hint: u64, stamp: u64) {
        let (start, last) = (self.log.start.number, self.told_last(from));
        let leads = self.is_leader();
        let Some(peer) = self.peer_mut(from, stamp) else { return };
        // From a relay only a new member takes the state.
        let refused = !leads && matches!(peer.flow, Flow::State(_));
        if !refused && !peer.is_news(stamp) {
            return;
        }
        if hint < start && !planted::is(Bug::LaggardWithoutState) {
            // This member does not keep the next entry that it lacks; if this member leads, no
            // member does.
            if self.is_leader() {
                self.wants_state(from);
            } else {
                self.send(from, Word::Lacks);
            }
        } else {
            peer.probe(hint.min(last) + 1);
            self.send_entries(from);
        }
    }

    pub(crate) fn wants_state(&mut self, from: Member) {
        let now = self.now;
        if self.peer_mut(from, 0).is_some_and(|peer| peer.lacks_state(now)) {
            self.put(QuorumOutput::StateWanted { to: from });
        }
    }

    pub(crate) fn send_state(&mut self, to: Member, number: u64, state: Blob) {
        if !self.peers.contains_key(&to) || number > self.commit {
            return;
        }
        // Entries after the last command change no state.
        let is_command = |n: &u64| {
            self.log.get(*n).is_some_and(|entry| matches!(entry.what, What::Command { .. }))
        };
        let mut number = (number + 1..=self.commit).find(is_command).map_or(self.commit, |n| n - 1);
        if planted::is(Bug::SnapshotTooOld) {
            number = self.log.start.number.max(number.saturating_sub(1));
        }
        let Some(term) = self.log.term(number) else { return };
        let later = if planted::is(Bug::StateWithLaterVoters) { u64::MAX } else { number };
        let start = Start { number, term, voters: self.log.voters_at(later).to_vec() };
        let now = self.now;
        if let Some(peer) = self.peers.get_mut(&to) {
            peer.note_state_begun(now, Sending { start, state, sent: 0, confirmed: 0 });
            self.send_pieces(to);
        }
    }

    /// Leader: sends a new member as much of the state as may be under way.
    fn send_pieces(&mut self, to: Member) {
        loop {
            let flow = self.peers.get_mut(&to).map(|peer| &mut peer.flow);
            let Some(Flow::State(Some(sending))) = flow else { return };
            let Start { number, term: number_term, voters } = sending.start.clone();
            let Some((offset, bytes, last)) = sending.take_piece(&self.limits) else { return };
            let offset = offset as u64;
            self.send(to, Word::Install { number, number_term, voters, offset, bytes, last });
        }
    }

    /// Leader: a new member has this many bytes of the state.
    pub(crate) fn has_state(&mut self, from: Member, through: u64) {
        let (now, through) = (self.now, usize::try_from(through).unwrap_or(0));
        if let Some(peer) = self.peer_mut(from, 0) {
            peer.note_state(now, through);
            self.send_pieces(from);
        }
    }

    /// Leader: commits the entries that enough members have.
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
            let removal = self.log.removal(self.commit, self.ballot.led_in());
            let goes = removal.filter(|removal| removal.number <= commit);
            self.commit = commit;
            goes.into_iter().for_each(|removal| self.send_entries(removal.member));
            // The commit is sent before it is applied here: a host that it removes must hear of it.
            self.spread_beat();
            self.commit = before;
            self.commit_to(commit);
            self.arrange();
        }
        self.count_answer();
    }

    /// Compares what all members have once per round of their answers: after every answer that
    /// would cost the square of the number of members.
    fn count_answer(&mut self) {
        if !self.is_leader() {
            return;
        }
        self.answer_count += 1;
        if self.answer_count >= self.members.len().min(self.peers.len() + 1) {
            self.note_everywhere();
        }
    }

    /// Leader: computes the entry up to which all members have the log, and truncates a long log.
    pub(crate) fn note_everywhere(&mut self) {
        self.answer_count = 0;
        if self.tree.is_used() {
            self.everywhere = self.everywhere.max(self.all_below());
        } else {
            let everywhere = self.members.iter().map(|member| self.has(*member)).min();
            self.everywhere = everywhere.unwrap_or(0).min(self.commit);
        }
        if planted::is(Bug::CutTooEarly) {
            self.everywhere = self.commit;
        }
        self.cut();
    }

    /// The last entry that a member has, as far as this leader knows.
    fn has(&self, member: Member) -> u64 {
        match self.peers.get(&member) {
            _ if Some(member) == self.me => self.log.last(),
            Some(peer) => peer.matched,
            None => 0,
        }
    }

    fn cut(&mut self) {
        let Limits { cut_count, cut_bytes, lag_bytes, .. } = self.limits;
        let many = self.everywhere >= self.log.start.number + cut_count;
        let large = self.log.bytes() >= cut_bytes;
        if many || large {
            self.log.cut(self.everywhere);
        }
        if self.log.bytes() >= lag_bytes {
            self.log.cut(self.log.behind(lag_bytes / 2).min(self.commit));
        }
    }
}
