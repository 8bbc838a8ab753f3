//! Threads that run the parts of one simulation side by side.

use pvm_predict::Crew;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Looks before a thread sleeps until the others have come: some 20 us. Windows of a simulation
/// last some hundred microseconds, so the others are mostly nearly done.
const LOOKS: u32 = 2_000;

/// Up to so many threads, the caller's included.
pub(super) struct Threads {
    most: usize,
    state: Mutex<State>,
    bell: Condvar,
    /// The number of times that all have met; what is in `state`, for looks without its lock.
    round: AtomicU64,
}

#[derive(Default)]
struct State {
    /// The number of workers, once that is known.
    workers: Option<usize>,
    /// Workers that wait for the others.
    waiting: usize,
    round: u64,
    /// A worker has panicked: nobody waits for it.
    is_broken: bool,
}

impl Threads {
    pub(super) fn new(most: usize) -> Self {
        let (state, bell) = (Mutex::default(), Condvar::new());
        Self { most: most.max(1), state, bell, round: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until something holds.
    fn until(&self, holds: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let asleep = self.bell.wait_while(self.lock(), |state| !holds(state));
        asleep.unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes those who wait for that.
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.bell.notify_all();
    }

    fn work(&self, worker: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        let workers = self.until(|state| state.workers.is_some()).workers.unwrap_or(1);
        let _breaks = Breaks(self);
        work(worker, workers);
    }
}

/// The release of the other threads if this one panics.
struct Breaks<'a>(&'a Threads);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.change(|state| state.is_broken = true);
        }
    }
}

impl Crew for Threads {
    /// If no more threads can be started, there are fewer workers.
    fn all(&self, work: &(dyn Fn(usize, usize) + Sync)) {
        std::thread::scope(|scope| {
            let begin =
                |worker| Builder::new().spawn_scoped(scope, move || self.work(worker, work)).ok();
            let others = (1..self.most).map_while(begin).count();
            self.change(|state| state.workers = Some(others + 1));
            self.work(0, work);
        });
    }

    fn meet(&self) {
        let mut state = self.lock();
        let round = state.round;
        state.waiting += 1;
        if state.workers == Some(state.waiting) {
            (state.waiting, state.round) = (0, round + 1);
            // PAIRS WITH: the looks below. The lock orders what the workers have done.
            self.round.store(round + 1, Ordering::Release);
            drop(state);
            return self.bell.notify_all();
        }
        drop(state);
        for _ in 0..LOOKS {
            // PAIRS WITH: the store above.
            if self.round.load(Ordering::Acquire) != round {
                return;
            }
            spin_loop();
        }
        let state = self.until(|state| state.round != round || state.is_broken);
        assert!(state.round != round, "another thread of this simulation has panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn what_was_done_before_a_meeting_is_seen_behind_it() {
        for most in [1, 2, 5] {
            let (crew, done) = (Threads::new(most), AtomicUsize::new(0));
            crew.all(&|_, workers| {
                for round in 1..=200 {
                    done.fetch_add(1, Ordering::Relaxed);
                    crew.meet();
                    assert_eq!(done.load(Ordering::Relaxed), round * workers);
                    crew.meet();
                }
            });
            assert_eq!(done.into_inner() % 200, 0);
        }
    }

    #[test]
    fn a_panic_of_one_ends_all() {
        let crew = Threads::new(3);
        let work = |worker, _| {
            assert!(worker != 1, "on purpose");
            crew.meet();
        };
        let run = std::panic::AssertUnwindSafe(|| crew.all(&work));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
