//! The server of tuple spaces on a host: a task that keeps partitions and answers their clients.
//!
//! [`pvm_tuples::partition`] decides; this carries messages, notices and named messages. A loop
//! takes what has arrived, has the partitions say what they want, and sleeps until more comes.

mod helpers;

use crate::carry::{Post, watch, watch_hosts};
use crate::{registry, starting};
use helpers::Helpers;
use pvm::{Deadline, Glance, Policy, Task};
use pvm_tuples::Reason;
use pvm_tuples::frames::{
    Ask, BETWEEN, Between, Entry, GONE, JOINED, Options, TO_SERVER, Told, answer_tag,
};
use pvm_tuples::partition::{Event, Output, Partition, Title};
use pvm_wire::{Blob, Code, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

/// A server without a space ends after this time.
const IDLE: Duration = Duration::from_secs(30);
/// No pause is shorter.
const SHORTEST: Duration = Duration::from_millis(1);

/// Serves until there has been no space for a while, or the machine ends.
///
/// # Errors
/// What the machine answers.
pub fn run() -> Result<(), Code> {
    let task = Task::enrol(starting::PROGRAM.as_bytes(), false)?;
    task.be_unrecorded();
    if !registry::be_server(task)? {
        return task.leave();
    }
    // A client that does not read must not fill the memory of all.
    task.set_policy(Policy::Spill)?;
    watch_hosts(task)?;
    let mut server = Server {
        task,
        post: Post::new(task),
        partitions: BTreeMap::new(),
        watched: BTreeSet::new(),
        helpers: Helpers::new(task),
        idle_since: Instant::now(),
        begun: (Instant::now(), since_1970()),
    };
    let served = server.serve();
    let left = task.leave();
    served.and(left)
}

/// Nanoseconds.
fn since_1970() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

struct Server {
    task: &'static Task,
    post: Post,
    partitions: BTreeMap<u64, Partition>,
    /// Tasks of whose end a notice will come.
    watched: BTreeSet<Tid>,
    helpers: Helpers,
    idle_since: Instant,
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
            let mut is_busy = false;
            let looked = loop {
                match self.post.glance() {
                    Glance::Taken(()) => self.heard()?,
                    other => break other,
                }
                is_busy = true;
            };
            self.pass_time()?;
            let until = self.deadline();
            // Small messages of busy clients come so. What is not seen so is seen by the long look,
            // in the next round.
            if is_busy && looked == Glance::Nothing && self.task.linger(token, until) {
                continue;
            }
            while self.post.receive()? {
                self.heard()?;
            }
            if self.has_been_idle() {
                return Ok(());
            }
            self.task.wait(token, until)?;
        }
    }

    /// True if there has been no space for a while.
    fn has_been_idle(&mut self) -> bool {
        if !self.partitions.is_empty() {
            self.idle_since = Instant::now();
        }
        self.idle_since.elapsed() >= IDLE
    }

    fn deadline(&self) -> Deadline {
        let timeouts = self.partitions.values().filter_map(Partition::poll_timeout);
        let pauses = self.helpers.pause().map(|pause| Instant::now() + pause.max(SHORTEST));
        let idle = self.partitions.is_empty().then(|| Instant::now() + IDLE);
        let timeout = timeouts.min().and_then(|at| self.instant(at));
        [timeout, pauses, idle].into_iter().flatten().min().map_or(Deadline::Never, Deadline::At)
    }

    /// The moment of a time in milliseconds; none for one that is too far away.
    fn instant(&self, at_ms: u64) -> Option<Instant> {
        let since = at_ms.saturating_sub(self.begun.1 / 1_000_000);
        self.begun.0.checked_add(Duration::from_millis(since))
    }

    fn heard(&mut self) -> Result<(), Code> {
        let (from, tag) = self.post.from();
        match tag {
            TO_SERVER => match self.post.read() {
                Some(ask) => self.asked(from, ask),
                None => Ok(()),
            },
            BETWEEN => match self.post.read() {
                Some(said) => self.other_said(from, said),
                None => Ok(()),
            },
            GONE => match self.post.noticed() {
                Some(tid) => self.gone(tid),
                None => Ok(()),
            },
            JOINED => self.tell_all(&Event::Joined),
            _ => Ok(()),
        }
    }

    fn asked(&mut self, client: Tid, ask: Ask) -> Result<(), Code> {
        if let Ask::Create { number, name, options, owned } = ask {
            return self.create(client, number, name, (options, owned));
        }
        let Some(space) = ask.space() else { return Ok(()) };
        if self.partitions.contains_key(&space) {
            return self.tell(space, Event::Asked { client, ask });
        }
        let number = ask.number();
        self.answer(client, number, &Told::Elsewhere { number })
    }

    fn answer(&mut self, client: Tid, number: u64, told: &Told) -> Result<(), Code> {
        unless_gone(self.post.send(client, answer_tag(number), told))
    }

    fn other_said(&mut self, from: Tid, said: Between) -> Result<(), Code> {
        let space = said.space();
        if !self.partitions.contains_key(&space) {
            let Some(new) = Partition::follow(self.task.tid(), from, said, self.now()) else {
                return Ok(());
            };
            self.partitions.insert(space, new);
            return self.carry_out(space);
        }
        self.tell(space, Event::Heard { from, said })
    }

    fn gone(&mut self, task: Tid) -> Result<(), Code> {
        self.watched.remove(&task);
        self.tell_all(&Event::Gone { task })
    }

    fn tell_all(&mut self, event: &Event) -> Result<(), Code> {
        for space in self.partitions.keys().copied().collect::<Vec<_>>() {
            self.tell(space, event.clone())?;
        }
        Ok(())
    }

    /// Tells a partition something and does what it wants then.
    fn tell(&mut self, space: u64, event: Event) -> Result<(), Code> {
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, event);
        }
        self.carry_out(space)
    }

    fn pass_time(&mut self) -> Result<(), Code> {
        let now = self.now();
        for (space, server) in self.helpers.found()? {
            self.tell(space, Event::Helper { server })?;
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

    /// Does what a partition wants.
    fn carry_out(&mut self, space: u64) -> Result<(), Code> {
        while let Some(output) = self.partitions.get_mut(&space).and_then(Partition::poll_output) {
            match output {
                Output::Tell { client, number, told } => self.answer(client, number, &told)?,
                Output::Say { to, what } => unless_gone(self.post.send(to, BETWEEN, &what))?,
                Output::Watch { task } => self.watch(task)?,
                Output::Put { epoch, entry } => self.put(space, epoch, &entry)?,
                Output::Look { look } => self.look(space, look)?,
                Output::Want { besides } => self.helpers.want(space, &besides)?,
                Output::Forget { epoch } => {
                    if let Some(name) = self.name(space) {
                        registry::forget(self.task, &name, epoch)?;
                    }
                }
                Output::Close { deleted } => self.close(space, deleted)?,
            }
        }
        Ok(())
    }

    fn name(&self, space: u64) -> Option<Blob> {
        self.partitions.get(&space).map(|partition| partition.name().clone())
    }

    fn watch(&mut self, tid: Tid) -> Result<(), Code> {
        if self.watched.insert(tid) {
            return watch(self.task, tid);
        }
        Ok(())
    }

    fn put(&mut self, space: u64, epoch: i32, entry: &Entry) -> Result<(), Code> {
        let Some(name) = self.name(space) else { return Ok(()) };
        let done = registry::put(self.task, &name, epoch, entry)?;
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, Event::Put { epoch, done });
        }
        Ok(())
    }

    fn look(&mut self, space: u64, look: u64) -> Result<(), Code> {
        let Some(name) = self.name(space) else { return Ok(()) };
        let entry = registry::latest(self.task, &name)?;
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, Event::Latest { look, entry });
        }
        Ok(())
    }

    fn close(&mut self, space: u64, deleted: bool) -> Result<(), Code> {
        let Some(partition) = self.partitions.remove(&space) else { return Ok(()) };
        self.helpers.forget(space);
        if deleted {
            registry::forget(self.task, partition.name(), i32::MAX)?;
        }
        Ok(())
    }

    fn create(
        &mut self,
        client: Tid,
        number: u64,
        name: Blob,
        (options, owned): (Options, bool),
    ) -> Result<(), Code> {
        let refused = |reason| Told::Refused { number, reason };
        let before = registry::latest(self.task, &name)?;
        if let Some((_, entry)) = &before
            && self.is_held(entry)?
        {
            return self.answer(client, number, &refused(Reason::Exists));
        }
        let epoch = before.map_or(0, |(epoch, _)| epoch + 1);
        let me = self.task.tid();
        let entry = Entry {
            space: since_1970() << 8 | u64::from(me.host().0 & 0xff),
            primary: me,
            copies: Vec::new(),
            options,
            owner: if owned { client } else { Tid::NONE },
            deleted: false,
        };
        if !registry::put(self.task, &name, epoch, &entry)? {
            return self.answer(client, number, &refused(Reason::Exists));
        }
        let (space, now) = (entry.space, self.now());
        let title = Title { name, epoch, entry };
        let new = Partition::create(me, title, Some((client, number)), now);
        self.partitions.insert(space, new);
        self.carry_out(space)
    }

    /// True if somebody keeps the space, or may go on with it.
    fn is_held(&self, entry: &Entry) -> Result<bool, Code> {
        if entry.deleted {
            return Ok(false);
        }
        for server in [entry.primary].iter().chain(&entry.copies) {
            if registry::is_alive(self.task, *server)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What is said to a task that is gone is lost; a notice tells of that.
fn unless_gone(sent: Result<(), Code>) -> Result<(), Code> {
    match sent {
        Err(Code::NoTask | Code::HostFail | Code::BadParam) => Ok(()),
        other => other,
    }
}
