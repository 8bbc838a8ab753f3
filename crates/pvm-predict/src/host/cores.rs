//! The cores of a computer, which tasks share: if more tasks compute than there are cores, each
//! gets an even share, or, with a slice, as many as there are cores compute and the others queue.
//!
//! Linux gives a real-time task a core until it sleeps or has used up its slice (`SCHED_RR`, 100
//! ms); then it goes to the end of the queue.

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

/// A task that computes.
#[derive(Clone, Copy, Debug)]
struct Need {
    task: TaskNumber,
    /// The processor time that it still needs.
    left: Time,
    /// The rest of its slice.
    slice: Time,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: u64,
    /// The longest time for which a task keeps a core while others queue; none: even shares.
    slice: Option<Time>,
    /// The computing tasks. With a slice, the first ones have the cores and the others queue.
    running: VecDeque<Need>,
    /// The time up to which these times are right.
    at: Time,
    /// The number of the last wake-up that was asked for; earlier ones are outdated.
    wish: u64,
    out: VecDeque<Output>,
}

impl Cores {
    pub(crate) fn new(cores: u32, slice: Option<Time>) -> Self {
        let (cores, running, out) = (u64::from(cores.max(1)), VecDeque::new(), VecDeque::new());
        Self { cores, slice, running, at: Time::ZERO, wish: 0, out }
    }

    /// A task asks for this much processor time.
    pub(crate) fn handle(&mut self, now: Time, task: TaskNumber, left: Time) {
        self.advance(now);
        self.running.push_back(Need { task, left, slice: self.slice.unwrap_or(Time::END) });
        self.plan();
    }

    /// Handles a wake-up: a task may be done.
    pub(crate) fn handle_timeout(&mut self, now: Time, wish: u64) {
        if wish != self.wish {
            return;
        }
        self.advance(now);
        let out = &mut self.out;
        self.running.retain(|need| {
            if need.left == Time::ZERO {
                out.push_back(Output::Done(need.task));
            }
            need.left > Time::ZERO
        });
        self.rotate();
        self.plan();
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Tasks whose slice is used up go to the end of the queue, with a new slice.
    fn rotate(&mut self) {
        let Some(slice) = self.slice else { return };
        let (over, mut rest): (VecDeque<_>, VecDeque<_>) =
            self.running.drain(..).partition(|need| need.slice == Time::ZERO);
        rest.extend(over.into_iter().map(|need| Need { slice, ..need }));
        self.running = rest;
    }

    /// The number of tasks that have a core or a share of one.
    fn on_cores(&self) -> usize {
        let all = self.running.len();
        if self.slice.is_some() && !planted::is(Bug::CoresForgotten) {
            all.min(self.cores as usize)
        } else {
            all
        }
    }

    /// The number of tasks that share a core, as a fraction: tasks, cores.
    fn share(&self) -> (u64, u64) {
        let tasks = self.on_cores() as u64;
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
        let on_cores = self.on_cores();
        for need in self.running.iter_mut().take(on_cores) {
            need.left = need.left.since(had);
            need.slice = need.slice.since(had);
        }
        self.at = now;
    }

    fn plan(&mut self) {
        let on_cores = self.running.iter().take(self.on_cores());
        let Some(least) = on_cores.map(|need| need.left.min(need.slice).0).min() else { return };
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
        let mut cores = Cores::new(2, None);
        for (task, time) in [(0, 200), (1, 200), (2, 400)] {
            cores.handle(Time::ZERO, task, Time(time));
        }
        // Until 300 each task has had 200; then the last one is alone.
        assert_eq!(ends(&mut cores), [(0, 300), (1, 300), (2, 500)]);
    }

    #[test]
    fn two_on_two_cores_do_not_disturb_each_other() {
        let mut cores = Cores::new(2, None);
        cores.handle(Time::ZERO, 0, Time(7));
        cores.handle(Time(3), 1, Time(9));
        assert_eq!(ends(&mut cores), [(0, 7), (1, 12)]);
    }

    #[test]
    fn with_a_slice_tasks_keep_a_core_until_they_are_done() {
        let mut cores = Cores::new(2, Some(Time(1000)));
        for (task, time) in [(0, 200), (1, 300), (2, 400), (3, 100)] {
            cores.handle(Time::ZERO, task, Time(time));
        }
        // Even shares would end task 3 at 200, task 0 at 350, task 1 at 450 and task 2 at 500.
        assert_eq!(ends(&mut cores), [(0, 200), (1, 300), (3, 400), (2, 600)]);
    }

    #[test]
    fn a_task_whose_slice_is_over_waits_behind_all_others() {
        let mut cores = Cores::new(1, Some(Time(100)));
        for (task, time) in [(0, 250), (1, 80), (2, 150)] {
            cores.handle(Time::ZERO, task, Time(time));
        }
        // 0 until 100, 1 until 180, 2 until 280, 0 until 380, 2 until 430, 0 until 480.
        assert_eq!(ends(&mut cores), [(1, 180), (2, 430), (0, 480)]);
    }
}
