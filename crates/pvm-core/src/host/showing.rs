//! A change of a group is answered once every host shows it to its tasks: a task that learns of it
//! by a message finds it on its own host, without a question to another one.

use super::{Handler, SECOND_NS};
use crate::deadline::Deadline;
use crate::pending::{Asker, GroupChange, Onlooker};
use pvm_wire::peer::Command;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, HostIndex, Tid};

/// The time for which silent hosts hold up an answer.
const SHOW_NS: u64 = 5 * SECOND_NS;

impl Handler<'_> {
    /// Proposes a change of a group.
    pub(super) fn change_group(&mut self, asker: Asker, command: Command) {
        if self.agreed.hosts().count() < 2 {
            return self.propose(asker, command);
        }
        let change = self.host.pending.number();
        let (reply, waiting, deadline) = (Reply::Done, Vec::new(), Deadline::Unset);
        let record = GroupChange { asker, reply, waiting, deadline };
        self.host.pending.group_changes.insert(change, record);
        self.propose(Asker::Joined { change }, command);
    }

    /// It has been applied here, or will not be.
    pub(super) fn group_changed(&mut self, change: u64, outcome: Reply) {
        let (me, deadline) = (self.me(), self.after(SHOW_NS));
        let others: Vec<_> =
            self.agreed.hosts().indices().into_iter().filter(|&h| h != me).collect();
        let Some(waiting) = self.host.pending.group_changes.get_mut(&change) else { return };
        let failed = matches!(outcome, Reply::Failed { .. });
        waiting.reply = outcome;
        if failed || others.is_empty() {
            return self.answer_group_change(change);
        }
        waiting.deadline = Deadline::At(deadline);
        waiting.waiting.clone_from(&others);
        let number = self.order.log().applied();
        for host in others {
            self.ask(host, Asker::Shown { change, host }, Tid::NONE, Request::Shown { number });
        }
    }

    /// A host shows it, or is a member no more.
    pub(super) fn group_shown(&mut self, change: u64, host: HostIndex) {
        let Some(waiting) = self.host.pending.group_changes.get_mut(&change) else { return };
        waiting.waiting.retain(|&waited| waited != host);
        if waiting.waiting.is_empty() {
            self.answer_group_change(change);
        }
    }

    /// Hosts that were silent for too long: where they are, old news are shown.
    pub(super) fn end_group_changes(&mut self) {
        let now = self.host.now.0;
        let late = |_: &u64, c: &GroupChange| c.deadline.is_over(now);
        for change in self.host.pending.group_changes.keys_where(late) {
            self.answer_group_change(change);
        }
    }

    fn answer_group_change(&mut self, change: u64) {
        if let Some(GroupChange { asker, reply, .. }) =
            self.host.pending.group_changes.remove(&change)
        {
            self.answer(asker, reply);
        }
    }

    /// Another host wants to know when the changes of a command are shown here.
    pub(super) fn await_shown(&mut self, asker: Asker, number: u64) {
        if !matches!(asker, Asker::Peer { .. }) {
            return self.fail(asker, Code::BadParam);
        }
        if self.order.log().applied() >= number {
            return self.answer(asker, Reply::Done);
        }
        let key = self.host.pending.number();
        self.host.pending.onlookers.insert(key, Onlooker { asker, number });
    }

    /// A command has been applied, and what it did is shown.
    pub(super) fn tell_onlookers(&mut self) {
        let applied = self.order.log().applied();
        for key in self.host.pending.onlookers.keys_where(|_, onlooker| onlooker.number <= applied)
        {
            if let Some(onlooker) = self.host.pending.onlookers.remove(&key) {
                self.answer(onlooker.asker, Reply::Done);
            }
        }
    }
}
