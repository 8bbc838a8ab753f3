//! The clock of the trace: the processor's counter where it runs evenly, else the kernel's.
//!
//! Measured on this kind of machine: 20 ns a look at the counter, 35 ns at `CLOCK_MONOTONIC`. Two
//! looks at both clocks tell the length of a tick, one at the recorder's start and one by the
//! reader, so nobody has to wait for a calibration.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the kernel's monotonic clock.
pub fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Most looks at both clocks until one look was quick.
const LOOKS: u32 = 4;
/// Ticks that a look takes which nothing has interrupted, with room for a virtual machine.
const QUICK: u64 = 1000;

/// The clock whose ticks a recorder counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The processor's counter.
    Counter,
    /// Nanoseconds of the kernel.
    Kernel,
}

impl Source {
    /// The better one here.
    pub fn best() -> Self {
        if counter::is_even() { Self::Counter } else { Self::Kernel }
    }

    /// The time now, in its ticks.
    #[inline]
    pub fn now(self) -> u64 {
        match self {
            Self::Counter => counter::read(),
            Self::Kernel => nanoseconds(),
        }
    }

    /// One moment by both clocks: ticks and nanoseconds.
    pub fn moment(self) -> (u64, u64) {
        together(|| self.now(), nanoseconds)
    }
}

/// Nanoseconds, and the ticks in the middle of the look at them. A thread that loses its core
/// between two looks would tell a moment that never was, so the quickest of a few counts.
fn together(mut ticks: impl FnMut() -> u64, mut nanoseconds: impl FnMut() -> u64) -> (u64, u64) {
    let mut best = (u64::MAX, (0, 0));
    for _ in 0..LOOKS {
        let before = ticks();
        let at = nanoseconds();
        let took = ticks().saturating_sub(before);
        if took < best.0 {
            best = (took, (before + took / 2, at));
        }
        if took < QUICK {
            break;
        }
    }
    best.1
}

/// Ticks turned into nanoseconds of the kernel's monotonic clock, by two moments told by both.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    first: (u64, u64),
    ticks: u64,
    nanoseconds: u64,
}

impl Scale {
    /// The scale of two moments, each as ticks and nanoseconds. The further they lie apart, the
    /// better it is.
    pub const fn new(first: (u64, u64), second: (u64, u64)) -> Self {
        let ticks = second.0.saturating_sub(first.0);
        let nanoseconds = second.1.saturating_sub(first.1);
        Self { first, ticks, nanoseconds }
    }

    /// The nanoseconds at these ticks.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        let since = i128::from(ticks) - i128::from(self.first.0);
        let scaled = match self.ticks {
            0 => since,
            all => since * i128::from(self.nanoseconds) / i128::from(all),
        };
        u64::try_from(i128::from(self.first.1) + scaled).unwrap_or(0)
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod counter {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    /// True if the counter has one rate, in sleep as well.
    #[allow(unused_unsafe, reason = "safe from Rust 1.94 on")]
    pub(super) fn is_even() -> bool {
        const EXTENDED: u32 = 0x8000_0000;
        // SAFETY: every x86-64 processor has the instruction.
        let (highest, power) = unsafe { (__cpuid(EXTENDED).eax, __cpuid(EXTENDED + 7).edx) };
        highest >= EXTENDED + 7 && power & (1 << 8) != 0
    }

    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { _rdtsc() }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod counter {
    pub(super) const fn is_even() -> bool {
        false
    }
    pub(super) fn read() -> u64 {
        super::nanoseconds()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn both_clocks_tell_the_same_time() {
        let source = Source::best();
        let look = || (source.now(), nanoseconds());
        let first = look();
        std::thread::sleep(Duration::from_millis(20));
        let middle = look();
        std::thread::sleep(Duration::from_millis(20));
        let scale = Scale::new(first, look());
        // A look that was interrupted between the two clocks is off by the interruption.
        let off = scale.nanoseconds(middle.0).abs_diff(middle.1);
        assert!(off < 15_000_000, "{off} ns");
        assert_eq!(scale.nanoseconds(first.0), first.1);
    }

    #[test]
    fn a_look_at_both_clocks_that_was_interrupted_was_taken_for_a_moment() {
        // Two million ticks are a millisecond; the first look loses its core for five of them.
        let clock = std::cell::Cell::new(2_000_000_u64);
        let pass = |ticks: u64| clock.replace(clock.get() + ticks);
        let mut interruptions = [10_000_000, 0].into_iter();
        let mut nanoseconds = || pass(40 + interruptions.next().unwrap_or(0)) / 2;
        let (ticks, at) = together(|| pass(40), &mut nanoseconds);
        assert!(ticks.abs_diff(2 * at) < 100, "{ticks} ticks are {at} ns");
    }

    #[test]
    fn a_scale_without_length_counts_ticks_as_nanoseconds() {
        let scale = Scale::new((5, 100), (5, 100));
        assert_eq!((scale.nanoseconds(7), scale.nanoseconds(0)), (102, 95));
    }
}
