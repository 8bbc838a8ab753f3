//! The steps of a durable space that are on its server's disk.

use crate::log::Record;
use crate::planted::{self, Bug};

/// The state of the disk. For a space in memory every applied step counts as kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journal {
    is_durable: bool,
    /// The last step on disk.
    persisted: u64,
}

impl Journal {
    /// The journal of a new space, of which nothing is on disk yet.
    pub(super) const fn new(is_durable: bool) -> Self {
        Self { is_durable, persisted: 0 }
    }

    /// False for a space in memory.
    pub(super) const fn is_durable(self) -> bool {
        self.is_durable
    }

    /// Returns the record if it must be written.
    pub(super) fn note(self, record: impl FnOnce() -> Record) -> Option<Record> {
        self.is_durable.then(record)
    }

    /// Marks that all must be written anew; false for a space in memory.
    pub(super) const fn begin(&mut self) -> bool {
        self.persisted = 0;
        self.is_durable
    }

    /// Notes that the steps up to this one are on disk.
    pub(super) fn persisted(&mut self, number: u64) {
        self.persisted = self.persisted.max(number);
    }

    /// The last step, at most `applied`, that is kept as safely as the space promises.
    pub(super) fn kept(self, applied: u64) -> u64 {
        let all = !self.is_durable || planted::is(Bug::AnswersBeforeTheDisk);
        if all { applied } else { applied.min(self.persisted) }
    }
}
