//! What all hosts do in the same order.

use super::{ANSWER_NS, Machine, done, number};
use crate::consensus::{Ordered, Step};
use crate::pending::{Asker, Proposal, Want};
use pvm_wire::Code;
use pvm_wire::peer::Command;
use pvm_wire::request::Reply;

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

    pub(super) fn propose_ticket(&mut self, ticket: u64, command: Command) {
        let steps = self.consensus.propose(ticket, command);
        self.run_steps(steps);
    }

    pub(super) fn run_steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Tell(host, said) => self.say(host, said),
                Step::TellAll(said) => self.say_to_all(&said),
                Step::Apply(ordered) => self.apply(ordered),
            }
        }
    }

    /// The next command in the order: every host comes here with the same ones.
    pub(super) fn apply(&mut self, ordered: Ordered) {
        let Ordered { proposer, ticket, command, .. } = ordered;
        let ours = proposer == self.me();
        let filled = match &command {
            Command::PutInfo { name, .. } => Some(name.clone()),
            _ => None,
        };
        let outcome = self.outcome(command, ours.then_some(ticket));
        // One after the other: a place that is left and taken at once was free for a moment.
        self.show_groups();
        self.tell_awaiting();
        self.tell_onlookers();
        if let Some(proposal) = ours.then(|| self.pending.proposals.remove(&ticket)).flatten() {
            match (proposal.want, &outcome) {
                (Some(want), Reply::Failed { code: Code::NotFound }) => {
                    self.wait_for_info(proposal.asker, want);
                }
                _ => self.answer(proposal.asker, proposal.reply.unwrap_or(outcome)),
            }
        }
        if let Some(name) = filled {
            self.wake_readers(&name);
        }
    }

    /// Does what a command says. `ticket` is that of a proposal of this host.
    fn outcome(&mut self, command: Command, ticket: Option<u64>) -> Reply {
        match command {
            Command::AddHost { facts, again } => self.host_added(facts, again, ticket),
            Command::RemoveHost { host, dead } => self.host_removed(host, dead),
            Command::DrainHost { host, on } => self.host_drained(host, on),
            Command::Retire { host } => self.host_retired(host),
            Command::SetAddresses { host, addresses } => {
                if self.hosts.set_addresses(host, addresses) {
                    self.tell_hosts();
                }
                Reply::Done
            }
            Command::KnowHosts { lines } => done(self.hosts.know(&lines)),
            Command::PutInfo { name, flags, owner, message } => {
                number(self.registry.put(&name, flags, owner, message))
            }
            Command::TakeInfo { name, index, flags, asker } => {
                match self.registry.take(&name, index, flags, asker) {
                    Ok((index, message)) => Reply::Info { message, index },
                    Err(code) => Reply::Failed { code },
                }
            }
            Command::DelInfo { name, index, flags, asker } => {
                number(self.registry.take(&name, index, flags, asker).map(|(index, _)| index))
            }
            Command::Withdraw { name, owner } => {
                self.registry.withdraw(&name, owner);
                Reply::Done
            }
            Command::ClearNames => {
                self.registry.clear();
                Reply::Done
            }
            Command::JoinGroup { group, tid } => number(self.groups.join(&group, tid)),
            Command::LeaveGroup { group, tid } => {
                let left = self.groups.leave(&group, tid);
                self.member_gone(&group, tid, false);
                done(left)
            }
            Command::FreezeGroup { group } => number(self.groups.freeze(&group)),
            Command::TaskLeft { tid } => {
                self.leave_all_groups(tid, false);
                Reply::Done
            }
            Command::TaskGone { tid } => {
                self.registry.task_gone(tid);
                self.leave_all_groups(tid, true);
                Reply::Done
            }
        }
    }
}
