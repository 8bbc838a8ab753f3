//! The clock of a host's timers: it has ticks, 250 in a second in most Linux kernels.

use crate::planted::{self, Bug};
use crate::unit::Time;

/// A host's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    tick: Time,
    /// The time of the first tick.
    phase: Time,
}

impl Clock {
    /// If `tick` is 0, timers are exact.
    pub(crate) const fn new(tick: Time, phase: Time) -> Self {
        Self { tick, phase }
    }

    /// The time at which a timer that is set now expires: at a tick, and never too early. So a span
    /// is rounded up to ticks, and the rest of the present tick comes on top.
    pub(super) fn after(&self, now: Time, span: Time) -> Time {
        if self.tick == Time::ZERO || planted::is(Bug::TicksForgotten) {
            return now + span;
        }
        let ticks = span.0.div_ceil(self.tick.0);
        let since = (now + self.tick).since(self.phase).0 / self.tick.0;
        self.phase + self.tick.times(since.saturating_add(ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_goes_off_at_a_tick_and_never_early() {
        let clock = Clock::new(Time(4_000), Time(1_000));
        for now in 0..9_000 {
            for span in [1, 2_800, 4_000, 40_000] {
                let at = clock.after(Time(now), Time(span));
                assert_eq!(at.0 % 4_000, 1_000);
                assert!(at.0 >= now + span && at.0 <= now + span + 8_000, "{now} {span} {at:?}");
            }
        }
        assert_eq!(Clock::new(Time::ZERO, Time::ZERO).after(Time(5), Time(7)), Time(12));
    }
}
