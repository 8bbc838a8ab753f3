//! One order of commands for all hosts, as the machine sees it.
//!
//! A library behind [`Quorum`] orders bytes among members. This file knows which host is which
//! member, and makes that every command is applied exactly once: each host counts what it
//! proposes, and puts it to every new leader again, in order (`crate::proposals`); a command that
//! does not follow the last one of its proposer is skipped by all.

use super::held::{HeldCommands, WaitingCommand, removes};
use super::pieces::Pieces;
use super::seats::Seats;
use crate::Time;
use crate::planted::{self, Bug};
use crate::quorum::{Member, Quorum, QuorumInput, QuorumOutput};
use crate::records::{Change, Slot};
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex, Wire, record};
use std::collections::VecDeque;

/// In front of the keys of the library's records.
const QUORUM_MARK: u8 = b'Q';
/// The number of the command that lets the first host in.
const FIRST_INCARNATION: u64 = 1;

record! {
    /// A command as it stands in the log.
    pub struct Ordered {
        pub proposer: Member,
        /// The proposer's number for it, 0 for one that needs no counting.
        pub ticket: u64,
        pub command: Command,
    }
}

/// The data that determines the links that are to stand: how often the members have changed, the
/// leader, the voters, and the tree.
pub(crate) type Cause = (u64, Option<(u64, HostIndex)>, Vec<HostIndex>, Option<u64>);

/// A place of the log that counts.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) proposer: HostIndex,
    /// The ticket, if this host has proposed it.
    pub(crate) own: Option<u64>,
    /// None for a piece of a command, before the last one.
    pub(crate) command: Option<Command>,
}

/// The log, as far as it is known here.
#[derive(Debug)]
pub(crate) struct Consensus {
    me: HostIndex,
    quorum: Box<dyn Quorum>,
    /// The term's leader, if one is known.
    leader: Option<(u64, HostIndex)>,
    applied: Slot<u64>,
    seats: Seats,
    /// The pieces of long commands.
    pieces: Pieces,
    /// Commands that wait for the order to rest, and those behind them.
    held: HeldCommands,
    /// Records of the library that changed.
    changes: Vec<Change>,
    /// The outputs of the library that are to be handled.
    wanted: VecDeque<QuorumOutput>,
}

impl Consensus {
    pub(crate) fn new(me: HostIndex, quorum: Box<dyn Quorum>) -> Self {
        Self {
            me,
            quorum,
            leader: None,
            applied: Slot::new(b'c', 0),
            seats: Seats::new(),
            pieces: Pieces::new(),
            held: HeldCommands::new(me),
            changes: Vec::new(),
            wanted: VecDeque::new(),
        }
    }

    /// The machine begins: this host is all there is.
    pub(crate) fn begin(&mut self, now: Time) {
        self.seat(self.me, FIRST_INCARNATION);
        self.applied.set(FIRST_INCARNATION);
        let me = Member::new(FIRST_INCARNATION, self.me);
        self.input(now, QuorumInput::Begin { me });
    }

    /// True once the state of the machine is known here.
    pub(crate) const fn is_joined(&self) -> bool {
        self.applied() != 0
    }

    /// The place of the log up to which everything is applied here.
    pub(crate) const fn applied(&self) -> u64 {
        *self.applied.get()
    }

    /// The leader and its term, if one is known.
    pub(crate) const fn leader(&self) -> Option<(u64, HostIndex)> {
        self.leader
    }

    pub(crate) fn set_leader(&mut self, term: u64, leader: Option<Member>) {
        self.leader = leader.map(|leader| (term, leader.host()));
        // Their proposers put them to the new leader.
        self.held.clear();
    }

    /// True if this host leads and no other one can have taken its place, as long as its clock goes
    /// on.
    pub(crate) fn is_current(&self, now: Time) -> bool {
        self.is_leader() && !self.has_output() && self.quorum.is_current(now)
    }

    /// True if this host leads as far as it knows.
    pub(crate) fn is_leader(&self) -> bool {
        self.leader.is_some_and(|(_, host)| host == self.me)
    }

    /// The hosts that vote, as far as this one knows.
    pub(crate) fn voters(&self) -> Vec<HostIndex> {
        self.quorum.voters().into_iter().map(Member::host).collect()
    }

    /// True where this host alone votes.
    pub(crate) fn is_sole(&self) -> bool {
        self.quorum.is_sole()
    }

