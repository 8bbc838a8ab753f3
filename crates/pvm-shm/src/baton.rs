//! The baton of a host: among tasks that take turns, its holder computes (`pvm run --alone`).
//!
//! One word names the holder; 0 means that nobody has the baton. It is changed by a
//! compare-and-swap alone, so a task that was taken for dead or stopped and goes on after all finds
//! another name there and gives nothing back. Each pass of the baton raises a count, and the
//! threads in line sleep on that count. A neighbour that scribbles here can make tasks wait longer
//! or compute at once, nothing else.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A thread of this computer: its number in the kernel, and when it began, as numbers are used
/// again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Its number.
    pub thread: u32,
    /// When it began, in ticks of the kernel: the lower bits.
    pub began: u32,
}

impl Holder {
    const fn word(self) -> u64 {
        (self.thread as u64) << 32 | self.began as u64
    }

    const fn of(word: u64) -> Option<Self> {
        match word {
            0 => None,
            word => Some(Self { thread: (word >> 32) as u32, began: word as u32 }),
        }
    }
}

/// The result of reaching for the baton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// It is the asker's.
    Taken,
    /// This one has it.
    Held(Holder),
}

/// The words, in memory that all tasks of the host see.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Baton {
    holder: AtomicU64,
    passes: AtomicU32,
    waiting: AtomicU32,
}

impl Baton {
    /// Takes it if nobody has it.
    pub fn reach(&self, me: Holder) -> Reach {
        // PAIRS WITH: `pass`, behind which lies what its caller has done.
        let taken = self.holder.compare_exchange(0, me.word(), Ordering::AcqRel, Ordering::Acquire);
        match taken.err().and_then(Holder::of) {
            Some(holder) if holder != me => Reach::Held(holder),
            _ => Reach::Taken,
        }
    }

    /// Takes it from a holder that does not compute; false if that one does not have it any more.
    pub fn take_from(&self, other: Holder, me: Holder) -> bool {
        let words = (other.word(), me.word());
        self.holder.compare_exchange(words.0, words.1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Frees it for the first thread that reaches for it; false if the caller does not have it. The
    /// caller then wakes one of the threads that sleep on [`Baton::passes`].
    pub fn pass(&self, me: Holder) -> bool {
        let passed =
            self.holder.compare_exchange(me.word(), 0, Ordering::AcqRel, Ordering::Relaxed);
        if passed.is_ok() {
            // The count is raised after the word is freed: a thread that has read the old count and
            // then found the baton taken does not sleep.
            self.passes.fetch_add(1, Ordering::AcqRel);
        }
        passed.is_ok()
    }

    /// True while somebody has it.
    pub fn is_held(&self) -> bool {
        self.holder.load(Ordering::Relaxed) != 0
    }

    /// The number of times that the baton was passed on. A task reads it, reaches for the baton,
    /// and sleeps while the number stays the same.
    pub const fn passes(&self) -> &AtomicU32 {
        &self.passes
    }

    /// The caller stands in line from now on. One that is killed there counts for ever.
    pub fn line_up(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// It does so no more.
    pub fn step_out(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// True if somebody stands in line, as far as is known.
    pub fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed).cast_signed() > 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const ANN: Holder = Holder { thread: 7, began: 1 };
    const BOB: Holder = Holder { thread: 8, began: 2 };

    #[test]
    fn one_has_it_until_it_is_passed_on() {
        let baton = Baton::default();
        assert_eq!(baton.reach(ANN), Reach::Taken);
        assert_eq!(baton.reach(BOB), Reach::Held(ANN));
        assert_eq!(baton.reach(ANN), Reach::Taken, "its holder reaches once more");
        assert!(!baton.pass(BOB) && baton.is_held());
        let before = baton.passes().load(Ordering::Relaxed);
        assert!(baton.pass(ANN) && !baton.is_held());
        assert_ne!(baton.passes().load(Ordering::Relaxed), before);
        assert_eq!(baton.reach(BOB), Reach::Taken);
    }

    #[test]
    fn a_holder_that_goes_on_after_it_was_passed_over_takes_nothing_back() {
        let baton = Baton::default();
        assert_eq!(baton.reach(ANN), Reach::Taken);
        assert!(baton.take_from(ANN, BOB));
        assert!(!baton.take_from(ANN, BOB), "only one of those in line gets it");
        assert!(!baton.pass(ANN));
        assert_eq!(baton.reach(ANN), Reach::Held(BOB));
    }

    #[test]
    fn a_thread_with_the_number_of_a_former_one_is_another_one() {
        let baton = Baton::default();
        assert_eq!(baton.reach(ANN), Reach::Taken);
        let later = Holder { began: 9, ..ANN };
        assert_eq!(baton.reach(later), Reach::Held(ANN));
        assert!(!baton.pass(later));
    }
}
