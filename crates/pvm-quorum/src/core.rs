//! The state of one member, and the dispatch of its inputs.

use crate::flow::{Arriving, Peer, View};
use crate::frame::{Entry, Frame, Kin, What, Word};
use crate::limits::Limits;
use crate::log::{Log, Start};
use crate::members::Members;
use crate::need::Need;
use crate::relay::Relay;
use crate::tree::Tree;
use pvm_core::Time;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::{Member, Quorum, QuorumInput, QuorumOutput, Voting};
use pvm_wire::{Blob, HostIndex, Wire, record};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const MS: u64 = 1_000_000;
/// The interval of a leader's heartbeats.
pub(crate) const BEAT_NS: u64 = 150 * MS;
/// The election timeout. A member does not vote for another leader within this time after it has
/// heard the present one. A member that hears no leader stands for election after one to two of
/// these times, chosen at random.
pub(crate) const SILENCE_NS: u64 = 800 * MS;
/// The lease of a leader, from the moment at which it sent the message that a majority has
/// answered. The rest of the election timeout is the allowance for clocks of different speed.
pub(crate) const LEASE_NS: u64 = 700 * MS;
/// The time of an event that never happens, for a leader without other members.
pub(crate) const NEVER: u64 = u64::MAX;
/// The half of a term that counts the eras.
const ERA_SHIFT: u32 = 32;

record! {
    /// The part of a member's state that elections require it to keep across restarts.
    pub struct Ballot {
        pub term: u64,
        /// The member that this one has voted for in this term.
        pub voted: Option<Member>,
        /// True if this member has led in this term, so there is no other leader in it.
        pub led: bool,
    }
}

impl Ballot {
    /// The term, if this member has led in it.
    pub(crate) fn led_in(&self) -> Option<u64> {
        self.led.then_some(self.term)
    }
}

/// The role of a member in its term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Follower,
    /// The member asks whether it would be elected (pre-vote).
    Asking,
    Candidate,
    Leader,
}

/// One member of the consensus.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) limits: Limits,
    pub(crate) me: Option<Member>,
    pub(crate) ballot: Ballot,
    pub(crate) log: Log,
    /// Entries up to this number are committed and applied.
    pub(crate) commit: u64,
    pub(crate) role: Role,
    pub(crate) leader: Option<Member>,
    /// The members that have voted for this one.
    pub(crate) votes: BTreeSet<Member>,
    pub(crate) peers: BTreeMap<Member, Peer>,
    /// This member's knowledge of the leader's log, in its term.
    pub(crate) view: View,
    /// The part of the state that has arrived.
    pub(crate) arriving: Option<Arriving>,
    pub(crate) members: Members,
    /// This member's place in the tree, by the commands that it has applied.
    pub(crate) tree: Tree,
    pub(crate) relay: Relay,
    /// The members that a leader needs besides the majority; none if they are not known.
    pub(crate) need: Option<Need>,
    up: BTreeSet<HostIndex>,
    /// When a leader was heard last.
    pub(crate) heard_at: u64,
    /// The time at which a voter stands for election, and a leader sends beats.
    pub(crate) next_at: u64,
    /// The time since which this member leads.
    pub(crate) leads_since: u64,
    /// The deadline for handing the lead to another member, while this leader gives way.
    pub(crate) resigning: Option<u64>,
    /// The host that should lead then; none for any host.
    pub(crate) heir: Option<HostIndex>,
    /// Until this time other members should lead, because this one hears less of the machine.
    pub(crate) unwell_until: u64,
    /// All members have the log up to this entry.
    pub(crate) everywhere: u64,
    /// The answers that have come since `everywhere` was computed last.
    pub(crate) answer_count: usize,
    pub(crate) now: u64,
    /// The latest time stamp: no message sent so far has a later one.
    pub(crate) stamp: u64,
    /// Reads that wait for a round of heartbeats: the mark of each, and the latest stamp when it
    /// came.
    pub(crate) reads: VecDeque<(u64, u64)>,
    /// The stamp of the last round of heartbeats for reads.
    pub(crate) round: u64,
    /// The voter that is to be taken out, and the latest stamp when that was asked.
    pub(crate) parting: Option<(Member, u64)>,
    /// The voter that gives its vote to another member before it is taken out.
    pub(crate) going: Option<Member>,
    /// The place of the last command in this leader's log that takes out a member.
    pub(crate) removal: u64,
    /// True if commands were applied here since this core heard something last: the members may be
    /// older than what is committed.
    pub(crate) is_behind: bool,
    /// True until this core gets its first input.
    fresh: bool,
    random: u64,
    stored: (Option<Member>, Ballot, u64),
    outputs: VecDeque<QuorumOutput>,
}

