//! A task's side: open spaces, and the requests that are under way.

use crate::carry::{Post, watch};
use crate::{Error, registry, starting};
use pvm::{Deadline, Task, WaitToken};
use pvm_tuples::client::{Client, End, Output};
use pvm_tuples::frames::{Ask, Entry, GONE, Options, Seen, TO_SERVER, Told};
use pvm_tuples::{Find, Op, Outcome, Tuple};
use pvm_wire::{Blob, Code, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a call waits.
pub type Limit = Deadline;

/// A server that was started says within this time that it is there.
const START_TIME_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);
/// So many servers may end while they make a space.
const SERVERS_MAX: u32 = 5;
/// So often a space may be made and deleted by others while it is opened.
const TURNS_MAX: u32 = 100;

/// Requests of this process count up, whatever their space: a server tells them apart by this.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// A task that leaves waits at most so long for what it has left behind.
const FAREWELL: Duration = Duration::from_secs(1);

/// How calls wait that have no limit of their own: until something has come since the token, or the
/// deadline, or [`Error::Interrupted`].
pub type Rest = fn(&'static Task, WaitToken, Deadline) -> Result<(), Error>;

/// All spaces that a task has open.
pub struct Spaces {
    task: &'static Task,
    rest: Rest,
    begun: Instant,
    inner: Mutex<Inner>,
}

struct Inner {
    post: Post,
    open: BTreeMap<u64, Open>,
    watched: BTreeSet<Tid>,
    /// Servers that were asked something. Nothing else is an answer: any task can send one.
    asked: BTreeSet<Tid>,
    /// Answers to what is about no open space, by request.
    created: BTreeMap<u64, Result<Blob, Error>>,
    /// The space of each request.
    spaces: BTreeMap<u64, u64>,
}

struct Open {
    name: Blob,
    client: Client,
    users: u32,
}

impl Open {
    /// True if no request is left behind.
    fn is_settled(&self) -> bool {
        self.client.left_behind().next().is_none()
    }
}

/// A space that is open: its number in [`Spaces`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space(u64);

/// A request that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u64);

/// A tuple that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The tuple.
    pub tuple: Tuple,
    /// The claim's number; 0 unless it was claimed.
    pub claim: u64,
    /// How often it came back before.
    pub tries: u32,
}

impl Spaces {
    /// The spaces of a task.
    pub fn new(task: &'static Task) -> Self {
        Self::resting(task, |task, token, until| Ok(task.wait(token, until).map(drop)?))
    }

    /// The spaces of a task whose calls wait by `rest`.
    pub fn resting(task: &'static Task, rest: Rest) -> Self {
        let inner = Inner {
            post: Post::new(task),
            open: BTreeMap::new(),
            watched: BTreeSet::new(),
            asked: BTreeSet::new(),
            created: BTreeMap::new(),
            spaces: BTreeMap::new(),
        };
        Self { task, rest, begun: Instant::now(), inner: Mutex::new(inner) }
    }

