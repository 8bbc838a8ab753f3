//! Processes that a program started by a person leaves running in the background, and that hold its
//! output: the command that shows the output would wait for that end for as long.
//!
//! Once the program's own process is gone, the rest of its group has a moment, is told to end, and
//! is killed at last. What has a group of its own, or has asked to outlive the machine, goes on
//! without the output.

use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time for which processes that are left may go on.
pub(super) const GRACE: Duration = Duration::from_secs(1);
/// The longest time that they may take to end once they were told.
pub(super) const END_TIME_MAX: Duration = Duration::from_secs(5);
/// Between two looks whether it has ended.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The rest of one task.
#[derive(Debug)]
pub(super) struct Leftover {
    /// The process that was started.
    pub(super) leader: u32,
    /// When to look next.
    pub(super) due: Instant,
    /// It was told to end, and may take until then.
    pub(super) told: Option<Instant>,
}

/// Tasks that are gone and whose output is still held.
#[derive(Debug, Default)]
pub(super) struct Leftovers(BTreeMap<Tid, Leftover>);

impl Leftovers {
    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.values().map(|left| left.due).min()
    }

    /// Watches what is left of a task.
    pub(super) fn watch(&mut self, tid: Tid, left: Leftover) {
        self.0.insert(tid, left);
    }

    /// The leftovers that are due to be checked now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<(Tid, Leftover)> {
        self.0.extract_if(.., |_, left| left.due <= now).collect()
    }
}
