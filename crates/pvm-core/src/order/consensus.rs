//! One order of commands for all hosts, as the machine sees it.
//!
//! A library behind [`Quorum`] orders bytes among members. This room knows which host is which
//! member, and makes that every command is applied exactly once: each host counts what it
//! proposes, keeps it until it has been applied, and puts it to every new leader again, in order;
//! a command that does not follow the last one of its proposer is skipped by all.

use super::long::{Long, PIECE_BYTES, WINDOW_BYTES};
use crate::Time;
use crate::planted::{self, Bug};
use crate::quorum::{Member, Quorum, QuorumInput, QuorumOutput};
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex, Tid, Wire, record};
use std::collections::VecDeque;

/// In front of the keys of the library's records.
const QUORUM_MARK: u8 = b'Q';
/// In front of the keys of members' seats.
const SEAT_MARK: u8 = b'S';
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

    /// A member of the machine, as all hosts know it.
    pub struct Seat {
        /// The number of the command that let it in.
        pub incarnation: u64,
        /// The number of its commands that have been applied.
        pub ticket: u64,
    }

    /// Something that this host has proposed and that has not been applied.
    pub struct Proposed {
        /// The number by which this host knows it.
        pub mark: u64,
        pub command: Command,
    }
}

/// The data that determines the links that are to stand: how often the members have changed, the
/// leader, the voters, and the tree.
pub(crate) type Cause = (u64, Option<(u64, HostIndex)>, Vec<HostIndex>, Option<u64>);

/// A command that came to this host as the leader and is not in the log yet.
#[derive(Debug)]
struct Held {
    from: HostIndex,
    ticket: u64,
    command: Command,
}

/// The log, as far as it is known here.
#[derive(Debug)]
pub(crate) struct Consensus {
    me: HostIndex,
    quorum: Box<dyn Quorum>,
    /// The term's leader, if one is known.
    leader: Option<(u64, HostIndex)>,
    applied: Slot<u64>,
    seats: Table<HostIndex, Seat>,
    /// The number of times that members came or went while this daemon ran.
    seat_changes: u64,
    proposed: Table<u64, Proposed>,
    tickets: Slot<u64>,
    /// Commands that go into the log in pieces.
    long: Long,
    /// Commands that wait for the order to rest, and those behind them.
    held: VecDeque<Held>,
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
            seats: Table::new(SEAT_MARK),
            seat_changes: 0,
            proposed: Table::new(b'O'),
            tickets: Slot::new(b'9', 0),
            long: Long::new(),
            held: VecDeque::new(),
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

    /// The number of the last command that was applied here.
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

    /// Notes what this host proposes; returns its number, none for what goes in pieces.
    pub(crate) fn note(&mut self, mark: u64, command: &Command) -> Option<u64> {
        let bytes = command.to_bytes();
        if bytes.len() > PIECE_BYTES && !planted::is(Bug::LongInOnePiece) {
            let owner = match command {
                Command::PutInfo { owner, .. } => *owner,
                _ => Tid::NONE,
            };
            self.long.add(mark, owner, bytes);
            return None;
        }
        Some(self.note_short(mark, command.clone()))
    }

    fn note_short(&mut self, mark: u64, command: Command) -> u64 {
        let ticket = self.tickets.next();
        self.proposed.insert(ticket, Proposed { mark, command });
        ticket
    }

    /// The next piece of a long command, if another one may be on its way: its number and itself.
    pub(crate) fn next_piece(&mut self) -> Option<(u64, Command)> {
        if self.long.is_empty() {
            return None;
        }
        let bytes = |proposed: &Proposed| match &proposed.command {
            Command::Piece { bytes, .. } => bytes.0.len(),
            _ => 0,
        };
        if self.proposed.values().map(bytes).sum::<usize>() >= WINDOW_BYTES {
            return None;
        }
        let (number, piece) = self.long.next_piece()?;
        Some((self.note_short(number, piece.clone()), piece))
    }

    /// A task is gone: its long commands end. Returns the command that takes back the pieces that
    /// are in the log.
    pub(crate) fn abandon(&mut self, tid: Tid) -> Option<Command> {
        let nothing = Command::Piece { offset: 0, last: true, bytes: Blob::default() };
        self.long.abandon(tid).then_some(nothing)
    }

    /// The marks of this host's commands that go in pieces.
    pub(crate) fn long_marks(&self) -> Vec<u64> {
        self.long.marks()
    }

    /// The number of a host's commands that have been applied here; the largest number for a host
    /// that is no member.
    pub(crate) fn applied_of(&self, host: HostIndex) -> u64 {
        self.seats.get(&host).map_or(u64::MAX, |seat| seat.ticket)
    }

