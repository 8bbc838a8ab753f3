//! The units of a simulation: time, rate and size, and the reading of quantities.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// Picoseconds since the begin of the run, or a span in picoseconds.
///
/// A byte at 100 Gb/s takes 80 of them, and 64 bits hold 213 days. A sum that is too large is
/// [`Time::END`], and a run that reaches it is refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

impl Time {
    /// The begin, or a span of no time.
    pub const ZERO: Self = Self(0);
    /// Later than anything.
    pub const END: Self = Self(u64::MAX);

    /// A time of `count` nanoseconds.
    pub const fn nanoseconds(count: u64) -> Self {
        Self(count.saturating_mul(1_000))
    }

    /// A time of `count` microseconds.
    pub const fn microseconds(count: u64) -> Self {
        Self(count.saturating_mul(1_000_000))
    }

    /// A time of `seconds` seconds; a number below 0 and NaN count as 0.
    pub fn of_seconds(seconds: f64) -> Self {
        Self((seconds.max(0.0) * 1e12).round() as u64)
    }

    /// In seconds.
    pub const fn seconds(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// In nanoseconds, rounded.
    pub const fn to_nanoseconds(self) -> u64 {
        self.0.saturating_add(500) / 1_000
    }

    /// As the clock of a program tells it.
    pub(crate) const fn duration(self) -> Duration {
        Duration::from_nanos(self.0 / 1_000)
    }

    /// As long as `span`.
    pub(crate) fn of_duration(span: Duration) -> Self {
        Self::nanoseconds(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time since `earlier`; 0 if that is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The `count`-fold of this time.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// `factor` times as long.
    pub fn scaled(self, factor: f64) -> Self {
        if factor == 1.0 { self } else { Self((self.0 as f64 * factor).round() as u64) }
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Self;

    fn sub(self, span: Self) -> Self {
        debug_assert!(self >= span, "{self} is before {span}");
        self.since(span)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..10_000_000 => write!(f, "{:.3} us", self.0 as f64 / 1e6),
            10_000_000..10_000_000_000 => write!(f, "{:.1} us", self.0 as f64 / 1e6),
            10_000_000_000..10_000_000_000_000 => write!(f, "{:.1} ms", self.0 as f64 / 1e9),
            _ => write!(f, "{:.3} s", self.seconds()),
        }
    }
}

/// Bits a second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Rate(f64);

impl Rate {
    /// A rate of `count` bits a second, if that is at least 1.
    pub fn bits(count: f64) -> Option<Self> {
        (count.is_finite() && count >= 1.0).then_some(Self(count))
    }

    /// Megabits a second.
    pub const fn megabits(count: u32) -> Self {
        Self(count as f64 * 1e6)
    }

    /// In bits a second.
    pub const fn to_bits(self) -> f64 {
        self.0
    }

    /// The time of `bytes` bytes.
    pub fn time_of(self, bytes: u64) -> Time {
        Time(rounded(bytes as f64 * 8e12 / self.0))
    }

    /// The time of `bits` bits.
    pub fn time_of_bits(self, bits: u64) -> Time {
        Time(rounded(bits as f64 * 1e12 / self.0))
    }

    /// The number of whole bytes in a time.
    pub fn bytes_in(self, time: Time) -> u64 {
        (time.0 as f64 * self.0 / 8e12) as u64
    }
}

/// The whole number that is nearest to one that is not negative. Unlike `round` it is no call.
const fn rounded(number: f64) -> u64 {
    let whole = number as u64;
    whole.saturating_add((number - whole as f64 >= 0.5) as u64)
}

/// Reads a quantity such as `10 Mb/s`, `51.2 us`, `64 kB`: a number and one of these units.
fn quantity(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim();
    let expected = || {
        let units: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!("{text:?} is not a number and one of {}", units.join(", "))
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or_else(expected)?;
    if number < 0.0 {
        return Err(format!("{text:?} is negative"));
    }
    Ok(number * factor)
}

/// A span of time: `300 us`.
pub(crate) fn time(text: &str) -> Result<Time, String> {
    let units = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)];
    let seconds = quantity(text, &units)?;
    if seconds > TIME_MAX.seconds() {
        return Err(format!("{text:?} is more than 10^6 s"));
    }
    Ok(Time::of_seconds(seconds))
}

/// A rate: `10 Mb/s` in bits, `1.25 MB/s` in bytes.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    let units = [
        ("b/s", 1.0),
        ("kb/s", 1e3),
        ("Mb/s", 1e6),
        ("Gb/s", 1e9),
        ("B/s", 8.0),
        ("kB/s", 8e3),
        ("MB/s", 8e6),
        ("GB/s", 8e9),
    ];
    let bits = quantity(text, &units)?;
    if bits > 1e15 {
        return Err(format!("{text:?} is more than 10^15 b/s"));
    }
    Rate::bits(bits).ok_or_else(|| format!("{text:?} is less than one bit a second"))
}

/// A size: `64 kB`, `64 KiB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ];
    let bytes = quantity(text, &units)?;
    if bytes > BYTES_MAX as f64 {
        return Err(format!("{text:?} is more than 10^12 B"));
    }
    Ok(bytes.round() as u64)
}

/// The longest span of time that a text can name.
pub(crate) const TIME_MAX: Time = Time::microseconds(1_000_000_000_000);
/// The most bytes of a message, queue or buffer.
pub(crate) const BYTES_MAX: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_a_unit_and_are_not_negative() {
        assert_eq!(time("51.2 us"), Ok(Time(51_200_000)));
        assert_eq!(time("0 s"), Ok(Time::ZERO));
        assert_eq!(rate("1.25 MB/s").map(Rate::to_bits), Ok(1e7));
        assert_eq!(size("64KiB"), Ok(65536));
        for wrong in ["", "10", "us", "-1 us", "1e9 s", "10 parsecs", "9999999 s", "1..2 s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(rate("0 Mb/s").is_err() && rate("9999999 GB/s").is_err());
        assert!(size("1001 GB").is_err());
    }

    #[test]
    fn a_byte_takes_eight_tenths_of_a_microsecond_at_ten_megabits() {
        assert_eq!(Rate::megabits(10).time_of(1500), Time::microseconds(1200));
        assert_eq!(Rate::megabits(100).time_of(1500), Time::microseconds(120));
        assert_eq!(Rate::megabits(10).bytes_in(Time::microseconds(1200)), 1500);
    }

    #[test]
    fn numbers_are_rounded_as_the_library_rounds_them() {
        let mut number: f64 = 0.499_999_999_999_999_94;
        for _ in 0..200 {
            for near in [number, number + 0.5, number.trunc() + 0.5, number.trunc()] {
                assert_eq!(rounded(near), near.round() as u64, "{near}");
            }
            number *= 1.4;
        }
    }

    #[test]
    fn sums_stop_at_the_end_of_time() {
        assert_eq!(Time::END + Time(1), Time::END);
        assert_eq!(Time::microseconds(u64::MAX), Time::END);
        assert_eq!(Time(3).since(Time(5)), Time::ZERO);
    }
}
