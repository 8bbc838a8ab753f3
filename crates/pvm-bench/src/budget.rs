//! The time of a suite, so that all of them end within half an hour, and the short form within
//! three minutes.
//!
//! It is not known beforehand how slow a peer is: with 32 tasks that spin on two processors one
//! peer needs a hundred times as long as another. So each run has a share of the remaining time of
//! its suite, and is ended when it has used its share. The figures that it has printed until then
//! count, and it counts as cut short, not as hung, if it was still printing or working. A further
//! round is begun only if there is time for the longest so far.

use std::time::{Duration, Instant};

/// A run may take this many times an equal share of the remaining time: most runs need less.
const SHARES: u32 = 3;
/// The least share: a machine starts and ends in less time.
const SHARE_MIN: Duration = Duration::from_secs(4);

/// The time that is left for a suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    end: Instant,
    longest: Duration,
}

impl Budget {
    /// A budget of `time` from `now` on.
    pub(crate) fn new(now: Instant, time: Duration) -> Self {
        Self { end: now + time, longest: Duration::ZERO }
    }

    /// The time that the first of `runs` runs may take; none if too little is left for any.
    pub(crate) fn share(&self, now: Instant, runs: usize) -> Option<Duration> {
        let left = self.end.saturating_duration_since(now);
        let runs = u32::try_from(runs.max(1)).unwrap_or(u32::MAX);
        (left >= SHARE_MIN).then(|| (left / runs * SHARES).max(SHARE_MIN).min(left))
    }

    /// A round took so long.
    pub(crate) fn spent(&mut self, round: Duration) {
        self.longest = self.longest.max(round);
    }

    /// Whether there is time for another round.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        self.end.saturating_duration_since(now) > self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Length;
    use super::super::suite;
    use super::*;

    const MINUTE: u64 = 60;

    #[test]
    fn all_suites_together_keep_the_limits_that_are_promised() {
        let sum = |length| suite::ALL.iter().map(|one| one.seconds.of(length)).sum::<Duration>();
        assert!(sum(Length::Full) < Duration::from_secs(29 * MINUTE));
        assert!(sum(Length::Quick) <= Duration::from_secs(3 * MINUTE - 10));
    }

    #[test]
    fn a_run_has_a_share_of_what_is_left_and_none_behind_the_end() {
        let now = Instant::now();
        let seconds = Duration::from_secs;
        let budget = Budget::new(now, seconds(100));
        assert_eq!(budget.share(now, 10), Some(seconds(30)));
        assert_eq!(budget.share(now, 1), Some(seconds(100)));
        assert_eq!(budget.share(now, 1000), Some(SHARE_MIN));
        assert_eq!(budget.share(now + seconds(96), 10), Some(SHARE_MIN));
        assert_eq!(budget.share(now + seconds(97), 10), None);
        assert_eq!(budget.share(now + seconds(100), 10), None);
        assert_eq!(budget.share(now + seconds(200), 0), None);
    }

    #[test]
    fn a_round_that_would_not_end_in_time_is_not_begun() {
        let now = Instant::now();
        let seconds = Duration::from_secs;
        let mut budget = Budget::new(now, seconds(100));
        assert!(budget.has_room(now));
        budget.spent(seconds(45));
        budget.spent(seconds(40));
        assert!(budget.has_room(now + seconds(50)));
        assert!(!budget.has_room(now + seconds(60)));
        assert!(!Budget::new(now, seconds(10)).has_room(now + seconds(10)));
    }
}
