//! Patterns of communication that are generated instead of recorded. They show what a network does
//! with them.

use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::unit::{BYTES_MAX, TIME_MAX, Time};

/// The pairs of tasks that exchange messages in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Tasks 0 and 1, 2 and 3 ... send one message there and back.
    Pairs,
    /// Each task sends to the next one.
    Ring,
    /// Each task sends to its four neighbours in a square that is closed at its edges.
    Stencil,
    /// Sums go up a binary tree, and the result comes down.
    Tree,
    /// Each task sends to all others.
    Exchange,
    /// All other tasks send to task 0, which answers each.
    Star,
}

impl Shape {
    /// All patterns with their names.
    pub const ALL: [(&'static str, Self); 6] = [
        ("pairs", Self::Pairs),
        ("ring", Self::Ring),
        ("stencil", Self::Stencil),
        ("tree", Self::Tree),
        ("exchange", Self::Exchange),
        ("star", Self::Star),
    ];
}

/// A program of rounds: each task computes, then sends and receives.
#[derive(Debug)]
pub struct Pattern {
    shape: Shape,
    tasks: TaskNumber,
    rounds: u32,
    bytes: u64,
    computing: Time,
    /// The edge of the square of a stencil.
    edge: TaskNumber,
    places: Vec<Progress>,
}

/// The progress of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    round: u32,
    step: u32,
}

impl Pattern {
    /// Makes a program of `tasks` tasks that do `rounds` rounds.
    pub fn new(
        shape: Shape,
        tasks: TaskNumber,
        rounds: u32,
        bytes: u64,
        computing: Time,
    ) -> Result<Self, Error> {
        let edge = tasks.isqrt();
        if bytes > BYTES_MAX || computing > TIME_MAX {
            let what = format!("a message has at most {BYTES_MAX} B, and a round {TIME_MAX}");
            return Err(Error::Unfit(what));
        }
        if tasks == 0 {
            return Err(Error::Unfit("a pattern has at least one task".to_owned()));
        }
        if shape == Shape::Stencil && edge * edge != tasks {
            let [below, above] = [edge, edge + 1].map(|edge| u64::from(edge).pow(2));
            let what =
                format!("a stencil is a square: {tasks} tasks are none, {below} and {above} are");
            return Err(Error::Unfit(what));
        }
        let places = vec![Progress::default(); tasks as usize];
        Ok(Self { shape, tasks, rounds, bytes, computing, edge, places })
    }

    const fn send(&self, to: TaskNumber) -> Action {
        Action::Send { time: Time::ZERO, bytes: self.bytes, to, tag: 0 }
    }

    const fn receive(&self, from: TaskNumber) -> Action {
        Action::Receive { time: Time::ZERO, bytes: self.bytes, from, tag: 0 }
    }

    /// The action of a task in a step of a round; none after the last step.
    fn step(&self, task: TaskNumber, step: u32) -> Option<Action> {
        match self.shape {
            Shape::Pairs => self.pairs(task, step),
            Shape::Ring => self.ring(task, step),
            Shape::Stencil => self.stencil(task, step),
            Shape::Tree => self.tree(task, step),
            Shape::Exchange => self.exchange(task, step),
            Shape::Star => self.star(task, step),
        }
    }

    fn pairs(&self, task: TaskNumber, step: u32) -> Option<Action> {
        let other = task ^ 1;
        if other >= self.tasks || step > 1 {
            return None;
        }
        Some(if (step == 0) == (task < other) { self.send(other) } else { self.receive(other) })
    }

    fn ring(&self, task: TaskNumber, step: u32) -> Option<Action> {
        match step {
            _ if self.tasks == 1 => None,
            0 => Some(self.send((task + 1) % self.tasks)),
            1 => Some(self.receive((task + self.tasks - 1) % self.tasks)),
            _ => None,
        }
    }

    fn stencil(&self, task: TaskNumber, step: u32) -> Option<Action> {
        let (row, column, edge) = (task / self.edge, task % self.edge, self.edge);
        if edge == 1 || step > 7 {
            return None;
        }
        let next = |place: TaskNumber| (place + 1) % edge;
        let last = |place: TaskNumber| (place + edge - 1) % edge;
        let other = match step % 4 {
            0 => row * edge + next(column),
            1 => row * edge + last(column),
            2 => next(row) * edge + column,
            _ => last(row) * edge + column,
        };
        Some(if step < 4 { self.send(other) } else { self.receive(other) })
    }

