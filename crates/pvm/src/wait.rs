//! Waiting of a thread for a message or an answer.
//!
//! Spin while a core is free (the host counts the awake tasks; [`Patience`] says how long), yield a
//! few times so that others get ahead, then sleep on the doorbell and the socket. One thread of a
//! task sleeps there, the others on a word that it bumps. The wait holds no lock and no value with
//! a destructor, so a signal handler may leave it by longjmp.

mod deadline;
mod for_one;
mod sleep;
mod spin;
mod token;

pub use deadline::Deadline;
pub use for_one::Awaited;
pub use token::WaitToken;
pub(crate) use token::{Watched, may_wait_for_one};

use crate::cores::Moves;
use crate::patience::{LONG, Patience};
use crate::sys::cancellation::{self, hold_signals, may_end_here};
use crate::sys::gate::Gate;
use crate::sys::{self, gate};
use pvm_shm::activity::Activity;
use pvm_shm::inbox::Inbox;
use pvm_shm::lock_word::Number;
use pvm_shm::sleeper::Sleeper;
use pvm_shm::users::Users;
use pvm_shm::watch::Watch;
use pvm_wire::{Code, Tid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

/// Longest spin where messages also come over sockets: a look there is a call into the kernel, and
/// the network wakes a sleeper as quickly as it could look. Looks have a [`Patience`] of their own:
/// two tasks that share a core, or hosts that are far apart, would look in vain each time.
const ROUTED: Duration = Duration::from_micros(20);
/// While a thread sleeps on the doorbell, one of the other waiting threads looks this often,
/// in case that one left by longjmp.
const RELAY: Duration = Duration::from_millis(100);
/// Each of them looks at least once a minute.
const RELAYS_MAX: i32 = 599;

/// A thread that is about to sleep looks this many times whether the gate is free.
const GATE_LOOKS: u32 = 64;
/// A task that waits for anything but a message, and has no memory or descriptor for a lane, tries
/// again after this time.
const LACKING: Duration = Duration::from_millis(5);

/// The words and descriptors that a task's threads wait on.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) inbox: Inbox,
    watch: Arc<Watch>,
    pub(crate) activity: Activity,
    pub(crate) bell: RawFd,
    /// The address at which others find the doorbell, once it is bound there.
    doorbell: Option<SocketAddrUnix>,
    bound: AtomicBool,
    pub(crate) socket: RawFd,
    pub(crate) cores: i32,
    /// The thread that sleeps on the descriptors, and those that wait for it.
    sleeper: Sleeper,
    /// The last look before the sleep was in vain.
    lingered: AtomicBool,
    patience: Patience,
    /// The patience of looks at sockets.
    routed: Patience,
    /// At the last look another task of the machine was awake on this core.
    crowded: AtomicBool,
    moves: Moves,
    /// When all lanes were marked to be looked at, by the monotonic clock.
    looked_at_all_ms: AtomicU64,
    /// Messages stream in: looking too soon would take the cache line from the sender that is about
    /// to write it.
    pub(crate) streaming: AtomicBool,
    /// `pvm_getfds` was called: the doorbell belongs to the program as well.
    pub(crate) watched: AtomicBool,
    /// Readable when something came by a direct route; -1 while there is none.
    pub(crate) routes: AtomicI32,
    /// Threads that wait, by whatever means, and [`OVER`]. One that has left its wait by longjmp
    /// counts for ever.
    users: Users,
}

/// Nobody is to begin a wait any more.
const OVER: u32 = 1 << 31;

/// The way in which a thread was counted among those that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Came {
    /// It was the only one of its process.
    Alone,
    /// There may have been others.
    Among,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Woken {
    /// Something may have arrived.
    Look,
    /// The socket has something: an answer, or its end.
    Socket,
    /// The deadline passed.
    Late,
}

