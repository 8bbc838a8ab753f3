//! The server of tuple spaces on a host: a task that keeps partitions and answers their clients.
//!
//! [`pvm_tuples::partition`] decides; this module receives and sends messages, notices and named
//! messages. A loop takes the messages that have arrived, carries out what the partitions ask for,
//! and sleeps until more messages come.

mod abandoned;
mod creation;
mod disk;
mod drains;
mod files;
mod helpers;
mod lagging;
mod planning;
mod sharing;
mod shelf;
mod turns;

use crate::carry::{Post, watch, watch_hosts};
use crate::{registry, starting};
use abandoned::Abandoned;
use disk::Disk;
use helpers::Helpers;
use planning::Planning;
use pvm::{Deadline, Glance, Task, spill_or_fail};
use pvm_tuples::frames::{
    Ask, BETWEEN, Between, Entry, GONE, JOINED, Options, TO_SERVER, Told, answer_tag,
};
use pvm_tuples::partition::{Event, Output, Partition, keeps_parcels, spill_to};
use pvm_tuples::{Outcome, Reason, has_unread_tuples};
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use turns::ClientQueues;

/// The time after which a server without a space ends.
const IDLE: Duration = Duration::from_secs(30);
/// The interval at which the server looks whether its host is to be left. The machine sends no
/// notice of that.
const LOOK_FOR_DRAINS: Duration = Duration::from_secs(3);
/// The shortest pause.
const SHORTEST: Duration = Duration::from_millis(1);
/// The most messages that are taken in before a request is served ...
const TAKEN_IN_MAX: usize = 1 << 16;
/// ... and the most requests that are served before messages are taken in again.
const SERVED_MAX: usize = 64;

