//! The state that all hosts agree on: members, named messages, groups, rules.
//!
//! [`Agreed`] is a value, and only [`Agreed::apply`] changes it: it executes a command and returns
//! the result, as a reply for the asker and as [`Fact`]s for the host. It knows no clock, no task
//! and no other host's word, not even which host it is on. So two that were given the same commands
//! are equal, on whatever hosts and after whatever restarts, and its records are the state that a
//! new host gets. A reader gets a shared reference to a part: the functions that change a part are
//! seen in this folder only.

mod fact;
mod groups;
mod hosts;
mod registry;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use fact::{Ask, Exit, Fact, Left};
pub(crate) use groups::{Group, Groups};
pub(crate) use hosts::{Hosts, folded};
pub(crate) use registry::{MULTI_INSTANCE, READ_AND_DELETE, Registry, WAIT_FOR_INFO};
pub use rules::Rules;

use crate::io::HostFacts;
use crate::planted::{self, Bug};
use crate::records::{Change, Slot};
use pvm_wire::peer::Command;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::sync::Arc;

/// The state that the log of commands makes.
#[derive(Debug)]
pub(crate) struct Agreed {
    hosts: Hosts,
    registry: Registry,
    groups: Groups,
    rules: Slot<Rules>,
}

impl Agreed {
    /// Nothing is known.
    pub(crate) fn new() -> Self {
        Self {
            hosts: Hosts::new(),
            registry: Registry::new(),
            groups: Groups::new(),
            rules: Slot::new(b'U', Rules::plain()),
        }
    }

    /// A machine begins with this host.
    pub(crate) fn begin(&mut self, host: HostIndex, facts: HostFacts, rules: Rules) {
        self.hosts.begin(host, facts);
        self.rules.set(rules);
    }

    pub(crate) const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// See [`crate::Machine::share`].
    pub(crate) fn share(&mut self, host: HostIndex, facts: &Arc<HostFacts>) {
        self.hosts.share(host, facts);
    }

