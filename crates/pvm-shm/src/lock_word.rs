//! The word of a lock that knows its owner, and whether a thread sleeps beside it.
//!
//! ```text
//!  bit 31       30   29       28 ........ 0
//! +-----------+---+--------+---------------+
//! | contended |   | asleep | owner, 0 none |
//! +-----------+---+--------+---------------+
//! ```
//! *Asleep* is set while nobody has the lock, by a thread that is about to sleep without it, on
//! what others ring. The sleeper has then seen all that was done under the lock before, and each
//! thread that takes the lock later finds the mark. As all of it is one word, no fence is needed,
//! and a thread that finds the word 0 has nothing more to ask.

use crate::sync::{AtomicU32, Ordering};

const FREE: u32 = 0;
const ASLEEP: u32 = 1 << 29;
const CONTENDED: u32 = 1 << 31;

/// The word of one lock.
#[derive(Debug)]
pub struct LockWord(AtomicU32);

/// A thread's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number(u32);

impl Number {
    /// The number of the n-th thread. Numbers are used again after half a billion others. Two
    /// threads with one number exclude each other all the same, but one is told [`Taken::Own`]
    /// where the other has the lock.
    pub const fn nth(n: u32) -> Self {
        Self(n % (ASLEEP - 1) + 1)
    }

    /// As a value that is not 0.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number with this value.
    #[inline]
    pub const fn of_value(value: u32) -> Self {
        Self(value)
    }
}

/// The reason why the lock was not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The thread that asks has it.
    Own,
    /// Another thread has it: what the word was.
    Other(u32),
}

impl LockWord {
    /// Free.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    /// Free.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    /// Takes it in one step, if it is free and nobody sleeps beside it.
    #[inline]
    pub fn try_take(&self, me: Number) -> bool {
        self.0.compare_exchange(FREE, me.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes it if it is free, and tells whether somebody sleeps beside it.
    ///
    /// # Errors
    /// [`Taken`] tells whether the caller or another thread has it.
    #[inline]
    pub fn take(&self, me: Number) -> Result<bool, Taken> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & !ASLEEP != FREE {
                return Err(match word & !(ASLEEP | CONTENDED) {
                    owner if owner == me.0 => Taken::Own,
                    _ => Taken::Other(word),
                });
            }
            match self.0.compare_exchange(word, word | me.0, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(word == ASLEEP),
                Err(other) => word = other,
            }
        }
    }

    /// Gives it back; true if others wait for it and are to be woken. `asleep` is what
    /// [`LockWord::take`] returned.
    #[inline]
    pub fn give_back(&self, asleep: bool) -> bool {
        // Nobody lies down while it is taken.
        let word = match asleep {
            false => self.0.swap(FREE, Ordering::Release),
            true => self.0.fetch_and(ASLEEP, Ordering::Release),
        };
        word & CONTENDED != 0
    }

    /// Says that somebody waits: the value to sleep on, none if the word is not `word` any more.
    pub fn contend(&self, word: u32) -> Option<u32> {
        let contended = word | CONTENDED;
        let marked = word == contended
            || self
                .0
                .compare_exchange(word, contended, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        marked.then_some(contended)
    }

    /// The word, for the kernel to sleep on.
    pub const fn word(&self) -> &AtomicU32 {
        &self.0
    }

    /// Marks that a thread sleeps beside the lock. False if a thread has the lock now, and may do
    /// something that the sleeper would not see. Only one thread at a time may call this.
    pub fn lie_down(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed) & ASLEEP;
        // This is done also where longjmp has left a sleep and the word has the mark already: to
        // see all that was done since.
        self.0.compare_exchange(word, ASLEEP, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Nobody sleeps beside it any more.
    pub fn get_up(&self) {
        self.0.fetch_and(!ASLEEP, Ordering::Release);
    }

    /// In the child of a fork, by the only thread that is there: nobody sleeps or waits. True if
    /// another thread had it, and left what it guards as it was at that moment; then it is free.
    pub fn reset_after_fork(&self, me: Number) -> bool {
        let owner = self.0.load(Ordering::Relaxed) & !(ASLEEP | CONTENDED);
        let is_ours = owner == me.0;
        self.0.store(if is_ours { owner } else { FREE }, Ordering::Release);
        !is_ours && owner != FREE
    }
}

impl Default for LockWord {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_takes_it_beside_a_sleeper_is_told_so() {
        let (word, me, other) = (LockWord::new(), Number::nth(0), Number::nth(1));
        assert!(word.try_take(me));
        assert!(!word.lie_down(), "it is taken");
        assert_eq!(word.take(me), Err(Taken::Own));
        assert_eq!(word.take(other), Err(Taken::Other(me.get())));
        let contended = word.contend(me.get()).expect("still so");
        assert_eq!(word.take(other), Err(Taken::Other(contended)));
        assert!(word.give_back(false), "somebody waits");
        assert!(word.lie_down());
        assert!(word.lie_down(), "left by longjmp and back");
        assert!(!word.try_take(me));
        assert_eq!(word.take(me), Ok(true));
        assert!(!word.give_back(true));
        assert_eq!(word.take(me), Ok(true), "it still sleeps");
        word.get_up();
        assert!(!word.give_back(true));
        assert_eq!(word.take(me), Ok(false));
    }

    #[test]
    fn numbers_stay_below_the_marks() {
        for n in [0, 1, ASLEEP - 2, ASLEEP - 1, u32::MAX] {
            assert!((1..ASLEEP).contains(&Number::nth(n).get()));
        }
    }
}
