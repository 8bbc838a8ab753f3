//! A leader's computer that stands still as a whole: a virtual machine that is stopped and goes on.
//!
//! Its clock stands, too, so it believes in its lease when it wakes, and its own tasks are heard
//! before other hosts. Meanwhile another leads. Tasks on all hosts read what both put.

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::HostIndex;

/// A kernel tries again after this at most.
const TRIES_MS: u64 = 350;

impl Run {
    pub(super) fn stopped(&mut self) -> Result<(), String> {
        if self.pair {
            return self.stopped_of_two();
        }
        for _ in 0..4 {
            let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
            // Longer than an election takes, and shorter than it takes to give the links up.
            let time = (1200 + self.random.below(1400)) * MS;
            let tries = self.random.below(TRIES_MS) * MS;
            self.world.halt(leader, time, tries);
            self.go(6 * SECOND)?;
        }
        Ok(())
    }

    /// The other one of two finds it silent and gets the witness's lock.
    fn stopped_of_two(&mut self) -> Result<(), String> {
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let time = (6000 + self.random.below(3000)) * MS;
        self.world.cut(HostIndex(1), HostIndex(2), Some(time + 2 * SECOND));
        self.world.halt(leader, time, 0);
        self.go(time + 8 * SECOND)
    }
}
