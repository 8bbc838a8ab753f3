//! The time of a host: nanoseconds since 1970 that never go back.
//!
//! The parent reads the time of day once; from then on the monotonic clock is added. So every
//! daemon that it starts goes on where the last one was.

use pvm_core::Time;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// What to add to the monotonic clock.
pub(crate) fn offset() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime)) - monotonic()
}

/// Now.
pub(crate) fn now(offset: u64) -> Time {
    Time(offset.saturating_add(monotonic()))
}

fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

fn nanoseconds(time: Timespec) -> u64 {
    // Neither clock is before its zero.
    let (seconds, rest) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
