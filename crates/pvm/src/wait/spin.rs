//! The part of a wait before the sleep: looks while a core is free, then yields.

use super::{Deadline, WaitToken, Waiter};
use crate::sys;
use crate::sys::gate;
use rustix::event::{PollFd, PollFlags, poll};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Pauses before the next look where messages stream in: about half a microsecond, in which a quick
/// sender writes a handful.
const STREAM_PAUSES: u32 = 32;
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;
/// A message within this many looks comes soon: a look takes some tens of nanoseconds.
const SOON: u32 = 16;
/// Like `LOOKS`, where messages also come over sockets.
const ROUTED_LOOKS: u32 = 4;
/// Yields before sleeping where cores are short: 3 to 64 measured alike, 1 is too few.
const YIELDS: u32 = 16;
/// A core that was given away longer than this went to a program of others, or to a task that
/// computes.
const YIELD_MAX: Duration = Duration::from_micros(500);
/// A yield behind which a message lies, and that takes longer, has run another thread: one that
/// finds nobody takes 1 us with the look, the partner's send 5 us.
const SWITCH_MIN: Duration = Duration::from_micros(3);
/// The shortest and the longest pause in which the core is not given away then: a woken task goes
/// ahead of one that computes.
const YIELD_PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(32));

/// The outcome of giving the core to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Yielded {
    /// Something has arrived.
    Arrived,
    /// Nothing has, and the core came back soon.
    Back,
    /// Others keep it for long.
    Lost,
}

impl Waiter {
    /// The part of a wait before the sleep: true if something has arrived.
    pub(super) fn linger(
        &self,
        generation: &AtomicU32,
        token: WaitToken,
        deadline: Deadline,
    ) -> bool {
        self.watch.look(token.source(), |has_come| {
            let arrived = || {
                has_come()
                    || self.inbox.header().has_pending()
                    || generation.load(Ordering::Acquire) != token.generation
                    || token.is_over()
            };
            self.linger_until(&arrived, deadline)
        })
    }

    /// Like `linger`, after a look that told which message it looks for: see [`Watch::look_for`].
    pub(crate) fn linger_for(
        &self,
        generation: &AtomicU32,
        token: WaitToken,
        deadline: Deadline,
    ) -> bool {
        self.watch.look_for(gate::is_alone, |has_come, by_one_ring| {
            let arrived = || {
                has_come()
                    || !by_one_ring && self.inbox.header().has_pending()
                    || generation.load(Ordering::Acquire) != token.generation
                    || token.is_over()
            };
            self.linger_until(&arrived, deadline)
        })
    }

    #[inline]
    fn linger_until(&self, arrived: &dyn Fn() -> bool, deadline: Deadline) -> bool {
        if self.streaming.load(Ordering::Relaxed) && self.activity.count() <= self.cores {
            for _ in 0..STREAM_PAUSES {
                std::hint::spin_loop();
            }
        }
        // A thread that has lingered in vain goes to sleep next, and does not linger twice.
        let lingered = self.lingered.load(Ordering::Relaxed);
        if lingered {
            self.lingered.store(false, Ordering::Relaxed);
        }
        if arrived() {
            self.watch.tell_soon(true);
            return true;
        }
        if lingered {
            return false;
        }
        let spun = self.spin(arrived, deadline);
        if !spun {
            self.lingered.store(true, Ordering::Relaxed);
        }
        spun
    }

    /// True when something arrived.
    fn spin(&self, arrived: &dyn Fn() -> bool, deadline: Deadline) -> bool {
        // The clock costs more than a look: a quick answer comes without it.
        let mut start = None;
        let (looks, patience) = match self.routes.load(Ordering::Relaxed) {
            0.. => (ROUTED_LOOKS, &self.routed),
            _ => (LOOKS, &self.patience),
        };
        let longest = patience.longest();
        let mut alone = false;
        while self.activity.count() <= self.cores {
            // Known from the last wait: then nothing comes before the core is given to the other
            // task.
            let crowded = !alone && self.crowded.load(Ordering::Relaxed);
            for look in 0..if crowded { 1 } else { looks } {
                if arrived() {
                    patience.paid();
                    self.watch.tell_soon(start.is_none() && look < SOON);
                    return true;
                }
                std::hint::spin_loop();
            }
            if self.has_routed() {
                patience.paid();
                return true;
            }
            if !alone && self.is_crowded() {
                match self.make_room(arrived) {
                    Yielded::Arrived => return true,
                    Yielded::Lost => return false,
                    // The task that counts here may be gone, or wait for something else: the count
                    // is advice.
                    Yielded::Back => alone = true,
                }
                continue;
            }
            let now = Instant::now();
            if now - *start.get_or_insert(now) > longest {
                patience.in_vain();
                break;
            }
            if deadline.passed() {
                return false;
            }
        }
        // The partner may wait for this very core.
        self.give_way(arrived) == Yielded::Arrived
    }

    /// True while another task of the machine is awake on this core, as far as is known.
    fn is_crowded(&self) -> bool {
        let crowded = self.inbox.settle(&self.activity).0 > 1;
        self.crowded.store(crowded, Ordering::Relaxed);
        crowded
    }

