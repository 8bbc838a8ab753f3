//! Patterns are grown, and compared with the same patterns made for more tasks. Programs without a
//! pattern are refused.

use super::*;
use crate::action::{Action, Matching};
use crate::source::{Pattern, Shape};
use crate::unit::Time;

fn pattern(shape: Shape, tasks: u32, bytes: u64, computing: u64) -> Box<dyn Source> {
    let computing = Time::microseconds(computing);
    Box::new(Pattern::new(shape, tasks, 3, bytes, computing).expect("a pattern"))
}

/// The actions of a task; consecutive computing is one action.
fn actions(source: &mut dyn Source, task: u32) -> Vec<Action> {
    let mut all: Vec<Action> = Vec::new();
    while let Some(action) = source.next(task).expect("no errors") {
        match (all.last_mut(), action) {
            (Some(Action::Compute(time)), Action::Compute(more)) => *time += more,
            (_, action) => all.push(action),
        }
    }
    all
}

/// Grows a pattern from recordings of these numbers of tasks. Bytes and computing depend on the
/// number.
fn grow(
    shape: Shape,
    recorded: &[u32],
    tasks: u32,
    sizes: impl Fn(u32) -> (u64, u64),
) -> Result<(), Error> {
    let sources = recorded.iter().map(|tasks| {
        let (bytes, computing) = sizes(*tasks);
        pattern(shape, *tasks, bytes, computing)
    });
    let growth = Growth::of(sources.collect(), tasks)?;
    let (bytes, computing) = sizes(tasks);
    let (mut grown, mut made) = (growth.source(1.0), pattern(shape, tasks, bytes, computing));
    assert_eq!(grown.tasks(), tasks);
    for task in 0..tasks {
        let (grown, made) = (actions(&mut grown, task), actions(made.as_mut(), task));
        let differs = grown.iter().zip(&made).position(|(one, other)| one != other);
        let differs = differs.or_else(|| (grown.len() != made.len()).then_some(grown.len()));
        let at = differs.map(|at| (at, grown.get(at), made.get(at)));
        assert_eq!(at, None, "{shape:?}, task {task} of {tasks}, {} roles", growth.roles);
    }
    let (computing, bytes) = (growth.computing_off, growth.bytes_off);
    // Two recordings determine a curve less well than three.
    assert!(computing.abs() < 0.1 && bytes.abs() < 0.1, "{computing}, {bytes}");
    Ok(())
}

#[test]
fn patterns_grow_to_what_they_are_with_more_tasks() {
    let plain = |_| (4096, 100);
    for tasks in [16, 17, 64, 100] {
        grow(Shape::Ring, &[3, 5, 8], tasks, plain).expect("rings");
        grow(Shape::Exchange, &[3, 5, 8], tasks, plain).expect("exchanges");
        grow(Shape::Star, &[3, 5, 8], tasks, plain).expect("stars");
        grow(Shape::Pairs, &[3, 5, 8], tasks, plain).expect("pairs");
        grow(Shape::Tree, &[5, 8, 14], tasks, plain).expect("trees");
    }
    for tasks in [25, 36, 144] {
        grow(Shape::Stencil, &[4, 9, 16], tasks, plain).expect("stencils");
    }
}

#[test]
fn sizes_and_computing_follow_the_number_of_tasks() {
    let divided = |tasks: u32| (1 << 20 >> tasks.ilog2(), (1 << 20) >> tasks.ilog2());
    grow(Shape::Ring, &[2, 4, 8], 64, divided).expect("halves");
    let more = |tasks: u32| (u64::from(8 + 4 * tasks), u64::from(100 + 3 * tasks));
    grow(Shape::Exchange, &[3, 5, 8], 50, more).expect("lists of all tasks");
}

#[test]
fn what_has_no_pattern_is_refused_by_name() {
    let sources = |all: &[(Shape, u32)]| {
        all.iter().map(|(shape, tasks)| pattern(*shape, *tasks, 8, 1)).collect::<Vec<_>>()
    };
    let refused = |all: &[(Shape, u32)], tasks| match Growth::of(sources(all), tasks) {
        Ok(growth) => panic!("{} roles", growth.roles),
        Err(error) => error.to_string(),
    };
    let ring = |tasks| (Shape::Ring, tasks);
    let few = refused(&[ring(4), ring(8), ring(8)], 16);
    assert!(few.contains("3 different numbers of tasks") && few.contains("[4, 8]"), "{few}");
    let mixed = refused(&[ring(4), ring(5), (Shape::Exchange, 8)], 16);
    assert!(mixed.contains("do not fit one another: task 0 of 5"), "{mixed}");
    let stencil = [4, 9, 16].map(|tasks| (Shape::Stencil, tasks));
    let square = refused(&stencil, 20);
    assert!(square.contains("task 0 of 20 has a role or a partner"), "{square}");
    let fewer = refused(&[ring(4), ring(5), ring(8)], 3);
    assert!(fewer.contains("more than the smallest"), "{fewer}");
}