    /// The task.
    pub const fn task(&self) -> &'static Task {
        self.task
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panicked thread has left no half change that matters more than going on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens a space that there is.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Machine`].
    pub fn open(&self, name: &Blob) -> Result<Space, Error> {
        let entry = registry::latest(self.task, name)?;
        let entry = entry.map(|(_, entry)| entry).filter(|entry| !entry.deleted);
        Ok(self.add(name, &entry.ok_or(Error::NoSpace)?))
    }

    fn add(&self, name: &Blob, entry: &Entry) -> Space {
        let mut inner = self.lock();
        let new = || Open { name: name.clone(), client: Client::new(entry), users: 0 };
        inner.open.entry(entry.space).or_insert_with(new).users += 1;
        Space(entry.space)
    }

    /// Makes a space and opens it. It is kept by the server of this host, which is started if there
    /// is none.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NoServer`], [`Error::Machine`].
    pub fn create(&self, name: &Blob, options: Options, owned: bool) -> Result<Space, Error> {
        let made = self.create_in(name, options, owned, &Blob::default());
        made.map(|(space, _)| space)
    }

    /// As [`Spaces::create`], kept in a directory of each host that keeps the space; and what is to
    /// be said of what was found there. What was there of a space of this name is in it.
    ///
    /// # Errors
    /// As there, and [`Error::Disk`].
    pub fn create_in(
        &self,
        name: &Blob,
        options: Options,
        owned: bool,
        directory: &Blob,
    ) -> Result<(Space, Blob), Error> {
        for _ in 0..SERVERS_MAX {
            let server = self.server()?;
            let number = self.next();
            let (name_, directory) = (name.clone(), directory.clone());
            let ask = Ask::Create { number, name: name_, options, owned, directory };
            let mut inner = self.lock();
            inner.watch(self.task, server)?;
            inner.asked.insert(server);
            inner.post.send(server, TO_SERVER, &ask)?;
            drop(inner);
            if let Some(created) = self.await_creation(server, number)? {
                let note = created?;
                return Ok((self.open(name)?, note));
            }
        }
        let text = format!("{SERVERS_MAX} have ended while they made the space");
        Err(Error::NoServer(text))
    }

    /// Opens a space, or makes it if there is none. `is_new`: there must be none.
    ///
    /// # Errors
    /// As for [`Spaces::create`], and [`Error::Unsteady`].
    pub fn open_or_create(
        &self,
        name: &Blob,
        options: Options,
        owned: bool,
        is_new: bool,
    ) -> Result<Space, Error> {
        if is_new {
            return self.create(name, options, owned);
        }
        for turn in 0..TURNS_MAX {
            match self.open(name) {
                Err(Error::NoSpace) => {}
                other => return other,
            }
            match self.create(name, options, owned) {
                // Another task was quicker, or deletes it at this moment.
                Err(Error::Exists | Error::NoSpace) => {
                    std::thread::sleep(LOOK * turn.min(10));
                }
                other => return other,
            }
        }
        Err(Error::Unsteady)
    }

    fn next(&self) -> u64 {
        NUMBER.fetch_add(1, Ordering::Relaxed)
    }

    /// The answer to a creation; none if the server has ended.
    fn await_creation(
        &self,
        server: Tid,
        number: u64,
    ) -> Result<Option<Result<Blob, Error>>, Error> {
        loop {
            let token = self.task.token();
            let mut inner = self.lock();
            self.take_in(&mut inner, |_| false)?;
            if let Some(created) = inner.created.remove(&number) {
                return Ok(Some(created));
            }
            if !inner.watched.contains(&server) {
                return Ok(None);
            }
            drop(inner);
            (self.rest)(self.task, token, Deadline::Never)?;
        }
    }

    /// The server of this host.
    fn server(&self) -> Result<Tid, Error> {
        let host = self.task.tid().host();
        if let Some(server) = registry::server_of(self.task, host)? {
            return Ok(server);
        }
        let hosts = starting::hosts(self.task)?;
        let own = hosts.into_iter().find(|one| one.index == host).ok_or(Code::DSysErr)?;
        starting::start(self.task, &own.name).map_err(|code| Error::NoServer(code.to_string()))?;
        let until = Instant::now() + START_TIME_MAX;
        while Instant::now() < until {
            if let Some(server) = registry::server_of(self.task, host)? {
                return Ok(server);
            }
            std::thread::sleep(LOOK);
        }
        Err(Error::NoServer("it does not come up".to_owned()))
    }

    /// Closes a space, once for each time it was opened.
    pub fn close(&self, space: Space) {
        let mut inner = self.lock();
        if let Some(open) = inner.open.get_mut(&space.0) {
            open.users -= 1;
            if open.users == 0 {
                inner.open.remove(&space.0);
            }
        }
    }

    /// The name of an open space.
    pub fn name(&self, space: Space) -> Option<Blob> {
        self.lock().open.get(&space.0).map(|open| open.name.clone())
    }

    /// Begins an operation. It ends at the limit if it waits then.
    ///
    /// # Errors
    /// [`Error::NoSpace`] if the space is not open.
    pub fn begin(&self, space: Space, op: Op, limit: Limit) -> Result<Ticket, Error> {
        let deadline = match limit {
            Deadline::Never | Deadline::Now => None,
            Deadline::At(at) => {
                let left = at.saturating_duration_since(self.begun).as_nanos().div_ceil(1_000_000);
                Some(u64::try_from(left).unwrap_or(u64::MAX))
            }
        };
        let number = |number| number;
        self.begin_with(space, |client, now, next| client.ask(now, number(next), op, deadline))
    }

    fn begin_with(
        &self,
        space: Space,
        begin: impl FnOnce(&mut Client, u64, u64),
    ) -> Result<Ticket, Error> {
        let now = self.now();
        let mut inner = self.lock();
        // The number is taken while no other request begins: a server takes numbers below the first
        // open one for settled.
        let number = self.next();
        let open = inner.open.get_mut(&space.0).ok_or(Error::NoSpace)?;
        begin(&mut open.client, now, number);
        inner.spaces.insert(number, space.0);
        self.carry_out(&mut inner, space.0)?;
        Ok(Ticket(number))
    }

    /// The outcome of a request, if it has ended, and otherwise when it is to be checked again at
    /// the latest.
    ///
    /// # Errors
    /// [`Error::Machine`]
    pub fn look(&self, ticket: Ticket) -> Result<Result<End, Deadline>, Error> {
        let mut inner = self.lock();
        self.take_in(&mut inner, |inner| inner.has_ended(ticket))?;
        if let Some(end) = inner.take_end(ticket)? {
            return Ok(Ok(end));
        }
        let Some(&space) = inner.spaces.get(&ticket.0) else { return Err(Error::NoSpace) };
        let now = self.now();
        if let Some(open) = inner.open.get_mut(&space)
            && open.client.poll_timeout_of(ticket.0).is_some_and(|at| at <= now)
        {
            open.client.handle_timeout(now);
            self.carry_out(&mut inner, space)?;
        }
        match inner.take_end(ticket)? {
            Some(end) => Ok(Ok(end)),
            None => Ok(Err(self.latest(&inner, ticket))),
        }
    }

    /// When a request is to be looked at again at the latest.
    fn latest(&self, inner: &Inner, ticket: Ticket) -> Deadline {
        let open = inner.spaces.get(&ticket.0).and_then(|space| inner.open.get(space));
        let at = open.and_then(|open| open.client.poll_timeout_of(ticket.0));
        at.and_then(|at| self.begun.checked_add(Duration::from_millis(at)))
            .map_or(Deadline::Never, Deadline::At)
    }

    /// How long a request that has just begun may wait before its first look; none if it has ended.
    pub fn first_wait(&self, ticket: Ticket) -> Option<Deadline> {
        let inner = self.lock();
        (!inner.has_ended(ticket)).then(|| self.latest(&inner, ticket))
    }

    /// A request that waits is to end now. Its end says what it has come to.
    ///
    /// # Errors
    /// [`Error::Machine`]
    pub fn cancel(&self, ticket: Ticket) -> Result<(), Error> {
        let now = self.now();
        let mut inner = self.lock();
        let Some(&space) = inner.spaces.get(&ticket.0) else { return Ok(()) };
        if let Some(open) = inner.open.get_mut(&space) {
            open.client.cancel(now, ticket.0);
        }
        Ok(self.carry_out(&mut inner, space)?)
    }

    /// A request has no waiter any more.
    ///
    /// # Errors
    /// The machine has refused something.
    pub fn leave(&self, ticket: Ticket) -> Result<(), Error> {
        let now = self.now();
        let mut inner = self.lock();
        let Some(space) = inner.spaces.remove(&ticket.0) else { return Ok(()) };
        if let Some(open) = inner.open.get_mut(&space) {
            open.client.leave(now, ticket.0);
        }
        Ok(self.carry_out(&mut inner, space)?)
    }

    /// The task leaves. Servers must hear first of the requests that it has left behind: what they
    /// have taken for these would go with the task. A server that does not answer holds this up for
    /// a second.
    pub fn farewell(&self) {
        let until = Instant::now() + FAREWELL;
        // Without the machine nobody is left to tell.
        while matches!(self.settles(), Ok(false)) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }

    /// True if nothing is left behind; otherwise more is done about it.
    fn settles(&self) -> Result<bool, Code> {
        let mut inner = self.lock();
        if inner.open.values().all(Open::is_settled) {
            return Ok(true);
        }
        self.take_in(&mut inner, |inner| inner.open.values().all(Open::is_settled))?;
        let now = self.now();
        let is_due = |open: &Open| open.client.poll_timeout().is_some_and(|at| at <= now);
        let due = inner.open.iter().filter(|(_, open)| is_due(open));
        for space in due.map(|(space, _)| *space).collect::<Vec<_>>() {
            if let Some(open) = inner.open.get_mut(&space) {
                open.client.handle_timeout(now);
            }
            self.carry_out(&mut inner, space)?;
        }
        Ok(inner.open.values().all(Open::is_settled))
    }

    /// Does what `begin` begins, and waits for its end.
    fn finish(&self, begin: impl FnOnce() -> Result<Ticket, Error>) -> Result<End, Error> {
        let token = self.task.token();
        let ticket = begin()?;
        if let Some(until) = self.first_wait(ticket)
            && let Err(error) = (self.rest)(self.task, token, until)
        {
            self.leave(ticket)?;
            return Err(error);
        }
        self.await_end(ticket)
    }

    /// Waits for the end of a request.
    ///
    /// # Errors
    /// As for [`Spaces::look`]
    pub fn await_end(&self, ticket: Ticket) -> Result<End, Error> {
        loop {
            let token = self.task.token();
            match self.look(ticket)? {
                Ok(end) => return Ok(end),
                Err(until) => {
                    if let Err(error) = (self.rest)(self.task, token, until) {
                        self.leave(ticket)?;
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes in what has come, whichever thread waits for it, up to what is enough.
    fn take_in(&self, inner: &mut Inner, enough: impl Fn(&Inner) -> bool) -> Result<(), Code> {
        let mut others = false;
        while !enough(inner) && inner.post.receive()? {
            let now = self.now();
            if inner.post.from().1 == GONE {
                if let Some(task) = inner.post.noticed()
                    && inner.watched.remove(&task)
                {
                    inner.asked.remove(&task);
                    inner.open.values_mut().for_each(|open| open.client.gone(now, task));
                }
            } else if inner.asked.contains(&inner.post.from().0)
                && let Some(told) = inner.post.read::<Told>()
            {
                inner.told(now, told);
            }
            for space in inner.busy() {
                // It may be another space than the caller's, and what was not sent is sent again.
                if let Err(Code::SysErr) = self.carry_out(inner, space) {
                    return Err(Code::SysErr);
                }
            }
            others |= !enough(inner);
        }
        if others {
            // Another thread may wait for what this one has taken.
            self.task.nudge();
        }
        Ok(())
    }

    fn carry_out(&self, inner: &mut Inner, space: u64) -> Result<(), Code> {
        while let Some(open) = inner.open.get_mut(&space)
            && let Some(output) = open.client.poll_output()
        {
            match output {
                Output::Send { to, ask } => {
                    inner.asked.insert(to);
                    match inner.post.send(to, TO_SERVER, &ask) {
                        // A notice tells of its end.
                        Err(Code::NoTask | Code::HostFail | Code::BadParam) => {}
                        other => other?,
                    }
                }
                Output::Watch { task } => inner.watch(self.task, task)?,
                Output::Look { number } => match registry::latest(self.task, &open.name) {
                    Ok(entry) => {
                        let entry = entry.as_ref().map(|(_, entry)| entry);
                        open.client.looked(self.now(), number, entry);
                    }
                    Err(Code::SysErr) => return Err(Code::SysErr),
                    // It is looked again: other spaces of this task go on.
                    Err(_) => {}
                },
            }
        }
        Ok(())
    }

    /// Does an operation and waits for its end.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn perform(&self, space: Space, op: Op, limit: Limit) -> Result<Outcome, Error> {
        outcome(self.finish(|| self.begin(space, op, limit))?)
    }

    /// Puts tuples in one step; false if there was no room until the limit.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn put(&self, space: Space, tuples: Vec<Tuple>, limit: Limit) -> Result<bool, Error> {
        let wait = limit != Deadline::Now;
        Ok(self.perform(space, Op::Put { tuples, wait }, limit)? == Outcome::Done)
    }

    /// Looks for a tuple; none if there was none until the limit.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn find(
        &self,
        space: Space,
        template: Tuple,
        how: Find,
        limit: Limit,
    ) -> Result<Option<Found>, Error> {
        let wait = limit != Deadline::Now;
        found(self.perform(space, Op::Find { template, how, wait, limit_ms: 0 }, limit)?)
    }

    /// The content of a space.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn seen(&self, space: Space, tuples: u64) -> Result<Seen, Error> {
        let begin = || {
            self.begin_with(space, |client, now, number| {
                client.begin(now, Ask::Look { number, space: space.0, tuples }, None);
            })
        };
        match self.finish(begin)? {
            End::Seen(seen) => Ok(seen),
            other => Err(outcome(other).err().unwrap_or(Error::Machine(Code::DSysErr))),
        }
    }

    /// Deletes a space. One whose servers have died goes, too.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn delete(&self, name: &Blob) -> Result<(), Error> {
        let space = self.open(name)?;
        let ended = self.finish(|| {
            self.begin_with(space, |client, now, number| {
                client.begin(now, Ask::Delete { number, space: space.0 }, None);
            })
        });
        self.close(space);
        match outcome(ended?) {
            Err(Error::Lost) => registry::forget_lost(self.task, name),
            other => other.map(drop),
        }
    }
}

