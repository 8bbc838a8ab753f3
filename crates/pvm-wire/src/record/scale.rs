//! Ticks of a task's clock, turned into nanoseconds of its host's.

crate::record! {
    /// One moment, told by two clocks.
    #[derive(Copy)]
    pub struct Moment {
        /// The task's.
        pub ticks: u64,
        /// The host's: its monotonic clock, plus what that was behind real time when the recorder
        /// began.
        pub nanoseconds: u64,
    }
}

/// A straight line through two moments. With moments of successive looks at a ring, each line
/// begins where the one before it ends, so time never runs back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    from: Moment,
    ticks: u64,
    nanoseconds: u64,
}

impl Scale {
    /// From two moments. If they are not apart a tick is a nanosecond.
    pub const fn new(from: Moment, to: Moment) -> Self {
        let ticks = to.ticks.saturating_sub(from.ticks);
        let nanoseconds = to.nanoseconds.saturating_sub(from.nanoseconds);
        if ticks == 0 || nanoseconds == 0 {
            return Self { from, ticks: 1, nanoseconds: 1 };
        }
        Self { from, ticks, nanoseconds }
    }

    /// When that was; 0 for what would be before.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        if ticks >= self.from.ticks {
            self.from.nanoseconds.saturating_add(self.span(ticks - self.from.ticks))
        } else {
            self.from.nanoseconds.saturating_sub(self.span(self.from.ticks - ticks))
        }
    }

    /// The length of `ticks` ticks, in nanoseconds.
    pub fn span(&self, ticks: u64) -> u64 {
        let scaled = u128::from(ticks) * u128::from(self.nanoseconds) / u128::from(self.ticks);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn moment(ticks: u64, nanoseconds: u64) -> Moment {
        Moment { ticks, nanoseconds }
    }

    #[test]
    fn a_line_goes_through_its_moments_and_on() {
        let scale = Scale::new(moment(1000, 500), moment(4000, 1500));
        let told = [1000, 4000, 2500, 7000, 400].map(|ticks| scale.nanoseconds(ticks));
        assert_eq!(told, [500, 1500, 1000, 2500, 300]);
        assert_eq!(scale.nanoseconds(u64::MAX), 500 + (u64::MAX - 1000) / 3);
        assert_eq!(scale.span(300), 100);
    }

    #[test]
    fn moments_that_are_not_apart_count_ticks_as_nanoseconds() {
        for to in [moment(5, 100), moment(9, 100), moment(5, 120), moment(1, 1)] {
            let scale = Scale::new(moment(5, 100), to);
            assert_eq!((scale.nanoseconds(7), scale.nanoseconds(0)), (102, 95));
        }
    }
}
