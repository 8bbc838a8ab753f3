//! A process's membership in the machine.

mod arrivals;
pub(crate) mod aside;
mod fast;
mod giving_up;
mod leaving;
mod memory;
mod place;
mod pressure;
mod probes;
mod receiving;
mod routes;

use crate::buffer::{Buffer, Store};
use crate::connection::Connection;
use crate::credit::{Policy, Sending};
use crate::memory::Memories;
use crate::route::watch_too;
use crate::state::State;
use crate::sys::gate::{self, Gate, GateGuard};
use crate::sys::{self, Leaked};
use crate::wait::{Deadline, WaitToken, Waiter, Woken};
use crate::{locate, plug, probe, source};
use aside::{Aside, DESCRIPTOR, OVER};
use place::Place;
use pvm_shm::probe::Probes;
use pvm_shm::{Inlet, Outbox, Slab};
use pvm_wire::request::{RECORDED, Reply, Request, Role, Welcome};
use pvm_wire::{Blob, Code, Envelope, HostIndex, Layout, PROTOCOL_VERSION, Tid};
use rustix::event::epoll;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A daemon that does not answer within this has failed.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// The task that buffers take their slabs from.
static CURRENT: Leaked<Task> = Leaked::none();
/// The task that was made last, be it over or not.
static LAST: Leaked<Task> = Leaked::none();

/// A process's membership, from `pvm_mytid` to `pvm_exit`. Never freed, so that a blocking call
/// holds nothing that longjmp could leak. All methods may be called from any thread.
#[derive(Debug)]
pub struct Task {
    welcome: Welcome,
    /// Its program, as it has told.
    pub(crate) program: Blob,
    /// Numbers of names in its records.
    pub(crate) names: Gate<probe::Numbers>,
    /// The one that was made before: detectors of leaks find all tasks from [`LAST`] on, and report none.
    _before: Option<&'static Self>,
    /// None once the task is over and nobody is inside any more.
    state: Gate<Option<State>>,
    waiter: Waiter,
    pub(crate) probes: Arc<Probes>,
    pub(crate) memories: Memories,
    /// Bumped when something was put aside that another thread may wait for.
    generation: AtomicU32,
    /// What stands against its fast path.
    aside: Aside,
    /// Its descriptors are closed, or about to be.
    closed: AtomicBool,
    place: Place,
    /// The doorbell; owned here.
    bell: OwnedFd,
    /// For `pvm_getfds`: doorbell and socket in one.
    watch: OnceLock<OwnedFd>,
    /// Arrivals that the program has looked at (`pvm_getfds`).
    looked: AtomicU64,
    other_descriptors: [RawFd; 2],
    /// What a send does that finds no credit.
    policy: AtomicU32,
    /// Threads that look at rosters.
    group_waits: AtomicU32,
}

