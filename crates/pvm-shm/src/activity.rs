//! The count of awake tasks of the host and their cores, which decides how a waiting task waits.
//!
//! The waker counts, not the woken: while the kernel brings a task back, others must already
//! know that a core is taken (measured: 58 us against 2 us a message with eight tasks on two
//! cores when the woken counted itself). It counts them where they slept; a task that waits
//! corrects its own place, as the kernel tells nobody that it has moved a task.

use crate::baton::Baton;
use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicI32, AtomicU64, Ordering};
use crate::trial::Trial;
use std::ptr::NonNull;
use std::sync::Arc;

/// The segment: each on a cache line of its own.
#[derive(Debug)]
#[repr(C)]
struct Words {
    running: Line<AtomicI32>,
    clock: Line<AtomicU64>,
    cores: [AtomicI32; CORES],
    yielding: [Trial; YIELDING],
    rings: Line<AtomicU64>,
    baton: Line<Baton>,
}

/// Cores whose tasks give the core to each other.
const YIELDING: usize = 64;

/// Cores that are told from each other. Those of larger computers share places, which costs them
/// time, nothing else.
const CORES: usize = 512;

/// The core that this thread runs on, as its number among those that are told from each other.
#[inline]
pub(crate) fn core_now() -> u32 {
    // Neither of the two explores what the kernel does.
    if cfg!(any(loom, miri)) { 0 } else { (rustix::thread::sched_getcpu() % CORES) as u32 }
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Line<T>(T);

/// The host's count, and beside it the host's clock (see [`crate::clock`]). Cheap to clone.
#[derive(Clone, Debug)]
pub struct Activity {
    mapping: Arc<Mapping>,
    /// Its start: every send looks at the clock.
    words: NonNull<Words>,
}

// SAFETY: the pointer leads into the mapping that is kept beside it, to atomics.
unsafe impl Send for Activity {}
// SAFETY: as above.
unsafe impl Sync for Activity {}

impl Activity {
    /// Bytes of the segment.
    pub const SIZE: usize = PAGE;

    /// The count in this segment.
    pub fn new(mapping: Arc<Mapping>) -> Self {
        // SAFETY: atomic integers are valid for any bits and may be written by anybody.
        let words = NonNull::from(unsafe { mapping.view::<Words>(0) });
        Self { mapping, words }
    }

    /// The mapping that it lies in.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    #[inline]
    const fn words(&self) -> &Words {
        // SAFETY: they lie in `mapping`, which neither moves nor goes before this does.
        unsafe { self.words.as_ref() }
    }

    const fn running(&self) -> &AtomicI32 {
        &self.words().running.0
    }

    /// The host's clock. A neighbour that scribbles here can spoil the order of messages, nothing
    /// else.
    #[inline]
    pub(crate) const fn clock(&self) -> &AtomicU64 {
        &self.words().clock.0
    }

    /// Sets the host's clock forward, if it is not there yet.
    pub(crate) fn set_clock(&self, to: u64) {
        let clock = self.clock();
        let mut now = clock.load(Ordering::Acquire);
        while is_later(to, now) {
            match clock.compare_exchange_weak(now, to, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => now = found,
            }
        }
    }

    /// Tasks that are awake. A neighbour that scribbles here can cost time, nothing else.
    pub fn count(&self) -> i32 {
        self.running().load(Ordering::Relaxed)
    }

    /// Tasks that are awake on this core, as far as is known.
    pub fn count_on(&self, core: u32) -> i32 {
        self.on(core).load(Ordering::Relaxed)
    }

    /// Whether tasks that wait on this core give it to others. One for all of them: among tasks
    /// that sleep instead, one that gives the core away gets it back late.
    pub fn yielding(&self, core: u32) -> &Trial {
        &self.words().yielding[core as usize % YIELDING]
    }

    /// Bytes that trace rings have taken by growing.
    pub(crate) fn rings(&self) -> &AtomicU64 {
        &self.words().rings.0
    }

    /// The baton of tasks that take turns.
    pub const fn baton(&self) -> &Baton {
        &self.words().baton.0
    }

    fn on(&self, core: u32) -> &AtomicI32 {
        &self.words().cores[core as usize % CORES]
    }

    /// One more is awake, on this core.
    pub(crate) fn woke(&self, core: u32) {
        self.running().fetch_add(1, Ordering::Relaxed);
        self.on(core).fetch_add(1, Ordering::Relaxed);
    }

    /// One less is awake.
    pub(crate) fn slept(&self, core: u32) {
        self.running().fetch_sub(1, Ordering::Relaxed);
        self.on(core).fetch_sub(1, Ordering::Relaxed);
    }

    /// One that is awake has changed its core.
    pub(crate) fn moved(&self, from: u32, to: u32) {
        self.on(from).fetch_sub(1, Ordering::Relaxed);
        self.on(to).fetch_add(1, Ordering::Relaxed);
    }
}

/// Moments are compared by their difference, as all clocks that count for long.
#[inline]
pub(crate) const fn is_later(a: u64, b: u64) -> bool {
    (a.wrapping_sub(b)).cast_signed() > 0
}