    /// The number of the command by which this host has proposed the end of a task, while it has
    /// not been applied here.
    pub(crate) fn end_of(&self, tid: Tid) -> Option<u64> {
        let ends = |proposed: &Proposed| proposed.command == Command::TaskGone { tid };
        self.proposed.iter().find(|(_, proposed)| ends(proposed)).map(|(&ticket, _)| ticket)
    }

    /// Everything that this host has proposed and that has not been applied.
    pub(crate) fn outstanding(&self) -> Vec<(u64, Command)> {
        self.proposed.iter().map(|(&ticket, p)| (ticket, p.command.clone())).collect()
    }

    /// The askers of these commands were told that they failed. Commands that take a message become
    /// empty, unless a leader has ordered them already: the first command under a number counts.
    pub(crate) fn end_takes(&mut self, marks: &[u64]) {
        let takes = |command: &Command| matches!(command, Command::TakeInfo { .. });
        let late = |_: &u64, p: &Proposed| marks.contains(&p.mark) && takes(&p.command);
        for ticket in self.proposed.keys_where(late) {
            let command = Command::Piece { offset: 0, last: true, bytes: Blob::default() };
            self.proposed.insert(ticket, Proposed { mark: 0, command });
        }
    }

    /// The marks of this host's commands that fit and have not been applied here.
    pub(crate) fn marks_of(&self, fits: impl Fn(&Command) -> bool) -> Vec<u64> {
        let fitting = self.proposed.values().filter(|p| p.mark != 0 && fits(&p.command));
        fitting.map(|p| p.mark).collect()
    }

    /// As a leader: keeps a command until its turn to be put into the log.
    pub(crate) fn hold(&mut self, from: HostIndex, ticket: u64, command: Command) {
        self.held.push_back(Held { from, ticket, command });
    }

    /// The command whose turn it is.
    pub(crate) fn first_held(&self) -> Option<&Command> {
        self.held.get(self.turn()).map(|held| &held.command)
    }

    /// As a leader: puts that command into the log.
    pub(crate) fn order_held(&mut self, now: Time) {
        if let Some(Held { from, ticket, command }) = self.held.remove(self.turn()) {
            self.order(now, from, ticket, command);
        }
    }

    /// The place of that command among the held ones: the first, unless it takes out this host,
    /// which then leads no more. Commands of other hosts go before it: each host's own commands
    /// keep their sequence.
    fn turn(&self) -> usize {
        let mut behind = Vec::new();
        for (at, held) in self.held.iter().enumerate() {
            if !behind.contains(&held.from) && !removes(&held.command, self.me) {
                return at;
            }
            behind.push(held.from);
        }
        0
    }

