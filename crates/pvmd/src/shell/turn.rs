//! The time for which the daemon is busy between two looks at its inputs. Its beats to other hosts
//! wait as long, so a turn that is longer than a beat is told in the log, each longest one once.

use std::time::{Duration, Instant};

/// A turn that takes longer delays a beat.
const LONG: Duration = Duration::from_millis(250);

/// The turn that goes on, and the longest one so far.
#[derive(Debug)]
pub(super) struct TurnClock {
    began: Instant,
    longest: Duration,
}

impl TurnClock {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, longest: LONG }
    }

    /// Something has come.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    /// All that follows from it is done. What to log, if it took longer than ever.
    pub(super) fn end(&mut self, now: Instant) -> Option<String> {
        let spent = now.saturating_duration_since(self.began);
        self.began = now;
        if spent <= self.longest {
            return None;
        }
        self.longest = spent;
        Some(format!("the daemon was busy for {} ms: other hosts heard it late", spent.as_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_turn_that_is_longer_than_a_beat_and_all_before_is_told() {
        let begin = Instant::now();
        let mut clock = TurnClock::new(begin);
        let mut at = begin;
        let mut turn = |spent: u64| {
            clock.begin(at);
            at += Duration::from_millis(spent);
            clock.end(at).is_some()
        };
        let told = [250, 251, 400, 300, 400, 401].map(&mut turn);
        assert_eq!(told, [false, true, true, false, false, true]);
    }
}