/// Keys of the records.
const ME: u8 = b'm';
const BALLOT: u8 = b'b';
const COMMIT: u8 = b'c';

impl Core {
    /// A member that knows nothing yet. Members with different seeds stand for election at
    /// different times.
    pub fn new(seed: u64) -> Self {
        Self::within(Limits::USUAL, seed)
    }

    /// A member that knows nothing yet, with other bounds.
    pub fn within(limits: Limits, seed: u64) -> Self {
        let ballot = Ballot { term: 0, voted: None, led: false };
        Self {
            limits,
            me: None,
            ballot: ballot.clone(),
            log: Log::new(),
            commit: 0,
            role: Role::Follower,
            leader: None,
            votes: BTreeSet::new(),
            peers: BTreeMap::new(),
            view: View::default(),
            arriving: None,
            members: Members::default(),
            tree: Tree::default(),
            relay: Relay::default(),
            need: None,
            up: BTreeSet::new(),
            heard_at: 0,
            next_at: 0,
            leads_since: 0,
            resigning: None,
            heir: None,
            unwell_until: 0,
            everywhere: 0,
            answer_count: 0,
            now: 0,
            stamp: 0,
            reads: VecDeque::new(),
            round: 0,
            parting: None,
            going: None,
            removal: 0,
            is_behind: false,
            fresh: true,
            random: seed,
            stored: (None, ballot, 0),
            outputs: VecDeque::new(),
        }
    }

    /// The entry up to which all members have the log, as far as this one knows.
    pub const fn everywhere(&self) -> u64 {
        self.everywhere
    }

    /// True until this member has got the state.
    pub(crate) const fn is_blank(&self) -> bool {
        self.commit == 0
    }

    pub(crate) fn term(&self) -> u64 {
        self.ballot.term
    }

    /// The voters, by the whole log.
    pub(crate) fn voters(&self) -> &[Member] {
        self.log.voters_at(u64::MAX)
    }

    pub(crate) fn is_voter(&self) -> bool {
        self.me.is_some_and(|me| self.voters().contains(&me))
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.role == Role::Leader
    }

    pub(crate) fn is_up(&self, member: Member) -> bool {
        self.up.contains(&member.host())
    }

    pub(crate) fn is_member(&self, member: Member) -> bool {
        self.members.binary_search(&member).is_ok()
    }

    /// Resets the seed, so that the search treats states that differ only in it as one. Returns
    /// true if no input has come yet.
    #[cfg(test)]
    pub(crate) const fn settle_random(&mut self) -> bool {
        self.random = 0;
        self.fresh
    }

    /// Hosts to which there is a link.
    #[cfg(test)]
    pub(crate) const fn up(&self) -> &BTreeSet<HostIndex> {
        &self.up
    }

    /// A number below `n`, from the seed (SplitMix64).
    pub(crate) fn draw(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }

    pub(crate) fn put(&mut self, output: QuorumOutput) {
        self.outputs.push_back(output);
    }

