//! A change of the host table is answered once every member knows of it: a request after that, on
//! any host, sees the new table.
//!
//! The member that was asked for the change asks all others whether their tables have had as
//! many changes as its own. One that is silent does not hold up the answer for long; a host that
//! was let in by the change does, as it is in only when it has joined. The leader answers when new
//! hosts vote that should: from the answer on, any host may die.

use super::{Handler, SECOND_NS};
use crate::deadline::Deadline;
use crate::pending::{Asker, Awaiting, HostChange};
use pvm_wire::peer::Command;
use pvm_wire::request::{Failure, HostResult, Reply, Request};
use pvm_wire::{Code, HostIndex, Tid};

/// The time for which silent members hold up an answer.
const SETTLE_NS: u64 = 5 * SECOND_NS;
/// The time that a host that was let in may take to join.
const JOIN_NS: u64 = 15 * SECOND_NS;

impl Handler<'_> {
    /// Proposes commands, and answers with `results` once all members know what came of them.
    /// A command's place is that of its result. `new` are hosts that were let in before.
    pub(super) fn change(
        &mut self,
        asker: Asker,
        results: Vec<HostResult>,
        commands: Vec<(u32, Command)>,
        new: Vec<HostIndex>,
    ) {
        let open = u32::try_from(commands.len()).expect("a command for each name of a request");
        let change = self.host.pending.number();
        let waiting = Vec::new();
        let (joining, deadline) = (false, Deadline::Unset);
        let record = HostChange { asker, results, open, waiting, new, joining, deadline };
        self.host.pending.changes.insert(change, record);
        if open == 0 {
            return self.settle_change(change);
        }
        for (place, command) in commands {
            self.propose(Asker::Change { change, place }, command);
        }
    }

    /// One of the commands has been applied here, or will not be.
    pub(super) fn change_ordered(&mut self, change: u64, place: u32, reply: &Reply) {
        let Some(waiting) = self.host.pending.changes.get_mut(&change) else { return };
        waiting.open -= 1;
        if let (Reply::Failed { code }, Some(result)) =
            (reply, waiting.results.get_mut(place as usize))
        {
            *result = HostResult { outcome: code.number(), failure: None };
        }
        if waiting.open == 0 {
            self.settle_change(change);
        }
    }

    /// Asks all members whether they know of the change.
    fn settle_change(&mut self, change: u64) {
        let deadline = self.after(SETTLE_NS);
        let (me, epoch) = (self.me(), self.agreed.hosts().epoch());
        let others: Vec<_> =
            self.agreed.hosts().indices().into_iter().filter(|&h| h != me).collect();
        let Some(waiting) = self.host.pending.changes.get_mut(&change) else { return };
        let is_change = waiting.results.iter().any(|result| result.outcome >= 0);
        // A host that ends with this change answers at once: there is no later.
        if others.is_empty() || !is_change || self.host.ending {
            return self.answer_change(change);
        }
        waiting.deadline = Deadline::At(deadline);
        waiting.waiting.clone_from(&others);
        for host in others {
            let request = Request::Settled { epoch };
            self.ask(host, Asker::Settled { change, host }, Tid::NONE, request);
        }
    }

    /// A member knows of the change, or is no member any more.
    pub(super) fn change_settled(&mut self, change: u64, host: HostIndex, reply: &Reply) {
        let gone = matches!(reply, Reply::Failed { .. });
        let is_member = self.agreed.hosts().contains(host);
        let Some(waiting) = self.host.pending.changes.get_mut(&change) else { return };
        if gone && is_member && waiting.new.contains(&host) {
            return;
        }
        waiting.waiting.retain(|&waited| waited != host);
        if waiting.waiting.is_empty() && self.order.log().is_arranged() {
            self.answer_change(change);
        }
    }

    /// The voters have been arranged: some answers waited only for that.
    pub(super) fn arranged(&mut self) {
        if !self.order.log().is_arranged() {
            return;
        }
        self.tell_awaiting();
        let known = |c: &HostChange| c.deadline != Deadline::Unset && c.waiting.is_empty();
        for change in self.host.pending.changes.keys_where(|_, change| known(change)) {
            self.answer_change(change);
        }
    }

    /// Members that were silent for too long, and hosts that took too long to join.
    pub(super) fn end_changes(&mut self) {
        let now = self.host.now.0;
        let late = self.host.pending.changes.keys_where(|_, c| c.deadline.is_over(now));
        let deadline = self.after(JOIN_NS);
        for change in late {
            let Some(waiting) = self.host.pending.changes.get_mut(&change) else { continue };
            let HostChange { waiting: hosts, new, joining, .. } = waiting;
            hosts.retain(|host| new.contains(host));
            if hosts.is_empty() || *joining {
                self.answer_change(change);
            } else {
                *joining = true;
                waiting.deadline = Deadline::At(deadline);
            }
        }
    }

    fn answer_change(&mut self, change: u64) {
        let Some(HostChange { asker, mut results, waiting, new, .. }) =
            self.host.pending.changes.remove(&change)
        else {
            return;
        };
        for host in new {
            let is_member = self.agreed.hosts().contains(host);
            if is_member && !waiting.contains(&host) {
                continue;
            }
            // Nothing is left half-added.
            if is_member {
                self.propose(Asker::Nobody, Command::RemoveHost { host, dead: false });
            }
            let id = Tid::host_id(host).as_c_int();
            for result in results.iter_mut().filter(|result| result.outcome == id) {
                let detail = "its daemon was let in, but has not joined".to_owned();
                let stage = "join".to_owned();
                let failure = Failure { stage, detail, remedy: String::new() };
                *result = HostResult { outcome: Code::CantStart.number(), failure: Some(failure) };
            }
        }
        self.answer(asker, Reply::HostResults { results });
    }

    /// Another member wants to know when the host table here has reached `epoch`.
    pub(super) fn await_epoch(&mut self, asker: Asker, epoch: u64) {
        if !matches!(asker, Asker::Peer { .. }) {
            return self.fail(asker, Code::BadParam);
        }
        if self.agreed.hosts().epoch() >= epoch && self.order.log().is_arranged() {
            return self.answer(asker, Reply::Done);
        }
        let number = self.host.pending.number();
        self.host.pending.awaiting.insert(number, Awaiting { asker, epoch });
    }

    /// The host table may have changed.
    pub(super) fn tell_awaiting(&mut self) {
        if !self.order.log().is_arranged() {
            return;
        }
        let epoch = self.agreed.hosts().epoch();
        for number in self.host.pending.awaiting.keys_where(|_, awaiting| awaiting.epoch <= epoch) {
            if let Some(awaiting) = self.host.pending.awaiting.remove(&number) {
                self.answer(awaiting.asker, Reply::Done);
            }
        }
    }
}
