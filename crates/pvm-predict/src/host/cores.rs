//! The cores of a computer, which tasks share: if more tasks compute than there are cores, each
//! gets an even share.

use crate::action::TaskNumber;
use crate::planted::{self, Bug};
use crate::unit::Time;
use std::collections::VecDeque;

/// An output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// Call `handle_timeout` at this time with this number.
    Wake(Time, u64),
    /// A task has got the processor time that it asked for.
    Done(TaskNumber),
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: u64,
    /// The computing tasks, each with the processor time that it still needs.
    running: Vec<(TaskNumber, Time)>,
    /// The time up to which these times are right.
    at: Time,
    /// The number of the last wake-up that was asked for; earlier ones are outdated.
    wish: u64,
    out: VecDeque<Output>,
}

impl Cores {
    pub(crate) fn new(cores: u32) -> Self {
        let (cores, running, out) = (u64::from(cores.max(1)), Vec::new(), VecDeque::new());
        Self { cores, running, at: Time::ZERO, wish: 0, out }
    }

    /// A task asks for this much processor time.
    pub(crate) fn handle(&mut self, now: Time, task: TaskNumber, time: Time) {
        self.advance(now);
        self.running.push((task, time));
        self.plan();
    }

    /// Handles a wake-up: a task may be done.
    pub(crate) fn handle_timeout(&mut self, now: Time, wish: u64) {
        if wish != self.wish {
            return;
        }
        self.advance(now);
        let out = &mut self.out;
        self.running.retain(|(task, left)| {
            if *left == Time::ZERO {
                out.push_back(Output::Done(*task));
            }
            *left > Time::ZERO
        });
        self.plan();
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The number of tasks that share a core, as a fraction: tasks, cores.
    fn share(&self) -> (u64, u64) {
        let tasks = self.running.len() as u64;
        if tasks <= self.cores || planted::is(Bug::CoresForgotten) {
            (1, 1)
        } else {
            (tasks, self.cores)
        }
    }

    fn advance(&mut self, now: Time) {
        let (tasks, cores) = self.share();
        let had = u128::from(now.since(self.at).0) * u128::from(cores) / u128::from(tasks);
        let had = Time(u64::try_from(had).unwrap_or(u64::MAX));
        self.running.iter_mut().for_each(|(_, left)| *left = left.since(had));
        self.at = now;
    }

    fn plan(&mut self) {
        let Some(least) = self.running.iter().map(|(_, left)| left.0).min() else { return };
        let (tasks, cores) = self.share();
        let span = (u128::from(least) * u128::from(tasks)).div_ceil(u128::from(cores));
        self.wish += 1;
        let at = self.at + Time(u64::try_from(span).unwrap_or(u64::MAX));
        self.out.push_back(Output::Wake(at, self.wish));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs until no task needs time. Returns the end of each task.
    fn ends(cores: &mut Cores) -> Vec<(TaskNumber, u64)> {
        let (mut done, mut now, mut next) = (Vec::new(), Time::ZERO, None);
        loop {
            while let Some(output) = cores.poll_output() {
                match output {
                    Output::Wake(at, wish) => next = Some((at, wish)),
                    Output::Done(task) => done.push((task, now.0)),
                }
            }
            let Some((at, wish)) = next.take() else { return done };
            now = at;
            cores.handle_timeout(now, wish);
        }
    }

    #[test]
    fn three_on_two_cores_get_two_thirds_each() {
        let mut cores = Cores::new(2);
        for (task, time) in [(0, 200), (1, 200), (2, 400)] {
            cores.handle(Time::ZERO, task, Time(time));
        }
        // Until 300 each task has had 200; then the last one is alone.
        assert_eq!(ends(&mut cores), [(0, 300), (1, 300), (2, 500)]);
    }

    #[test]
    fn two_on_two_cores_do_not_disturb_each_other() {
        let mut cores = Cores::new(2);
        cores.handle(Time::ZERO, 0, Time(7));
        cores.handle(Time(3), 1, Time(9));
        assert_eq!(ends(&mut cores), [(0, 7), (1, 12)]);
    }
}