    pub(crate) fn send(&mut self, to: Member, word: Word) {
        let Some(from) = self.me.filter(|me| *me != to && self.is_up(to)) else { return };
        let hasty = word.is_hasty();
        let frame = Frame { from, to, term: self.term(), word, kin: self.kin() };
        self.put(QuorumOutput::Send { host: to.host(), bytes: Blob(frame.to_bytes()), hasty });
    }

    pub(crate) fn set_leader(&mut self, leader: Option<Member>) {
        if self.leader != leader {
            self.leader = leader;
            self.hand_on_soon();
            let term = self.term();
            self.put(QuorumOutput::Leader { term, leader });
        }
    }

    /// A later term than any known here.
    pub(crate) fn raise_term(&mut self, term: u64) {
        // Only now is it known that this member led.
        self.log.take_back_removal(self.commit, self.ballot.led_in());
        if !planted::is(Bug::VoteNotReset) {
            self.ballot.voted = None;
        }
        self.ballot.led = false;
        self.ballot.term = term;
        self.set_leader(None);
    }

    fn begin(&mut self, me: Member) {
        if self.me.is_some() {
            return;
        }
        self.me = Some(me);
        self.members = vec![me].into();
        // The command that lets the first host in is the one that begins the log.
        self.log.begin(Start { number: 1, term: 0, voters: vec![me] });
        self.commit = 1;
        self.stand(true, false);
    }

    fn propose(&mut self, bytes: Blob, without: Option<Member>) {
        // A leader that gives way leaves the log as its successor has it.
        if self.is_leader() && self.resigning.is_none() {
            without.into_iter().for_each(|member| self.remove_member(member));
            self.append(What::Command { bytes });
        }
    }

    /// Leader: the next place of the log.
    pub(crate) fn append(&mut self, what: What) {
        let term = self.term();
        self.parting = None;
        self.log.push(Entry { term, what });
        self.spread();
        self.advance();
    }

    fn linked(&mut self, host: HostIndex, up: bool) {
        if !up {
            self.up.remove(&host);
            return;
        }
        self.up.insert(host);
        let mut others = self.members.iter().chain(self.voters());
        let Some(member) = others.find(|m| m.host() == host && Some(**m) != self.me).copied()
        else {
            return;
        };
        let last = self.told_last(member);
        if let Some(peer) = self.peers.get_mut(&member) {
            peer.restart(last);
            self.send_entries(member);
        } else if self.tree.is_used() && self.is_voter() {
            // A new member accepts only hosts that were members when it was started, and the member
            // above it now may not be among them. So it answers a voter that it has nothing, and
            // gets the state.
            self.spread_beat_to(vec![member]);
        }
        self.seek_foster();
        match self.role {
            // This member stood for election before this link was up.
            Role::Asking | Role::Candidate => self.ask(member),
            // A sole voter may lead now that another member is linked.
            Role::Follower if self.is_sole_voter() => self.next_at = self.now + 1,
            Role::Leader | Role::Follower => {}
        }
    }

    fn heard(&mut self, host: HostIndex, bytes: &[u8]) {
        let Ok(frame) = Frame::from_bytes(bytes) else { return };
        if frame.from.host() != host || !frame.is_possible() {
            return;
        }
        match self.me {
            Some(me) if me == frame.to => {}
            // A new host learns its name from the first entries or heartbeat that it gets.
            None if matches!(frame.word, Word::Append { .. } | Word::Beat { .. }) => {
                self.me = Some(frame.to)
            }
            _ => return,
        }
        // Frames of senders that are neither members nor voters are ignored: their higher era must
        // not end this member.
        let known = self.is_member(frame.from) || self.voters().contains(&frame.from);
        if !known && !self.is_blank() {
            return;
        }
        if era(frame.term) > era(self.term()) && !self.is_blank() {
            return self.put(QuorumOutput::Overtaken);
        }
        match frame.word {
            Word::Ask { firm, last, last_term, wanted } => {
                self.asked((frame.from, frame.term), (last_term, last), firm, wanted);
            }
            Word::Vote { firm, yes } => self.voted(frame.from, frame.term, firm, yes),
            // A member that hears nobody may not know the present term.
            Word::Foster => self.foster(frame.from),
            word => self.follow(frame.from, frame.term, word, frame.kin),
        }
    }

