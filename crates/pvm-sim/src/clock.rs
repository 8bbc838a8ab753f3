//! The clock of a host: it began at another moment than the others, and it goes a little differently.

use crate::dice::Random;

/// Clocks begin so much apart at most, in nanoseconds: an hour.
const OFFSET_NS: u64 = 3600 * 1_000_000_000;
const MILLION: u128 = 1_000_000;

/// What a host takes for the time. It never goes back, also not when the daemon is started again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: u64,
    /// Its nanoseconds in a million of the world's.
    rate: u32,
}

impl Clock {
    /// One that is right.
    pub(crate) const RIGHT: Self = Self { offset: 0, rate: 1_000_000 };

    /// Any that goes at most so many millionths too fast or too slow.
    pub(crate) fn draw(random: &mut Random, millionths: u32) -> Self {
        if millionths == 0 {
            return Self::RIGHT;
        }
        let offset = random.below(OFFSET_NS);
        let rate = random.below(2 * u64::from(millionths) + 1);
        Self { offset, rate: 1_000_000 - millionths + u32::try_from(rate).unwrap_or(0) }
    }

    /// What it shows at a moment of the world.
    pub(crate) fn shows(self, world: u64) -> u64 {
        narrow(u128::from(self.offset) + u128::from(world) * u128::from(self.rate) / MILLION)
    }

    /// The first moment of the world at which it shows this or more.
    pub(crate) fn moment(self, shown: u64) -> u64 {
        let since = u128::from(shown.saturating_sub(self.offset)) * MILLION;
        narrow(since.div_ceil(u128::from(self.rate)))
    }
}

fn narrow(time: u128) -> u64 {
    u64::try_from(time).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_first_at_which_a_clock_shows_a_time() {
        let mut random = Random::new(7);
        for millionths in [0, 1, 200, 20_000] {
            for _ in 0..500 {
                let clock = Clock::draw(&mut random, millionths);
                let shown = clock.offset + 1 + random.below(1 << 40);
                let moment = clock.moment(shown);
                assert!(clock.shows(moment) >= shown, "{clock:?} {shown}");
                assert!(clock.shows(moment - 1) < shown, "{clock:?} {shown}");
            }
            assert_eq!(Clock::RIGHT.shows(millionths.into()), u64::from(millionths));
        }
    }
}
