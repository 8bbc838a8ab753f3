//! Tasks come, ask for one another, and go.

use super::{CLOSED_NS, Handler, host_of};
use crate::io::{Connection, Effect};
use crate::notify::TASK_EXIT;
use crate::pending::{Asker, List};
use crate::tasks::{Client, Greeting, Task};
use pvm_wire::peer::{Command, Said};
use pvm_wire::request::{Reply, Request, Role, TaskInfo, Welcome};
use pvm_wire::{Blob, Code, HostIndex, Tid};

/// `SIGTERM`, what `pvm_kill` sends.
const TERMINATE: i32 = 15;
/// `SIGKILL`.
pub(super) const KILL: i32 = 9;
const SIGNAL_MAX: i32 = 64;
/// The part of a frame of effects that a list of siblings may fill: a quarter of the frame's limit.
const WELCOME_BYTES_MAX: usize = pvm_wire::FRAME_BYTES_MAX / 4;

impl Handler<'_> {
    pub(super) fn hello(
        &mut self,
        connection: Connection,
        id: u32,
        client: Client,
        launched: Option<Tid>,
    ) {
        if self.host.tasks.client(connection).is_some_and(|known| known.tid.is_some()) {
            let reason = "this connection has a task already".to_owned();
            let reply = Reply::Refused { code: Code::Already, reason };
            return self.effect(Effect::Reply { connection, id, reply });
        }
        if client.role == Role::Task && self.is_departing() {
            let reason = "this host is leaving the machine".to_owned();
            let reply = Reply::Refused { code: Code::SysErr, reason };
            return self.effect(Effect::Reply { connection, id, reply });
        }
        let spared = !client.reset;
        if client.role == Role::Operator {
            self.host.tasks.connect(connection, client);
            let reply = Reply::Ready { host: self.me() };
            return self.effect(Effect::Reply { connection, id, reply });
        }
        match self.enrol(connection, id, client, launched) {
            // A hidden task is spared anyway.
            Ok(tid) if self.host.tasks.get(tid).is_some_and(Task::is_hidden) => (),
            Ok(tid) if spared => self.spare(Asker::Nobody, tid, true),
            Ok(_) => {}
            Err(code) => {
                let reason = "this host has no task ids left".to_owned();
                let reply = Reply::Refused { code, reason };
                self.effect(Effect::Reply { connection, id, reply });
            }
        }
    }

    fn enrol(
        &mut self,
        connection: Connection,
        id: u32,
        mut client: Client,
        launched: Option<Tid>,
    ) -> Result<Tid, Code> {
        let awaited = |task: &Task| !task.enrolled && !task.left && task.connection.is_none();
        let tid = match launched.filter(|&tid| self.host.tasks.get(tid).is_some_and(awaited)) {
            Some(tid) => tid,
            None => {
                let tid = self.number(1)?[0];
                let task = Task::enrolled(&client, connection, self.host.config.host);
                let is_hidden = task.is_hidden();
                self.host.tasks.insert(tid, task);
                if !is_hidden {
                    self.new_for_manager(tid);
                }
                tid
            }
        };
        let pid = client.pid;
        let reset = client.reset;
        client.tid = Some(tid);
        self.host.tasks.connect(connection, client);
        let task = self.host.tasks.get_mut(tid).expect("found or inserted above");
        task.connection = Some(connection);
        task.reset = reset;
        if task.family.is_none() {
            // The welcome tells the siblings, and not all of them have an id yet.
            task.hello = Some(Greeting { connection, id, pid });
        } else {
            self.welcome(tid, &Greeting { connection, id, pid });
        }
        Ok(tid)
    }
    /// Ids that do not mean another task anywhere.
    pub(super) fn number(&mut self, count: usize) -> Result<Vec<Tid>, Code> {
        let watches = &self.host.watches;
        self.host.tasks.number(count, |tid| watches.names(tid))
    }

    fn welcome(&mut self, tid: Tid, greeting: &Greeting) {
        if !self.host.tasks.get(tid).is_some_and(Task::is_hidden) {
            self.give_tracer(tid);
            self.trace_begins(tid);
        }
        let cores = self.host.config.facts.cores;
        let siblings = self.host.tasks.siblings(tid);
        let Some(task) = self.host.tasks.get_mut(tid) else { return };
        task.enrolled = true;
        task.pid = greeting.pid;
        let welcome = Welcome {
            tid,
            parent: task.parent,
            inherited: task.inherited.clone(),
            doorbell: Blob::default(),
            spawned: task.launched,
            siblings,
            cores,
        };
        let &Greeting { connection, id, pid } = greeting;
        self.effect(Effect::Enrol { connection, id, pid, welcome });
    }

    /// All ids of a spawn call are known: its tasks that wait for that can go on.
    pub(super) fn set_siblings(&mut self, tids: &[Tid]) {
        self.host.tasks.set_family(tids);
        let me = self.me();
        // Each is told of all the others, which adds up: the rest goes with later inputs.
        let at_once = (WELCOME_BYTES_MAX / (size_of::<Tid>() * tids.len().max(1))).max(1);
        for &tid in tids.iter().filter(|tid| tid.host() == me).take(at_once) {
            self.greet(tid);
        }
        if tids.len() > at_once && self.host.tasks.next_greeted().is_some() {
            self.host.tasks.greet_at(self.host.now.0);
        }
    }

    /// Welcomes more of the waiting tasks.
    pub(super) fn greet_more(&mut self) {
        if self.host.tasks.greet_time().is_none_or(|at| at > self.host.now.0) {
            return;
        }
        self.host.tasks.stop_greeting();
        let mut bytes = 0;
        while let Some(tid) = self.host.tasks.next_greeted() {
            bytes += size_of::<Tid>() * self.host.tasks.siblings(tid).len();
            self.greet(tid);
            if bytes > WELCOME_BYTES_MAX {
                return self.host.tasks.greet_at(self.host.now.0);
            }
        }
    }

    fn greet(&mut self, tid: Tid) {
        let greeting = self.host.tasks.get_mut(tid).and_then(|task| task.hello.take());
        if let Some(greeting) = greeting {
            self.welcome(tid, &greeting);
        }
    }

    /// A host is gone that would have told siblings.
    pub(super) fn release_siblings(&mut self, origin: HostIndex) {
        for tid in self.host.tasks.tids_where(|t| t.family.is_none() && t.origin == origin) {
            self.set_siblings(&[tid]);
        }
    }

    pub(super) fn leave(&mut self, connection: Connection, asker: Asker) {
        let client = self.host.tasks.client_mut(connection);
        if let Some(tid) = client.and_then(|client| client.tid.take()) {
            self.leave_groups_of(tid);
            self.task_left(tid);
        }
        // PVM answers 0 also to a second pvm_exit.
        self.answer(asker, Reply::Done);
    }

    /// Gone for PVM; the process of a launched task is still watched for its end.
    fn task_left(&mut self, tid: Tid) {
        if self.host.tasks.child(tid).is_none_or(|child| child.status.is_some()) {
            return self.task_ended(tid);
        }
        let Some(task) = self.host.tasks.get_mut(tid) else { return };
        let known_everywhere = task.known_everywhere;
        task.left = true;
        task.enrolled = false;
        task.connection = None;
        self.tell_gone(tid, known_everywhere);
    }

    pub(super) fn task_ended(&mut self, tid: Tid) {
        let Some(task) = self.host.tasks.remove(tid) else { return };
        // The parent marks the lanes of the task: one that was killed may have published a message
        // without saying so, and whoever is told of the death below takes that message first.
        self.effect(Effect::Forget { tid });
        if self.host.tasks.child(tid).is_none() {
            self.end_for_manager(tid, 0);
            self.trace_ends(tid, 0);
        }
        if !task.left {
            self.tell_gone(tid, task.known_everywhere);
        }
        if let Some(client) = task.connection.and_then(|c| self.host.tasks.client_mut(c)) {
            client.tid = None;
        }
    }

    /// Ends the task's own requests, and tells its watchers: after the command that removes its
    /// traces from all hosts, if it may have left any.
    pub(super) fn tell_gone(&mut self, tid: Tid, known_everywhere: bool) {
        self.host.refusals.remove(&tid);
        for (number, watch) in self.host.watches.take_where(|w| w.owner == tid) {
            self.unwatch(number, &watch);
        }
        self.host.pending.forget_reader(tid);
        self.host.contexts.task_gone(tid);
        self.service_gone(tid);
        let ticket = match known_everywhere {
            true => self.propose_ticket(0, Command::TaskGone { tid }),
            false => 0,
        };
        for number in self.host.watches.numbers_where(|w| w.kind == TASK_EXIT && w.of == tid) {
            self.tell_behind(number, ticket);
        }
        for watch in self.host.watches.take_foreign(tid) {
            self.tell_when_drained(watch, tid, ticket);
        }
    }

    pub(super) fn closed(&mut self, connection: Connection) {
        let Some(client) = self.host.tasks.disconnect(connection) else { return };
        self.host.pending.forget_connection(connection);
        self.operator_gone(connection);
        let Some(tid) = client.tid else { return };
        let at = self.after(CLOSED_NS);
        let Some(task) = self.host.tasks.get_mut(tid) else { return };
        task.connection = None;
        if task.hello.take().is_none() {
            // Usually its process has ended and that is told next.
            self.host.tasks.close_at(tid, at);
        }
    }

    /// Tasks that have lived on without their connection.
    pub(super) fn close_tasks(&mut self) {
        for tid in self.host.tasks.closed_by(self.host.now.0) {
            self.host.tasks.never_close(tid);
            self.task_left(tid);
        }
    }

    pub(super) fn exited(&mut self, tid: Tid, status: i32) {
        if self.given_gone(tid) {
            return;
        }
        self.task_ended(tid);
        if let Some(child) = self.host.tasks.child_mut(tid) {
            child.status = Some(status);
            self.end_for_manager(tid, status);
            self.child_ended(tid);
        }
    }

    pub(super) fn list_tasks(&mut self, asker: Asker, place: Tid) {
        let Some(host) = host_of(place) else {
            return if place == Tid::NONE {
                self.list_all_tasks(asker)
            } else {
                self.fail(asker, Code::NoHost)
            };
        };
        if host == self.me() {
            let mut tasks = self.task_infos();
            tasks.retain(|info| place.is_host() || info.tid == place);
            self.answer(asker, Reply::Tasks { tasks });
        } else if self.agreed.hosts().contains(host) {
            self.ask(host, asker, Tid::NONE, Request::Tasks { place });
        } else {
            self.fail(asker, Code::NoHost);
        }
    }

    fn list_all_tasks(&mut self, asker: Asker) {
        let tasks = self.task_infos();
        let me = self.me();
        let others: Vec<_> =
            self.agreed.hosts().indices().into_iter().filter(|&h| h != me).collect();
        if others.is_empty() {
            return self.answer(asker, Reply::Tasks { tasks });
        }
        let list = self.host.pending.number();
        let waiting = u32::try_from(others.len()).expect("there are at most 4095 hosts");
        self.host.pending.lists.insert(list, List { asker, waiting, tasks });
        for host in others {
            let request = Request::Tasks { place: Tid::host_id(host) };
            self.ask(host, Asker::List { list }, Tid::NONE, request);
        }
    }

    fn task_infos(&self) -> Vec<TaskInfo> {
        let host = Tid::host_id(self.me());
        let info = |(tid, task): (Tid, &Task)| TaskInfo {
            tid,
            parent: match task.parent {
                // PVM shows a task without a parent so.
                parent if parent == Code::NoParent.number() => Tid::NONE,
                parent => Tid::from_c_int(parent),
            },
            host,
            flags: task.flags() | self.service_flags(tid),
            name: task.name.clone(),
            pid: task.pid,
        };
        self.host.tasks.iter().filter(|(_, task)| !task.is_hidden()).map(info).collect()
    }

    pub(super) fn task_status(&mut self, asker: Asker, tid: Tid, of: Tid) {
        if !of.may_be_task() {
            self.fail(asker, Code::BadParam);
        } else if self.host.tasks.alive(of).is_some() {
            self.answer(asker, Reply::Done);
        } else {
            self.pass_on(asker, tid, of, Request::TaskStatus { tid: of });
        }
    }

    /// As in PVM the sender is not told whether there was such a task.
    pub(super) fn signal(&mut self, asker: Asker, tid: Tid, signal: i32) {
        if !tid.may_be_task() {
            return self.fail(asker, Code::BadParam);
        }
        if (1..=SIGNAL_MAX).contains(&signal) {
            self.send_signal(tid, signal);
        }
        self.answer(asker, Reply::Done);
    }

    pub(super) fn send_signal(&mut self, tid: Tid, signal: i32) {
        if tid.host() != self.me() {
            let request = Request::Signal { tid, signal };
            self.say(tid.host(), Said::Ask { ask: 0, asker: Tid::NONE, request });
        } else if self.host.tasks.get(tid).is_some() {
            self.effect(Effect::Signal { tid, signal });
        }
    }

    /// `reset`: kills what has not asked to be spared.
    pub(super) fn kill_tasks(&mut self, asker: Tid) {
        for tid in self.host.tasks.tids_where(|task| task.reset) {
            if tid != asker {
                self.effect(Effect::Signal { tid, signal: TERMINATE });
            }
        }
    }

    pub(super) fn set_reset(&mut self, connection: Connection, asker: Asker, reset: bool) {
        let client = self.host.tasks.client_mut(connection);
        let tid = client.and_then(|client| {
            client.reset = reset;
            client.tid
        });
        if let Some((tid, task)) = tid.and_then(|tid| Some((tid, self.host.tasks.get_mut(tid)?))) {
            task.reset = reset;
            return self.spare(asker, tid, !reset);
        }
        self.answer(asker, Reply::Done);
    }
}