    /// As a leader: puts a command into the log, before all held ones.
    pub(crate) fn order(&mut self, now: Time, from: HostIndex, ticket: u64, command: Command) {
        let Some(proposer) = self.member(from) else { return };
        if removes(&command, self.me) && self.seats.len() > 1 {
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

    /// The next command: its proposer, its mark if this host proposed it, and the command itself;
    /// none if it does not count. `may` tells whether a host may propose the command that its
    /// pieces make.
    pub(crate) fn take(
        &mut self,
        number: u64,
        bytes: &[u8],
        may: impl FnOnce(HostIndex, &Command) -> bool,
    ) -> Option<(HostIndex, Option<u64>, Command)> {
        let Ordered { proposer, ticket, command } = Ordered::from_bytes(bytes).ok()?;
        self.applied.set(number);
        let host = proposer.host();
        if self.member(host) != Some(proposer) {
            // It was taken out before this was ordered.
            return None;
        }
        if ticket == 0 {
            return Some((host, None, command));
        }
        let next = self.seats.get(&host).map_or(1, |seat| seat.ticket + 1);
        if ticket != next && !(planted::is(Bug::DoubledOnResume) && ticket < next) {
            return None;
        }
        if let Some(seat) = self.seats.get_mut(&host) {
            seat.ticket = ticket;
        }
        let ours = if host == self.me { self.proposed.remove(&ticket) } else { None };
        let mark = ours.map(|ours| ours.mark);
        let Command::Piece { offset, last, bytes } = command else {
            return Some((host, mark, command));
        };
        let mark = mark.filter(|_| last).and_then(|number| self.long.close(number));
        let whole = self.long.join(host, offset, last, bytes)?;
        may(host, &whole).then_some((host, mark, whole))
    }

    /// A host has its place from the command with this number on.
    pub(crate) fn seat(&mut self, host: HostIndex, incarnation: u64) {
        self.seat_changes += 1;
        self.seats.insert(host, Seat { incarnation, ticket: 0 });
    }

    pub(crate) fn unseat(&mut self, host: HostIndex) {
        self.seat_changes += 1;
        self.seats.remove(&host);
        self.long.forget(host);
    }

    /// This host as a member.
    pub(crate) fn this(&self) -> Option<Member> {
        self.member(self.me)
    }

    /// The member at a place.
    pub(crate) fn member(&self, host: HostIndex) -> Option<Member> {
        self.seats.get(&host).map(|seat| Member::new(seat.incarnation, host))
    }

    /// The hosts of all members, sorted.
    pub(crate) fn hosts(&self) -> Vec<HostIndex> {
        self.seats.keys().copied().collect()
    }

    /// See [`Cause`].
    pub(crate) fn cause_of_links(&self) -> Cause {
        let changes = self.kin().map(|(changes, _)| changes);
        (self.seat_changes, self.leader, self.voters(), changes)
    }

    /// All members.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.seats.iter().map(|(&host, seat)| Member::new(seat.incarnation, host)).collect()
    }

    /// The host on which the machine began, while that is a member.
    pub(crate) fn begun_on(&self) -> Option<HostIndex> {
        self.eldest().filter(|host| {
            self.seats.get(host).is_some_and(|seat| seat.incarnation == FIRST_INCARNATION)
        })
    }

    /// The other one, where there are two.
    pub(crate) fn other(&self) -> Option<Member> {
        let mut others = self.seats.iter().filter(|(host, _)| **host != self.me);
        let two = self.seats.len() == 2 && self.seats.contains(&self.me);
        let other = others.next().filter(|_| two);
        other.map(|(&host, seat)| Member::new(seat.incarnation, host))
    }

    /// The host that is in longest, of all others.
    pub(crate) fn eldest_other(&self) -> Option<HostIndex> {
        let others = self.seats.iter().filter(|(host, _)| **host != self.me);
        others.min_by_key(|(_, seat)| seat.incarnation).map(|(&host, _)| host)
    }

    /// The host that is in longest.
    pub(crate) fn eldest(&self) -> Option<HostIndex> {
        self.seats.iter().min_by_key(|(_, seat)| seat.incarnation).map(|(&host, _)| host)
    }

    /// The records that a new host starts from.
    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.seats.records(out);
        self.long.records(out);
    }

    /// Takes the members, and how far each is, from such records instead of what is known.
    pub(crate) fn load(&mut self, records: &[(Blob, Blob)]) {
        self.seat_changes += 1;
        if !planted::is(Bug::CatchesUpByAdding) {
            self.seats.clear();
            self.long.forget_all();
        }
        for (Blob(key), Blob(value)) in records {
            let _known = self.seats.adopt(key, value) || self.long.adopt(key, value);
        }
    }

    /// The members in such records.
    pub(crate) fn seats_in(&self, records: &[(Blob, Blob)]) -> Vec<Member> {
        let mut seats = Table::<HostIndex, Seat>::new(SEAT_MARK);
        for (Blob(key), Blob(value)) in records {
            let _known = seats.restore(key, value);
        }
        seats.iter().map(|(&host, seat)| Member::new(seat.incarnation, host)).collect()
    }

    /// The commands of this host that were applied while it missed them: the mark of each and, if
    /// it went in one piece, the command.
    pub(crate) fn take_missed(&mut self) -> Vec<(u64, Option<Command>)> {
        let applied = self.seats.get(&self.me).map_or(0, |seat| seat.ticket);
        let mut marks = Vec::new();
        for ticket in self.proposed.keys_where(|ticket, _| *ticket <= applied) {
            match self.proposed.remove(&ticket) {
                Some(Proposed { mark, command: Command::Piece { last, .. } }) => {
                    let closed = if last { self.long.close(mark) } else { None };
                    marks.extend(closed.map(|mark| (mark, None)));
                }
                Some(Proposed { mark, command }) => marks.push((mark, Some(command))),
                None => {}
            }
        }
        marks
    }

    /// A new host starts from here.
    pub(crate) fn start_from(&mut self, number: u64) {
        self.applied.set(number);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.applied.take_changes(out);
        self.seats.take_changes(out);
        self.proposed.take_changes(out);
        self.tickets.take_changes(out);
        self.long.take_changes(out);
        out.append(&mut self.changes);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        if let Some((&QUORUM_MARK, key)) = key.split_first() {
            return self.quorum.restore(key, value);
        }
        self.applied.restore(key, value)
            || self.seats.restore(key, value)
            || self.proposed.restore(key, value)
            || self.tickets.restore(key, value)
            || self.long.restore(key, value)
    }
}

/// True for a command after which this host is no member.
fn removes(command: &Command, this: HostIndex) -> bool {
    match command {
        Command::RemoveHost { host, .. } | Command::Retire { host } => *host == this,
        _ => false,
    }
}