    /// True where this host leads and the next one can be taken out without a thought of the last
    /// one.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.has_output() && self.quorum.is_at_rest()
    }

    /// As a leader: whether the others that vote could go on without a host; none where they are
    /// asked from now on.
    pub(crate) fn may_part(&mut self, now: Time, host: HostIndex) -> Option<bool> {
        let Some(member) = self.member(host) else { return Some(true) };
        let may = self.quorum.may_part(member);
        if may.is_none() {
            self.input(now, QuorumInput::Part { member });
        }
        may
    }

    /// False where this host leads and new members are to vote that do not yet.
    pub(crate) fn is_arranged(&self) -> bool {
        !self.is_leader() || self.quorum.is_arranged()
    }

    pub(crate) fn era(&self) -> u64 {
        self.quorum.era()
    }

    /// The hosts near to this one in the log's tree, and how often they have changed; none without
    /// a tree.
    pub(crate) fn kin(&self) -> Option<(u64, Vec<HostIndex>)> {
        self.quorum.kin()
    }

    pub(crate) fn input(&mut self, now: Time, input: QuorumInput) {
        self.quorum.handle(now, input);
        self.collect();
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        if self.quorum.poll_timeout().is_some_and(|at| at <= now) {
            self.quorum.handle_timeout(now);
            self.collect();
        }
    }

    /// Takes what the library has put out: its records are noted at once, all else waits.
    fn collect(&mut self) {
        while let Some(output) = self.quorum.poll_output() {
            match output {
                QuorumOutput::Save { key: Blob(mut key), value } => {
                    key.insert(0, QUORUM_MARK);
                    self.changes.push((Blob(key), value));
                }
                output => self.wanted.push_back(output),
            }
        }
    }

    pub(crate) fn next_time(&self) -> Option<u64> {
        self.quorum.poll_timeout().map(|at| at.0)
    }

    /// True while the library wants something done: until then what is known here is older than
    /// what the library takes for applied.
    pub(crate) fn has_output(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The next thing that the library wants done.
    pub(crate) fn next_output(&mut self) -> Option<QuorumOutput> {
        self.wanted.pop_front()
    }

    /// The number of a host's commands that have been applied here; the largest number for a host
    /// that is no member.
    pub(crate) fn applied_of(&self, host: HostIndex) -> u64 {
        self.seats.table().get(&host).map_or(u64::MAX, |seat| seat.ticket)
    }

    /// As a leader: keeps a command until its turn to be put into the log.
    pub(crate) fn hold(&mut self, from: HostIndex, ticket: u64, command: Command) {
        self.held.push(WaitingCommand { from, ticket, command });
    }

    /// The command whose turn it is.
    pub(crate) fn first_held(&self) -> Option<&Command> {
        self.held.first()
    }

    /// As a leader: puts that command into the log.
    pub(crate) fn order_held(&mut self, now: Time) {
        if let Some(WaitingCommand { from, ticket, command }) = self.held.take_first() {
            self.order(now, from, ticket, command);
        }
    }

    /// See [`HeldCommands::call_last`].
    pub(crate) fn call_last(&mut self) {
        self.held.call_last();
    }

    /// As a leader: puts a command into the log, before all held ones.
    pub(crate) fn order(&mut self, now: Time, from: HostIndex, ticket: u64, command: Command) {
        let Some(proposer) = self.member(from) else { return };
        if removes(&command, self.me) && self.seats.table().len() > 1 {
            // First another one leads; it is asked next.
            return self.input(now, QuorumInput::Transfer { to: None });
        }
        let without = match &command {
            Command::Fence { host, .. }
            | Command::RemoveHost { host, .. }
            | Command::Retire { host } => self.member(*host),
            _ => None,
        };
        let command = Blob(Ordered { proposer, ticket, command }.to_bytes());
        self.input(now, QuorumInput::Propose { command, without });
    }

    /// Takes the next place of the log; none if it does not count. `may` tells whether a host may
    /// propose the command that its pieces make.
    pub(crate) fn take(
        &mut self,
        number: u64,
        bytes: &[u8],
        may: impl FnOnce(HostIndex, &Command) -> bool,
    ) -> Option<Taken> {
        let Ordered { proposer, ticket, command } = Ordered::from_bytes(bytes).ok()?;
        self.applied.set(number);
        let host = proposer.host();
        if self.member(host) != Some(proposer) {
            // It was taken out before this was ordered.
            return None;
        }
        if ticket == 0 {
            return Some(Taken { proposer: host, own: None, command: Some(command) });
        }
        let next = self.seats.table().get(&host).map_or(1, |seat| seat.ticket + 1);
        if ticket != next && !(planted::is(Bug::DoubledOnResume) && ticket < next) {
            return None;
        }
        if let Some(seat) = self.seats.get_mut(host) {
            seat.ticket = ticket;
        }
        let own = (host == self.me).then_some(ticket);
        let command = match command {
            Command::Piece { offset, last, bytes } => self.pieces.join(host, offset, last, bytes),
            command => return Some(Taken { proposer: host, own, command: Some(command) }),
        };
        let command = command.filter(|whole| may(host, whole));
        Some(Taken { proposer: host, own, command })
    }

    /// A host has its place from the command with this number on.
    pub(crate) fn seat(&mut self, host: HostIndex, incarnation: u64) {
        self.seats.seat(host, incarnation);
    }

    pub(crate) fn unseat(&mut self, host: HostIndex) {
        self.seats.unseat(host);
        self.pieces.forget(host);
    }

    /// This host as a member.
    pub(crate) fn this(&self) -> Option<Member> {
        self.member(self.me)
    }

    /// The member at a place.
    pub(crate) fn member(&self, host: HostIndex) -> Option<Member> {
        self.seats.table().get(&host).map(|seat| Member::new(seat.incarnation, host))
    }

    /// The hosts beside this one in the ring of all, sorted; none of a host that is no member.
    pub(crate) fn neighbours(&self, of: HostIndex) -> Vec<HostIndex> {
        self.seats.ring().neighbours(of)
    }

    /// See [`Cause`].
    pub(crate) fn cause_of_links(&self) -> Cause {
        let changes = self.kin().map(|(changes, _)| changes);
        (self.seats.changes(), self.leader, self.voters(), changes)
    }

    /// All members.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.seats.members()
    }

    /// The host on which the machine began, while that is a member.
    pub(crate) fn begun_on(&self) -> Option<HostIndex> {
        self.eldest().filter(|host| {
            self.seats.table().get(host).is_some_and(|seat| seat.incarnation == FIRST_INCARNATION)
        })
    }

    /// The other one, where there are two.
    pub(crate) fn other(&self) -> Option<Member> {
        let mut others = self.seats.table().iter().filter(|(host, _)| **host != self.me);
        let two = self.seats.table().len() == 2 && self.seats.table().contains(&self.me);
        let other = others.next().filter(|_| two);
        other.map(|(&host, seat)| Member::new(seat.incarnation, host))
    }

    /// The host that is in longest, of all others.
    pub(crate) fn eldest_other(&self) -> Option<HostIndex> {
        let others = self.seats.table().iter().filter(|(host, _)| **host != self.me);
        others.min_by_key(|(_, seat)| seat.incarnation).map(|(&host, _)| host)
    }

    /// The host that is in longest.
    pub(crate) fn eldest(&self) -> Option<HostIndex> {
        self.seats.table().iter().min_by_key(|(_, seat)| seat.incarnation).map(|(&host, _)| host)
    }

    /// The records that a new host starts from.
    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.seats.records(out);
        self.pieces.records(out);
    }

    /// Takes the members, and how far each is, from such records instead of what is known.
    pub(crate) fn load(&mut self, records: &[(Blob, Blob)]) {
        self.seats.note_change();
        if !planted::is(Bug::CatchesUpByAdding) {
            self.seats.clear();
            self.pieces.forget_all();
        }
        for (Blob(key), Blob(value)) in records {
            let _known = self.seats.adopt(key, value) || self.pieces.adopt(key, value);
        }
    }

    /// The members in such records.
    pub(crate) fn seats_in(&self, records: &[(Blob, Blob)]) -> Vec<Member> {
        let mut seats = Seats::new();
        for (Blob(key), Blob(value)) in records {
            let _known = seats.restore(key, value);
        }
        seats.members()
    }

    /// All that the log has up to this place is applied here.
    pub(crate) fn advance_to(&mut self, number: u64) {
        self.applied.set(number);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.applied.take_changes(out);
        self.seats.take_changes(out);
        self.pieces.take_changes(out);
        out.append(&mut self.changes);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        if let Some((&QUORUM_MARK, key)) = key.split_first() {
            return self.quorum.restore(key, value);
        }
        self.applied.restore(key, value)
            || self.seats.restore(key, value)
            || self.pieces.restore(key, value)
    }
}
