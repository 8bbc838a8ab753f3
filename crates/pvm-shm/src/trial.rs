//! When to try something again that was in vain, as it may be of use again.
//!
//! A try in vain is followed by a pause, and each try that is in vain soon after a pause makes the
//! next one four times as long. So little time is lost to a thing that is of no use for long, and a
//! thing that has become of use is found out within the longest pause.

use crate::sync::{AtomicU64, Ordering};
use std::time::Duration;

/// A try within this many pauses after the last one comes soon after it.
const SOON: u64 = 8;
const GROWTH: u64 = 4;

/// The moment from which it may be tried. Moments are times since any beginning. All zeros: at
/// once. It may lie in shared memory; a scribbler there, or threads that write at the same time,
/// spoil nothing but the advice.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Trial {
    /// It may not be tried before this moment.
    next_us: AtomicU64,
    /// The length of the last pause.
    pause_us: AtomicU64,
}

impl Trial {
    /// It may be tried.
    pub fn is_due(&self, now: Duration) -> bool {
        now.as_micros() as u64 >= self.next_us.load(Ordering::Relaxed)
    }

    /// It was tried from `began` until `now`, and in vain: a pause from the `least` to the `most`.
    pub fn in_vain(&self, (began, now): (Duration, Duration), (least, most): (Duration, Duration)) {
        let [began, now] = [began, now].map(|moment| moment.as_micros() as u64);
        let next = self.next_us.load(Ordering::Relaxed);
        if began < next {
            // Another one has said so meanwhile.
            return;
        }
        let pause = self.pause_us.load(Ordering::Relaxed);
        let soon = began - next < pause.saturating_mul(SOON);
        let pause = if soon { pause.saturating_mul(GROWTH) } else { 0 };
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
            trial.in_vain((MS(moment), MS(moment)), (MS(1), MS(32)));
            trial.in_vain((MS(moment), MS(moment)), (MS(1), MS(32)));
            assert!(!trial.is_due(MS(moment)) && trial.is_due(MS(moment + 1)));
        }
    }

    #[test]
    fn what_is_of_no_use_is_tried_seldom_and_found_out_when_it_is_again() {
        for lasts in [0, 3] {
            let trial = Trial::default();
            let (mut tried, mut now) = (0, 0);
            while now < 3200 {
                if trial.is_due(MS(now)) {
                    tried += 1;
                    trial.in_vain((MS(now), MS(now + lasts)), (MS(1), MS(32)));
                    now += lasts;
                }
                now += 1;
            }
            let most = 3200 / (32 + lasts) + 6;
            assert!(tried <= most, "{tried} times of {lasts} ms in 100 of the longest pauses");
            assert!(trial.is_due(MS(now + 32)), "no state outlasts the longest pause");
        }
    }
}
