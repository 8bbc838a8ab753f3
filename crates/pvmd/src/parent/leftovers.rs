//! What a program that a person has started leaves running in the background, and what holds its output: the command that
//! shows the output would wait for that end for as long.
//!
//! Once the program's own process is gone, the rest of its group has a moment, is told to end, and is killed at last. What
//! has a group of its own, or has asked to outlive the machine, goes on without the output.

use super::Parent;
use crate::parent::output::Flow;
use crate::processes;
use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long what is left may go on.
const GRACE: Duration = Duration::from_secs(1);
/// How long it may take to end once it was told.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(100);
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

#[derive(Debug)]
struct Leftover {
    /// The process that was started.
    leader: u32,
    /// When to look next.
    due: Instant,
    /// It was told to end, and may take until then.
    told: Option<Instant>,
}

/// Tasks that are gone and whose output is still held.
#[derive(Debug, Default)]
pub(super) struct Leftovers(BTreeMap<Tid, Leftover>);

impl Leftovers {
    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.values().map(|left| left.due).min()
    }

    fn due(&self, now: Instant) -> Vec<Tid> {
        self.0.iter().filter(|(_, left)| left.due <= now).map(|(tid, _)| *tid).collect()
    }
}

impl Parent {
    /// A task is gone: what is left of it is watched if it holds the output.
    pub(super) fn watch_leftovers(&mut self, tid: Tid) {
        let Some(leader) = self.tasks.leader(tid) else { return };
        if !self.outputs.of_task(tid).is_empty() {
            let due = Instant::now() + GRACE;
            self.leftovers.0.insert(tid, Leftover { leader, due, told: None });
        }
    }

    /// Ends what is left and has had its time.
    pub(super) fn end_leftovers(&mut self) {
        let now = Instant::now();
        for tid in self.leftovers.due(now) {
            let Some(mut left) = self.leftovers.0.remove(&tid) else { continue };
            if self.outputs.of_task(tid).is_empty() {
                continue;
            }
            // A script goes on behind the task that it was the wrapper of.
            if processes::is_alive(left.leader) {
                left.due = now + GRACE;
                self.leftovers.0.insert(tid, left);
                continue;
            }
            let members = processes::of_group(left.leader);
            let late = left.told.is_some_and(|end| now >= end);
            let signal = if late { SIGKILL } else { SIGTERM };
            if left.told.is_none() || late {
                members.iter().for_each(|&pid| processes::signal(pid, signal));
            }
            if members.is_empty() || late {
                self.close_output(tid);
                continue;
            }
            left.told = left.told.or(Some(now + END_TIME_MAX));
            left.due = now + LOOK;
            self.leftovers.0.insert(tid, left);
        }
    }

    /// Whoever holds the output writes to nobody from now on.
    fn close_output(&mut self, tid: Tid) {
        for flow in self.outputs.read_rest(tid, &mut self.scratch) {
            self.tell_flow(flow);
        }
        if self.outputs.close(tid) {
            self.log.line(&format!(
                "[{tid}] has left something running that goes on without an output"
            ));
            self.tell_flow(Flow::Ended(tid));
        }
    }
}
