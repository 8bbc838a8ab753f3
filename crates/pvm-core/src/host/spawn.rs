//! Tasks are started, here and on other hosts.

use super::{Handler, LAUNCH_NS, tasks::KILL};
use crate::deadline::Deadline;
use crate::io::{Connection, Effect, Launch};
use crate::launches::{Batch, Finished, Rest, SpawnedTaskKey};
use crate::pending::{Asker, Question, SpawnStart};
use crate::placement::{LEAST_LOADED, NO_SPAWN_PARENT, TASK_DEBUG};
use crate::tasks::{Child, SPAWN_COUNT_MAX, START_COUNT_MAX, Task};
use pvm_wire::peer::{Operator, Said};
use pvm_wire::request::{ALONE, RECORDED, Reply, SpawnRequest};
use pvm_wire::{Blob, Code, FRAME_BYTES_MAX, HostIndex, Tid, Wire};
use std::collections::BTreeMap;

/// The bytes that this host begins to start at once, arguments and environments included: they must
/// fit a frame of effects, so that a killed daemon neither loses nor doubles one.
const LAUNCH_BYTES_MAX: usize = FRAME_BYTES_MAX / 4;

/// One host's part of a spawn call, or the tasks of it that are begun together.
struct Share {
    spawn: SpawnRequest,
    parent: i32,
    operator: Option<Operator>,
    /// True if the first of them gets standard input.
    fed: bool,
    /// The host that the call was made on.
    origin: HostIndex,
}

