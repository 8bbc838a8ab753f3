//! Converts the ticks of a ring into times, as far back as its records go.
//!
//! A block comes with two moments, often a millisecond apart, so a line through them is wrong by
//! microseconds some seconds before. A call that waited for long has its begin there. So that begin
//! is converted by the moments of that time, as the records of that time were.

use pvm_wire::record::{Moment, Scale};

/// The number of moments that are kept of a task. The older they are, the fewer are kept.
const KEPT: usize = 64;

/// Moments of a task, the earliest first.
#[derive(Debug, Default)]
pub(super) struct History {
    moments: Vec<Moment>,
    /// The ticks at which the line of the last block begins.
    last: u64,
}

impl History {
    /// Adds the two moments of another block.
    pub(super) fn add(&mut self, from: Moment, to: Moment) {
        self.last = from.ticks;
        for moment in [from, to] {
            match self.moments.last() {
                Some(last) if moment.ticks <= last.ticks => (),
                // A task may report any begin, but time does not run back.
                Some(last) if moment.nanoseconds < last.nanoseconds => self.moments.clear(),
                _ => self.moments.push(moment),
            }
        }
        if self.moments.len() > KEPT {
            let mut number = 0;
            self.moments.retain(|_| {
                number += 1;
                number > KEPT / 2 || number % 2 == 1
            });
        }
    }

    /// The time of these ticks, which are not later than the last block.
    #[inline]
    pub(super) fn nanoseconds(&self, ticks: u64, last: &Scale) -> u64 {
        if ticks >= self.last { last.nanoseconds(ticks) } else { self.earlier(ticks, last) }
    }

    fn earlier(&self, ticks: u64, last: &Scale) -> u64 {
        let behind = self.moments.partition_point(|moment| moment.ticks < ticks);
        let pair = match behind {
            // Before all moments the line goes through the two that are the farthest apart.
            0 => self.moments.first().zip(self.moments.last()),
            _ => self.moments.get(behind - 1).zip(self.moments.get(behind)),
        };
        match pair {
            Some((from, to)) if from.ticks < to.ticks => Scale::new(*from, *to).nanoseconds(ticks),
            _ => last.nanoseconds(ticks),
        }
    }
}