    fn tree(&self, task: TaskNumber, step: u32) -> Option<Action> {
        let child = |which: u64| {
            let child = u64::from(task) * 2 + which;
            (child < u64::from(self.tasks)).then_some(child as TaskNumber)
        };
        let children: [Option<TaskNumber>; 2] = [child(1), child(2)];
        let mut list = [const { None }; 6];
        let mut count = 0;
        let mut put = |action: Option<Action>| {
            if action.is_some() {
                list[count] = action;
                count += 1;
            }
        };
        children.iter().for_each(|child| put(child.map(|child| self.receive(child))));
        if task > 0 {
            put(Some(self.send((task - 1) / 2)));
            put(Some(self.receive((task - 1) / 2)));
        }
        children.iter().for_each(|child| put(child.map(|child| self.send(child))));
        list.get_mut(step as usize).and_then(Option::take)
    }

    fn exchange(&self, task: TaskNumber, step: u32) -> Option<Action> {
        let others = self.tasks - 1;
        let (tasks, task) = (u64::from(self.tasks), u64::from(task));
        if step < others {
            return Some(self.send(((task + u64::from(step) + 1) % tasks) as TaskNumber));
        }
        let back = u64::from(step - others) + 1;
        (back < tasks).then(|| self.receive(((task + tasks - back) % tasks) as TaskNumber))
    }

    fn star(&self, task: TaskNumber, step: u32) -> Option<Action> {
        let others = self.tasks - 1;
        match (task, step) {
            (0, _) if step < others => Some(self.receive(step + 1)),
            (0, _) => (step - others < others).then(|| self.send(step - others + 1)),
            (_, 0) => Some(self.send(0)),
            (_, 1) => Some(self.receive(0)),
            _ => None,
        }
    }
}

impl Source for Pattern {
    fn tasks(&self) -> TaskNumber {
        self.tasks
    }

    fn matching(&self) -> Matching {
        Matching::Messages
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        loop {
            let place = self.places[task as usize];
            if place.round >= self.rounds {
                return Ok(None);
            }
            if place.step == 0 {
                self.places[task as usize].step = 1;
                if self.computing > Time::ZERO {
                    return Ok(Some(Action::Compute(self.computing)));
                }
                continue;
            }
            if let Some(action) = self.step(task, place.step - 1) {
                self.places[task as usize].step += 1;
                return Ok(Some(action));
            }
            self.places[task as usize] = Progress { round: place.round + 1, step: 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_send_has_its_receive() {
        for (name, shape) in Shape::ALL {
            for tasks in [1u32, 2, 4, 9, 16] {
                let Ok(mut pattern) = Pattern::new(shape, tasks, 3, 8, Time(5)) else { continue };
                let mut open: BTreeMap<(u32, u32), i64> = BTreeMap::new();
                for task in 0..tasks {
                    while let Some(action) = pattern.next(task).expect("a pattern has no errors") {
                        match action {
                            Action::Send { to, .. } => *open.entry((task, to)).or_default() += 1,
                            Action::Receive { from, .. } => {
                                *open.entry((from, task)).or_default() -= 1
                            }
                            _ => (),
                        }
                    }
                }
                assert!(open.values().all(|count| *count == 0), "{name} of {tasks}: {open:?}");
            }
        }
    }

    /// A reader of such a trace refused what `generate` had written.
    #[test]
    fn what_no_trace_may_hold_is_refused() {
        let ring = |bytes, computing| Pattern::new(Shape::Ring, 2, 1, bytes, computing);
        assert!(ring(BYTES_MAX, TIME_MAX).is_ok());
        for told in [ring(BYTES_MAX + 1, Time::ZERO), ring(0, TIME_MAX + Time(1))] {
            let told = told.expect_err("too much").to_string();
            assert!(told.contains("1000000000000 B"), "{told}");
        }
    }

    #[test]
    fn a_stencil_that_is_no_square_is_refused() {
        let told = Pattern::new(Shape::Stencil, 10, 1, 1, Time::ZERO).expect_err("no square");
        assert_eq!(told.to_string(), "a stencil is a square: 10 tasks are none, 9 and 16 are");
    }
}
