//! The length of a spin before a wait.
//!
//! A partner that runs on another core answers while this task spins. Where programs of others keep
//! that core busy, the partner waits for the very core that spins: then every answer takes a whole
//! spin more (110 us each way were measured instead of 10). So a long spin in vain is followed by
//! some brief ones, by twice as many after each further one in vain, and a spin that pays makes the
//! next ones long again. Before it sleeps, the task gives its core away a few times: the kernel
//! likes to put a woken partner on the core of its waker, and there the answer comes at once
//! instead of by two wake-ups.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Longest spin. A sleeping receiver costs its sender and itself about 5 us, so a partner that
/// answers within this is worth waiting for; nobody burns a core for longer.
pub(crate) const LONG: Duration = Duration::from_micros(100);
/// A spin after one in vain.
const BRIEF: Duration = Duration::from_micros(3);
/// Brief spins after the first long one in vain, and at most.
const COUNT_MIN: u32 = 4;
const COUNT_MAX: u32 = 256;

/// The experience of a task with its spins. Threads that change it at the same time spoil only the
/// advice. Threads that change it at once spoil nothing but the advice.
#[derive(Debug)]
pub(crate) struct Patience {
    /// The longest spin while spins pay.
    long: Duration,
    /// The number of brief spins until the next long one.
    left: AtomicU32,
    /// The number of brief spins after the last long one.
    count: AtomicU32,
}

impl Patience {
    /// The patience for spins of up to `long`.
    pub(crate) const fn new(long: Duration) -> Self {
        Self { long, left: AtomicU32::new(0), count: AtomicU32::new(0) }
    }

    /// The longest time for the next spin.
    pub(crate) fn longest(&self) -> Duration {
        if self.is_lost() { BRIEF } else { self.long }
    }

    /// True while waiting awake has not been of use lately.
    pub(crate) fn is_lost(&self) -> bool {
        self.left.load(Ordering::Relaxed) != 0
    }

    /// A spin was worth it.
    pub(crate) fn paid(&self) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.left.store(0, Ordering::Relaxed);
        self.count.store(0, Ordering::Relaxed);
    }

    /// A spin was not.
    pub(crate) fn in_vain(&self) {
        let left = self.left.load(Ordering::Relaxed).checked_sub(1).unwrap_or_else(|| {
            let twice = self.count.load(Ordering::Relaxed).saturating_mul(2);
            let count = twice.clamp(COUNT_MIN, COUNT_MAX);
            self.count.store(count, Ordering::Relaxed);
            count
        });
        self.left.store(left, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of brief spins before the next long one.
    fn briefs(patience: &Patience) -> u32 {
        assert_eq!(patience.longest(), LONG);
        patience.in_vain();
        let mut count = 0;
        while patience.longest() == BRIEF {
            patience.in_vain();
            count += 1;
        }
        count
    }

    #[test]
    fn two_tasks_on_one_core_do_not_spin_at_each_other_for_ever() {
        let patience = Patience::new(LONG);
        let counts: Vec<_> = (0..9).map(|_| briefs(&patience)).collect();
        assert_eq!(counts, [4, 8, 16, 32, 64, 128, 256, 256, 256]);
    }

    #[test]
    fn a_spin_that_pays_makes_the_next_ones_long() {
        let patience = Patience::new(LONG);
        briefs(&patience);
        briefs(&patience);
        patience.in_vain();
        assert_eq!(patience.longest(), BRIEF);
        patience.paid();
        assert_eq!(patience.longest(), LONG);
        assert_eq!(briefs(&patience), 4, "and what was learned before is forgotten");
    }

    #[test]
    fn two_tasks_of_two_hosts_on_one_core_do_not_look_at_their_sockets_for_ever() {
        let long = 7 * BRIEF;
        let patience = Patience::new(long);
        assert_eq!(patience.longest(), long);
        patience.in_vain();
        assert_eq!(patience.longest(), BRIEF);
        patience.paid();
        assert_eq!(patience.longest(), long);
    }
}
