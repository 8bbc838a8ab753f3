//! How often the recorder looks, and how it makes way for the programs that it records.
//!
//! It runs with the lowest priority, in a thread of its own, as long as the rings have room. A
//! process may not raise its priority again, so another thread, which has kept the usual one, does
//! the reading when a ring is half full.

use std::time::Duration;

const LEAST: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_millis(50);
/// Percent of a ring that may wait before the pace rises.
const HALF: u64 = 50;

/// The pause between two looks.
#[derive(Debug)]
pub(super) struct Pace {
    pause: Duration,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { pause: MOST }
    }

    /// The pause after a look at which the fullest ring was so full, in percent; while listeners
    /// are behind nothing is read.
    pub(super) fn after(&mut self, fullest: u64, behind: bool) -> Duration {
        self.pause = match fullest {
            0..10 => (self.pause * 2).min(MOST),
            10..HALF => self.pause,
            _ => (self.pause / 4).max(LEAST),
        };
        if behind { LEAST } else { self.pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_that_fill_are_looked_at_more_often() {
        let mut pace = Pace::new();
        assert_eq!(pace.after(0, false), MOST);
        let quick = (0..5).map(|_| pace.after(60, false)).last();
        assert_eq!(quick, Some(LEAST));
        assert_eq!(pace.after(20, false), LEAST);
        assert!((0..10).map(|_| pace.after(5, false)).last() == Some(MOST));
        assert_eq!(pace.after(5, true), LEAST);
    }
}