    /// Handles the messages between leaders and followers.
    fn follow(&mut self, from: Member, term: u64, word: Word, kin: Option<Kin>) {
        let from_leader = matches!(
            word,
            Word::Append { .. } | Word::Beat { .. } | Word::Install { .. } | Word::Lead
        );
        if term < self.term() && !planted::is(Bug::OlderTermFollowed) {
            if from_leader {
                // The sender learns from the answer that its term is over.
                let commit = self.commit;
                self.send(from, Word::Differ { hint: commit, stamp: 0 });
            }
            return;
        }
        if term > self.term() {
            self.raise_term(term);
            if !planted::is(Bug::LeadsOnInLaterTerm) {
                self.step_down();
            }
        }
        if !from_leader {
            self.note_seen(from);
            self.note_below(from, kin.as_ref());
        } else if self.is_leader() {
            return;
        } else if let Some(kin) = kin.filter(|kin| kin.leader != Some(from)) {
            self.hear_relay(from, &kin);
        } else {
            self.hear_above(from, true);
            self.end_search();
            self.role = Role::Follower;
            self.heard_at = self.now;
            self.wait_for_silence();
            self.set_leader(Some(from));
        }
        match word {
            Word::Append { before, before_term, entries, commit, everywhere, stamp } => {
                self.take((from, stamp), (before, before_term), entries, (commit, everywhere));
            }
            Word::Beat { commit, everywhere, stamp } => {
                self.hear_beat((from, stamp), (commit, everywhere));
            }
            Word::Install { number, number_term, voters, offset, bytes, last } => {
                let start = Start { number, term: number_term, voters };
                self.install(from, start, (offset, &bytes.0, last));
            }
            Word::Got { through } => self.has_state(from, through),
            Word::Lead if self.is_voter() => self.stand(true, true),
            Word::Agree { through, stamp } => self.agreed(from, through, stamp, true),
            Word::Alive { through, stamp } => self.agreed(from, through, stamp, false),
            Word::Differ { hint, stamp } => self.differed(from, hint, stamp),
            Word::Blank => self.give_state(from),
            Word::Lacks => self.lack(from),
            _ => {}
        }
    }

    fn gone(&mut self, host: HostIndex) {
        if self.leader.is_some_and(|leader| leader.host() == host && Some(leader) != self.me) {
            self.set_leader(None);
            self.heard_at = 0;
            self.next_at = self.now + self.draw(SILENCE_NS / 4);
        }
    }

    /// See [`Voting::Alone`].
    fn take_over(&mut self, certain: bool) {
        let may = !self.is_blank() && self.may_go_on(certain);
        let Some(me) = self.me.filter(|_| may) else { return };
        self.raise_term((era(self.term()) + 1) << ERA_SHIFT);
        self.ballot.voted = Some(me);
        let term = self.term();
        self.log.push(Entry { term, what: What::Voters { voters: vec![me] } });
        self.need = Some(Need::NOBODY);
        self.lead();
    }