impl Task {
    /// Becomes a task: connects to the host named by `PVMSOCK`, else to the machine's lowest
    /// host on this computer. `reset`: the console's `reset` may kill it.
    ///
    /// # Errors
    /// [`Code::SysErr`] if no daemon answers (none is started), [`Code::BadVersion`].
    pub fn enrol(program: &[u8], reset: bool) -> Result<&'static Self, Code> {
        Self::enrol_at(&locate::sockets(), program, reset)
    }

    /// As [`Task::enrol`], with the first of the hosts behind these sockets that answers.
    ///
    /// # Errors
    /// As for [`Task::enrol`].
    pub fn enrol_at(
        sockets: &[PathBuf],
        program: &[u8],
        reset: bool,
    ) -> Result<&'static Self, Code> {
        sys::watch_forks(forked);
        source::set(slab);
        let mut connection =
            sockets.iter().find_map(|path| Connection::open(path).ok()).ok_or(Code::SysErr)?;
        let program = Blob(program.to_vec());
        let own_name = program.clone();
        let (version, cookie, layout) = (PROTOCOL_VERSION, plug::cookie(), Layout::NATIVE);
        let hello = Request::Hello { version, role: Role::Task, program, reset, cookie, layout };
        let (mut welcome, inbox) = connection.greet(&hello)?;
        let (bell, doorbell) = new_bell(&welcome.doorbell)?;
        let (inbox, activity, place) = Place::map(&inbox, &mut connection)?;
        let outbox = Outbox::beside(activity.clone()).inspect_err(|_| place.give())?;
        let socket = connection.socket().as_raw_fd();
        let other_descriptors = [socket, outbox.bell().as_raw_fd()];
        let cores = i32::try_from(welcome.cores).unwrap_or(1).max(1);
        inbox.start(&activity);
        let inlet = Inlet::new(welcome.tid, inbox.clone(), activity.clone());
        let probes = Arc::new(Probes::new(&inbox));
        let options = &mut welcome.inherited.trace.options;
        if *options & RECORDED != 0 {
            *options &= !RECORDED;
            probes.word().fetch_or(probe::RECORDS, Ordering::Relaxed);
        }
        let task = Box::leak(Box::new(Self {
            waiter: Waiter::new(
                (inbox, inlet.watch().clone()),
                activity,
                (bell.as_raw_fd(), Some(doorbell)),
                socket,
                cores,
            ),
            state: Gate::new(Some(State::new(
                welcome.tid,
                connection,
                outbox,
                inlet,
                probes.clone(),
            ))),
            probes,
            memories: Memories::new(),
            program: own_name,
            names: Gate::new(probe::Numbers::new()),
            welcome,
            _before: LAST.get(),
            generation: AtomicU32::new(0),
            aside: Aside::new(),
            closed: AtomicBool::new(false),
            place,
            bell,
            watch: OnceLock::new(),
            looked: AtomicU64::new(0),
            other_descriptors,
            policy: AtomicU32::new(Policy::Spill as u32),
            group_waits: AtomicU32::new(0),
        }));
        LAST.set(task);
        task.set_policy(Policy::of_environment())?;
        CURRENT.set(task);
        Ok(task)
    }

    /// False after [`Task::leave`], in the child of a fork, and when the daemon is gone.
    #[inline(always)]
    pub fn is_alive(&self) -> bool {
        self.aside.get() & OVER == 0
    }

    /// Its id.
    #[inline(always)]
    pub const fn tid(&self) -> Tid {
        self.welcome.tid
    }

    /// What it was told at enrolment.
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Asks the host. Answers are waited for without holding anything; all but the requests
    /// that wait by their nature are bounded.
    ///
    /// # Errors
    /// What the machine answers; [`Code::SysErr`] if it does not.
    pub fn request(&self, request: &Request) -> Result<Reply, Code> {
        let patient = match request {
            // Members that are late are no failure of the machine.
            Request::Barrier { .. } | Request::FreezeGroup { .. } | Request::AddHosts { .. } => {
                true
            }
            Request::RecvInfo { flags, .. } => flags & WAIT_FOR_INFO != 0,
            _ => false,
        };
        let deadline = if patient { Deadline::Never } else { Deadline::after(ANSWER) };
        let id = self.ask(request)?;
        self.await_answer(id, deadline)
    }

    /// Waits for an answer; one that comes too late is dropped.
    pub(super) fn await_answer(&self, id: u32, deadline: Deadline) -> Result<Reply, Code> {
        loop {
            let token = self.token();
            if let Some(reply) = self.answer(id)? {
                return Ok(reply);
            }
            match self.wait(token, deadline) {
                Ok(true) => {}
                late => {
                    self.forget(id)?;
                    return Err(late.err().unwrap_or(Code::SysErr));
                }
            }
        }
    }

    /// The answer to a question is not wanted any more: it is dropped, however late it comes.
    ///
    /// # Errors
    /// [`Code::Already`] inside of a signal handler.
    pub fn forget(&self, id: u32) -> Result<(), Code> {
        let mut state = self.enter()?;
        state.connection.forget(id);
        self.rewatch(&mut state, false);
        Ok(())
    }

    /// Asks without waiting; the number names the question to [`Task::answer`].
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone, [`Code::Already`] inside of a signal handler.
    pub fn ask(&self, request: &Request) -> Result<u32, Code> {
        let mut state = self.live()?.enter()?;
        state.tell_clock();
        if let Request::Spawn { spawn } = request
            && self.probes.is_on()
        {
            let mut spawn = spawn.clone();
            spawn.inherited.trace.options |= RECORDED;
            return state.connection.send(&Request::Spawn { spawn });
        }
        state.connection.send(request)
    }

    /// The answer if it has come: take a [`Task::token`], look here, then [`Task::wait`]. It is
    /// given once.
    ///
    /// # Errors
    /// What the machine answers; as for [`Task::ask`].
    pub fn answer(&self, id: u32) -> Result<Option<Reply>, Code> {
        let mut state = self.enter()?;
        // Messages that nobody asks for now would keep the inbox from ever being quiet, and the
        // wait for the answer from ever sleeping.
        let alone = state.is_alone();
        state.pull(alone);
        // What came before the end of the connection still counts.
        let received = state.connection.receive();
        let Some(reply) = state.connection.take(id) else {
            return received.inspect_err(|_| self.lost()).map(|()| None);
        };
        self.rewatch(&mut state, false);
        match reply {
            Reply::Failed { code } => Err(code),
            reply => Ok(Some(reply)),
        }
    }

    #[inline(always)]
    pub(crate) fn live(&self) -> Result<&Self, Code> {
        if self.is_alive() { Ok(self) } else { Err(Code::SysErr) }
    }

    fn lost(&self) {
        self.aside.set(OVER);
        self.generation.fetch_add(1, Ordering::Release);
        sys::futex_wake(&self.generation);
    }

    /// Sends a message. It is the receiver's from now on, whatever becomes of this task; a
    /// receiver that does not exist gets nothing, and nobody is told.
    ///
    /// # Errors
    /// [`Code::BadParam`] for what is no task, [`Code::NoMem`], [`Code::SysErr`].
    pub fn send(&self, buffer: &mut Buffer, to: Tid, tag: i32, context: i32) -> Result<(), Code> {
        if plug::is_carried(to, tag) {
            return self.request(&plug::post(buffer, (self.tid(), to), tag, context)?).map(drop);
        }
        if !to.is_task() {
            return Err(Code::BadParam);
        }
        // Within the host it may go faster.
        let here = to.host() == self.tid().host() && to != self.tid();
        self.ready_probes();
        if here && self.send_here(buffer, to, tag, context)? {
            buffer.edit(|about| (about.tag, about.dst) = (tag, to));
            return Ok(());
        }
        self.send_all(buffer, &[to], tag, context)
    }

    /// A message that rides in its lane, or that its receiver reads while it is written; false if it is neither.
    fn send_here(
        &self,
        buffer: &mut Buffer,
        to: Tid,
        tag: i32,
        context: i32,
    ) -> Result<bool, Code> {
        let begin = probe::moment(&self.probes);
        if let Some((head, data)) = buffer.small() {
            let to = (to, tag, context);
            let mut state = self.live()?.enter()?;
            let sent = state.send_small(to, head, data).is_some();
            state.probe_small(begin.filter(|_| sent), to, (head, data.len()));
            return Ok(sent);
        }
        let Some((described, size, pieces)) = buffer.stream() else { return Ok(false) };
        let envelope = Envelope { src: self.tid(), dst: to, tag, context, ..described };
        let mut state = self.live()?.enter()?;
        let sent = state.send_stream(envelope, (size, pieces))?;
        state.probe_sent(begin.filter(|_| sent), &[to], &envelope);
        Ok(sent)
    }

    /// Sends a message to many, once to each, this task itself left out.
    ///
    /// # Errors
    /// As for [`Task::send`]; then some may have it.
    pub fn multicast(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: i32,
        context: i32,
    ) -> Result<(), Code> {
        if to.iter().any(|tid| !tid.is_task()) {
            return Err(Code::BadParam);
        }
        let mut seen = BTreeSet::from([self.tid()]);
        let others: Vec<Tid> = to.iter().copied().filter(|tid| seen.insert(*tid)).collect();
        let fast = self.fast_multicast(buffer, &others, tag, context)?;
        if fast == others.len() {
            return Ok(());
        }
        self.send_all(buffer, &others[fast..], tag, context)
    }

    fn send_all(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: i32,
        context: i32,
    ) -> Result<(), Code> {
        self.live()?;
        self.ready_probes();
        // As in PVM the buffer remembers tag and receiver of its last sending, no more.
        let last = to.last().copied().unwrap_or_default();
        buffer.edit(|about| (about.tag, about.dst) = (tag, last));
        let to_self = to.contains(&self.tid()).then(|| buffer.to_message()).transpose()?;
        // Takes slabs through the gate, so it comes before entering it.
        let (described, mut body) = self.probe_copy(buffer.sent_size(), || buffer.prepare())?;
        let envelope = Envelope { src: self.tid(), tag, context, ..described };
        let mut state = self.enter()?;
        let mut hosts: BTreeMap<HostIndex, Vec<Tid>> = BTreeMap::new();
        for &to in to.iter().filter(|to| **to != self.tid()) {
            if to.host() == self.tid().host() {
                let sending = Sending::Here(to);
                state = self.patiently(state, (sending, envelope), &mut body)?;
            } else {
                hosts.entry(to.host()).or_default().push(to);
            }
        }
        for (host, tasks) in hosts {
            let sending = match tasks[..] {
                [to] => Sending::Abroad(to),
                _ => Sending::Spread(host, &tasks),
            };
            state = self.patiently(state, (sending, envelope), &mut body)?;
        }
        if let Some(message) = to_self {
            let begin = probe::moment(&self.probes);
            let own = Envelope { dst: self.tid(), sequence: state.number_own(), ..envelope };
            state.probe_sent(begin, &[self.tid()], &own);
            crate::orders::taken_in(&own);
            state.mailbox.insert(own, Store::Heap(message.body.0));
            state.news = true;
            self.rewatch(&mut state, false);
        }
        Ok(())
    }

    /// What has arrived so far: take it, then look, then [`Task::wait`].
    #[inline]
    pub fn token(&self) -> WaitToken {
        WaitToken::new(self.generation.load(Ordering::Acquire))
    }

    /// Waits until something arrived after the token was taken; a signal ends it, too. False if
    /// the deadline passed. No lock is held and nothing is owned: longjmp may leave it.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn wait(&self, token: WaitToken, deadline: Deadline) -> Result<bool, Code> {
        let came = self.come_in().ok_or(Code::SysErr)?;
        let wait = || self.waiter.wait(&self.state, &self.generation, token, deadline);
        let woken = probe::wait(&self.probes, wait);
        self.go_out(came);
        match woken? {
            Woken::Look => self.live().map(|_| true),
            Woken::Late => Ok(false),
            Woken::Socket => {
                let mut state = self.live()?.enter_unmarked()?;
                state.connection.receive().inspect_err(|_| self.lost())?;
                self.follow_routes(&mut state);
                Ok(true)
            }
        }
    }

    /// Ends every [`Task::wait`] that goes on now: whoever waits is to look again.
    pub fn nudge(&self) {
        if self.waiter.announce(&self.generation)
            && let Ok(state) = self.state.enter()
            && let Some(state) = &*state
        {
            self.ring(state);
        }
    }

    /// One descriptor that is readable when something has arrived that no receive or probe has
    /// looked at, and when the daemon is gone (`pvm_getfds`). It stays the task's.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if the process has no descriptor left.
    pub fn descriptor(&self) -> Result<RawFd, Code> {
        let mut state = self.live()?.enter()?;
        // It is rung by this task itself, too.
        self.waiter.bind();
        if self.watch.get().is_none() {
            let watch = self.new_watch().map_err(|_| Code::OutOfRes)?;
            let _ = self.watch.set(watch);
        }
        self.waiter.watched.store(true, Ordering::Release);
        self.aside.set(DESCRIPTOR);
        self.rewatch(&mut state, false);
        Ok(self.watch.get().expect("set above").as_raw_fd())
    }

    fn new_watch(&self) -> rustix::io::Result<OwnedFd> {
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(&watch, &self.bell, data, epoll::EventFlags::IN)?;
        // Answers on the socket are read by those who ask; only its end concerns the program.
        epoll::add(&watch, sys::borrow(self.waiter.socket), data, epoll::EventFlags::RDHUP)?;
        let routes = self.waiter.routes.load(Ordering::Acquire);
        if routes >= 0 {
            watch_too(&watch, routes);
        }
        Ok(watch)
    }

    /// Behind a wait that took the rings off the doorbell, and what came out of its lanes, at the end of a call that is no
    /// look: see [`Task::rewatch`].
    pub(crate) fn watch_again(&self) {
        if self.waiter.watched.load(Ordering::Acquire)
            && let Ok(mut state) = self.enter()
        {
            self.rewatch(&mut state, false);
        }
    }

    /// Keeps the descriptor's promise: readable while something is there that was not looked
    /// at, else armed so that the next sender rings. At the end of a call only: a wait that comes behind it ends at once.
    fn rewatch(&self, state: &mut State, looked: bool) {
        if !self.waiter.watched.load(Ordering::Acquire) {
            return;
        }
        let arrived = state.mailbox.arrived();
        if looked {
            self.looked.store(arrived, Ordering::Release);
        }
        self.waiter.quiet();
        let unseen = !state.mailbox.is_empty() && arrived > self.looked.load(Ordering::Relaxed);
        if (unseen || !self.waiter.arm())
            && let Ok(address) = SocketAddrUnix::new(self.welcome.doorbell.0.as_slice())
        {
            // A full doorbell is readable already.
            state.outbox.ring(&address);
        }
    }

    /// Makes the descriptor readable, and wakes the thread that sleeps on it.
    fn ring(&self, state: &State) {
        if let Ok(address) = SocketAddrUnix::new(self.welcome.doorbell.0.as_slice()) {
            // A full doorbell is readable already.
            state.outbox.ring(&address);
        }
    }

    /// Enters the gate; what is put aside inside is announced to other threads on leaving.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Result<Inside<'_>, Code> {
        self.entered(self.state.enter()?)
    }

    /// [`Task::enter`] in a wait, for which no mark of the caller's stands: a handler that interrupts this may begin a
    /// thread that enters as well.
    fn enter_unmarked(&self) -> Result<Inside<'_>, Code> {
        self.entered(self.state.enter_among_threads()?)
    }

    #[inline(always)]
    fn entered<'a>(&'a self, state: GateGuard<'a, Option<State>>) -> Result<Inside<'a>, Code> {
        // It may be over since this call began.
        if state.is_none() {
            return Err(Code::SysErr);
        }
        Ok(Inside { state, task: self })
    }

    /// Takes what has arrived out of the lanes, so that a wait for something else may sleep.
    pub(crate) fn pull(&self) -> Result<(), Code> {
        let mut state = self.enter()?;
        let alone = state.is_alone();
        state.pull(alone);
        Ok(())
    }

    /// From now on rosters stay mapped, as this thread looks at one. Left by longjmp it never ends, which
    /// costs no more than the memory of groups that are gone.
    pub(crate) fn begin_group_wait(&self) {
        self.group_waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end_group_wait(&self) {
        self.group_waits.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn has_group_waits(&self) -> bool {
        self.group_waits.load(Ordering::Relaxed) != 0
    }
}

/// The state, while this thread has the gate and there is one.
pub(crate) struct Inside<'a> {
    state: GateGuard<'a, Option<State>>,
    task: &'a Task,
}

