//! A grown program as a source.

use super::relation::Over;
use super::roles::Roles;
use super::sketch::{Kind, Names};
use super::token::{Token, TokenPlace, within};
use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::unit::{BYTES_MAX, Time};
use std::sync::Arc;

/// The times of a deed, in their order: idle, computing, calls before it, its own call.
type Times = [Time; 4];

/// A deed with its numbers.
#[derive(Clone, Debug)]
struct Sized {
    /// The times in the first step of a row, and in the other steps.
    times: [Times; 2],
    /// One number for each step of a short row, otherwise a single one.
    bytes: Box<[u64]>,
}

/// A role with its numbers.
#[derive(Clone, Debug)]
struct Fitted {
    tokens: Vec<(Token, Vec<Sized>)>,
}

/// The grown program, which many runs share.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    tasks: TaskNumber,
    mask: u8,
    roles: Vec<(u8, Fitted)>,
    names: Names,
    started: Vec<bool>,
}

/// The state of a task between two actions.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    token: u32,
    step: u32,
    part: u16,
    /// The index of the deed's time that comes next.
    phase: u16,
}

/// A run of a grown program.
#[derive(Debug)]
pub struct Grown {
    plan: Arc<Plan>,
    /// The factor for the times of computing.
    factor: f64,
    positions: Vec<Position>,
}

impl Plan {
    /// The numbers of roles for this many tasks, by curves through recordings of fewer than `below`
    /// tasks.
    pub(super) fn new(roles: &Roles, tasks: TaskNumber, below: u32, names: &Names) -> Self {
        let fitted = roles.all.iter().map(|(features, role)| {
            let tokens = role.tokens.iter().map(|token| (bare(token), sized(token, tasks, below)));
            (*features, Fitted { tokens: tokens.collect() })
        });
        let roles_of = fitted.collect();
        let names = names.clone();
        let mut plan =
            Self { tasks, mask: roles.mask, roles: roles_of, names, started: Vec::new() };
        plan.started = plan.find_started();
        plan
    }

    fn role(&self, task: TaskNumber) -> Option<&Fitted> {
        let features = super::roles::features(task, self.tasks) & self.mask;
        self.roles.iter().find(|(known, _)| *known == features).map(|(_, role)| role)
    }

    fn find_started(&self) -> Vec<bool> {
        let mut started = vec![false; self.tasks as usize];
        for task in 0..self.tasks {
            let Some(role) = self.role(task) else { continue };
            let starts = |(token, _): &&(Token, Vec<Sized>)| {
                token.parts.iter().any(|part| part.kind == Kind::Start)
            };
            for (token, _) in role.tokens.iter().filter(starts) {
                for wanted in token.wanted(task, self.tasks) {
                    let peer = token.peer(wanted, (task, self.tasks));
                    let is = token.parts[wanted.part].kind == Kind::Start;
                    if let Some(peer) = peer.filter(|_| is) {
                        started[peer as usize] = true;
                    }
                }
            }
        }
        started
    }

    /// Seconds of computing and bytes of all tasks within sections.
    pub(super) fn sums(&self) -> (f64, f64) {
        let (mut computing, mut bytes) = (0.0, 0.0);
        for task in 0..self.tasks {
            let Some(role) = self.role(task) else { continue };
            let within = within(role.tokens.iter().map(|(token, _)| token));
            let tokens = role.tokens.iter().enumerate();
            for (_, (token, sized)) in tokens.filter(|(place, _)| within.contains(place)) {
                for wanted in token.wanted(task, self.tasks) {
                    let one = &sized[wanted.part];
                    computing += one.times(wanted.step)[1].seconds();
                    let sends = matches!(token.parts[wanted.part].kind, Kind::Send | Kind::Cast);
                    bytes += if sends { one.bytes(wanted.step) as f64 } else { 0.0 };
                }
            }
        }
        (computing, bytes)
    }
}

impl Sized {
    fn times(&self, step: u32) -> &Times {
        &self.times[usize::from(step > 0)]
    }

    fn bytes(&self, step: u32) -> u64 {
        let bytes = self.bytes.get(step as usize).or_else(|| self.bytes.first());
        bytes.copied().unwrap_or(0)
    }
}

/// A token without its measured values.
fn bare(token: &Token) -> Token {
    let mut token = token.clone();
    token.parts.iter_mut().for_each(|part| part.samples = super::law::Samples::default());
    token
}