    /// Puts the records that changed in front of all outputs of this input.
    fn store(&mut self, before: usize) {
        let mut saves = Vec::new();
        let mut save = |key: Vec<u8>, value: Option<Vec<u8>>| {
            saves.push(QuorumOutput::Save { key: Blob(key), value: value.map(Blob) });
        };
        let (me, ballot, commit) = (self.me, self.ballot.clone(), self.commit);
        if let Some(member) = me.filter(|_| me != self.stored.0) {
            save(vec![ME], Some(member.to_bytes()));
        }
        if ballot != self.stored.1 && !planted::is(Bug::BallotNotStored) {
            save(vec![BALLOT], Some(ballot.to_bytes()));
        }
        if commit != self.stored.2 {
            save(vec![COMMIT], Some(commit.to_bytes()));
        }
        let lossy = planted::is(Bug::AcknowledgedBeforeStored) && !self.is_leader();
        for (key, value) in self.log.take_changes() {
            // What is ordered already is stored even then, or nothing would come back at all.
            if !(lossy && value.is_some() && key.first() == Some(&b'e')) {
                save(key, value);
            }
        }
        self.stored = (me, ballot, commit);
        for save in saves.into_iter().rev() {
            self.outputs.insert(before, save);
        }
    }

    /// Begins the handling of an input.
    fn enter(&mut self, now: Time) -> usize {
        self.now = now.0;
        if std::mem::take(&mut self.fresh) && self.me.is_some() {
            // After a restart a leader may still count on this member, which may have answered it
            // just before. A member that led itself asks for votes at once.
            self.heard_at = self.now;
            self.log.take_back_removal(self.commit, self.ballot.led_in());
            if self.ballot.led || planted::is(Bug::LeaseForgotten) {
                self.next_at = self.now + 1 + self.draw(20 * MS);
            } else {
                self.wait_for_silence();
            }
        }
        self.outputs.len()
    }
}

/// The half of a term that counts how often a member went on alone.
pub(crate) const fn era(term: u64) -> u64 {
    term >> ERA_SHIFT
}

impl Quorum for Core {
    fn handle(&mut self, now: Time, input: QuorumInput) {
        let before = self.enter(now);
        // All commands that were put out have been applied by the time of the next message.
        self.is_behind &= !matches!(input, QuorumInput::Heard { .. });
        match input {
            QuorumInput::Begin { me } => self.begin(me),
            QuorumInput::Propose { command, without } => self.propose(command, without),
            QuorumInput::Heard { host, bytes } => self.heard(host, &bytes.0),
            QuorumInput::Linked { host, up } => self.linked(host, up),
            QuorumInput::Members { members } => self.change_members(|all| all.set(members)),
            QuorumInput::Joined { member } => self.change_members(|all| all.insert(member)),
            QuorumInput::Left { host } => self.change_members(|all| all.remove(host)),
            QuorumInput::Computers { of } => self.members.tell_computers(of),
            QuorumInput::State { to, number, state } => self.send_state(to, number, state),
            QuorumInput::Votes(Voting::With { members, lease }) => self.needs(members, lease),
            QuorumInput::Votes(Voting::Alone { certain }) => self.take_over(certain),
            QuorumInput::Gone { host } => self.gone(host),
            QuorumInput::Transfer { to } => self.resign(to),
            QuorumInput::Confirm { mark } => self.confirm(mark),
            QuorumInput::Part { member } => self.part(member),
        }
        self.serve_reads();
        self.store(before);
    }

    fn handle_timeout(&mut self, now: Time) {
        let before = self.enter(now);
        self.is_behind = false;
        self.hand_on_if_due();
        if self.me.is_some() && self.next_at <= self.now {
            if self.is_leader() {
                self.beat();
            } else if self.leader.is_some() && self.heard_at + self.silence() > self.now {
                self.wait_for_silence();
            } else {
                self.set_leader(None);
                self.stand(false, false);
            }
        }
        self.serve_reads();
        self.store(before);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let at = self.next_at.min(self.relay.at());
        (!self.is_blank() && at != NEVER).then_some(Time(at))
    }

    fn poll_output(&mut self) -> Option<QuorumOutput> {
        self.outputs.pop_front()
    }

    fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        match key {
            [ME] => Member::from_bytes(value).map(|me| self.me = Some(me)).is_ok(),
            [BALLOT] => Ballot::from_bytes(value).map(|ballot| self.ballot = ballot).is_ok(),
            [COMMIT] => u64::from_bytes(value).map(|commit| self.commit = commit).is_ok(),
            _ => self.log.restore(key, value),
        }
        .then(|| self.stored = (self.me, self.ballot.clone(), self.commit))
        .is_some()
    }

    fn is_current(&self, now: Time) -> bool {
        let leads = self.is_leader() && self.resigning.is_none();
        let ready = leads && self.log.term(self.commit) == Some(self.term());
        let leased = || now.0 < self.answered_at() + LEASE_NS && self.is_leased(now.0);
        ready && (planted::is(Bug::StaleRead) || leased())
    }

    fn voters(&self) -> Vec<Member> {
        Self::voters(self).to_vec()
    }

    fn is_sole(&self) -> bool {
        self.is_sole_voter()
    }

    fn is_settled(&self) -> bool {
        let done = self.log.last_change().is_none_or(|number| number <= self.commit);
        done && self.is_leader() && self.voters().iter().all(|v| self.is_member(*v))
    }

    fn is_at_rest(&self) -> bool {
        self.is_settled() && self.commit == self.log.last()
    }

    fn is_arranged(&self) -> bool {
        self.is_settled() && self.voters().len() >= self.voter_count().min(self.members.len())
    }

    fn may_part(&self, member: Member) -> Option<bool> {
        self.may_go(member)
    }

    fn era(&self) -> u64 {
        era(self.term())
    }

    fn kin(&self) -> Option<(u64, Vec<HostIndex>)> {
        let asks = self.relay.fostered_by.is_some() && !self.is_leader();
        (self.tree.is_used() || asks).then(|| (self.relay.changes, self.near_members()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Member = Member::new(1, HostIndex(1));
    const OTHERS: [Member; 2] = [Member::new(2, HostIndex(2)), Member::new(3, HostIndex(3))];

    /// The leader of three members, of which the others have confirmed nothing yet.
    fn leader() -> Core {
        let mut core = Core::new(1);
        core.handle(Time(MS), QuorumInput::Begin { me: ME });
        let members = vec![ME, OTHERS[0], OTHERS[1]];
        core.handle(Time(MS), QuorumInput::Members { members });
        for host in [HostIndex(2), HostIndex(3)] {
            core.handle(Time(MS), QuorumInput::Linked { host, up: true });
        }
        core
    }

    fn hear(core: &mut Core, now: u64, word: Word) {
        let frame = Frame { from: OTHERS[0], to: ME, term: core.term(), word, kin: None };
        let bytes = Blob(frame.to_bytes());
        core.handle(Time(now), QuorumInput::Heard { host: OTHERS[0].host(), bytes });
    }

    #[test]
    fn numbers_that_nobody_counts_to_are_not_added_to() {
        let mut core = leader();
        for word in [
            Word::Agree { through: 1, stamp: u64::MAX },
            Word::Differ { hint: u64::MAX, stamp: 0 },
            Word::Ask { firm: true, last: u64::MAX, last_term: u64::MAX, wanted: true },
        ] {
            hear(&mut core, 2 * MS, word);
        }
        assert!(core.is_leader() && core.peers[&OTHERS[0]].heard == 0);
        let mut blank = Core::new(2);
        blank.me = Some(ME);
        let (number_term, voters, bytes) = (1, vec![ME], Blob::default());
        let (number, offset, last) = (u64::MAX, 0, true);
        hear(&mut blank, MS, Word::Install { number, number_term, voters, offset, bytes, last });
        assert!(blank.is_blank());
    }

    #[test]
    fn an_answer_to_what_is_not_said_yet_renews_no_lease() {
        let mut core = leader();
        hear(&mut core, 2 * MS, Word::Agree { through: 1, stamp: 500 * MS });
        // The answer counts for the latest message, which was sent no later than now.
        assert!(core.stamp <= 2 * MS);
        assert_eq!(core.peers[&OTHERS[0]].heard, core.stamp);
    }
}