    /// Another task of the machine needs this core, while there are enough for all: leaves it, or
    /// hands it over.
    #[cold]
    fn make_room(&self, arrived: &dyn Fn() -> bool) -> Yielded {
        if self.leave_core() {
            return if arrived() { Yielded::Arrived } else { Yielded::Back };
        }
        self.give_way(arrived)
    }

    /// Moves this thread to a core on which no task of the host is awake: true if there is one, and
    /// it is time for that.
    fn leave_core(&self) -> bool {
        let here = self.inbox.settle(&self.activity).1;
        let tell = |core| self.inbox.settle_on(&self.activity, core);
        self.moves.leave(sys::clock(), here, &self.activity, tell).is_some()
    }

    /// Gives the core to others a few times. Others of the machine give it back soon.
    fn give_way(&self, arrived: &dyn Fn() -> bool) -> Yielded {
        let mut start = sys::clock();
        let yielding = self.activity.yielding(self.inbox.settle(&self.activity).1);
        if !yielding.is_due(start) {
            return Yielded::Lost;
        }
        for _ in 0..YIELDS {
            rustix::thread::sched_yield();
            let routed = !arrived() && self.has_routed();
            let now = sys::clock();
            let away = now.saturating_sub(start);
            let lost = away > YIELD_MAX;
            if lost {
                yielding.in_vain((start, now), YIELD_PAUSES);
            }
            if routed && away > SWITCH_MIN {
                // The thread that ran here meanwhile may be the partner: tasks of two hosts that
                // share a computer do not count each other. Two such tasks would hand this core to
                // each other, never sleep, and so stay on it.
                self.leave_core();
            }
            if routed || arrived() {
                return Yielded::Arrived;
            }
            if lost {
                return Yielded::Lost;
            }
            start = now;
        }
        Yielded::Back
    }

    /// True when something came by a direct route.
    fn has_routed(&self) -> bool {
        let routes = self.routes.load(Ordering::Relaxed);
        if routes < 0 {
            return false;
        }
        let mut fds = [PollFd::from_borrowed_fd(sys::borrow(routes), PollFlags::IN)];
        poll(&mut fds, Some(&sys::timespec(Duration::ZERO))).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_shm::activity::Activity;
    use pvm_shm::inbox::Inbox;
    use pvm_shm::segment::{Mapping, create};
    use pvm_shm::watch::Watch;
    use rustix::event::epoll;
    use rustix::fd::{AsRawFd as _, OwnedFd};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    fn segment(size: usize) -> Arc<Mapping> {
        let fd = create(size).expect("memory");
        Arc::new(Mapping::new(fd, size, true).expect("memory"))
    }

    /// The waiter of the only awake task of its host.
    fn waiter(routes: &OwnedFd) -> Waiter {
        let activity = Activity::new(segment(Activity::SIZE));
        let inbox = Inbox::new(segment(Inbox::SIZE));
        inbox.start(&activity);
        let waiter = Waiter::new((inbox, Arc::new(Watch::new())), activity, (-1, None), -1, 2);
        waiter.routes.store(routes.as_raw_fd(), Ordering::Relaxed);
        waiter
    }

    fn readable(socket: &UnixStream) -> OwnedFd {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set");
        let data = epoll::EventData::new_u64(1);
        epoll::add(&set, socket, data, epoll::EventFlags::IN).expect("room");
        set
    }

    /// A task of another host on this computer, always on the same core. It answers when it has
    /// the core for the second time, so the other one waits meanwhile.
    fn answer(mut socket: UnixStream) {
        let mut byte = [0];
        while socket.read_exact(&mut byte).is_ok() {
            rustix::thread::sched_yield();
            let begun = Instant::now();
            while begun.elapsed() < 5 * SWITCH_MIN {
                std::hint::spin_loop();
            }
            if socket.write_all(&byte).is_err() {
                return;
            }
        }
    }

    #[test]
    fn tasks_of_two_hosts_shared_a_core_of_their_computer_for_long_beside_a_free_one() {
        let (mut here, there) = UnixStream::pair().expect("a pair");
        let routes = readable(&here);
        let waiter = waiter(&routes);
        let allowed = sched_getaffinity(None).expect("its own");
        let mut core = CpuSet::new();
        let shared = sched_getcpu();
        core.set(shared);
        sched_setaffinity(None, &core).expect("its own");
        let partner = std::thread::spawn(|| answer(there));
        sched_setaffinity(None, &allowed).expect("its own");

        let generation = AtomicU32::new(0);
        let rounds = if allowed.count() > 1 { 2000 } else { 200 };
        let has_moved = (0..rounds).any(|_| {
            here.write_all(&[1]).expect("a partner");
            waiter.linger(&generation, WaitToken::new(0), Deadline::Never);
            // The kernel moves it, too, but after a while.
            let has_moved = waiter.moves.has_tried(sys::clock()) && sched_getcpu() != shared;
            here.read_exact(&mut [0]).expect("an answer");
            has_moved
        });
        here.shutdown(std::net::Shutdown::Both).expect("open");
        partner.join().expect("no panic");
        assert_eq!(
            has_moved,
            allowed.count() > 1,
            "a lone processor is shared as long as it takes"
        );
        assert_eq!(sched_getaffinity(None).expect("its own"), allowed);
    }
}