impl Handler<'_> {
    pub(super) fn spawn(&mut self, asker: Asker, tid: Tid, mut spawn: SpawnRequest) {
        if let Some(task) = self.host.tasks.get(tid).filter(|task| task.retraced) {
            let recorded = spawn.inherited.trace.options & (RECORDED | ALONE);
            spawn.inherited.trace = task.inherited.trace.clone();
            spawn.inherited.trace.options |= recorded;
        }
        let parent = if spawn.flags & NO_SPAWN_PARENT != 0 {
            Code::ParentNotSet.number()
        } else if tid == Tid::NONE {
            Code::NoParent.number()
        } else {
            tid.as_c_int()
        };
        let operator = self.host.tasks.operator_of(tid);
        self.start(SpawnStart { asker, parent, operator, direct: false }, spawn);
    }

    pub(super) fn run(&mut self, connection: Connection, id: u32, spawn: SpawnRequest) {
        let operator = Operator { host: self.me(), connection, id };
        self.host.launches.start_run(&operator);
        let asker = Asker::Connection { connection, id };
        let parent = Code::NoParent.number();
        self.start(SpawnStart { asker, parent, operator: Some(operator), direct: true }, spawn);
    }

    fn start(&mut self, start: SpawnStart, spawn: SpawnRequest) {
        let count = match usize::try_from(spawn.count) {
            Ok(count @ 1..=SPAWN_COUNT_MAX) => count,
            refused => {
                self.forget_run(&start);
                let too_many = refused.is_ok_and(|count| count > 0);
                let code = if too_many { Code::OutOfRes } else { Code::BadParam };
                return self.fail(start.asker, code);
            }
        };
        if spawn.to_bytes().len() > LAUNCH_BYTES_MAX {
            self.forget_run(&start);
            return self.fail(start.asker, Code::OutOfRes);
        }
        if let Some(operator) = start.operator.clone().filter(|_| !start.direct) {
            self.tell_run(Said::RunSpawning { operator });
        }
        if spawn.flags & LEAST_LOADED != 0 {
            let fitting =
                self.host.placement.fitting(self.agreed.hosts(), spawn.flags, &spawn.place);
            return self.weigh(start, spawn, fitting);
        }
        let hosts =
            self.host.placement.choose(self.agreed.hosts(), spawn.flags, &spawn.place, count);
        self.start_on(start, spawn, hosts);
    }

    /// Starts tasks on these hosts, one for each time that a host is named.
    pub(super) fn start_on(
        &mut self,
        start: SpawnStart,
        spawn: SpawnRequest,
        hosts: Vec<HostIndex>,
    ) {
        let batch = Batch {
            asker: start.asker,
            operator: start.operator.clone(),
            direct: start.direct,
            open: u32::try_from(hosts.len()).expect("the count is bounded"),
            tried: Vec::new(),
            deadline: if hosts.contains(&self.me()) { self.next_start() } else { Deadline::Unset },
        };
        if hosts.is_empty() {
            let count = usize::try_from(spawn.count).unwrap_or(0);
            let outcomes = vec![Code::NoHost.number(); count];
            return self.batch_done(Finished { batch, outcomes });
        }
        let batch = self.host.launches.add(batch, &hosts);
        let mut shares: BTreeMap<HostIndex, i32> = BTreeMap::new();
        hosts.iter().for_each(|&host| *shares.entry(host).or_default() += 1);
        for (host, count) in shares {
            let fed = start.direct && hosts.first() == Some(&host);
            let spawn = SpawnRequest { count, ..spawn.clone() };
            let (parent, operator) = (start.parent, start.operator.clone());
            if host == self.me() {
                self.launch(batch, &Share { spawn, parent, operator, fed, origin: host });
            } else {
                // That host answers when none of its tasks has started for too long.
                let (asker, deadline) = (Asker::Share { batch, host }, Deadline::Unset);
                let ask = self.question(Question { asker, host, deadline });
                self.say(host, Said::Launch { ask, spawn, parent, operator, fed });
            }
        }
    }

    /// A command's tasks will never be.
    fn forget_run(&mut self, start: &SpawnStart) {
        if let Some(operator) = start.operator.as_ref().filter(|_| start.direct) {
            self.host.launches.forget_run(operator);
        }
    }

    /// Another host's spawn call has chosen this host for some of its tasks.
    pub(super) fn launch_share(&mut self, origin: HostIndex, ask: u64, said: Said) {
        let Said::Launch { spawn, parent, operator, fed, .. } = said else { return };
        if self.is_departing() {
            return self.fail(Asker::Peer { host: origin, ask }, Code::HostFail);
        }
        let count = usize::try_from(spawn.count).unwrap_or(0).min(SPAWN_COUNT_MAX);
        let batch = Batch {
            asker: Asker::Peer { host: origin, ask },
            operator: None,
            direct: false,
            open: u32::try_from(count).expect("the count is bounded"),
            tried: Vec::new(),
            deadline: self.next_start(),
        };
        let batch = self.host.launches.add(batch, &vec![self.me(); count]);
        self.launch(batch, &Share { spawn, parent, operator, fed, origin });
    }

    /// Starts this host's part of a batch. The tasks of it that find no room in a frame of effects
    /// are begun when those before them have started.
    fn launch(&mut self, batch: u64, share: &Share) {
        let all = usize::try_from(share.spawn.count).unwrap_or(0);
        let room = LAUNCH_BYTES_MAX / share.spawn.to_bytes().len();
        let count = all.min(room.clamp(1, START_COUNT_MAX));
        let tids = match self.number(count) {
            Ok(tids) => tids,
            Err(code) => return self.settle_host(batch, self.me(), &[], code),
        };
        if let (Some(&behind), Ok(count @ 1..)) = (tids.last(), u32::try_from(all - count)) {
            let Share { spawn, parent, operator, origin, .. } = share;
            let (spawn, operator) = (spawn.clone(), operator.clone());
            let rest = Rest { spawn, parent: *parent, operator, origin: *origin, count, behind };
            self.host.launches.put_off(batch, rest);
        }
        let open = self.host.launches.open_places(batch, self.me());
        let places = open.into_iter().rev().take(all).rev();
        for (at, (tid, place)) in tids.into_iter().zip(places).enumerate() {
            let child = new_child(share);
            let fed = share.fed && at == 0;
            // A catcher gets both in one, in the order in which they were written.
            let split_output = child.operator.is_some() && child.output.tid == Tid::NONE;
            let group = child.is_direct();
            self.host.tasks.insert(tid, new_task(share, place));
            self.host.tasks.add_child(tid, child);
            self.trace_launch(tid, share.spawn.flags);
            let launch = Launch { split_output, fed, group, ..self.launch_of(tid, &share.spawn) };
            self.start_task(launch, share.spawn.flags, (at, count));
        }
    }

    /// A task of a batch has started, or has failed to: those that waited for it are begun.
    fn launch_rest(&mut self, batch: u64, tid: Tid) {
        if let Some(rest) = self.host.launches.take_rest(batch, tid) {
            let Rest { mut spawn, parent, operator, origin, count, .. } = rest;
            spawn.count = count.cast_signed();
            self.launch(batch, &Share { spawn, parent, operator, fed: false, origin });
        }
    }

    fn launch_of(&self, tid: Tid, spawn: &SpawnRequest) -> Launch {
        let facts = self.agreed.hosts().facts(self.me()).unwrap_or(&self.host.config.facts);
        let search = match spawn.file.0.first() {
            Some(b'/') => Vec::new(),
            _ => facts.search.clone(),
        };
        let debugger = match (spawn.flags & TASK_DEBUG, &facts.debugger) {
            (0, _) => Blob::default(),
            (_, Blob(none)) if none.is_empty() => self.host.config.debugger.clone(),
            (_, debugger) => debugger.clone(),
        };
        Launch {
            tid,
            file: spawn.file.clone(),
            search,
            args: spawn.args.clone(),
            environment: spawn.environment.clone(),
            whole_environment: spawn.whole_environment,
            directory: place_in(&facts.directory, &spawn.directory),
            fed: false,
            split_output: false,
            group: false,
            debugger,
            cookie: 0,
        }
    }

    pub(super) fn launched(&mut self, tid: Tid, pid: u32) {
        let Some(task) = self.host.tasks.get_mut(tid) else { return };
        if task.pid == 0 {
            task.pid = pid;
        }
        let batch = task.batch.take();
        self.trace_spawned(tid);
        if let Some(child) = self.host.tasks.child(tid).filter(|c| c.output.tid != Tid::NONE) {
            let (target, parent) = (child.output.clone(), child.parent);
            self.tell_output(&target, tid, pvm_wire::peer::OutputNews::Begin { parent });
        }
        match batch {
            // The spawn call was told that it had failed.
            Some(place) if !self.host.launches.contains(place.0) => self.send_signal(tid, KILL),
            Some(place) => {
                self.settle(place, tid.as_c_int(), Vec::new());
                self.launch_rest(place.0, tid);
            }
            None => {}
        }
    }

    pub(super) fn launch_failed(&mut self, tid: Tid, code: Code, tried: Vec<Blob>) {
        let Some(task) = self.host.tasks.remove(tid) else { return };
        self.host.tasks.remove_child(tid);
        self.trace_nothing(tid);
        self.tell_gone(tid, task.known_everywhere);
        self.effect(Effect::Forget { tid });
        if let Some(place) = task.batch {
            self.settle(place, code.number(), tried);
            self.launch_rest(place.0, tid);
        }
    }

    fn settle(&mut self, place: SpawnedTaskKey, outcome: i32, tried: Vec<Blob>) {
        match self.host.launches.settle(place, outcome, tried) {
            Some(finished) => self.batch_done(finished),
            None => self.host.launches.set_deadline(place.0, self.next_start()),
        }
    }

    /// The next task of a batch starts before this moment, or the rest of this host's has failed:
    /// on a busy computer many tasks take longer than one may.
    fn next_start(&self) -> Deadline {
        Deadline::At(self.after(LAUNCH_NS))
    }

    fn settle_host(&mut self, batch: u64, host: HostIndex, outcomes: &[i32], otherwise: Code) {
        let done = self.host.launches.settle_host(batch, host, outcomes, otherwise, Vec::new());
        if let Some(finished) = done {
            self.batch_done(finished);
        }
    }

    /// A host has answered for its share.
    pub(super) fn share_answered(&mut self, batch: u64, host: HostIndex, reply: Reply) {
        let (outcomes, tried, otherwise) = match reply {
            Reply::Spawned { outcomes, tried } => (outcomes, tried, Code::DSysErr),
            Reply::Failed { code } => (Vec::new(), Vec::new(), code),
            _ => (Vec::new(), Vec::new(), Code::DSysErr),
        };
        let done = self.host.launches.settle_host(batch, host, &outcomes, otherwise, tried);
        match done {
            Some(finished) => self.batch_done(finished),
            // The spawn call was told that they had failed.
            None if !self.host.launches.contains(batch) => {
                let late = outcomes.into_iter().filter(|&outcome| outcome > 0);
                late.for_each(|tid| self.send_signal(Tid::from_c_int(tid), KILL));
            }
            None => {}
        }
    }

    /// Programs of this host that took too long to start.
    pub(super) fn end_batches(&mut self) {
        for batch in self.host.launches.take_overdue(self.host.now.0) {
            self.settle_host(batch, self.me(), &[], Code::DSysErr);
        }
    }

    /// A spawn call is given up while its tasks are being started: tasks that run are told, tasks
    /// that come later are ended. False if there is no such call.
    pub(super) fn spawn_given_up(&mut self, asker: &Asker) -> bool {
        let Some(mut finished) = self.host.launches.give_up(asker, Code::DSysErr) else {
            return false;
        };
        if finished.tids().is_empty() {
            self.answer(asker.clone(), Reply::Withdrawn);
            finished.batch.asker = Asker::Nobody;
        }
        self.batch_done(finished);
        true
    }

    /// All outcomes of a spawn call are known.
    fn batch_done(&mut self, finished: Finished) {
        let tids = finished.tids();
        let Finished { batch, outcomes } = finished;
        if !matches!(batch.asker, Asker::Peer { .. }) {
            self.tell_siblings(&tids);
        }
        self.answer(batch.asker.clone(), Reply::Spawned { outcomes, tried: batch.tried });
        let Some(operator) = batch.operator else { return };
        if !batch.direct {
            return self.tell_run(Said::RunSpawned { operator, tids });
        }
        if self.host.tasks.client(operator.connection).is_none() {
            // The command went away while its tasks were being started.
            tids.iter().for_each(|&tid| self.send_signal(tid, KILL));
            return;
        }
        for reply in self.host.launches.spawned(&operator, tids) {
            self.answer(batch.asker.clone(), reply);
        }
    }

    fn tell_siblings(&mut self, tids: &[Tid]) {
        let mut hosts: Vec<_> = tids.iter().map(|tid| tid.host()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        for host in hosts {
            self.say(host, Said::Siblings { tids: tids.to_vec() });
        }
        self.set_siblings(tids);
    }
}

/// The directory to start in: what the spawn call says counts from the host's own.
fn place_in(host: &Blob, wanted: &Blob) -> Blob {
    match (host.0.as_slice(), wanted.0.as_slice()) {
        (host, []) => Blob(host.to_vec()),
        ([], _) | (_, [b'/', ..]) => wanted.clone(),
        (host, wanted) => Blob([host, b"/", wanted].concat()),
    }
}

fn new_task(share: &Share, place: SpawnedTaskKey) -> Task {
    Task {
        pid: 0,
        connection: None,
        parent: share.parent,
        name: share.spawn.file.clone(),
        launched: true,
        enrolled: false,
        left: false,
        reset: true,
        known_everywhere: false,
        inherited: share.spawn.inherited.clone(),
        retraced: false,
        family: None,
        origin: share.origin,
        batch: Some(place),
        hello: None,
    }
}

fn new_child(share: &Share) -> Child {
    let child = Child {
        output: share.spawn.inherited.output.clone(),
        parent: share.parent,
        operator: share.operator.clone(),
        status: None,
        output_ended: false,
        line: vec![Blob::default(); 2],
    };
    if child.is_direct() {
        // The command gets the output itself.
        return Child { output: crate::tasks::nothing_inherited().output, ..child };
    }
    child
}
