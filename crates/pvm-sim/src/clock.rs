//! The clock of a host: it began at another moment than the others, it goes a little differently,
//! and it may stand still for a while as that of a virtual machine does that is stopped.

use crate::dice::Random;

/// Clocks begin at most this far apart, in nanoseconds: an hour.
const OFFSET_NS: u64 = 3600 * 1_000_000_000;
const MILLION: u128 = 1_000_000;

/// The clock of a host. It never goes back, also not when the daemon is started again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: u64,
    /// Its nanoseconds in a million of the world's.
    rate: u32,
    /// When it stood still last, and for how long.
    stop: (u64, u64),
    /// The time for which it had stood still before.
    lost: u64,
}

impl Clock {
    /// One that is right.
    pub(crate) const RIGHT: Self = Self { offset: 0, rate: 1_000_000, stop: (0, 0), lost: 0 };

    /// A random clock that goes at most `millionths` millionths too fast or too slow.
    pub(crate) fn draw(random: &mut Random, millionths: u32) -> Self {
        if millionths == 0 {
            return Self::RIGHT;
        }
        let offset = random.below(OFFSET_NS);
        let rate = random.below(2 * u64::from(millionths) + 1);
        let rate = 1_000_000 - millionths + u32::try_from(rate).unwrap_or(0);
        Self { offset, rate, ..Self::RIGHT }
    }

    /// The time that it shows at a moment of the world.
    pub(crate) fn shows(self, world: u64) -> u64 {
        let (from, length) = self.stop;
        let goes = world - self.lost - world.saturating_sub(from).min(length);
        narrow(u128::from(self.offset) + u128::from(goes) * u128::from(self.rate) / MILLION)
    }

    /// From this moment of the world on it stands still for `length`; it does not stand still
    /// already.
    pub(crate) const fn stop(&mut self, world: u64, length: u64) {
        self.lost += self.stop.1;
        self.stop = (world, length);
    }

    /// The first moment of the world at which it shows this or more.
    pub(crate) fn moment(self, shown: u64) -> u64 {
        let since = u128::from(shown.saturating_sub(self.offset)) * MILLION;
        let goes = narrow(since.div_ceil(u128::from(self.rate)));
        let world = goes.saturating_add(self.lost);
        let (from, length) = self.stop;
        if world > from { world.saturating_add(length) } else { world }
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
            let mut clock = Clock::draw(&mut random, millionths);
            for stop in [1000, 50_000, 200_000] {
                clock.stop(stop, 20_000);
                assert_eq!(clock.shows(stop), clock.shows(stop + 20_000), "it stands");
                for _ in 0..50 {
                    let shown = clock.shows(stop) + 1 + random.below(100_000);
                    let moment = clock.moment(shown);
                    assert!(clock.shows(moment) >= shown, "{clock:?} {shown}");
                    assert!(clock.shows(moment - 1) < shown, "{clock:?} {shown}");
                }
            }
            assert_eq!(Clock::RIGHT.shows(millionths.into()), u64::from(millionths));
        }
    }
}
