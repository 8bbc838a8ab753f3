//! The commands that all hosts apply in the same sequence.

use super::speaking::may_order;
use super::{ANSWER_NS, Machine};
use crate::io::Act;
use crate::pending::{Asker, Proposal, Want};
use crate::planted::{self, Bug};
use crate::quorum::{QuorumInput, QuorumOutput};
use pvm_wire::peer::{Command, PeerMessage, Said};
use pvm_wire::request::Reply;
use pvm_wire::{Code, HostIndex};

impl Machine {
    /// Proposes a command whose outcome is the answer.
    pub(super) fn propose(&mut self, asker: Asker, command: Command) {
        self.propose_for(asker, None, None, command);
    }

    /// Proposes a command; `reply` is the answer instead of its outcome, `want` what a reader
    /// waits for that finds nothing.
    pub(super) fn propose_for(
        &mut self,
        asker: Asker,
        reply: Option<Reply>,
        want: Option<Want>,
        command: Command,
    ) {
        let mut ticket = 0;
        if asker != Asker::Nobody {
            ticket = self.pending.number();
            let deadline = self.after(ANSWER_NS);
            self.pending.proposals.insert(ticket, Proposal { asker, deadline, want, reply });
        }
        self.propose_ticket(ticket, command);
    }

    /// Proposes a command that this host knows by `mark`. It is put to every leader until it has
    /// been applied. Returns its number among those of this host.
    pub(super) fn propose_ticket(&mut self, mark: u64, command: Command) -> u64 {
        if let Command::TaskGone { tid } = command
            && let Some(nothing) = self.consensus.abandon(tid)
        {
            self.propose_ticket(0, nothing);
        }
        let ticket = self.consensus.note(mark, &command);
        match ticket {
            Some(ticket) => self.put(ticket, command),
            None => self.put_pieces(),
        }
        ticket.unwrap_or(0)
    }

    /// Puts pieces of long commands to the leader, as many as may be on their way.
    fn put_pieces(&mut self) {
        while let Some((ticket, piece)) = self.consensus.next_piece() {
            self.put(ticket, piece);
        }
    }

    /// A command of this host has been applied: the deadlines of its long commands begin anew,
    /// however slow the network is.
    pub(super) fn wait_for_pieces(&mut self) {
        let deadline = self.after(ANSWER_NS);
        for mark in self.consensus.long_marks() {
            if let Some(proposal) = self.pending.proposals.get_mut(&mark) {
                proposal.deadline = deadline;
            }
        }
        self.put_pieces();
    }

    /// Fails the proposals that are overdue.
    pub(super) fn end_proposals(&mut self) {
        let late = self.pending.take_overdue_proposals(self.now.0);
        let marks: Vec<u64> = late.iter().map(|(mark, _)| *mark).collect();
        self.consensus.end_takes(&marks);
        late.into_iter().for_each(|(_, asker)| self.fail(asker, Code::HostFail));
    }

    /// Puts a command to the leader, if there is one.
    fn put(&mut self, ticket: u64, command: Command) {
        match self.consensus.leader() {
            Some((_, host)) if host == self.me() => {
                self.consensus.hold(host, ticket, command);
            }
            Some((term, host)) => self.say(host, Said::Put { term, ticket, command }),
            None => {}
        }
    }

    /// Puts every command that is not applied yet to a new leader.
    pub(super) fn put_again(&mut self) {
        if planted::is(Bug::ProposalForgotten) {
            return;
        }
        for (ticket, command) in self.consensus.outstanding() {
            self.put(ticket, command);
        }
    }

    /// A host that takes this one for the leader of a term wants a command ordered.
    pub(super) fn put_to_us(&mut self, from: HostIndex, term: u64, ticket: u64, command: Command) {
        if self.consensus.leader() == Some((term, self.me())) {
            self.consensus.hold(from, ticket, command);
        }
    }

    /// As a leader: orders the held commands in turn, and before them the fences. A host goes only
    /// when all entries are committed and the voters have been arranged: a majority of the present
    /// voters must be there to commit the next change of voters.
    pub(super) fn order_held(&mut self) {
        while self.order_next() {}
    }

