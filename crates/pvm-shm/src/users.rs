//! A count of threads that are inside of something. The only thread of a process changes it without
//! a locked step.

use crate::sync::{AtomicU32, Ordering, interrupt_fence};

/// Two counts, whose sum counts. A signal handler may begin a second thread between any two
/// instructions of the only one; so the only one has a word of its own, which nobody else changes.
#[derive(Debug)]
pub struct Users {
    /// Raised and lowered in one step.
    among: AtomicU32,
    /// Raised and lowered in two, by the thread that has been the only one.
    alone: AtomicU32,
}

impl Users {
    /// None.
    pub fn new() -> Self {
        Self { among: AtomicU32::new(0), alone: AtomicU32::new(0) }
    }

    /// One more, if `is_alone` says that the caller is the only thread, and says so again: a thread
    /// that a handler begins behind the second answer sees it counted.
    #[inline]
    pub fn enter_alone(&self, is_alone: impl Fn() -> bool) -> bool {
        if !is_alone() {
            return false;
        }
        // A handler that counts itself between the two steps goes out before the second one.
        let users = self.alone.load(Ordering::Relaxed);
        self.alone.store(users + 1, Ordering::Relaxed);
        interrupt_fence();
        let is_counted = is_alone();
        if !is_counted {
            self.alone.store(users, Ordering::Relaxed);
        }
        is_counted
    }

    /// One less, by a thread that [`Users::enter_alone`] has let in.
    #[inline]
    pub fn leave_alone(&self) {
        let users = self.alone.load(Ordering::Relaxed);
        // PAIRS WITH: `is_used`, behind which what was used is let go of.
        self.alone.store(users - 1, Ordering::Release);
    }

    /// One more of several threads.
    pub fn enter(&self) {
        // PAIRS WITH: `is_used`. Either what is used is seen to be gone, or this is seen.
        self.among.fetch_add(1, Ordering::SeqCst);
    }

    /// One less of several threads.
    pub fn leave(&self) {
        self.among.fetch_sub(1, Ordering::Release);
    }

    /// True if somebody is counted.
    pub fn is_used(&self) -> bool {
        self.among.load(Ordering::SeqCst) != 0 || self.alone.load(Ordering::SeqCst) != 0
    }

    /// The word of several threads, for a caller that keeps a mark in its upper bits.
    pub const fn among(&self) -> &AtomicU32 {
        &self.among
    }

    /// True while the only thread is counted, or was when it was that.
    pub fn is_used_alone(&self) -> bool {
        self.alone.load(Ordering::SeqCst) != 0
    }
}

impl Default for Users {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Users;
    use std::cell::Cell;

    #[test]
    fn who_is_not_alone_any_more_behind_the_count_is_not_counted() {
        let (users, asked) = (Users::new(), Cell::new(0));
        let once = || asked.replace(asked.get() + 1) == 0;
        assert!(!users.enter_alone(once) && asked.get() == 2);
        assert!(!users.is_used());
        assert!(users.enter_alone(|| true) && users.is_used_alone());
        users.enter();
        users.leave_alone();
        assert!(users.is_used() && !users.is_used_alone());
        users.leave();
        assert!(!users.is_used());
    }
}
