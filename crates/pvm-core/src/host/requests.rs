//! Dispatch of requests to their handlers.

use super::{Handler, host_of};
use crate::io::{Connection, Effect};
use crate::pending::{Asker, HostTableRequest};
use crate::placement::TASK_HOST;
use pvm_wire::peer::Command;
use pvm_wire::request::{DaemonStatus, Reply, Request, Role};
use pvm_wire::{Blob, Code, Tid};

impl Handler<'_> {
    /// A request over a connection on this host.
    pub(super) fn asked(&mut self, connection: Connection, id: u32, request: Request) {
        let asker = Asker::Connection { connection, id };
        let Some(client) = self.host.tasks.client(connection) else {
            // A request without a hello, or behind the end of the connection.
            let reply = Reply::Failed { code: Code::SysErr };
            return self.effect(Effect::Reply { connection, id, reply });
        };
        let tid = client.tid.unwrap_or(Tid::NONE);
        let has_ended = client.role == Role::Task && client.tid.is_none();
        if has_ended && matches!(request, Request::PutInfo { .. }) {
            // It was sent before its task ended and read behind that: what it puts would have no
            // owner, and stay.
            return self.fail(asker, Code::SysErr);
        }
        if self.ask_manager(connection, id, tid, &request) {
            return;
        }
        match request {
            Request::Post { to, message } => self.post(asker, tid, to, message),
            Request::Leave => self.leave(connection, asker),
            Request::GiveUp { question } => self.given_up(connection, id, question),
            Request::Run { spawn } => self.run(connection, id, spawn),
            Request::Feed { tid, bytes } => self.feed(connection, asker, tid, bytes),
            Request::SetOutput { output } => self.set_output(asker, tid, output),
            Request::SetReset { reset } => self.set_reset(connection, asker, reset),
            Request::AddHosts { hosts } => self.add_hosts(asker, &hosts),
            Request::AddLocal { count } => self.add_local(asker, count),
            Request::Register { .. }
            | Request::RegisterTracer { .. }
            | Request::JoinGroup { .. }
            | Request::LeaveGroup { .. }
            | Request::Barrier { .. }
            | Request::FreezeGroup { .. }
            | Request::Notify { .. }
                if tid == Tid::NONE =>
            {
                // These are about the asking task, and a command is none.
                self.fail(asker, Code::BadParam);
            }
            request => self.serve(asker, tid, request),
        }
    }

    /// A request that can also come from another host, on behalf of `tid` there.
    pub(super) fn serve(&mut self, asker: Asker, tid: Tid, request: Request) {
        // Without a leader an old host table is better than none.
        let vain =
            !self.order.why_leaderless(self.host.now).is_empty() && request == Request::Config;
        let is_ahead = !vain && (self.is_ahead(&request) || self.is_run_ahead(tid, &request));
        if is_ahead && self.agreed.hosts().count() > 1 {
            let number = self.host.pending.number();
            self.host
                .pending
                .held
                .insert(number, HostTableRequest { after: 0, asker, tid, request });
            let ping = Request::HostStatus { name: ".".into() };
            return self.ask_home(Asker::Again { request: number }, Tid::NONE, ping);
        }
        self.serve_now(asker, tid, request);
    }

    /// True where a request is about a host that may be newer than what is known here: a task
    /// can hear of a host by a message sooner than its own host does.
    fn is_ahead(&self, request: &Request) -> bool {
        let is_new =
            |tid: &Tid| host_of(*tid).is_some_and(|host| self.agreed.hosts().may_be_new(host));
        let is_unknown = |name: &Blob| name.0 != b"." && self.agreed.hosts().named(name).is_none();
        match request {
            Request::Config => true,
            Request::Tasks { place: tid }
            | Request::Signal { tid, .. }
            | Request::TaskStatus { tid }
            | Request::SetTrace { tid, .. }
            | Request::SetProbes { tid, .. }
            | Request::Recorder { host: tid, .. }
            | Request::GetMemory { owner: tid, .. }
            | Request::PutMemory { owner: tid, .. }
            | Request::ChangeMemory { owner: tid, .. }
            | Request::DescribeMemory { owner: tid, .. }
            | Request::HostClock { host: tid } => is_new(tid),
            Request::FreeContext { context } => is_new(&Tid::from_c_int(*context)),
            Request::Notify { tids, .. } => tids.iter().any(is_new),
            Request::HostStatus { name } | Request::Upgrade { host: name, .. } => is_unknown(name),
            Request::DelHosts { hosts } | Request::DrainHosts { hosts } => {
                hosts.iter().any(is_unknown)
            }
            Request::Spawn { spawn } => spawn.flags & TASK_HOST != 0 && is_unknown(&spawn.place),
            _ => false,
        }
    }

    /// True where the tasks to be spawned belong to a command whose host is not known here yet.
    fn is_run_ahead(&self, tid: Tid, request: &Request) -> bool {
        matches!(request, Request::Spawn { .. })
            && self
                .host
                .tasks
                .operator_of(tid)
                .is_some_and(|of| self.agreed.hosts().may_be_new(of.host))
    }

    pub(super) fn serve_now(&mut self, asker: Asker, tid: Tid, request: Request) {
        match request {
            Request::Config => self.answer(asker, Reply::Hosts { hosts: self.host_infos() }),
            Request::Tasks { place } => self.list_tasks(asker, place),
            Request::Spawn { spawn } => self.spawn(asker, tid, spawn),
            Request::Signal { tid, signal } => self.signal(asker, tid, signal),
            Request::TaskStatus { tid: of } => self.task_status(asker, tid, of),
            Request::HostStatus { name } => self.host_status(asker, &name),
            Request::AddHosts { hosts } => self.add_hosts(asker, &hosts),
            Request::DelHosts { hosts } => self.del_hosts(asker, tid, &hosts),
            Request::DrainHosts { hosts } => self.drain_hosts(asker, &hosts),
            Request::KnowHosts { lines } => {
                self.propose_rules(&lines);
                self.propose(asker, Command::KnowHosts { lines });
            }
            Request::Load => self.answer(asker, Reply::Load { load: self.load() }),
            Request::Settled { epoch } => self.await_epoch(asker, epoch),
            Request::Hears { host } if matches!(asker, Asker::Peer { .. }) => {
                self.tell_opinion(asker, host);
            }
            Request::Shown { number } => self.await_shown(asker, number),
            Request::Notify { kind, cancel, context, tag, count, tids } => {
                let of = crate::notify::Watch {
                    owner: tid,
                    kind,
                    of: Tid::NONE,
                    context,
                    tag,
                    left: count,
                };
                self.notify(asker, cancel, of, &tids);
            }
            Request::PutInfo { .. }
            | Request::RecvInfo { .. }
            | Request::DelInfo { .. }
            | Request::MailboxInfo { .. }
            | Request::Register { .. }
            | Request::RegisterTracer { .. } => self.serve_names(asker, tid, request),
            Request::JoinGroup { .. }
            | Request::LeaveGroup { .. }
            | Request::GroupMembers { .. }
            | Request::Barrier { .. }
            | Request::FreezeGroup { .. }
            | Request::Groups => self.serve_groups(asker, tid, request),
            Request::NewContext => {
                let given = self.host.contexts.give(tid);
                self.answer_number(asker, given);
            }
            Request::FreeContext { context } => self.free_context(asker, tid, context),
            Request::HostClock { host } => self.host_clock(asker, tid, host),
            Request::Reset { kill } => self.reset(asker, tid, kill),
            Request::Halt => self.halt(asker),
            // Good for this host alone: another one would have to be reached by the new one.
            Request::Token { seconds } => match asker {
                Asker::Connection { .. } if tid == Tid::NONE => self.token(asker, seconds),
                _ => self.fail(asker, Code::Denied),
            },
            Request::Upgrade { host, program } => self.upgrade(asker, &host, program),
            Request::SetTrace { tid: of, trace } => {
                self.trace_moved(of, &trace.target);
                if let Some(task) = self.host.tasks.get_mut(of) {
                    task.inherited.trace = trace;
                    task.retraced = task.enrolled && of != tid;
                    self.answer(asker, Reply::Done);
                } else {
                    self.pass_on(asker, tid, of, Request::SetTrace { tid: of, trace });
                }
            }
            // From the host of the command that started the task.
            Request::Feed { tid, bytes } => {
                if self.host.tasks.child(tid).is_some_and(|child| child.operator.is_some()) {
                    self.effect(Effect::Feed { tid, bytes });
                }
                self.answer(asker, Reply::Done);
            }
            Request::Recorder { host, all } => self.serve_recorder(asker, tid, host, all),
            Request::SetProbes { .. }
            | Request::GetMemory { .. }
            | Request::PutMemory { .. }
            | Request::ChangeMemory { .. }
            | Request::DescribeMemory { .. } => self.serve_memory(asker, tid, request),
            Request::OpenRoute { to } => self.open_route(asker, tid, to),
            Request::SetRoute { allowed } => self.set_route(asker, tid, allowed),
            Request::RouteBroken { peer } => self.route_broken(asker, tid, peer),
            Request::DaemonStatus => self.answer(asker, Reply::Status { status: self.status() }),
            // The parent answers these, or they are about a connection of this host.
            _ => self.fail(asker, Code::BadParam),
        }
    }

    /// Asks the host of a task that is not one of ours.
    pub(super) fn pass_on(&mut self, asker: Asker, tid: Tid, of: Tid, request: Request) {
        match host_of(of) {
            None => self.fail(asker, Code::BadParam),
            Some(host) if host == self.me() || !self.agreed.hosts().contains(host) => {
                self.fail(asker, Code::NoTask);
            }
            Some(host) => self.ask(host, asker, tid, request),
        }
    }

    fn free_context(&mut self, asker: Asker, tid: Tid, context: i32) {
        let of = Tid::from_c_int(context);
        if of.is_task() && of.host() != self.me() && self.agreed.hosts().contains(of.host()) {
            return self.ask(of.host(), asker, tid, Request::FreeContext { context });
        }
        let freed = self.host.contexts.free(context);
        self.answer_done(asker, freed);
    }

    fn host_clock(&mut self, asker: Asker, tid: Tid, host: Tid) {
        match host_of(host) {
            Some(at) if at == self.me() => {
                let microseconds = (self.host.now.0 / 1000).cast_signed();
                self.answer(asker, Reply::Clock { microseconds });
            }
            Some(at) if self.agreed.hosts().contains(at) => {
                self.ask(at, asker, tid, Request::HostClock { host });
            }
            _ => self.fail(asker, Code::NoHost),
        }
    }

    fn status(&self) -> DaemonStatus {
        let facts = self.agreed.hosts().facts(self.me());
        DaemonStatus {
            version: self.host.config.version.clone(),
            host: self.me(),
            name: facts.map_or_else(Blob::default, |facts| facts.name.clone()),
            parent_pid: self.host.config.parent_pid,
            daemon_pid: self.host.config.daemon_pid,
            address: facts.and_then(|facts| facts.addresses.first().cloned()).unwrap_or_default(),
            bad_peers: self.host.bad_peers,
            restarts: self.host.config.restarts,
            // The parent knows.
            guard: String::new(),
            order: self.order.why_leaderless(self.host.now),
        }
    }
}
