//! `struct timeval` as C has it: two longs, which have four bytes on some machines.

use std::ffi::c_long;

/// Seconds, and microseconds that are never negative.
pub(crate) type Timeval = [c_long; 2];

/// A time in microseconds. Seconds beyond the width of a long stay at its end.
pub(crate) fn timeval(microseconds: i64) -> Timeval {
    let seconds = microseconds.div_euclid(1_000_000);
    let end = if seconds < 0 { c_long::MIN } else { c_long::MAX };
    let rest = microseconds.rem_euclid(1_000_000);
    [c_long::try_from(seconds).unwrap_or(end), c_long::try_from(rest).unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_never_negative() {
        assert_eq!(timeval(-1), [-1, 999_999]);
        assert_eq!(timeval(2_500_000), [2, 500_000]);
    }

    #[test]
    fn a_timeval_is_two_longs() {
        assert_eq!(size_of::<Timeval>(), 2 * size_of::<c_long>());
    }
}
