//! The traced tasks, and what their tracers know already.

use crate::records::{Change, Table};
use pvm_wire::request::Target;
use pvm_wire::{Tid, record};

/// Tracers whose knowledge is remembered: more are told anew what they know.
const TRACERS_MAX: usize = 256;
/// A tracer was told the table of data.
pub(crate) const TABLE_TOLD: u32 = 1;

record! {
    /// A task that a tracer watches.
    pub struct Traced {
        /// The tracer that is told.
        pub target: Target,
        /// The flags of its spawn call, -1 without one.
        pub flags: i32,
        /// Its beginning was told.
        pub begun: bool,
    }
}

/// The tracer of each task, and what each tracer knows.
#[derive(Debug)]
pub(crate) struct Tracers {
    pub(crate) tasks: Table<Tid, Traced>,
    /// The descriptions that a tracer was sent: bit 0 is the table of data, then the kinds of
    /// events.
    told: Table<Tid, u32>,
}

impl Tracers {
    pub(crate) const fn new() -> Self {
        Self { tasks: Table::new(b'@'), told: Table::new(b'!') }
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.tasks.take_changes(out);
        self.told.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.tasks.restore(key, value) || self.told.restore(key, value)
    }

    /// True if the tracer knew this already.
    pub(crate) fn knows(&mut self, tracer: Tid, what: u32) -> bool {
        let known = self.told.get(&tracer).copied().unwrap_or(0);
        if known & what == 0 {
            if self.told.len() >= TRACERS_MAX {
                self.told.clear();
            }
            self.told.insert(tracer, known | what);
        }
        known & what != 0
    }

    /// It has ended; a later task with its id knows nothing yet.
    pub(crate) fn forget(&mut self, tracer: Tid) {
        self.told.remove(&tracer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_the_id_of_a_tracer_that_ended_was_told_nothing_anew() {
        let (mut tracers, tracer) = (Tracers::new(), Tid(0x40001));
        assert!(!tracers.knows(tracer, TABLE_TOLD));
        assert!(tracers.knows(tracer, TABLE_TOLD));
        tracers.forget(tracer);
        assert!(!tracers.knows(tracer, TABLE_TOLD));
    }
}