/// The outcome that a request has ended with.
///
/// # Errors
/// What it failed with.
pub(crate) fn outcome(end: End) -> Result<Outcome, Error> {
    match end {
        End::Answered(Outcome::Failed { reason }) => Err(reason.into()),
        End::Answered(outcome) => Ok(outcome),
        End::Seen(_) => Err(Error::Machine(Code::DSysErr)),
        End::Lost => Err(Error::Lost),
        End::Unanswered => Err(Error::Unanswered),
    }
}

/// The tuple of an outcome.
pub(crate) fn found(outcome: Outcome) -> Result<Option<Found>, Error> {
    match outcome {
        Outcome::Found { tuple, claim, tries } => Ok(Some(Found { tuple, claim, tries })),
        Outcome::Nothing => Ok(None),
        _ => Err(Error::Machine(Code::DSysErr)),
    }
}

impl Inner {
    /// True if a request has ended, or its space was closed.
    fn has_ended(&self, ticket: Ticket) -> bool {
        let open = self.spaces.get(&ticket.0).and_then(|space| self.open.get(space));
        open.is_none_or(|open| open.client.has_ended(ticket.0))
    }

    /// How a request has ended, if it has.
    fn take_end(&mut self, ticket: Ticket) -> Result<Option<End>, Error> {
        let space = *self.spaces.get(&ticket.0).ok_or(Error::NoSpace)?;
        let Some(open) = self.open.get_mut(&space) else {
            self.spaces.remove(&ticket.0);
            return Err(Error::NoSpace);
        };
        let end = open.client.take_end(ticket.0);
        if end.is_some() {
            self.spaces.remove(&ticket.0);
        }
        Ok(end)
    }

