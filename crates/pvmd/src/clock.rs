//! The time of a host: nanoseconds since 1970 that never go back.
//!
//! The parent reads the time of day once; from then on the time since boot is added, which goes on
//! while the computer sleeps: no lease outlives that. So every daemon that it starts goes on where
//! the last one was.

use pvm_core::Time;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The offset that is added to the time since boot.
pub(crate) fn offset() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime)) - since_boot()
}

/// Now.
pub(crate) fn now(offset: u64) -> Time {
    Time(offset.saturating_add(since_boot()))
}

fn since_boot() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

fn nanoseconds(time: Timespec) -> u64 {
    // Neither clock is before its zero.
    let (seconds, rest) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
