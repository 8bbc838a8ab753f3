//! Hosts come and go.

use super::{HOST_START_NS, Machine};
use crate::io::{Act, HostFacts};
use crate::notify::{HOST_ADD, HOST_DELETE, TASK_EXIT};
use crate::pending::{Addition, Asker, Start};
use crate::quorum::QuorumInput;
use pvm_wire::peer::{Command, Said};
use pvm_wire::request::{HostResult, Reply};
use pvm_wire::{Blob, Code, HostIndex, Tid};

/// The name in `pvm_addhosts` that means: one more daemon on this computer.
const LOCAL: &[u8] = b"local";
/// Daemons that one request may start.
const ADD_COUNT_MAX: usize = 256;
/// What `waitpid` tells of a process that was killed: all that can be said of a lost task.
const KILLED: i32 = 9;

impl Machine {
    /// Tells the shell who is in.
    pub(super) fn tell_hosts(&mut self) {
        let hosts = self.members();
        self.act(Act::Hosts { hosts });
        let members = self.consensus.members();
        self.consensus.input(self.now, QuorumInput::Members { members });
        self.follow_quorum();
    }

    pub(super) fn add_local(&mut self, asker: Asker, count: u32) {
        let lines = vec![Blob(LOCAL.to_vec()); (count as usize).min(ADD_COUNT_MAX + 1)];
        self.add_hosts(asker, &lines);
    }

    pub(super) fn add_hosts(&mut self, asker: Asker, lines: &[Blob]) {
        if lines.is_empty() || lines.len() > ADD_COUNT_MAX {
            let code = if lines.is_empty() { Code::BadParam } else { Code::OutOfRes };
            return self.fail(asker, code);
        }
        let addition = self.pending.number();
        let results = vec![None; lines.len()];
        self.pending.additions.insert(addition, Addition { asker, results });
        for (place, line) in (0..).zip(lines) {
            let earlier = &lines[..place as usize];
            let again = earlier.iter().any(|other| name_in(other) == name_in(line));
            self.add_host(addition, place, line, again);
        }
    }

    fn add_host(&mut self, addition: u64, place: u32, line: &Blob, again: bool) {
        let name = name_in(line);
        let local = name == Some(LOCAL);
        let is_member = |name: &[u8]| self.hosts.named(&Blob(name.to_vec())).is_some();
        let refused = match name {
            None => Some((Code::BadParam, "no name".to_owned())),
            Some(name) if !local && (again || is_member(name)) => {
                Some((Code::DupHost, "it is in the machine already".to_owned()))
            }
            Some(_) => None,
        };
        if let Some((code, detail)) = refused {
            return self.add_result(addition, place, code.number(), detail);
        }
        let ticket = self.pending.number();
        let deadline = self.after(HOST_START_NS);
        self.pending.starts.insert(ticket, Start { addition, place, deadline, ready: false });
        let line = if local { Blob::default() } else { line.clone() };
        self.act(Act::StartHost { ticket, line });
    }

    /// One more result of a request to add hosts; the last one answers it.
    fn add_result(&mut self, addition: u64, place: u32, outcome: i32, detail: String) {
        let Some(waiting) = self.pending.additions.get_mut(&addition) else { return };
        if let Some(result) = waiting.results.get_mut(place as usize) {
            *result = Some((outcome, detail));
        }
        if waiting.results.iter().any(Option::is_none) {
            return;
        }
        let Some(Addition { asker, results }) = self.pending.additions.remove(&addition) else {
            return;
        };
        let results = results.into_iter().flatten();
        let results = results.map(|(outcome, detail)| HostResult { outcome, detail }).collect();
        self.answer(asker, Reply::HostResults { results });
    }

    pub(super) fn host_ready(&mut self, ticket: u64, facts: HostFacts) {
        let Some(start) = self.pending.starts.get_mut(&ticket) else { return };
        if !start.ready {
            start.ready = true;
            self.propose_ticket(ticket, Command::AddHost { facts });
        }
    }

    pub(super) fn host_failed(&mut self, ticket: u64, code: Code, detail: String) {
        if let Some(start) = self.pending.starts.remove(&ticket) {
            self.add_result(start.addition, start.place, code.number(), detail);
        }
    }

    /// Daemons that took too long.
    pub(super) fn end_starts(&mut self) {
        let now = self.now.0;
        for ticket in self.pending.starts.keys_where(|_, start| start.deadline <= now) {
            let detail = "the daemon did not answer in time".to_owned();
            self.host_failed(ticket, Code::CantStart, detail);
        }
    }

