//! The commands that all hosts apply in the same sequence.

use super::{ANSWER_NS, Applied, Handler, OrderInput, OrderOutput};
use crate::pending::{Asker, Proposal, Want};
use crate::planted::{self, Bug};
use pvm_wire::peer::Command;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};

impl Handler<'_> {
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
            ticket = self.host.pending.number();
            let deadline = self.after(ANSWER_NS);
            self.host.pending.proposals.insert(ticket, Proposal { asker, deadline, want, reply });
        }
        self.propose_ticket(ticket, command);
    }

    /// Proposes a command that this host knows by `mark`. Returns its number among those of this
    /// host.
    pub(super) fn propose_ticket(&mut self, mark: u64, command: Command) -> u64 {
        if let Command::TaskGone { tid } = command
            && let Some(nothing) = self.host.proposals.abandon(tid)
        {
            self.propose_ticket(0, nothing);
        }
        let ticket = self.host.proposals.note(mark, &command);
        match ticket {
            Some(ticket) => self.put(ticket, command),
            None => self.put_pieces(),
        }
        ticket.unwrap_or(0)
    }

    fn put(&mut self, ticket: u64, command: Command) {
        self.tell_order(OrderInput::Propose { ticket, command: Box::new(command) });
    }

    /// Puts pieces of long commands to the leader, as many as may be on their way.
    fn put_pieces(&mut self) {
        while let Some((ticket, piece)) = self.host.proposals.next_piece() {
            self.put(ticket, piece);
        }
    }

    /// Puts every command that is not applied yet to a new leader.
    fn put_again(&mut self) {
        if !planted::is(Bug::ProposalForgotten) {
            for (ticket, command) in self.host.proposals.outstanding() {
                self.put(ticket, command);
            }
        }
    }

    /// A command of this host has been applied: the deadlines of its long commands begin anew,
    /// however slow the network is.
    pub(super) fn wait_for_pieces(&mut self) {
        let deadline = self.after(ANSWER_NS);
        for mark in self.host.proposals.long_marks() {
            if let Some(proposal) = self.host.pending.proposals.get_mut(&mark) {
                proposal.deadline = deadline;
            }
        }
        self.put_pieces();
    }

    /// Fails the proposals that are overdue.
    pub(super) fn end_proposals(&mut self) {
        let late = self.host.pending.take_overdue_proposals(self.host.now.0);
        let marks: Vec<u64> = late.iter().map(|(mark, _)| *mark).collect();
        self.host.proposals.end_takes(&marks);
        late.into_iter().for_each(|(_, asker)| self.fail(asker, Code::HostFail));
    }

    /// Tells the order of commands what has happened, when this input is done.
    pub(super) fn tell_order(&mut self, input: OrderInput) {
        self.host.requests.push_back(input);
    }

    /// Does what the order of commands wants done.
    pub(super) fn do_ordered(&mut self, output: OrderOutput) {
        match output {
            OrderOutput::Say { host, said } => self.say(host, said),
            OrderOutput::Act(act) => self.act(act),
            OrderOutput::Log(text) => self.log(text),
            OrderOutput::Ask { by, about, round } => {
                let asker = Asker::Opinion { of: about, by, round };
                self.ask(by, asker, Tid::NONE, Request::Hears { host: about });
            }
            OrderOutput::Led { term, leader } => {
                self.report(term, leader);
                self.put_again();
            }
            OrderOutput::Confirmed { mark } => self.host.home.confirmed = mark,
            OrderOutput::Leaderless => self.say_leaderless(),
            OrderOutput::Overtaken => self.overtaken(),
            OrderOutput::Lost => self.give_up(),
            // They change the agreed state, or show it.
            OrderOutput::Next { .. }
            | OrderOutput::Adopt { .. }
            | OrderOutput::StateWanted { .. } => {}
        }
    }

    /// A command has been applied, and the order knows what follows: whoever waits is answered.
    pub(super) fn applied(&mut self, applied: Applied) {
        let Applied { proposer, mark, filled, outcome } = applied;
        self.tell_awaiting();
        self.tell_onlookers();
        if let Some(proposal) = mark.and_then(|mark| self.host.pending.proposals.remove(&mark)) {
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
        self.tell_held(proposer);
    }
}