/// Serves until there has been no space for a while, or until the machine ends.
///
/// # Errors
/// The machine's error.
pub fn run(listen: fn(&'static Task) -> std::io::Result<Arc<AtomicBool>>) -> Result<(), Code> {
    let task = Task::enrol(starting::PROGRAM.as_bytes(), false)?;
    task.be_unrecorded();
    if !registry::be_server(task)? {
        return task.leave();
    }
    // A client that does not read its answers must not fill everybody's memory.
    // Nor may it stop the server: an answer that finds no room is dropped, and asked for again.
    spill_or_fail(task)?;
    watch_hosts(task)?;
    let asked = listen(task).map_err(|_| Code::OutOfRes)?;
    let mut server = Server {
        task,
        asked,
        post: Post::new(task),
        partitions: BTreeMap::new(),
        watched: BTreeSet::new(),
        servers: BTreeSet::new(),
        helpers: Helpers::new(task),
        disks: BTreeMap::new(),
        failed: BTreeSet::new(),
        abandoned: Abandoned::default(),
        turns: ClientQueues::default(),
        idle_since: Instant::now(),
        draining: BTreeSet::new(),
        planning: Planning::default(),
        looked: Instant::now(),
        heard_ends: Instant::now(),
        passed: Instant::now(),
        begun: (Instant::now(), since_1970()),
    };
    let served = server.serve();
    // What is not synced yet is synced before the machine hears of the end.
    server.disks.clear();
    if server.asked.load(Ordering::Acquire) {
        // A machine that halts answers nothing any more; one that does not sees the end itself.
        return served;
    }
    let left = task.leave();
    served.and(left)
}

/// Nanoseconds since 1970.
fn since_1970() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A space that a client wants to be made.
struct New {
    client: Tid,
    number: u64,
    name: Blob,
    options: Options,
    owned: bool,
    directory: Blob,
}

struct Server {
    task: &'static Task,
    /// Set when the server is to end.
    asked: Arc<AtomicBool>,
    post: Post,
    partitions: BTreeMap<u64, Partition>,
    /// The tasks for whose end the machine will send a notice.
    watched: BTreeSet<Tid>,
    /// Tasks that are known as servers of other hosts.
    servers: BTreeSet<Tid>,
    helpers: Helpers,
    /// The files of durable spaces.
    disks: BTreeMap<u64, Disk>,
    /// Spaces whose disk has failed under this server.
    failed: BTreeSet<u64>,
    /// Those among them that no other server holds.
    abandoned: Abandoned,
    turns: ClientQueues,
    idle_since: Instant,
    /// The hosts that are to be left, and the time of the last look for them.
    draining: BTreeSet<HostIndex>,
    planning: Planning,
    looked: Instant,
    /// The time of the last look for notices of ended tasks.
    heard_ends: Instant,
    /// The time at which timeouts were handled last.
    passed: Instant,
    begun: (Instant, u64),
}

impl Server {
    fn now(&self) -> u64 {
        let since = self.begun.0.elapsed().as_millis();
        self.begun.1 / 1_000_000 + u64::try_from(since).unwrap_or(0)
    }

    fn serve(&mut self) -> Result<(), Code> {
        loop {
            let token = self.task.token();
            // PAIRS WITH: the store in `listen` of `main.rs`.
            if self.asked.load(Ordering::Acquire) {
                return Ok(());
            }
            if self.heard_ends.elapsed() >= SHORTEST {
                self.hear_ends()?;
            }
            let mut is_busy = false;
            let looked = loop {
                let (has_come, looked) = take_in(self)?;
                serve_some(self)?;
                if !has_come {
                    break looked;
                }
                is_busy = true;
            };
            self.pass_time()?;
            self.persist()?;
            let until = self.deadline();
            // The fast path finds most small messages of busy clients. The full look of the next
            // round finds the others.
            let rests = self.turns.is_empty() && looked == Glance::Nothing;
            if is_busy && rests && self.task.linger(token, until) {
                continue;
            }
            for _ in 0..TAKEN_IN_MAX {
                if !self.post.receive()? {
                    break;
                }
                self.heard()?;
            }
            serve_some(self)?;
            self.persist()?;
            if !self.turns.is_empty() {
                continue;
            }
            if has_been_idle(self) || self.has_moved() {
                return Ok(());
            }
            self.task.wait(token, until)?;
        }
    }

    /// Handles timeouts and writes noted records while messages keep coming. A sync is due when as
    /// much time has passed as the last sync took, so half of the time is left for messages.
    fn keep_up(&mut self) -> Result<(), Code> {
        if self.passed.elapsed() >= SHORTEST {
            self.pass_time()?;
        }
        if self.disks.values().any(Disk::is_late) { self.persist() } else { Ok(()) }
    }

    fn deadline(&self) -> Deadline {
        let timeouts = self.partitions.values().filter_map(Partition::poll_timeout);
        let pauses = self.helpers.pause().map(|pause| Instant::now() + pause.max(SHORTEST));
        let idle = self.partitions.is_empty().then(|| Instant::now() + IDLE);
        let drains = (!self.partitions.is_empty()).then(|| self.looked + LOOK_FOR_DRAINS);
        let is_nameless = self.disks.values().any(Disk::is_nameless);
        let place = is_nameless.then(|| Instant::now() + disk::TRY_AGAIN);
        let timeout = timeouts.min().and_then(|at| self.instant(at));
        let syncs = self.disks.values().filter_map(Disk::due);
        [timeout, pauses, idle, place, drains, self.planning.at()]
            .into_iter()
            .flatten()
            .chain(syncs)
            .min()
            .map_or(Deadline::Never, Deadline::At)
    }

    /// Converts a time in milliseconds; none for a time that is too far away.
    fn instant(&self, at_ms: u64) -> Option<Instant> {
        let since = at_ms.saturating_sub(self.begun.1 / 1_000_000);
        self.begun.0.checked_add(Duration::from_millis(since))
    }

    fn heard(&mut self) -> Result<(), Code> {
        let (from, tag) = self.post.from();
        match tag {
            TO_SERVER => {
                let bytes = self.post.bytes();
                let spaces = &self.partitions;
                let stays = |ask: &Ask| {
                    let space = ask.space().and_then(|space| spaces.get(&space));
                    space.is_some_and(keeps_parcels)
                };
                match self.post.read_or_keep(stays) {
                    Some(ask) if self.turns.goes_at_once(from) => {
                        self.asked(from, ask)?;
                        self.keep_up()
                    }
                    Some(ask) => {
                        self.turns.push(from, ask, bytes);
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            BETWEEN => match self.post.read() {
                Some(said) => self.other_said(from, said),
                None => Ok(()),
            },
            GONE => match self.post.noticed() {
                Some(tid) => self.gone(tid),
                None => Ok(()),
            },
            JOINED if from == Tid::NOTICE_SOURCE => {
                self.planning.begin(Duration::ZERO);
                self.tell_all(&Event::Joined)
            }
            _ => Ok(()),
        }
    }

    fn asked(&mut self, client: Tid, ask: Ask) -> Result<(), Code> {
        if let Ask::Create { number, name, options, owned, directory } = ask {
            let new = New { client, number, name, options, owned, directory };
            return self.create(new);
        }
        let Some(space) = ask.space() else { return Ok(()) };
        if matches!(ask, Ask::Settle { .. }) {
            // The client says this again.
            let is_taken = self.watched.contains(&client) && self.has_room(space, client, &ask)?;
            return if is_taken { self.tell(space, Event::Asked { client, ask }) } else { Ok(()) };
        }
        if !self.has_room(space, client, &ask)? {
            let (number, reason) = (ask.number(), Reason::Disk);
            if self.partitions.contains_key(&space) {
                return self.tell(space, Event::Full { client, number });
            }
            let told = Told::Answer { number, outcome: Outcome::Failed { reason } };
            return self.answer(client, number, &told);
        }
        if self.partitions.contains_key(&space) {
            if !self.lives(client)? {
                return Ok(());
            }
            return self.tell(space, Event::Asked { client, ask });
        }
        let outcome = self.abandoned.asked(self.task, space, &ask)?;
        if let Some(outcome) = outcome {
            let number = ask.number();
            return self.answer(client, number, &Told::Answer { number, outcome });
        }
        let number = ask.number();
        self.answer(client, number, &Told::Elsewhere { number })
    }

    /// False for a client whose end this host knows. The notice is requested at the client's first
    /// request; for a client of this host that has ended, the machine sends it at once.
    fn lives(&mut self, client: Tid) -> Result<bool, Code> {
        if self.watched.insert(client) {
            match watch(self.task, client) {
                Err(Code::BadParam) => drop(self.watched.remove(&client)),
                other => unless_ended(other)?,
            }
            self.hear_ends()?;
        }
        Ok(self.watched.contains(&client))
    }

    /// Takes all notices of ended tasks that have arrived, also those behind requests.
    fn hear_ends(&mut self) -> Result<(), Code> {
        while let Some(task) = self.post.next_end()? {
            self.gone(task)?;
        }
        self.heard_ends = Instant::now();
        Ok(())
    }

    fn answer(&mut self, client: Tid, number: u64, told: &Told) -> Result<(), Code> {
        unless_ended(self.post.send(client, answer_tag(number), told))
    }

    /// True for the server of another host. The check is needed because any task can send the
    /// frames of servers.
    fn is_server(&mut self, tid: Tid) -> Result<bool, Code> {
        if self.servers.contains(&tid) {
            return Ok(true);
        }
        let is_server = registry::server_of(self.task, tid.host())? == Some(tid);
        if is_server {
            self.servers.insert(tid);
        }
        Ok(is_server)
    }

    fn other_said(&mut self, from: Tid, said: Between) -> Result<(), Code> {
        match self.is_server(from) {
            Ok(true) => {}
            // If a server has sent it, it will send it again.
            other => return unless_ended(other.map(drop)),
        }
        if matches!(said, Between::Yield { .. }) {
            self.planning.space_comes();
        }
        let space = said.space();
        if !self.partitions.contains_key(&space) {
            if let Between::Drop { term, .. } = said {
                // The space was dropped before. Its file is gone, unless the disk has failed.
                let is_gone = !self.failed.contains(&space);
                let dropped = Between::Dropped { space, term, is_gone };
                return unless_ended(self.post.send(from, BETWEEN, &dropped));
            }
            if let Between::Ack { space, .. } = said {
                // The sender follows a primary that has been replaced.
                return unless_ended(self.post.send(from, BETWEEN, &Between::Later { space }));
            }
            let Some(new) = Partition::follow(self.task.tid(), from, said, self.now()) else {
                return Ok(());
            };
            self.partitions.insert(space, new);
            return self.tell_draining(space);
        }
        self.tell(space, Event::Heard { from, said })
    }

    fn gone(&mut self, task: Tid) -> Result<(), Code> {
        self.servers.remove(&task);
        self.turns.forget(task);
        if !self.watched.remove(&task) {
            return Ok(());
        }
        self.tell_all(&Event::Gone { task })
    }

    fn tell_all(&mut self, event: &Event) -> Result<(), Code> {
        for space in self.partitions.keys().copied().collect::<Vec<_>>() {
            self.tell(space, event.clone())?;
        }
        Ok(())
    }

    /// Gives an event to a partition and carries out its outputs.
    fn tell(&mut self, space: u64, event: Event) -> Result<(), Code> {
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, event);
        }
        self.carry_out(space)
    }

    fn pass_time(&mut self) -> Result<(), Code> {
        self.passed = Instant::now();
        let now = self.now();
        self.look_for_drains()?;
        self.share()?;
        self.tend_disks()?;
        for found in self.helpers.found() {
            match (found.is_next, found.server) {
                (false, server) => self.tell(found.space, Event::Helper { server })?,
                (true, Some(to)) => self.tell(found.space, Event::Move { to })?,
                (true, None) => {}
            }
        }
        let is_due = |partition: &Partition| partition.poll_timeout().is_some_and(|at| at <= now);
        let due = self.partitions.iter().filter(|(_, partition)| is_due(partition));
        for space in due.map(|(space, _)| *space).collect::<Vec<_>>() {
            if let Some(partition) = self.partitions.get_mut(&space) {
                partition.handle_timeout(now);
            }
            self.carry_out(space)?;
        }
        Ok(())
    }

    /// Carries out the outputs of a partition.
    fn carry_out(&mut self, space: u64) -> Result<(), Code> {
        while let Some(output) = next_output(self, space) {
            match output {
                Output::Tell { client, number, told } => self.answer(client, number, &told)?,
                Output::Say { to, what } => unless_ended(self.post.send(to, BETWEEN, &what))?,
                Output::Watch { task } => self.watch(space, task)?,
                Output::Put { epoch, entry } => self.put(space, epoch, &entry)?,
                Output::Look { look } => self.look(space, look)?,
                Output::Want { besides } => self.want(space, &besides)?,
                Output::Forget { before } => {
                    if let Some(name) = self.name(space) {
                        unless_ended(registry::forget(self.task, &name, before))?;
                    }
                }
                Output::Persist { record } => {
                    if let Some(disk) = self.disks.get_mut(&space) {
                        disk.note(&record);
                    }
                }
                Output::Rewrite => self.rewrite(space),
                Output::Shelve => {
                    if let Some(partition) = self.partitions.get_mut(&space) {
                        spill_to(partition, Box::new(shelf::Files::new()));
                    }
                }
                Output::Erase { deleters, is_partial } => {
                    self.erase(space, &deleters, is_partial)?;
                }
                Output::Abandon => {
                    self.abandoned.extend(self.partitions.get(&space));
                }
                Output::Close { deleted, is_over, tell } => {
                    self.close(space, deleted, is_over, tell)?;
                }
            }
        }
        Ok(())
    }

    fn name(&self, space: u64) -> Option<Blob> {
        self.partitions.get(&space).map(|partition| partition.name().clone())
    }

    /// Gives a partition the result of an output. If the machine has refused a call, the partition
    /// asks for it again later.
    fn report(&mut self, space: u64, done: Result<Event, Code>) -> Result<(), Code> {
        let event = match done {
            Ok(event) => event,
            Err(Code::SysErr) => return Err(Code::SysErr),
            Err(_) => Event::Refused,
        };
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, event);
        }
        Ok(())
    }

    fn watch(&mut self, space: u64, tid: Tid) -> Result<(), Code> {
        if !self.watched.insert(tid) {
            return Ok(());
        }
        match watch(self.task, tid) {
            // The number cannot be a task, so no such task exists.
            Err(Code::BadParam) => {
                self.watched.remove(&tid);
                self.report(space, Ok(Event::Gone { task: tid }))
            }
            other => unless_ended(other),
        }
    }

    fn put(&mut self, space: u64, epoch: i32, entry: &Entry) -> Result<(), Code> {
        let Some(name) = self.name(space) else { return Ok(()) };
        let put = registry::put(self.task, &name, epoch, entry);
        self.report(space, put.map(|epoch| Event::Put { epoch }))
    }

    fn look(&mut self, space: u64, look: u64) -> Result<(), Code> {
        let Some(name) = self.name(space) else { return Ok(()) };
        let entry = registry::latest(self.task, &name);
        self.report(space, entry.map(|entry| Event::Latest { look, entry }))
    }

    fn want(&mut self, space: u64, besides: &[Tid]) -> Result<(), Code> {
        match self.helpers.want(space, besides) {
            Ok(()) => Ok(()),
            Err(Code::SysErr) => Err(Code::SysErr),
            Err(_) => self.report(space, Ok(Event::Helper { server: None })),
        }
    }

    fn close(
        &mut self,
        space: u64,
        deleted: bool,
        is_over: bool,
        tell: Option<(Tid, i32)>,
    ) -> Result<(), Code> {
        let Some(partition) = self.partitions.remove(&space) else { return Ok(()) };
        self.helpers.forget(space);
        let disk = self.disks.remove(&space).filter(|_| is_over);
        let is_gone = disk.map_or(Ok(()), Disk::remove).is_ok() && !self.failed.contains(&space);
        if let Some((primary, term)) = tell {
            let dropped = Between::Dropped { space, term, is_gone };
            unless_ended(self.post.send(primary, BETWEEN, &dropped))?;
        }
        if deleted {
            unless_ended(registry::forget(self.task, partition.name(), None))?;
        }
        Ok(())
    }
}