    fn order_next(&mut self) -> bool {
        let rests = self.consensus.is_at_rest();
        let hasty = planted::is(Bug::TwoGoAtOnce);
        if let Some(member) = self.next_fenced() {
            if rests || hasty {
                self.order_fence(member);
            }
            return rests || hasty;
        }
        let goes = match self.consensus.first_held() {
            None => false,
            Some(&(Command::RemoveHost { host, .. } | Command::Retire { host })) => {
                let spared = |suspect: &HostIndex| self.doubts.is_spared(*suspect);
                let first = self.suspects.iter().all(|other| *other == host || spared(other));
                hasty || rests && first && self.may_part(host)
            }
            Some(_) => true,
        };
        if goes {
            self.consensus.order_held(self.now);
        }
        goes
    }

    /// As a leader: true if the other voters can go on without a host. A silent one among them is
    /// taken out itself before long, or another member that hears it leads.
    fn may_part(&mut self, host: HostIndex) -> bool {
        // If that is not known, the library asks them now.
        self.consensus.may_part(self.now, host).unwrap_or(false)
    }

    /// Handles the outputs of the consensus library.
    pub(super) fn follow_outputs(&mut self) {
        while let Some(output) = self.consensus.next_output() {
            self.follow_output(output);
        }
    }

    fn follow_output(&mut self, output: QuorumOutput) {
        match output {
            QuorumOutput::Send { host, bytes, hasty } if self.sessions.is_up(host) => {
                let message = match hasty {
                    true => PeerMessage::Hasty { bytes },
                    false => PeerMessage::Quorum { bytes },
                };
                self.act(Act::Say { host, message });
            }
            QuorumOutput::Apply { number, command } => self.take_ordered(number, &command.0),
            QuorumOutput::Adopt { number, state } if *self.joined.get() => {
                self.catch_up(number, &state.0);
            }
            QuorumOutput::Adopt { number, state } => self.join(number, &state.0),
            QuorumOutput::StateWanted { to } => {
                let (number, state) = (self.consensus.applied(), self.snapshot());
                self.consensus.input(self.now, QuorumInput::State { to, number, state });
            }
            QuorumOutput::Leader { term, leader } => self.led(term, leader),
            QuorumOutput::Confirmed { mark } => self.home.confirmed = mark,
            QuorumOutput::Overtaken => self.overtaken(),
            QuorumOutput::Send { .. } | QuorumOutput::Save { .. } => {}
        }
    }

    fn take_ordered(&mut self, number: u64, bytes: &[u8]) {
        let before = self.consensus.applied_of(self.me());
        if let Some((proposer, mark, command)) = self.consensus.take(number, bytes, may_order) {
            self.apply(proposer, mark, command);
            self.tell_held(proposer);
        }
        if self.consensus.applied_of(self.me()) != before {
            self.wait_for_pieces();
        }
        self.serve_held();
    }

    /// The next command of the log: every host comes here with the same ones. `mark` is this host's
    /// number for it, if it proposed it.
    fn apply(&mut self, proposer: HostIndex, mark: Option<u64>, command: Command) {
        let filled = match &command {
            Command::PutInfo { name, .. } => Some(name.clone()),
            _ => None,
        };
        let outcome = self.outcome(command, mark, proposer);
        self.tell_awaiting();
        self.tell_onlookers();
        if let Some(proposal) = mark.and_then(|mark| self.pending.proposals.remove(&mark)) {
            match (proposal.want, &outcome) {
                (Some(want), Reply::Failed { code: Code::NotFound }) if want.waits() => {
                    self.wait_for_info(proposal.asker, want);
                }
                (Some(_), Reply::Failed { code: Code::NotFound }) => {
                    self.answer(proposal.asker, Reply::Withdrawn);
                }
                _ => self.answer(proposal.asker, proposal.reply.unwrap_or(outcome)),
            }
        }
        if let Some(name) = filled {
            self.wake_readers(&name);
        }
    }

    /// Does what a command says, and what follows from it here. `mark` is that of a proposal of
    /// this host.
    fn outcome(&mut self, command: Command, mark: Option<u64>, proposer: HostIndex) -> Reply {
        let command = match command {
            Command::Fence { host, incarnation } => match self.fence(host, incarnation, proposer) {
                Some(command) => command,
                None => return Reply::Done,
            },
            command => command,
        };
        let (reply, facts) = self.agreed.apply(self.consensus.applied(), command);
        self.follow(facts, mark);
        reply
    }
}
