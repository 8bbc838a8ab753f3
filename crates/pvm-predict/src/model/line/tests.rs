//! The order in which tasks go on.

use super::run;
use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::platform::{Host, Line};
use crate::program::Source;
use crate::report::{Report, Unwatched};
use crate::source::{Pattern, Shape};
use crate::unit::Time;
use std::collections::VecDeque;

/// Tasks with these actions, whose receives take what their matching says.
struct Script(Vec<VecDeque<Action>>, Matching);

impl Source for Script {
    fn tasks(&self) -> TaskNumber {
        self.0.len() as TaskNumber
    }

    fn matching(&self) -> Matching {
        self.1
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        Ok(self.0[task as usize].pop_front())
    }
}

fn send(to: TaskNumber, bytes: u64) -> Action {
    Action::Send { time: Time::ZERO, bytes, to, tag: 0 }
}

fn receive(from: TaskNumber, bytes: u64) -> Action {
    Action::Receive { time: Time::ZERO, bytes, from, tag: 0 }
}

fn line() -> Line {
    Line::new(Time::microseconds(100), 0.0)
}

fn of(tasks: Vec<Vec<Action>>, matching: Matching) -> Report {
    let tasks = tasks.into_iter().map(VecDeque::from).collect();
    let run = run(&mut Script(tasks, matching), line(), Host::default(), &mut Unwatched);
    run.expect("it comes to an end")
}

/// Two messages woke their receiver twice; the second time it went on past the point at which it
/// waited for others by then.
#[test]
fn a_task_that_two_messages_wake_still_waits_at_its_meeting() {
    let meet = || Action::Meet { time: Time::ZERO, point: 1, count: 2 };
    let second = Action::Compute(Time::microseconds(1_000));
    let tasks = vec![
        vec![receive(1, 8), receive(1, 8), meet(), send(1, 8)],
        vec![send(0, 8), send(0, 8), receive(2, 8), meet(), receive(0, 8)],
        vec![second, send(1, 8)],
    ];
    let report = of(tasks, Matching::Messages);
    // 1000 us, and 100 us of the message; 200 us there and back; 100 us of the last message.
    assert_eq!(report.stations[0].execution, Time::microseconds(1_300));
    assert_eq!(report.stations[1].execution, Time::microseconds(1_400));
}

#[test]
fn a_receive_of_bytes_keeps_what_it_has_while_it_waits() {
    let compute = |count| Action::Compute(Time::microseconds(count));
    let tasks = vec![
        vec![receive(1, 10), receive(1, 6), send(0, 3), receive(0, 3)],
        vec![send(0, 4), compute(50), send(0, 4), compute(50), send(0, 8)],
    ];
    let report = of(tasks, Matching::Bytes);
    assert_eq!(report.stations[0].execution, Time::microseconds(200));
    assert_eq!(report.stations[0].blocked.total(), Time::microseconds(200));
    assert_eq!((report.stations[0].received.bytes, report.stations[0].own.bytes), (16, 3));
}

/// Messages that nobody has taken need memory, so whoever can take some goes first.
#[test]
fn a_stencil_keeps_the_messages_of_few_rows() {
    let edge = 100;
    let pattern = Pattern::new(Shape::Stencil, edge * edge, 3, 8, Time::microseconds(1));
    let mut pattern = pattern.expect("a square");
    let (host, mut nobody) = (Host::default(), Unwatched);
    let mut run = super::LineRun::new(&mut pattern, (line(), host), None, &mut nobody);
    run.carry_out().expect("it comes to an end");
    let most = run.messages.most();
    assert!(most < 20 * edge as usize, "{most} messages of {edge} rows");
}
