//! A body that is read while its owner still writes it (an in-place message, cut through).
//!
//! ```text
//! first page of a slab segment:  2048 + 64 s   filled u64   bytes of slot s that may be read
//!                                2056 + 64 s   left u32     1 once the owner is gone
//! ```
//! The owner publishes how far it has written, and the reader follows. An owner that dies in
//! between leaves a body that is never whole; the keeper says so in `left`, behind the owner's last
//! write.

use crate::segment::Mapping;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The offset of the words.
const OFFSET: usize = 2048;
/// The most slots of a segment.
pub(crate) const SLOTS_MAX: usize = 16;

/// The words of one slot, on a cache line of their own.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Words {
    filled: AtomicU64,
    left: AtomicU32,
}

/// The position up to which a reader may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filled {
    /// This many bytes are there.
    Bytes(u64),
    /// This many are there, and there will be no more.
    Left(u64),
}

impl Words {
    /// On the heap, for models.
    pub fn new() -> Self {
        Self { filled: AtomicU64::new(0), left: AtomicU32::new(0) }
    }

    /// Owner: `bytes` bytes are there. PAIRS WITH: `filled`.
    pub fn publish(&self, bytes: u64) {
        self.filled.store(bytes, Ordering::Release);
    }

    /// Keeper: the owner is gone. PAIRS WITH: `filled`.
    pub fn leave(&self) {
        self.left.store(1, Ordering::Release);
    }

    /// Reader: how far the owner has written. The mark that it has left is read first, so that all
    /// that it wrote before is seen.
    pub fn filled(&self) -> Filled {
        let left = self.left.load(Ordering::Acquire) != 0;
        let bytes = self.filled.load(Ordering::Acquire);
        if left { Filled::Left(bytes) } else { Filled::Bytes(bytes) }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

/// The words of a slot; none if there is no such slot.
pub(crate) fn words(mapping: &Mapping, slot: usize) -> Option<&Words> {
    // SAFETY: atomics, valid for any bits.
    (slot < SLOTS_MAX).then(|| unsafe { mapping.view(OFFSET + slot * size_of::<Words>()) })
}

/// Keeper: the owner of all slots is gone.
pub(crate) fn leave(mapping: &Mapping) {
    (0..SLOTS_MAX).filter_map(|slot| words(mapping, slot)).for_each(Words::leave);
}

/// Looks before a reader gives its core away, and times that it does so before it sleeps.
const LOOKS: u32 = 2000;
const YIELDS: u32 = 64;

/// Waits until the owner has written more than `offset` bytes, and returns how many; none if it
/// never will. A copy goes on without a pause as long as its owner runs, so the wait is short; one
/// that is stopped costs the reader a look each millisecond.
pub(crate) fn wait_beyond(words: &Words, offset: u64) -> Option<u64> {
    let mut looks = 0u32;
    loop {
        match words.filled() {
            Filled::Bytes(bytes) | Filled::Left(bytes) if bytes > offset => return Some(bytes),
            Filled::Left(_) => return None,
            Filled::Bytes(_) => {}
        }
        looks = looks.saturating_add(1);
        if looks < LOOKS {
            std::hint::spin_loop();
        } else if looks < LOOKS + YIELDS {
            rustix::thread::sched_yield();
        } else {
            let nap = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // A signal ends it early: then the next look comes early.
            let _ = rustix::thread::nanosleep(&nap);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_what_was_written_before_the_owner_left_and_no_more() {
        let words = Words::new();
        words.publish(10);
        assert_eq!(wait_beyond(&words, 9), Some(10));
        words.leave();
        assert_eq!(wait_beyond(&words, 9), Some(10));
        assert_eq!(wait_beyond(&words, 10), None);
    }
}
