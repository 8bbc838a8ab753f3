//! The time of a host: nanoseconds since 1970 that never go back.
//!
//! The parent reads the time of day once; from then on the time since boot is added, which goes on
//! while the computer sleeps: no lease outlives that. So every daemon that it starts goes on where
//! the last one was.

use pvm_core::Time;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The offset that is added to the time since boot.
pub(crate) fn offset() -> u64 {
    boot_time(nanoseconds(clock_gettime(ClockId::Realtime)), since_boot())
}

/// The time of day at boot. A computer that keeps no time while it is off begins with 1970, and
/// until it is told the time of day that is no later than the time since boot.
const fn boot_time(time_of_day: u64, since_boot: u64) -> u64 {
    time_of_day.saturating_sub(since_boot)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stood_still_on_a_computer_that_did_not_know_the_time_of_day() {
        let uptime = since_boot();
        for time_of_day in [0, uptime - 1, uptime, uptime + 1_000_000_000] {
            let offset = boot_time(time_of_day, uptime);
            let (before, after) = (Time(offset + uptime), now(offset));
            assert!(before < after && after < now(offset), "{time_of_day}");
        }
    }
}
