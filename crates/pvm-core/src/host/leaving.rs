//! Hosts go: deleted, drained and then empty, or dead.

use super::{Handler, OrderInput};
use crate::agreed::Exit;
use crate::io::Act;
use crate::notify::{HOST_DELETE, TASK_EXIT};
use crate::pending::Asker;
use crate::planted::{self, Bug};
use pvm_wire::peer::Command;
use pvm_wire::request::{Failure, HostResult, Reply};
use pvm_wire::{Blob, Code, HostIndex, Tid};

/// The status that `waitpid` tells of a killed process: no more is known of a lost task.
const KILLED: i32 = 9;
/// The refusal to delete the last host.
const LAST_STAYS: &str = "the last host ends only with the whole machine";
/// The refusal to let a program delete the first host: PVM 3.4 answers its programs so.
const FIRST_STAYS: &str = "a program cannot delete the first host; `pvm delete` can";

impl Handler<'_> {
    /// The members that the names mean, in their sequence, and the results of names that mean none.
    fn members_named(
        &self,
        names: &[Blob],
        spared: Option<HostIndex>,
    ) -> (Vec<HostResult>, Vec<(u32, HostIndex)>) {
        let count = self.agreed.hosts().count();
        let mut members: Vec<(u32, HostIndex)> = Vec::new();
        let mut results = Vec::new();
        for (place, name) in (0..).zip(names) {
            let host =
                if name.0 == b"." { Some(self.me()) } else { self.agreed.hosts().named(name) };
            let (code, why) = match host {
                None => (Code::NoHost, "no member has this name"),
                Some(host) if Some(host) == spared => (Code::BadParam, FIRST_STAYS),
                Some(host) if members.iter().any(|(_, member)| *member == host) => {
                    (Code::DupHost, "it is named twice")
                }
                Some(_) if members.len() + 1 == count => (Code::BadParam, LAST_STAYS),
                Some(host) => {
                    members.push((place, host));
                    results.push(HostResult::default());
                    continue;
                }
            };
            results.push(HostResult { outcome: code.number(), failure: Some(Failure::of(why)) });
        }
        (results, members)
    }

    pub(super) fn del_hosts(&mut self, asker: Asker, tid: Tid, names: &[Blob]) {
        if names.is_empty() {
            return self.fail(asker, Code::BadParam);
        }
        let spared = if tid == Tid::NONE { None } else { self.order.log().begun_on() };
        let (results, mut gone) = self.members_named(names, spared);
        // This host itself, if it is among them, is the last.
        let me = self.me();
        gone.sort_by_key(|&(place, host)| (host == me, place));
        let remove = |(place, host)| (place, Command::RemoveHost { host, dead: false });
        self.change(asker, results, gone.into_iter().map(remove).collect(), Vec::new());
    }

    pub(super) fn drain_hosts(&mut self, asker: Asker, names: &[Blob]) {
        if names.is_empty() {
            return self.fail(asker, Code::BadParam);
        }
        let (results, members) = self.members_named(names, None);
        let drain = |(place, host)| (place, Command::DrainHost { host, on: true });
        self.change(asker, results, members.into_iter().map(drain).collect(), Vec::new());
    }

    /// A host is drained from this place of the log on, or not any more.
    pub(super) fn host_drained(&mut self, host: HostIndex, on: bool, changed: bool) {
        if host == self.me() {
            self.host.departure.stop();
            if changed {
                let text = if on { "is being drained" } else { "is no longer drained" };
                self.log(format!("this host {text}"));
            }
        }
    }

    /// A drained host leaves when nothing that began here goes on.
    pub(super) fn leave_if_empty(&mut self) {
        let under_way = self.host.departure.is_under_way() || self.host.ending;
        if !under_way
            && self.agreed.hosts().count() != 1
            && self.agreed.hosts().is_draining(self.me())
            && self.is_empty_of_tasks()
            && self.host.sessions.unheard_count() == 0
        {
            self.host.departure.flush();
            self.act(Act::Flush);
        }
    }

    fn is_empty_of_tasks(&self) -> bool {
        self.host.tasks.is_empty()
            && self.host.launches.is_empty()
            && self.host.pending.additions.is_empty()
            && self.host.pending.changes.is_empty()
            && self.host.pending.weighings.is_empty()
    }

    /// The messages of this host's tasks are safe.
    pub(super) fn flushed(&mut self) {
        if self.host.departure.flushed()
            && self.agreed.hosts().is_draining(self.me())
            && self.is_empty_of_tasks()
        {
            self.host.departure.ask();
            self.propose(Asker::Nobody, Command::Retire { host: self.me() });
        }
    }

    /// True while a drained host waits to be let go: nothing new begins here.
    pub(super) const fn is_departing(&self) -> bool {
        self.host.departure.has_asked()
    }

    /// A host was taken out, on every host at this place of the log.
    pub(super) fn host_is_out(&mut self, host: HostIndex, name: &str, exit: Exit) {
        if host == self.me() {
            self.log("this host was taken out of the machine".to_owned());
            // All others skip its commands that come after this in the log, so no asker here may be
            // told that they are done.
            self.tell_order(OrderInput::Out { host });
            self.host.ending = true;
            return;
        }
        if self.order.log().is_leader() {
            let how = match exit {
                Exit::Died => "is dead",
                Exit::Deleted => "was deleted",
                Exit::Left => "has left",
            };
            self.log(format!("host {name} {how}"));
        }
        self.forget_seat(host);
        self.tell_changed(host);
        self.host_gone(host);
        self.alone_now();
    }

    /// A host has no place any more.
    pub(super) fn forget_seat(&mut self, host: HostIndex) {
        self.host.sessions.forget(host);
        self.release_output(host);
        self.tell_order(OrderInput::Out { host });
    }

    /// Everything that was on a host is gone.
    pub(super) fn host_gone(&mut self, host: HostIndex) {
        self.host_end_for_manager(host);
        for asker in self.host.pending.take_asked(host) {
            self.fail(asker, Code::HostFail);
        }
        for kind in [TASK_EXIT, HOST_DELETE] {
            let due = self.host.watches.take_where(|w| w.kind == kind && w.of.host() == host);
            for (_, watch) in due {
                self.deliver_notice(&watch, &[watch.of.as_c_int()]);
                if planted::is(Bug::NoticeTwice) {
                    self.deliver_notice(&watch, &[watch.of.as_c_int()]);
                }
            }
        }
        self.host.watches.forget_host(host);
        for ((connection, id), tid) in self.host.launches.running_on(host) {
            let operator = pvm_wire::peer::Operator { host: self.me(), connection, id };
            self.pass_to_operator(operator.clone(), Reply::Cut { tid });
            self.pass_to_operator(operator, Reply::Exited { tid, status: KILLED });
        }
        self.orphan_children(host);
        self.spawners_gone(host);
        self.release_siblings(host);
        self.host.pending.forget_awaiting(host);
    }
}
