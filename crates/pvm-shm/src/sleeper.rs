//! The thread of a task that sleeps on the doorbell, and those that wait beside it.
//!
//! One thread at a time is the *sleeper*: it arms the inbox, and sleeps where others ring. All
//! other threads that wait sleep on the word *generation*. The word rises with each arrival that is
//! put aside for another thread, and when the sleeper gives its place back. Three pairs of write
//! and look make sure that nobody sleeps in vain:
//!
//! ```text
//! sleeper:   take the place,       then look at the generation
//! announcer: raise the generation, then look at the place
//!
//! another:   count itself,         then look at the place
//! sleeper:   give the place back,  then look at the count
//!
//! sleeper:   arm the inbox,        then look at its bits
//! sender:    set a bit,            then look whether the inbox is armed
//! ```
//!
//! The third pair is [`Header`](crate::inbox::Header)'s.

use crate::lock_word::Number;
use crate::sync::{AtomicI32, AtomicU32, Ordering};

/// The place of the sleeper, and the count of those that wait beside it.
#[derive(Debug)]
pub struct Sleeper {
    /// The thread that sleeps on the doorbell, 0 for none.
    thread: AtomicU32,
    /// Threads that wait for the sleeper.
    others: AtomicI32,
}

/// The threads that must be woken for an arrival that was put aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announced {
    /// Threads sleep on the generation.
    pub others: bool,
    /// Another thread is the sleeper: the doorbell must be rung for it.
    pub sleeper: bool,
}

impl Sleeper {
    /// Nobody sleeps.
    pub fn new() -> Self {
        Self { thread: AtomicU32::new(0), others: AtomicI32::new(0) }
    }

    /// Makes this thread the sleeper; false if another one is. A thread that has left an earlier
    /// sleep by longjmp still has the place.
    pub fn take(&self, me: Number) -> bool {
        // PAIRS WITH: `announce`. The name stands here before the last look at the generation.
        let taken = self.thread.compare_exchange(0, me.get(), Ordering::SeqCst, Ordering::SeqCst);
        taken.is_ok() || taken == Err(me.get())
    }

    /// True while this thread is the sleeper. A handler of its signals that has slept meanwhile has
    /// given the place back, and has done all that belongs to the end of a sleep; another thread
    /// may have the place now.
    pub fn is(&self, me: Number) -> bool {
        self.thread.load(Ordering::SeqCst) == me.get()
    }

    /// True if another thread is the sleeper.
    pub fn is_another(&self, me: Number) -> bool {
        ![0, me.get()].contains(&self.thread.load(Ordering::SeqCst))
    }

    /// The sleeper is awake: true if the generation was raised and those that sleep on it must be
    /// woken.
    pub fn give_back(&self, generation: &AtomicU32) -> bool {
        // PAIRS WITH: `begin_beside` and `is_taken`.
        self.thread.store(0, Ordering::SeqCst);
        in_order();
        let waits = self.others.load(Ordering::SeqCst) > 0;
        if waits {
            generation.fetch_add(1, Ordering::Release);
        }
        waits
    }

    /// Counts a thread that will sleep on the generation; returns the number before it.
    pub fn begin_beside(&self) -> i32 {
        let before = self.others.fetch_add(1, Ordering::SeqCst);
        in_order();
        before
    }

    /// True if some thread is the sleeper. A thread that has been counted sleeps only then: a
    /// sleeper that has gone before wakes nobody. PAIRS WITH: `give_back`.
    pub fn is_taken(&self) -> bool {
        self.thread.load(Ordering::SeqCst) != 0
    }

    /// The thread waits beside the sleeper no more.
    pub fn end_beside(&self) {
        self.others.fetch_sub(1, Ordering::AcqRel);
    }

    /// Something was put aside that another thread may wait for.
    pub fn announce(&self, generation: &AtomicU32, me: Number) -> Announced {
        // PAIRS WITH: `take`.
        generation.fetch_add(1, Ordering::SeqCst);
        in_order();
        let others = self.others.load(Ordering::SeqCst) > 0;
        Announced { others, sleeper: self.is_another(me) }
    }
}

/// Between a write and a look that are `SeqCst` both. Loom takes such accesses for acquire and
/// release only, so there the fence stands for the one order of all of them.
#[inline]
fn in_order() {
    #[cfg(loom)]
    crate::sync::fence(Ordering::SeqCst);
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}
