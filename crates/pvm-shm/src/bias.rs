//! Whether a process is biased to the first of its threads that calls: that one takes no locks
//! then.
//!
//! All of it is one byte, so that the beginning of the bias and its end cannot pass each other. A
//! thread that is not the first one ends the bias in its first call, has the kernel fence all
//! threads, and waits until the first thread is on no fast path. The first thread says that it is
//! on one, and then asks for the bias, without a fence of its own between the two.

use crate::sync::{AtomicU8, Ordering};

/// The state of a process.
#[derive(Debug)]
pub struct Bias(AtomicU8);

/// There is no bias, and there will be none.
const ENDED: u8 = 0;
/// Nobody has called.
const NOBODY: u8 = 1;
/// There is a bias.
const BEGUN: u8 = 2;

impl Bias {
    /// The state of a process in which nobody has called.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU8::new(NOBODY))
    }

    /// The state of a process in which nobody has called.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicU8::new(NOBODY))
    }

    /// A byte that is not 0 while [`Bias::is_on`], for code that also trusts such a byte of the C
    /// library.
    #[cfg(not(loom))]
    pub const fn flag(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// True while no second thread has called.
    #[inline]
    pub fn is_on(&self) -> bool {
        // PAIRS WITH: `end`, and the fence in all threads behind it.
        self.0.load(Ordering::Relaxed) != ENDED
    }

    /// True while nobody has called.
    pub fn is_unused(&self) -> bool {
        self.0.load(Ordering::Relaxed) == NOBODY
    }

    /// A thread calls for the first time: true for the first of all.
    pub fn begin(&self) -> bool {
        // PAIRS WITH: the exchange of another thread, or the store of `end`: one is the first.
        let order = (Ordering::AcqRel, Ordering::Acquire);
        self.0.compare_exchange(NOBODY, BEGUN, order.0, order.1).is_ok()
    }

    /// It is over for good. The caller has a fence made in all threads before it asks where the
    /// first one is.
    pub fn end(&self) {
        self.0.store(ENDED, Ordering::Release);
    }

    /// In the child of a fork, whose only thread is the one that it was biased to.
    pub fn begin_again(&self) {
        self.0.store(BEGUN, Ordering::Relaxed);
    }
}

impl Default for Bias {
    fn default() -> Self {
        Self::new()
    }
}