fn sized(token: &Token, tasks: TaskNumber, below: u32) -> Vec<Sized> {
    let is_short = token.over.is_some_and(Over::is_short);
    let steps = if is_short { u32::BITS - tasks.leading_zeros() } else { 1 };
    let all = token.parts.iter().map(|part| {
        let times = [true, false].map(|is_first| {
            let laws = part.samples.times(below, is_first);
            laws.map(|law| Time(law.at(tasks, 0).round() as u64))
        });
        let law = part.samples.bytes(below);
        let bytes = (0..steps).map(|step| (law.at(tasks, step).round() as u64).min(BYTES_MAX));
        Sized { times, bytes: bytes.collect() }
    });
    all.collect()
}

impl Grown {
    pub(super) fn new(plan: &Arc<Plan>, factor: f64) -> Self {
        let positions = vec![Position::default(); plan.tasks as usize];
        Self { plan: Arc::clone(plan), factor, positions }
    }
}

impl Source for Grown {
    fn tasks(&self) -> TaskNumber {
        self.plan.tasks
    }

    fn matching(&self) -> Matching {
        Matching::Messages
    }

    fn is_started(&self, task: TaskNumber) -> bool {
        self.plan.started[task as usize]
    }

    fn section(&self, number: u32) -> Option<&str> {
        let place = (number as usize).checked_sub(1)?;
        self.plan.names.get(place).map(String::as_str)
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        let plan = &*self.plan;
        let Some(role) = plan.role(task) else { return Ok(None) };
        let position = &mut self.positions[task as usize];
        let of = (task, plan.tasks);
        loop {
            let Some((token, sized)) = role.tokens.get(position.token as usize) else {
                return Ok(None);
            };
            let is_over = match token.over {
                Some(over) => over.item(position.step, task, plan.tasks).is_none(),
                None => position.step > 0,
            };
            if is_over {
                *position = Position { token: position.token + 1, ..Position::default() };
                continue;
            }
            let one = &sized[position.part as usize];
            if position.phase < 3 {
                let time = one.times(position.step)[position.phase as usize];
                position.phase += 1;
                if time > Time::ZERO {
                    return Ok(Some(match position.phase {
                        1 => Action::Idle(time),
                        2 => Action::Compute(time.scaled(self.factor)),
                        _ => Action::Call(time),
                    }));
                }
                continue;
            }
            let wanted = TokenPlace { part: position.part as usize, step: position.step };
            let action = action(token, one, wanted, of);
            position.phase = 0;
            position.part += 1;
            // A row of a multicast is one call.
            let is_cast = matches!(action, Some(Action::Multicast { .. }));
            if is_cast {
                *position = Position { token: position.token + 1, ..Position::default() };
            } else if position.part as usize == token.parts.len() {
                (position.part, position.step) = (0, position.step + 1);
            }
            if action.is_some() {
                return Ok(action);
            }
        }
    }
}

/// The action of a deed; none at the end of a task.
fn action(
    token: &Token,
    sized: &Sized,
    wanted: TokenPlace,
    (task, tasks): (TaskNumber, TaskNumber),
) -> Option<Action> {
    let part = &token.parts[wanted.part];
    let (tag, time, bytes) = (part.tag, sized.times(wanted.step)[3], sized.bytes(wanted.step));
    if let Kind::Meet(point) = part.kind {
        return Some(Action::Meet { time, point, count: tasks });
    }
    if let Kind::Enter(section) = part.kind {
        return Some(Action::Enter(section));
    }
    let peer = token.peer(wanted, (task, tasks))?;
    match part.kind {
        Kind::Send => Some(Action::Send { time, bytes, to: peer, tag }),
        Kind::Cast if token.over.is_some() && token.parts.len() == 1 => {
            let each = token.wanted(task, tasks);
            let to: Box<[TaskNumber]> =
                each.filter_map(|wanted| token.peer(wanted, (task, tasks))).collect();
            Some(Action::Multicast { time, bytes, to, tag })
        }
        Kind::Cast => Some(Action::Send { time, bytes, to: peer, tag }),
        Kind::Receive => Some(Action::Receive { time, bytes, from: peer, tag }),
        Kind::Start => Some(Action::Start([peer].into())),
        Kind::Meet(_) | Kind::Enter(_) | Kind::End => None,
    }
}
