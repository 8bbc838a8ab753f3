//! A member that has missed more of the log than any member keeps gets the state that the commands
//! have made.
//!
//! Its old state is replaced, not added to: things that are gone meanwhile are in no record.
//! Requests that wait here for effects of those commands are answered as far as possible: hosts
//! that are gone are gone, and the outcome of a command of this host that was among them is not
//! known.

use super::{CaughtUp, Handler};
use crate::agreed::{Fact, Group};
use crate::io::Act;
use crate::notify::HOST_ADD;
use crate::pending::HomeAsk;
use pvm_wire::peer::Command;
use pvm_wire::request::{Failure, Reply, Request};
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::collections::BTreeMap;

impl Handler<'_> {
    /// The state that comes lacks these hosts.
    pub(super) fn missed(&mut self, gone: &[HostIndex]) {
        if gone.contains(&self.me()) {
            self.log("this host was taken out of the machine".to_owned());
            self.host.ending = true;
            return;
        }
        self.log("this host has missed much and begins anew with what the others know".to_owned());
    }

    /// The state is that of the others now.
    pub(super) fn caught_up(&mut self, state: CaughtUp) {
        let CaughtUp { hosts, groups, shown } = state;
        self.tell_rules();
        self.tell_hosts();
        let new = self.agreed.hosts().indices().into_iter().filter(|host| !hosts.contains(host));
        new.for_each(|host| self.host_is_new(host));
        self.end_own(&groups);
        self.end_freezes();
        // A drained host that had asked to leave may have been taken back: if not, it asks again.
        self.host.departure.stop();
        self.follow(shown, None);
    }

    /// A host went by a command that was missed here.
    pub(super) fn host_was_lost(&mut self, facts: Vec<Fact>) {
        for fact in facts {
            if let Fact::HostOut { host, .. } = fact {
                self.forget_seat(host);
                self.host_gone(host);
            } else {
                self.follow(vec![fact], None);
            }
        }
    }

    pub(super) fn host_is_new(&mut self, host: HostIndex) {
        self.say_what_waited(host);
        let id = Tid::host_id(host).as_c_int();
        for watch in self.host.watches.host_added() {
            debug_assert_eq!(watch.kind, HOST_ADD);
            self.deliver_notice(&watch, &[1, id]);
        }
    }

    /// Answers the commands of this host that were among the missed ones.
    fn end_own(&mut self, before: &BTreeMap<Blob, Group>) {
        let applied = self.order.log().applied_of(self.me());
        for (mark, command) in self.host.proposals.take_missed(applied) {
            if let Some(proposal) = self.host.pending.proposals.remove(&mark) {
                let seen = command.and_then(|command| self.seen_of(&command, before));
                let outcome = seen.map(|outcome| proposal.reply.unwrap_or(outcome));
                let unknown = Reply::Failed { code: Code::HostFail };
                self.answer(proposal.asker, outcome.unwrap_or(unknown));
            } else if let Some(start) = self.host.pending.starts.get(&mark) {
                let key = start.facts.as_ref().map(|facts| facts.key.clone());
                let host = key.as_ref().and_then(|key| self.agreed.hosts().of_key(key));
                let start = self.host.pending.starts.remove(&mark);
                match (host, start) {
                    (Some(host), Some(start)) => self.start_is_in(&start, mark, host),
                    (None, Some(start)) => {
                        key.into_iter().for_each(|key| self.act(Act::Dismiss { key }));
                        let why = Failure::of("what became of it is not known");
                        self.not_added(start.addition, start.place, Code::HostFail, why);
                    }
                    (_, None) => {}
                }
            }
        }
        self.wait_for_pieces();
    }

    /// The outcome of a missed command, where the state shows it: only the task itself joins or
    /// leaves a group, and the message that it has put is there.
    fn seen_of(&self, command: &Command, before: &BTreeMap<Blob, Group>) -> Option<Reply> {
        let place = |group: &Group, tid| group.members.iter().position(|member| *member == tid);
        match command {
            Command::JoinGroup { group, tid } => {
                let instance = place(self.agreed.groups().find(group).ok()?, *tid)?;
                Some(Reply::Number { value: i32::try_from(instance).ok()? })
            }
            Command::LeaveGroup { group, tid } => {
                let was = before.get(group).is_some_and(|group| group.has(*tid));
                let is = self.agreed.groups().find(group).is_ok_and(|group| group.has(*tid));
                (was && !is).then_some(Reply::Done)
            }
            Command::PutInfo { name, flags, owner, message } => {
                let index = self.agreed.registry().shows_put(name, *flags, *owner, message)?;
                Some(Reply::Number { value: index })
            }
            _ => None,
        }
    }

    /// Answers tasks of this host that took part in a missed freeze of a group. The leader answers
    /// all others that want it frozen.
    fn end_freezes(&mut self) {
        for (name, ask, size) in self.agreed.groups().frozen_by(self.me()) {
            let waits = |asked: &HomeAsk| match &asked.request {
                Request::FreezeGroup { group, .. } => *group == name,
                request => matches!(request, Request::GiveUp { .. }),
            };
            if self.host.pending.home_asks.get(&ask).is_some_and(waits) {
                self.answered(ask, Reply::Number { value: size });
            }
        }
    }

    /// Serves everything on this host that waits for commands to be applied.
    pub(super) fn tell_all(&mut self) {
        for host in self.agreed.hosts().indices() {
            self.tell_held(host);
        }
        self.tell_awaiting();
        self.tell_onlookers();
        for name in self.host.pending.names_wanted() {
            self.wake_readers(&name);
        }
        self.serve_held();
        self.alone_now();
    }
}