    pub(crate) const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) const fn groups(&self) -> &Groups {
        &self.groups
    }

    pub(crate) const fn rules(&self) -> &Rules {
        self.rules.get()
    }

    /// Does what the command with this number says. Returns its outcome, and what has changed.
    pub(crate) fn apply(&mut self, number: u64, command: Command) -> (Reply, Vec<Fact>) {
        let mut facts = Vec::new();
        let reply = self.outcome(number, command, &mut facts);
        self.groups.tell(&mut facts);
        (reply, facts)
    }

    fn outcome(&mut self, number: u64, command: Command, facts: &mut Vec<Fact>) -> Reply {
        match command {
            Command::AddHost { .. }
            | Command::RemoveHost { .. }
            | Command::DrainHost { .. }
            | Command::Retire { .. }
            | Command::SetAddresses { .. }
            | Command::KnowHosts { .. }
            | Command::SetRules { .. } => self.change_hosts(number, command, facts),
            Command::PutInfo { .. }
            | Command::TakeInfo { .. }
            | Command::DelInfo { .. }
            | Command::Withdraw { .. }
            | Command::ClearNames => self.change_names(command),
            Command::JoinGroup { .. } | Command::LeaveGroup { .. } | Command::Freeze { .. } => {
                self.change_groups(command, facts)
            }
            Command::TaskLeft { tid } => {
                self.leave_all_groups(number, tid, false, facts);
                Reply::Done
            }
            Command::TaskGone { tid } => {
                self.registry.task_gone(tid);
                facts.push(Fact::TaskGone { tid });
                self.leave_all_groups(number, tid, true, facts);
                Reply::Done
            }
            // The order of commands resolves these before they come here.
            Command::Fence { .. } | Command::Piece { .. } => Reply::Done,
        }
    }

    fn change_hosts(&mut self, number: u64, command: Command, facts: &mut Vec<Fact>) -> Reply {
        match command {
            Command::AddHost { facts: of, again } => self.add_host(of, again, facts),
            Command::RemoveHost { host, dead } => {
                if self.hosts.is_only(host) {
                    // The others have gone since it was asked for.
                    return Reply::Failed { code: Code::BadParam };
                }
                let exit = if dead { Exit::Died } else { Exit::Deleted };
                self.take_out(number, host, exit, facts);
                Reply::Done
            }
            Command::DrainHost { host, on } => self.drain_host(host, on, facts),
            Command::Retire { host } => {
                self.retire_host(number, host, facts);
                Reply::Done
            }
            Command::SetAddresses { host, addresses } => {
                if self.hosts.set_addresses(host, addresses) {
                    facts.push(Fact::HostChanged);
                }
                Reply::Done
            }
            Command::KnowHosts { lines } => done(self.hosts.know(&lines)),
            Command::SetRules { witness, survive } => {
                let rules = self.rules.get_mut();
                rules.witness = witness.unwrap_or_else(|| std::mem::take(&mut rules.witness));
                rules.survive = survive.unwrap_or(rules.survive);
                facts.push(Fact::RulesChanged);
                Reply::Done
            }
            _ => Reply::Done,
        }
    }

    fn add_host(&mut self, of: HostFacts, again: bool, facts: &mut Vec<Fact>) -> Reply {
        let key = of.key.clone();
        match self.hosts.add(of, again) {
            Ok(host) => {
                facts.push(Fact::HostIn { host });
                Reply::Done
            }
            Err(code) => {
                facts.push(Fact::HostRefused { key, code });
                Reply::Failed { code }
            }
        }
    }

    fn drain_host(&mut self, host: HostIndex, on: bool, facts: &mut Vec<Fact>) -> Reply {
        if !self.hosts.contains(host) {
            return Reply::Failed { code: Code::NoHost };
        }
        let changed = self.hosts.set_draining(host, on);
        facts.push(Fact::Draining { host, on, changed });
        Reply::Done
    }

    /// A drained host had nothing left to do. If it was taken back meanwhile, it stays.
    fn retire_host(&mut self, number: u64, host: HostIndex, facts: &mut Vec<Fact>) {
        if self.hosts.is_only(host) {
            // The others left at the same time: the last one stays.
            facts.push(Fact::LastStays);
        } else if self.hosts.is_draining(host) {
            self.take_out(number, host, Exit::Left, facts);
        }
    }

    fn take_out(&mut self, number: u64, host: HostIndex, exit: Exit, facts: &mut Vec<Fact>) {
        let Some(of) = self.hosts.facts(host) else { return };
        let name = of.name.to_text();
        self.hosts.remove(host);
        self.registry.host_gone(host);
        facts.push(Fact::HostOut { host, name, exit });
        for tid in self.groups.members_on(host) {
            self.leave_all_groups(number, tid, true, facts);
        }
    }

    fn change_names(&mut self, command: Command) -> Reply {
        match command {
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
            _ => Reply::Done,
        }
    }

    fn change_groups(&mut self, command: Command, facts: &mut Vec<Fact>) -> Reply {
        match command {
            Command::JoinGroup { group, tid } => number(self.groups.join(&group, tid)),
            Command::LeaveGroup { group, tid } => {
                let left = self.groups.leave(&group, tid);
                if left.is_ok() {
                    let left = self.groups.left(&group);
                    facts.push(Fact::Departed { group, tid, gone: false, left });
                }
                done(left)
            }
            Command::Freeze { group, asks } => {
                let size = self.groups.freeze(&group, &asks);
                facts.push(Fact::Frozen { group, asks, size });
                Reply::Done
            }
            _ => Reply::Done,
        }
    }

    /// A task is gone that was a member of groups, perhaps. `died`: not by its own will.
    fn leave_all_groups(&mut self, number: u64, tid: Tid, died: bool, facts: &mut Vec<Fact>) {
        let names = self.groups.task_gone(tid, died);
        self.groups.note_death(&names, number);
        for group in names {
            let left = self.groups.left(&group);
            facts.push(Fact::Departed { group, tid, gone: true, left });
        }
    }

    /// A host has been taken out by a command that was missed here, after the one with this number.
    pub(crate) fn lose(&mut self, number: u64, host: HostIndex) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.take_out(number, host, Exit::Died, &mut facts);
        self.groups.tell(&mut facts);
        facts
    }

    /// Takes the state that these records are, instead of what is known. Returns the groups as
    /// they are then.
    pub(crate) fn load(&mut self, records: &[(Blob, Blob)]) -> Vec<Fact> {
        let before = self.groups.known();
        if !planted::is(Bug::CatchesUpByAdding) {
            self.hosts.clear();
            self.registry.clear_all();
            self.groups.clear();
        }
        for (Blob(key), Blob(value)) in records {
            let _known = self.hosts.adopt(key, value)
                || !planted::is(Bug::StateWithoutNames) && self.registry.adopt(key, value)
                || self.groups.adopt(key, value)
                || self.rules.adopt(key, value);
        }
        self.groups.note_missed(&before);
        self.groups_as_they_are()
    }

    /// All groups, for tasks that have been shown none, or others.
    pub(crate) fn groups_as_they_are(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.groups.show_all();
        self.groups.tell(&mut facts);
        facts
    }

    /// The state, for a host that has none or another one.
    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.hosts.records(out);
        self.registry.records(out);
        self.groups.records(out);
        self.rules.records(out);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.hosts.take_changes(out);
        self.registry.take_changes(out);
        self.groups.take_changes(out);
        self.rules.take_changes(out);
    }

    /// Takes a record back that was put out before.
    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.hosts.restore(key, value)
            || self.registry.restore(key, value)
            || self.groups.restore(key, value)
            || self.rules.restore(key, value)
    }
}

/// An outcome that tells nothing but that it is done.
pub(crate) fn done(result: Result<(), Code>) -> Reply {
    result.map_or_else(|code| Reply::Failed { code }, |()| Reply::Done)
}

/// An outcome that is a number.
pub(crate) fn number(result: Result<i32, Code>) -> Reply {
    result.map_or_else(|code| Reply::Failed { code }, |value| Reply::Number { value })
}
