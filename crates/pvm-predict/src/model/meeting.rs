//! Points at which tasks wait for one another.

use crate::action::TaskNumber;
use crate::blame::{Chain, Phase, Split, Told};
use crate::error::{Awaited, Waiting};
use crate::kernel::Map;
use crate::unit::Time;

/// A task that has come to a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) task: TaskNumber,
    pub(super) at: Time,
    /// The time of its call without the wait.
    pub(super) time: Time,
    /// The chain of causes that led it there.
    pub(super) chain: Chain,
}

/// The tasks that wait at each point.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    open: Map<u32, Vec<Came>>,
    /// The point at which a task waits, and the number of tasks that must come.
    waits: Map<TaskNumber, (u32, u32)>,
}

/// A point to which all tasks have come.
#[derive(Debug)]
pub(super) struct Met {
    all: Vec<Came>,
    last: Came,
}

impl Meetings {
    /// A task comes to a point. Returns all of them for the last one.
    pub(super) fn come(&mut self, (point, count): (u32, u32), came: Came) -> Option<Met> {
        let there = self.open.entry(point).or_default();
        there.push(came);
        if there.len() < count as usize {
            self.waits.insert(came.task, (point, count));
            return None;
        }
        let all = self.open.remove(&point)?;
        for came in &all {
            self.waits.remove(&came.task);
        }
        let last = *all.iter().max_by_key(|came| came.at)?;
        Some(Met { all, last })
    }

    /// The wait of a task, if it waits at a point.
    pub(super) fn waiting(&self, task: TaskNumber) -> Option<Waiting> {
        let (point, count) = *self.waits.get(&task)?;
        let there = self.open.get(&point).map_or(0, Vec::len) as u32;
        Some(Waiting { task, what: Awaited::Meeting { point, there, count } })
    }
}

impl Met {
    /// All tasks, in the order in which they came.
    pub(super) fn all(&self) -> &[Came] {
        &self.all
    }

    /// The wait of one task if the last one's message takes `there`, and the chain of causes of its
    /// end.
    pub(super) fn wait_of(&self, one: &Came, there: Time) -> (Split, Chain) {
        let mut wait = Told::since(one.at);
        wait.until(Phase::Late, self.last.at);
        wait.until(Phase::Wire, self.last.at + there);
        let mut way = Split::default();
        way.add(Phase::Wire, there);
        let chain = match one.task == self.last.task {
            true => {
                let mut chain = one.chain;
                chain.split.add_all(&way);
                chain
            }
            false => self.last.chain.follow(&way),
        };
        (wait.split, chain)
    }
}
