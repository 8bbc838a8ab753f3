//! A process's membership in the machine.

mod arrivals;
pub(crate) mod aside;
pub(crate) mod asking;
pub(crate) mod entering;
mod fast;
mod giving_up;
mod leaving;
mod mappings;
mod memory;
pub(crate) mod pressure;
mod probes;
pub(crate) mod receiving;
mod routes;
mod sending;
pub(crate) mod until;
mod watching;

use crate::connection::Connection;
use crate::credit::Policy;
use crate::memory::Memories;
use crate::probe::{self, waits};
use crate::state::State;
use crate::sys::gate::Gate;
use crate::sys::{self, Leaked};
use crate::turns::TurnTaking;
use crate::wait::{Deadline, WaitToken, Waiter, Woken};
use crate::{locate, plug, source};
use aside::{Aside, OVER};
use mappings::Mappings;
use pvm_shm::probe::Probes;
use pvm_shm::{Inlet, Outbox, Slab};
use pvm_wire::request::{ALONE, RECORDED, Request, Role, Welcome};
use pvm_wire::{Blob, Code, Layout, PROTOCOL_VERSION, Tid};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

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
    /// The one that was made before: detectors of leaks find all tasks from [`LAST`] on, and report
    /// none.
    _before: Option<&'static Self>,
    /// None once the task is over and nobody is inside any more.
    state: Gate<Option<State>>,
    waiter: Waiter,
    pub(crate) probes: Arc<Probes>,
    pub(crate) memories: Memories,
    /// Bumped when something was put aside that another thread may wait for.
    generation: AtomicU32,
    /// The bits that stand against its fast path.
    aside: Aside,
    /// Its descriptors are closed, or about to be.
    closed: AtomicBool,
    mappings: Mappings,
    /// The doorbell; owned here.
    bell: OwnedFd,
    /// For `pvm_getfds`: doorbell and socket in one.
    watch: OnceLock<OwnedFd>,
    /// Arrivals that the program has looked at (`pvm_getfds`).
    looked: AtomicU64,
    other_descriptors: [RawFd; 2],
    /// The policy of sends that find no credit.
    policy: AtomicU32,
    /// Threads that look at rosters.
    group_waits: AtomicU32,
    turns: TurnTaking,
}

/// The first of these hosts that answers. One that closes the connection is leaving the machine,
/// and the next one is asked.
fn first_greeted(
    sockets: &[PathBuf],
    hello: &Request,
) -> Result<(Connection, (Welcome, OwnedFd)), Code> {
    for mut connection in sockets.iter().filter_map(|path| Connection::open(path).ok()) {
        match connection.greet(hello) {
            Err(Code::SysErr) => {}
            other => return Ok((connection, other?)),
        }
    }
    Err(Code::SysErr)
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
        let program = Blob(program.to_vec());
        let own_name = program.clone();
        let (version, cookie, layout) = (PROTOCOL_VERSION, plug::cookie(), Layout::NATIVE);
        let hello = Request::Hello { version, role: Role::Task, program, reset, cookie, layout };
        let (mut connection, (mut welcome, inbox)) = first_greeted(sockets, &hello)?;
        let (bell, doorbell) = new_bell(&welcome.doorbell)?;
        let (inbox, activity, mappings) = Mappings::map(&inbox, &mut connection)?;
        let outbox = Outbox::beside(activity.clone()).inspect_err(|_| mappings.give())?;
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
        let alone = *options & ALONE != 0;
        *options &= !ALONE;
        let turns = TurnTaking::new(alone, activity.clone(), probes.clone());
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
            mappings,
            bell,
            watch: OnceLock::new(),
            looked: AtomicU64::new(0),
            other_descriptors,
            policy: AtomicU32::new(Policy::Spill as u32),
            group_waits: AtomicU32::new(0),
            turns,
        }));
        LAST.set(task);
        task.set_policy(Policy::of_environment())?;
        CURRENT.set(task);
        if alone {
            // The wait is to be noted, or the task would seem to have begun behind it.
            task.ready_probes();
            task.turns.await_turn();
        }
        Ok(task)
    }

    /// False after [`Task::leave`], in the child of a fork, and when the daemon is gone.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.aside.get() & OVER == 0
    }

    /// Its id.
    #[inline]
    pub const fn tid(&self) -> Tid {
        self.welcome.tid
    }

    /// The answer to its enrolment.
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    #[inline]
    pub(crate) fn live(&self) -> Result<&Self, Code> {
        if self.is_alive() { Ok(self) } else { Err(Code::SysErr) }
    }

    fn lost(&self) {
        self.aside.set(OVER);
        self.generation.fetch_add(1, Ordering::Release);
        sys::futex_wake(&self.generation);
    }

    /// A token for what has arrived so far: take it, then look, then [`Task::wait`].
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
        self.turns.hand_on();
        let wait = || self.waiter.wait(&self.state, &self.generation, token, deadline);
        let woken = waits::wait(&self.probes, wait);
        self.go_out(came);
        self.turns.await_turn();
        match woken? {
            Woken::Look => self.live().map(|_| true),
            Woken::Late => Ok(false),
            Woken::Socket => {
                let mut state = self.live()?.enter()?;
                state.connection.receive().inspect_err(|_| self.lost())?;
                self.follow_routes(&mut state);
                Ok(true)
            }
        }
    }

    /// This thread ends, perhaps in the middle of a [`Task::wait`].
    pub fn thread_ends(&self) {
        self.waiter.thread_ends(&self.state, &self.generation);
    }

    /// Ends every [`Task::wait`] that goes on now: the waiting threads look again.
    pub fn nudge(&self) {
        if self.waiter.announce(&self.generation)
            && let Ok(state) = self.state.enter()
            && let Some(state) = &*state
        {
            self.ring(state);
        }
    }
}

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

/// A second thread begins: the first one, which may be about to sleep as the only user of its
/// lanes, looks again.
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
        // A thread of the parent may have been at work there; then they stay open until exec, as
        // routes are shut down by their end, not by their last descriptor.
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
        shared::<crate::Buffer>();
    }
}