impl Inside<'_> {
    /// True if nobody sleeps until something comes, whom it must reach: neither another thread, which would lie down
    /// only behind this one, nor the program on its descriptor.
    pub(crate) fn is_alone(&self) -> bool {
        !self.state.has_sleeper() && !self.task.waiter.watched.load(Ordering::Relaxed)
    }
}

impl Deref for Inside<'_> {
    type Target = State;
    #[inline(always)]
    fn deref(&self) -> &State {
        self.state.as_ref().expect(ENTERED)
    }
}

impl DerefMut for Inside<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_mut().expect(ENTERED)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let task = self.task;
        let state = &mut **self;
        let answers = state.connection.take_news();
        // Who has found nothing and not slept yet looks again for what lies where neither lane nor inbox tells of it.
        let hidden = !gate::is_alone() && state.holds_more();
        task.aside.follow(state.stands_aside());
        if std::mem::take(&mut state.news) | answers | hidden
            && task.waiter.announce(&task.generation)
        {
            // It sleeps on the doorbell, and the message or answer that it waits for came to us.
            task.ring(state);
        }
    }
}

const ENTERED: &str = "who enters looks whether it is there, and nobody takes it away meanwhile";

/// `PvmMboxWaitForInfo`
const WAIT_FOR_INFO: i32 = 32;

