//! Turns: tasks of a host that compute one after the other (`pvm run --alone`).
//!
//! The thread that has the host's [`Baton`] computes. It passes the baton on where it waits in the
//! library, and stands in [`line`] before it goes on. No lock is held here, and nothing has a
//! destructor: a handler may leave the line by longjmp, and computes then without a turn until its
//! next wait.

mod line;

use crate::probe::{self, waits};
use crate::sys;
use pvm_shm::activity::Activity;
use pvm_shm::baton::Baton;
use pvm_shm::probe::Probes;
use pvm_wire::record::{Reason, What};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A task that looks for messages in vain for this long lets others compute, one of which may send
/// them.
const POLLING: Duration = Duration::from_millis(10);

/// Whether a task takes turns, and since when it polls in vain.
#[derive(Debug)]
pub(crate) struct TurnTaking {
    taken: AtomicBool,
    polls: Polls,
    activity: Activity,
    probes: Arc<Probes>,
}

impl TurnTaking {
    pub(crate) fn new(taken: bool, activity: Activity, probes: Arc<Probes>) -> Self {
        Self { taken: AtomicBool::new(taken), polls: Polls::default(), activity, probes }
    }

    fn baton(&self) -> &Baton {
        self.activity.baton()
    }

    /// True if the task takes turns with others.
    #[inline]
    pub(crate) fn are_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    /// A wait begins: others may compute.
    #[inline]
    pub(crate) fn hand_on(&self) {
        if self.are_taken() {
            self.polls.end();
            line::pass(self.baton());
        }
    }

    /// The program goes on: if tasks take turns, when it is this one's.
    #[inline]
    pub(crate) fn await_turn(&self) {
        if self.are_taken() {
            self.stand_in_line(|| ());
        }
    }

    /// Nobody computes meanwhile whose time is to be told. The processor's clock is noted each
    /// time: what a task computes between two of them is held to it.
    #[cold]
    fn stand_in_line(&self, before: impl FnOnce()) {
        let begin = probe::moment(&self.probes);
        waits::forget_sleep();
        before();
        waits::sleep(begin.is_some(), || line::take(self.baton()));
        if let Some(begin) = begin {
            let processor = waits::take_sleep();
            probe::note_part(&self.probes, begin, What::Wait { reason: Reason::Turn, processor });
        }
    }

    /// A look has found something, or not. A task that looks in vain for long lets others compute.
    /// The caller must not have the gate.
    #[inline]
    pub(crate) fn has_looked(&self, found: bool) {
        if self.are_taken() {
            self.looked(found);
        }
    }

    #[cold]
    fn looked(&self, found: bool) {
        if found {
            return self.polls.end();
        }
        if self.polls.are_long() {
            self.polls.end();
            self.stand_in_line(|| line::let_others(self.baton()));
        }
    }

    /// From now on the task computes when it likes.
    pub(crate) fn end(&self) {
        if self.taken.swap(false, Ordering::Relaxed) {
            line::pass(self.baton());
        }
    }
}

/// Looks in vain, one behind the other.
#[derive(Debug, Default)]
struct Polls {
    /// When the first one was, in nanoseconds of the computer's clock; 0 where there was none.
    since: AtomicU64,
}

impl Polls {
    fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// One more: true if they have gone on for long.
    fn are_long(&self) -> bool {
        let now = u64::try_from(sys::clock().as_nanos()).unwrap_or(u64::MAX);
        match self.since.load(Ordering::Relaxed) {
            0 => {
                self.since.store(now, Ordering::Relaxed);
                false
            }
            since => now.saturating_sub(since) >= POLLING.as_nanos() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_in_vain_for_long_is_told_and_a_message_ends_it() {
        let polls = Polls::default();
        assert!(!polls.are_long());
        std::thread::sleep(POLLING);
        assert!(polls.are_long());
        polls.end();
        assert!(!polls.are_long());
    }
}
