//! What the safe interface to the system lacks.

pub(crate) mod text;

use rustix::process::Signal;

/// Numbers 32 and 33 belong to the C library; Linux ends at 64.
const REALTIME: std::ops::RangeInclusive<i32> = 34..=64;

/// The signal with this number, real-time signals included.
pub(crate) fn signal_of(number: i32) -> Option<Signal> {
    if !REALTIME.contains(&number) {
        return Signal::from_named_raw(number);
    }
    // SAFETY: the number is that of a signal, and of none that the C library keeps for itself.
    Some(unsafe { Signal::from_raw_unchecked(number) })
}