/// A program whose actions are written out.
struct Written(Vec<std::collections::VecDeque<Action>>, Matching);

impl Source for Written {
    fn tasks(&self) -> TaskNumber {
        self.0.len() as TaskNumber
    }

    fn matching(&self) -> Matching {
        self.1
    }

    fn is_started(&self, task: TaskNumber) -> bool {
        task != 2
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        Ok(self.0[task as usize].pop_front())
    }
}

/// A sum over a hypercube whose pieces double. Task 2 has started the others, and only the
/// recording of 4 tasks has one more message at its end.
fn sums(tasks: u32) -> Box<dyn Source> {
    let first = 2.min(tasks - 1);
    let number = |rank: u32| match rank {
        0 => first,
        rank if rank <= first => rank - 1,
        rank => rank,
    };
    let mut all = vec![std::collections::VecDeque::new(); tasks as usize];
    for rank in 0..tasks {
        let list = &mut all[number(rank) as usize];
        if rank == 0 {
            list.push_back(Action::Start((1..tasks).map(number).collect()));
        }
        for bit in (0..tasks.ilog2()).map(|bit| 1 << bit) {
            let (other, bytes) = (number(rank ^ bit), u64::from(1024 * bit / tasks));
            let time = Time::ZERO;
            list.push_back(Action::Send { time, bytes, to: other, tag: 7 });
            list.push_back(Action::Receive { time, bytes, from: other, tag: 7 });
        }
        let (time, bytes, tag) = (Time::ZERO, 4, 9);
        if tasks == 4 && rank == 0 {
            list.push_back(Action::Send { time, bytes, to: number(1), tag });
        }
        if tasks == 4 && rank == 1 {
            list.push_back(Action::Receive { time, bytes, from: number(0), tag });
        }
    }
    Box::new(Written(all, Matching::Messages))
}

#[test]
fn tasks_count_as_they_were_started_and_single_messages_are_left_out() {
    let growth = Growth::of([2, 4, 8].map(sums).into(), 16).expect("sums");
    assert_eq!(growth.strays, 1);
    let mut grown = growth.source(1.0);
    assert!(!grown.is_started(0) && grown.is_started(15));
    let partners: Vec<(u32, u64)> = actions(&mut grown, 5)
        .iter()
        .filter_map(|action| match action {
            Action::Send { to, bytes, .. } => Some((*to, *bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(partners, [(4, 64), (7, 128), (1, 256), (13, 512)]);
    let odd = Growth::of([2, 4, 8].map(sums).into(), 12).expect_err("no hypercube").to_string();
    assert!(odd.contains("power of two"), "{odd}");
}

/// Random actions of a program of this many tasks.
fn chance(dice: &mut crate::kernel::Dice, tasks: u32, matching: Matching) -> Box<dyn Source> {
    let mut any = |below: u32| dice.below(u64::from(below)) as u32;
    let mut all = vec![std::collections::VecDeque::new(); tasks as usize];
    for list in &mut all {
        for _ in 0..any(4) {
            let (to, time, bytes) = (any(tasks), Time(u64::from(any(3))), u64::from(any(100)));
            let tag = any(2) as i32;
            list.push_back(match any(10) {
                0 => Action::Compute(time),
                1 => Action::Idle(Time::END),
                2 => Action::Start([to, 0].into()),
                3 => Action::Meet { time, point: to, count: tasks },
                4 => Action::Look,
                5 => Action::CatchUp,
                6 => Action::Enter(to),
                7 => Action::Multicast { time, bytes, to: [to, 0].into(), tag },
                8 => Action::Send { time, bytes, to, tag },
                _ => Action::Receive { time, bytes, from: to, tag },
            });
        }
    }
    Box::new(Written(all, matching))
}

#[test]
fn whatever_is_recorded_grows_to_messages_among_its_tasks_or_is_refused() {
    let mut dice = crate::kernel::Dice::new(21, 0);
    let (mut grown, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let some = |dice: &mut crate::kernel::Dice| dice.below(3) as u32;
        let matching = [Matching::Bytes, Matching::Messages, Matching::Numbers];
        let matching = matching[some(&mut dice) as usize];
        let counts = [1, 2, 3].map(|count| count + some(&mut dice));
        let sources = counts.map(|tasks| chance(&mut dice, tasks, matching));
        let Ok(growth) = Growth::of(sources.into(), 7) else {
            refused += 1;
            continue;
        };
        grown += 1;
        let mut source = growth.source(growth.factors().1);
        for task in 0..7 {
            for action in actions(&mut source, task) {
                let peers: Vec<u32> = match &action {
                    Action::Send { to, .. } => vec![*to],
                    Action::Receive { from, .. } => vec![*from],
                    Action::Multicast { to, .. } | Action::Start(to) => to.to_vec(),
                    _ => Vec::new(),
                };
                assert!(peers.iter().all(|peer| *peer < 7), "{action:?}");
            }
        }
    }
    assert!(grown > 20 && refused > 1000, "{grown} grew, {refused} did not");
}
