//! Something that is tried now and then, as it may be of use again: when next.
//!
//! What was in vain is not tried again for a while, and for twice as long each time that it was in vain soon again. So
//! little time is lost to what is of no use for long, and what has become of use is found out within the longest pause.

use crate::sync::{AtomicU64, Ordering};
use std::time::Duration;

/// In vain soon again: within so many pauses.
const SOON: u64 = 8;

/// When it may be tried. Moments are times since any beginning. All zeros: at once. It may lie in shared memory; who scribbles there, and
/// those that write at once, spoil nothing but the advice.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Trial {
    /// Not before.
    next_us: AtomicU64,
    /// How long the last pause was.
    pause_us: AtomicU64,
}

impl Trial {
    /// It may be tried.
    pub fn is_due(&self, now: Duration) -> bool {
        now.as_micros() as u64 >= self.next_us.load(Ordering::Relaxed)
    }

    /// It was tried, and in vain: a pause from the `least` to the `most`.
    pub fn in_vain(&self, now: Duration, (least, most): (Duration, Duration)) {
        let now = now.as_micros() as u64;
        let next = self.next_us.load(Ordering::Relaxed);
        if now < next {
            // Another one has said so meanwhile.
            return;
        }
        let pause = self.pause_us.load(Ordering::Relaxed);
        let soon = now - next < pause.saturating_mul(SOON);
        let pause = if soon { pause.saturating_mul(2) } else { 0 };
        let pause = pause.clamp(least.as_micros() as u64, most.as_micros() as u64);
        self.pause_us.store(pause, Ordering::Relaxed);
        self.next_us.store(now + pause, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn what_is_disturbed_now_and_then_is_tried_again_at_once() {
        let trial = Trial::default();
        for moment in (0..100).map(|n| 100 * n) {
            assert!(trial.is_due(MS(moment)));
            trial.in_vain(MS(moment), (MS(1), MS(32)));
            trial.in_vain(MS(moment), (MS(1), MS(32)));
            assert!(!trial.is_due(MS(moment)) && trial.is_due(MS(moment + 1)));
        }
    }

    #[test]
    fn what_is_of_no_use_is_tried_seldom_and_found_out_when_it_is_again() {
        let trial = Trial::default();
        let mut tried = 0;
        for now in 0..3200 {
            if trial.is_due(MS(now)) {
                tried += 1;
                trial.in_vain(MS(now), (MS(1), MS(32)));
            }
        }
        assert!((100..=106).contains(&tried), "{tried} times in 100 of the longest pauses");
        assert!(trial.is_due(MS(3200 + 32)), "no state outlasts the longest pause");
    }
}