    /// A host was let in, on every host at this place of the order.
    pub(super) fn host_added(&mut self, facts: HostFacts, ticket: Option<u64>) -> Reply {
        let start = ticket.and_then(|ticket| self.pending.starts.remove(&ticket));
        let Some(host) = self.hosts.add(facts) else {
            if let Some(start) = start {
                let detail = "the machine has no place left".to_owned();
                self.add_result(start.addition, start.place, Code::OutOfRes.number(), detail);
            }
            return Reply::Failed { code: Code::OutOfRes };
        };
        self.consensus.seat(host, self.consensus.applied());
        let id = Tid::host_id(host);
        match (start, ticket) {
            (Some(start), Some(ticket)) => {
                self.act(Act::Admit { ticket, host });
                self.add_result(start.addition, start.place, id.as_c_int(), String::new());
            }
            // Nobody waits for it any more.
            (_, Some(_)) => self.propose(Asker::Nobody, Command::RemoveHost { host, dead: true }),
            (_, None) => {}
        }
        self.tell_hosts();
        self.say_what_waited(host);
        if let (true, Some(facts)) = (self.consensus.is_leader(), self.hosts.facts(host)) {
            let text = format!("host {} is in: {}", facts.name.to_text(), facts.address);
            self.log(text);
        }
        for watch in self.watches.host_added() {
            debug_assert_eq!(watch.kind, HOST_ADD);
            self.deliver_notice(&watch, &[1, id.as_c_int()]);
        }
        Reply::Done
    }

    pub(super) fn del_hosts(&mut self, asker: Asker, names: &[Blob]) {
        if names.is_empty() {
            return self.fail(asker, Code::BadParam);
        }
        let mut gone = Vec::new();
        let mut results = Vec::new();
        for name in names {
            let (outcome, detail) = match self.hosts.named(name) {
                None => (Code::NoHost.number(), ""),
                Some(host) if self.hosts.indices() == [host] => {
                    (Code::BadParam.number(), "the last host ends only with the whole machine")
                }
                Some(host) if gone.contains(&host) => (Code::NoHost.number(), "named twice"),
                Some(host) => {
                    gone.push(host);
                    (0, "")
                }
            };
            results.push(HostResult { outcome, detail: detail.to_owned() });
        }
        let reply = Reply::HostResults { results };
        // The last one answers. This host itself, if it is among them, is the last.
        let me = self.me();
        gone.sort_by_key(|&host| (host == me, host));
        let Some(last) = gone.pop() else { return self.answer(asker, reply) };
        for host in gone {
            self.propose(Asker::Nobody, Command::RemoveHost { host, dead: false });
        }
        let command = Command::RemoveHost { host: last, dead: false };
        self.propose_for(asker, Some(reply), None, command);
    }

    /// A host was taken out, on every host at this place of the order.
    pub(super) fn host_removed(&mut self, host: HostIndex, dead: bool) -> Reply {
        let name = self.hosts.facts(host).map(|facts| facts.name.to_text());
        let Some(name) = name.filter(|_| self.hosts.remove(host)) else { return Reply::Done };
        if host == self.me() {
            self.log("this host was taken out of the machine".to_owned());
            self.ending = true;
            return Reply::Done;
        }
        if self.consensus.is_leader() {
            self.log(format!("host {name} {}", if dead { "is dead" } else { "was deleted" }));
        }
        self.sessions.forget(host);
        self.consensus.unseat(host);
        self.tell_hosts();
        self.host_gone(host);
        self.alone_now();
        Reply::Done
    }

    /// Everything that was on a host is gone.
    fn host_gone(&mut self, host: HostIndex) {
        for asker in self.pending.take_asked(host) {
            self.fail(asker, Code::HostFail);
        }
        for kind in [TASK_EXIT, HOST_DELETE] {
            let due = self.watches.take_where(|w| w.kind == kind && w.of.host() == host);
            for (_, watch) in due {
                self.deliver_notice(&watch, &[watch.of.as_c_int()]);
            }
        }
        self.watches.forget_host(host);
        self.registry.host_gone(host);
        for tid in self.groups.members_on(host) {
            self.leave_all_groups(tid);
        }
        for ((connection, id), tid) in self.launches.running_on(host) {
            let operator = pvm_wire::peer::Operator { host: self.me(), connection, id };
            self.pass_to_operator(operator, Reply::Exited { tid, status: KILLED });
        }
        self.orphan_children(host);
        self.spawners_gone(host);
        self.release_siblings(host);
    }

    pub(super) fn host_status(&mut self, asker: Asker, name: &Blob) {
        let host = if name.0 == b"." { Some(self.me()) } else { self.hosts.named(name) };
        let status = match host {
            None => Err(Code::NoHost),
            Some(host) if host != self.me() && !self.sessions.is_up(host) => Err(Code::HostFail),
            Some(_) => Ok(()),
        };
        self.answer_done(asker, status);
    }

    pub(super) fn reset(&mut self, asker: Asker, tid: Tid, kill: bool) {
        self.log("the machine was reset".to_owned());
        if kill {
            self.say_to_all(&Said::Reset { asker: tid });
            self.kill_tasks(tid);
        }
        self.propose(asker, Command::ClearNames);
    }

    pub(super) fn halt(&mut self, asker: Asker) {
        self.log("the machine was halted".to_owned());
        self.answer(asker, Reply::Done);
        self.say_to_all(&Said::Halt);
        self.ending = true;
    }
}

/// The name at the start of a host file line.
fn name_in(line: &Blob) -> Option<&[u8]> {
    line.0.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())
}