    /// Spaces whose clients want something done.
    fn busy(&self) -> Vec<u64> {
        let busy = self.open.iter().filter(|(_, open)| open.client.has_output());
        busy.map(|(space, _)| *space).collect()
    }

    fn watch(&mut self, task: &Task, of: Tid) -> Result<(), Code> {
        if self.watched.insert(of) {
            return watch(task, of);
        }
        Ok(())
    }

    /// A request that was left behind has no ticket any more.
    fn left_behind(&mut self, now: u64, told: &Told) {
        let number = told.number();
        let is_left = |open: &&mut Open| open.client.left_behind().any(|left| left == number);
        if let Some(open) = self.open.values_mut().find(is_left) {
            open.client.told(now, told.clone());
        }
    }

    fn told(&mut self, now: u64, told: Told) {
        let number = match &told {
            Told::Created { number, note, .. } => {
                self.created.insert(*number, Ok(note.clone()));
                return;
            }
            other => other.number(),
        };
        self.left_behind(now, &told);
        match self.spaces.get(&number).and_then(|space| self.open.get_mut(space)) {
            Some(open) => open.client.told(now, told),
            None => {
                if let Told::Refused { reason, text, .. } = told {
                    let text = String::from_utf8_lossy(&text.0).into_owned();
                    let error = match Error::from(reason) {
                        Error::Disk(_) => Error::Disk(text),
                        other => other,
                    };
                    self.created.insert(number, Err(error));
                }
            }
        }
    }
}
