//! The interval at which the recorder looks, and its priority: low while the rings have room.

use rustix::process::setpriority_process;
use std::time::Duration;

const LEAST: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_millis(50);
/// Percent of a ring that may wait before the pace and the priority rise.
const HALF: u64 = 50;
/// The nice values of the recorder while rings have room, and when one is half full.
const LOW: i32 = 10;
const USUAL: i32 = 0;

/// The pause between two looks.
#[derive(Debug)]
pub(super) struct Pace {
    pause: Duration,
    /// The nice value, where this process may lower it again: not every user may.
    nice: Option<i32>,
}

impl Pace {
    pub(super) fn new() -> Self {
        // One step, to see whether it can be taken back.
        let back =
            setpriority_process(None, USUAL + 1).and_then(|()| setpriority_process(None, USUAL));
        Self { pause: MOST, nice: back.is_ok().then_some(USUAL) }
    }

    /// The pause after a look at which the fullest ring was so full, in percent; while listeners
    /// are behind nothing is read.
    pub(super) fn after(&mut self, fullest: u64, behind: bool) -> Duration {
        self.pause = match fullest {
            0..10 => (self.pause * 2).min(MOST),
            10..HALF => self.pause,
            _ => (self.pause / 4).max(LEAST),
        };
        self.set(if fullest < HALF { LOW } else { USUAL });
        if behind { LEAST } else { self.pause }
    }

    /// A process waits for the recorder.
    pub(super) fn hurry(&mut self) {
        self.set(USUAL);
    }

    fn set(&mut self, wanted: i32) {
        if self.nice.is_some_and(|nice| nice != wanted) && setpriority_process(None, wanted).is_ok()
        {
            self.nice = Some(wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_that_fill_are_looked_at_more_often() {
        let mut pace = Pace { pause: MOST, nice: None };
        assert_eq!(pace.after(0, false), MOST);
        let quick = (0..5).map(|_| pace.after(60, false)).last();
        assert_eq!(quick, Some(LEAST));
        assert_eq!(pace.after(20, false), LEAST);
        assert!((0..10).map(|_| pace.after(5, false)).last() == Some(MOST));
        assert_eq!(pace.after(5, true), LEAST);
    }
}