/// The datagram socket that others ring, and the name that it gets before this task sleeps.
fn new_bell(path: &Blob) -> Result<(OwnedFd, SocketAddrUnix), Code> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let bell = rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)
        .map_err(|_| Code::OutOfRes)?;
    let address = SocketAddrUnix::new(path.0.as_slice()).map_err(|_| Code::SysErr)?;
    Ok((bell, address))
}

/// A slab of the current task's, if there is one and it has memory.
fn slab(size: usize) -> Option<Slab> {
    let task = CURRENT.get()?;
    let mut state = task.enter().ok()?;
    let State { outbox, connection, .. } = &mut *state;
    outbox.slab(connection, size).ok()
}

extern "C" fn forked() {
    after_fork();
}

/// A second thread begins: the first one, which may be about to sleep as who shares its lanes with nobody, looks again.
pub fn nudge_current() {
    if let Some(task) = CURRENT.get() {
        task.nudge();
    }
}

/// In the child of a fork: it is no task. Its parent's descriptors are closed, its mappings are
/// not there.
pub fn after_fork() {
    if let Some(task) = CURRENT.get() {
        task.aside.set(OVER);
        CURRENT.clear(task);
        // A thread of the parent may have been at work there; then they stay open until exec, as routes are shut down
        // by their end, not by their last descriptor.
        if let Some(state) = task.state.enter_if_free()
            && let Some(state) = &*state
        {
            state.close_routes();
        }
        if !task.closed.swap(true, Ordering::AcqRel) {
            task.close_descriptors();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_for_all_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Task>();
        shared::<Buffer>();
    }
}
