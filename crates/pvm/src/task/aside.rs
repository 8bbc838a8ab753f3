//! One word that says whether anything stands against the fast path of a receive.
//!
//! Each long way that changes one of these things sets its bit, with the state's lock in hand; the
//! fast path, which has the lock as well, looks at the word once.

use std::sync::atomic::{AtomicU32, Ordering};

/// The task is over: it has left, lost its daemon, or is the parent of this process. The only bit
/// that is set without the lock.
pub(crate) const OVER: u32 = 1;
/// The program waits on a descriptor of its own (`pvm_getfds`), whose promise each look keeps.
pub(crate) const DESCRIPTOR: u32 = 2;
/// Messages of other hosts may come by a direct route, or routes are asked for.
pub(crate) const ROUTES: u32 = 4;
/// Messages whose turn it is were taken in, and no lane tells of them.
pub(crate) const ARRIVALS: u32 = 8;
/// Messages wait that nobody has asked for.
pub(crate) const MAILBOX: u32 = 16;
/// The bits that follow from the state.
const OF_STATE: u32 = ROUTES | ARRIVALS | MAILBOX;

/// The word.
#[derive(Debug)]
pub(crate) struct Aside(AtomicU32);

impl Aside {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The bits that stand against it; 0 for none.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Sets a bit that stands against it from now on.
    pub(crate) fn set(&self, bit: u32) {
        self.0.fetch_or(bit, Ordering::AcqRel);
    }

    /// A thread that had the state leaves it; `now` has the bits of the state that are set.
    #[inline]
    pub(crate) fn follow(&self, now: u32) {
        let changed = (self.0.load(Ordering::Relaxed) ^ now) & OF_STATE;
        if changed != 0 {
            // Nobody else changes these bits meanwhile.
            self.0.fetch_xor(changed, Ordering::Release);
        }
    }
}
