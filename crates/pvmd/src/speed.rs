//! The speed of this computer, for `pvm_config` and for placing tasks: measured here.

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

/// Operations of one try: a few hundredths of a millisecond.
const OPERATIONS: u32 = 20_000;
/// The number of tries, of which the quickest counts: the others shared the core's pipes or woke it
/// up.
const TRIES: usize = 8;

/// Operations in a millisecond, each a multiplication and an addition of whole numbers and of real
/// ones, by one core. Time in which others have the core does not count.
pub(crate) fn measure() -> u32 {
    let quickest = (0..TRIES).map(|_| one_try()).min().unwrap_or_default();
    let in_second = u128::from(OPERATIONS) * 1_000_000_000 / quickest.as_nanos().max(1);
    u32::try_from(in_second / 1000).unwrap_or(u32::MAX).max(1)
}

fn one_try() -> Duration {
    let start = own_time();
    let (mut whole, mut real) = (black_box(1_u64), black_box(1.0_f64));
    for _ in 0..OPERATIONS {
        whole = whole.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        real = real * 0.999 + (whole >> 40) as f64;
    }
    black_box((whole, real));
    own_time().saturating_sub(start)
}

/// The processor time of this thread.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computer_does_something_in_a_millisecond_and_not_everything() {
        assert!((100..100_000_000).contains(&measure()), "{}", measure());
    }
}