impl Waiter {
    pub(crate) fn new(
        (inbox, watch): (Inbox, Arc<Watch>),
        activity: Activity,
        (bell, doorbell): (RawFd, Option<SocketAddrUnix>),
        socket: RawFd,
        cores: i32,
    ) -> Self {
        Self {
            inbox,
            watch,
            activity,
            bell,
            doorbell,
            bound: AtomicBool::new(false),
            socket,
            cores,
            sleeper: Sleeper::new(),
            lingered: AtomicBool::new(false),
            patience: Patience::new(LONG),
            routed: Patience::new(ROUTED),
            crowded: AtomicBool::new(false),
            moves: Moves::default(),
            looked_at_all_ms: AtomicU64::new(sys::clock_ms()),
            streaming: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            routes: AtomicI32::new(-1),
            users: Users::new(),
        }
    }

    /// A thread begins to wait: until it goes out again, descriptors and rings stay. None if all is
    /// over; the only thread looks for that itself, behind this.
    #[inline]
    pub(crate) fn come_in(&self) -> Option<Came> {
        if self.users.enter_alone(gate::is_alone) {
            return Some(Came::Alone);
        }
        let one_more = |users: u32| (users & OVER == 0).then_some(users + 1);
        let users = self.users.among();
        let came = users.fetch_update(Ordering::SeqCst, Ordering::Acquire, one_more);
        came.is_ok().then_some(Came::Among)
    }

    /// It waits no more: true if it was the last one, and all is over.
    #[inline]
    pub(crate) fn go_out(&self, came: Came) -> bool {
        if came == Came::Among {
            return self.users.among().fetch_sub(1, Ordering::SeqCst) == OVER | 1
                && !self.users.is_used_alone();
        }
        self.users.leave_alone();
        if !gate::is_alone() {
            // PAIRS WITH: the subtraction above, of a thread that has begun since: one of the two
            // is the last one.
            fence(Ordering::SeqCst);
        }
        self.users.among().load(Ordering::SeqCst) == OVER && !self.users.is_used_alone()
    }

    /// All is over: true if nobody waits.
    pub(crate) fn shut(&self) -> bool {
        self.users.among().fetch_or(OVER, Ordering::SeqCst) & !OVER == 0
            && !self.users.is_used_alone()
    }

    /// Waits until something arrives after `token`. `gate`: the lock on the state, in which this
    /// thread marks that it sleeps.
    pub(crate) fn wait<T>(
        &self,
        gate: &Gate<T>,
        generation: &AtomicU32,
        token: WaitToken,
        deadline: Deadline,
    ) -> Result<Woken, Code> {
        if self.watch.take_lack() {
            return Ok(self.pause(deadline));
        }
        if self.linger(generation, token, deadline) {
            return Ok(Woken::Look);
        }
        if deadline.passed() {
            return Ok(Woken::Late);
        }
        self.lingered.store(false, Ordering::Relaxed);
        cancellation::prepare();
        let me = sys::thread_number();
        if self.sleeper.is_another(me) {
            return Ok(self.wait_for_sleeper(generation, token, deadline));
        }
        // While this thread is the sleeper, handlers run in the sleep itself and nowhere else. One
        // that receives would disarm for this thread, and might watch a ring whose sender then says
        // nothing; one that waits gives the place back.
        let held = hold_signals();
        let woken = self.sleeper.take(me).then(|| {
            let sleep = || self.sleep((me, &held), deadline, generation, token);
            let woken = self.sleep_beside((gate, me), sleep);
            if self.sleeper.is(me) && self.sleeper.give_back(generation) {
                sys::futex_wake(generation);
            }
            woken
        });
        held.restore();
        woken.unwrap_or_else(|| Ok(self.wait_for_sleeper(generation, token, deadline)))
    }