/// The next output of a partition. If it could not read a tuple, nothing goes out that may lack the
/// tuple.
fn next_output(server: &mut Server, space: u64) -> Option<Output> {
    let partition = server.partitions.get_mut(&space)?;
    if !has_unread_tuples(partition.store()) {
        return partition.poll_output();
    }
    server.fail(space);
    server.partitions.get_mut(&space)?.poll_output()
}

/// True if there has been no space for a while.
fn has_been_idle(server: &mut Server) -> bool {
    if !server.partitions.is_empty() {
        server.idle_since = Instant::now();
    }
    server.idle_since.elapsed() >= IDLE
}

/// Takes in the messages that the fast path finds. Returns whether there were any, and the result
/// of the last look.
fn take_in(server: &mut Server) -> Result<(bool, Glance<()>), Code> {
    for taken in 0..TAKEN_IN_MAX {
        match server.post.glance() {
            Glance::Taken(()) => server.heard()?,
            other => {
                server.turns.all_taken_in();
                return Ok((taken > 0, other));
            }
        }
    }
    Ok((true, Glance::More))
}

/// Serves requests, one of each client in turn.
fn serve_some(server: &mut Server) -> Result<(), Code> {
    for _ in 0..SERVED_MAX {
        let Some((client, ask)) = server.turns.pop() else { break };
        server.asked(client, ask)?;
        server.keep_up()?;
    }
    Ok(())
}

/// Lets only the end of the machine end the server. A message that is lost for another reason was
/// for a task that has ended, or its receiver asks again.
fn unless_ended(done: Result<(), Code>) -> Result<(), Code> {
    match done {
        Err(Code::SysErr) => Err(Code::SysErr),
        _ => Ok(()),
    }
}
