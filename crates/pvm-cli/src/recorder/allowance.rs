//! The processor time that the recorder spends on one ring, whatever its task writes there. A task
//! that fills its ring with nonsense as fast as memory allows gets no more of it; records that find
//! no room are reported as lost.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// A ring may use three eighths of the time that passes: a task that makes three million calls a
/// second is still read whole.
const SHARE: (u32, u32) = (3, 8);
/// A ring keeps unused time up to this much, so a burst may fill an honest ring several times.
const KEPT: Duration = Duration::from_millis(500);
/// The time that a ring has at its beginning; it empties a full one.
const FIRST: Duration = Duration::from_millis(100);

/// The time that a ring may still use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    left: Duration,
    /// Used beyond what it had: it waits until that is made up for.
    owed: Duration,
    at: Instant,
}

impl Allowance {
    pub(super) const fn new(now: Instant) -> Self {
        Self { left: FIRST, owed: Duration::ZERO, at: now }
    }

    /// True while the ring has used up what it may.
    pub(super) fn is_used_up(&mut self, now: Instant) -> bool {
        let earned = share(now.saturating_duration_since(self.at));
        self.at = now;
        self.left = (self.left + earned.saturating_sub(self.owed)).min(KEPT);
        self.owed = self.owed.saturating_sub(earned);
        self.left.is_zero()
    }

    /// Subtracts the time that was used.
    pub(super) fn use_up(&mut self, used: Duration) {
        self.owed += used.saturating_sub(self.left);
        self.left = self.left.saturating_sub(used);
    }
}

fn share(time: Duration) -> Duration {
    time.saturating_mul(SHARE.0) / SHARE.1
}

/// The processor time of this thread.
pub(super) fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_that_is_always_full_gets_its_share_and_no_more() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(begin);
        let (mut now, mut all) = (begin, Duration::ZERO);
        let block = Duration::from_micros(700);
        while now < begin + Duration::from_secs(10) {
            if allowance.is_used_up(now) {
                now += Duration::from_millis(1);
            } else {
                allowance.use_up(block);
                (all, now) = (all + block, now + block);
            }
        }
        let most = share(Duration::from_secs(10)) + FIRST + block;
        assert!(all <= most && all > most * 9 / 10, "{all:?}");
    }

    #[test]
    fn a_ring_that_rested_gets_a_burst_and_one_that_took_too_much_waits_for_it() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(begin);
        let later = begin + Duration::from_secs(3600);
        assert!(!allowance.is_used_up(later));
        allowance.use_up(KEPT + Duration::from_millis(20));
        // It owes 20 ms, and gets 3 of 8.
        assert!(allowance.is_used_up(later + Duration::from_millis(53)));
        assert!(!allowance.is_used_up(later + Duration::from_millis(54)));
    }
}