    /// Sleeps with a mark in the gate: a thread that enters meanwhile watches no ring and leaves
    /// nothing where only a look finds it.
    fn sleep_beside<T>(
        &self,
        (gate, me): (&Gate<T>, Number),
        sleep: impl FnOnce() -> Result<Woken, Code>,
    ) -> Result<Woken, Code> {
        if gate::is_alone() {
            return sleep();
        }
        for _ in 0..GATE_LOOKS {
            if gate.lie_down() {
                let woken = sleep();
                if self.sleeper.is(me) {
                    gate.get_up();
                }
                return woken;
            }
            std::hint::spin_loop();
        }
        // Another look waits for the thread that is inside.
        Ok(Woken::Look)
    }

    /// The last look lacked memory or a descriptor: another program, or this one, may give some
    /// back soon. The end of the host is noticed meanwhile.
    #[cold]
    fn pause(&self, deadline: Deadline) -> Woken {
        let pause = deadline.left().map_or(LACKING, |left| left.min(LACKING));
        let mut fds = [PollFd::from_borrowed_fd(sys::borrow(self.socket), PollFlags::IN)];
        match poll(&mut fds, Some(&sys::timespec(pause))) {
            Ok(1..) => Woken::Socket,
            _ if deadline.passed() => Woken::Late,
            _ => Woken::Look,
        }
    }

    /// Something was put aside: wakes the threads that wait for the sleeper. True if another
    /// thread sleeps on the doorbell, which must be rung for it.
    pub(crate) fn announce(&self, generation: &AtomicU32) -> bool {
        let told = self.sleeper.announce(generation, sys::thread_number());
        if told.others {
            sys::futex_wake(generation);
        }
        told.sleeper
    }

    fn wait_for_sleeper(
        &self,
        generation: &AtomicU32,
        token: WaitToken,
        deadline: Deadline,
    ) -> Woken {
        // The more threads wait, the later each one looks: a thousand that looked ten times a
        // second each would leave no core for work.
        let before = self.sleeper.begin_beside();
        let relay =
            Instant::now() + RELAY * before.clamp(0, RELAYS_MAX).unsigned_abs().saturating_add(1);
        let until = match deadline {
            Deadline::At(end) => end.min(relay),
            Deadline::Never | Deadline::Now => relay,
        };
        if self.sleeper.is_taken() {
            sys::futex_wait(generation, token.generation, Some(until));
        }
        self.sleeper.end_beside();
        may_end_here();
        if deadline.passed() { Woken::Late } else { Woken::Look }
    }

    /// This thread ends. If it was cancelled while it slept on the doorbell, another one takes its
    /// place there.
    pub(crate) fn thread_ends<T>(&self, gate: &Gate<T>, generation: &AtomicU32) {
        if self.sleeper.is(sys::thread_number()) {
            self.inbox.disarm(&self.activity);
            gate.get_up();
            if self.sleeper.give_back(generation) {
                sys::futex_wake(generation);
            }
        }
    }

    /// From now on each sender rings; false if something has come already, of this sender if one is
    /// given.
    pub(crate) fn arm(&self, source: Option<Tid>) -> bool {
        self.bind();
        // A message that came through a watched ring is seen now; a later one marks the inbox.
        !self.watch.rest(source) && self.inbox.arm(&self.activity)
    }

    /// Gives the doorbell its name. Only a sleeper needs one: a task that says something and ends
    /// costs no file.
    pub(crate) fn bind(&self) {
        if self.bound.load(Ordering::Relaxed) {
            return;
        }
        let Some(doorbell) = &self.doorbell else { return };
        // The later one of two threads finds it bound already, and the kernel calls that invalid.
        let bound = rustix::net::bind(sys::borrow(self.bell), doorbell);
        self.bound.store(matches!(bound, Ok(()) | Err(Errno::INVAL)), Ordering::Relaxed);
    }

    /// Takes the rings off the doorbell.
    pub(crate) fn quiet(&self) {
        let mut byte = [0; 8];
        let bell = sys::borrow(self.bell);
        while rustix::net::recv(bell, &mut byte, rustix::net::RecvFlags::DONTWAIT).is_ok() {}
    }
}
