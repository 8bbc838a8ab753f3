//! The roles of tasks: the tasks of a role do the same with other partners.

use super::relation::Over;
use super::sketch::{Kind, Name, Sketch};
use super::token::{Token, TokenPlace, tokens, within};
use crate::action::TaskNumber;
use std::collections::BTreeMap;

/// The features that may set a task apart: it is the first one, it is the last one, it is an odd
/// one, it has children in a binary tree.
pub(super) fn features(task: TaskNumber, tasks: TaskNumber) -> u8 {
    let (r, n) = (u64::from(task), u64::from(tasks));
    let is = [r == 0, r + 1 == n, r % 2 == 1, 2 * r + 1 < n, 2 * r + 2 < n];
    is.iter().zip(0..).fold(0, |all, (is, place)| all | u8::from(*is) << place)
}

/// The sets of features that are tried, the smallest first.
pub(super) const MASKS: [u8; 10] =
    [0, 0b1, 0b10, 0b11, 0b100, 0b101, 0b111, 0b1_1000, 0b1_1001, 0b1_1111];

/// A role.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) tokens: Vec<Token>,
    /// The task from which the role was taken: its recording and its number.
    origin: (usize, TaskNumber),
}

/// The roles of a program, distinguished by these features.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    pub(super) mask: u8,
    pub(super) all: BTreeMap<u8, Role>,
}

/// A task differs from the others of its role.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    /// The number of deeds that fitted.
    pub(super) reached: usize,
    /// The number of tasks of the recording, the task, and the difference.
    pub(super) what: String,
    /// A message of a recording without which the task would fit.
    pub(super) stray: Option<(usize, Name)>,
}

impl Roles {
    /// The roles of recordings, of which the largest is the last.
    pub(super) fn find(sketches: &[Sketch], mask: u8) -> Result<Self, Misfit> {
        let mut roles = Self { mask, all: BTreeMap::new() };
        let mut reached = 0;
        for (place, sketch) in sketches.iter().enumerate().rev() {
            let tasks = sketch.count();
            for (deeds, task) in sketch.tasks.iter().zip(0..) {
                let role = roles.all.entry(features(task, tasks) & mask).or_insert_with(|| {
                    let tokens = tokens(deeds, (task, tasks));
                    Role { tokens, origin: (place, task) }
                });
                role.follow(sketches, (place, task)).map_err(|mut misfit| {
                    misfit.reached += reached;
                    misfit
                })?;
                reached += deeds.len();
            }
        }
        Ok(roles)
    }

    /// The role of a task.
    pub(super) fn of(&self, task: TaskNumber, tasks: TaskNumber) -> Option<&Role> {
        self.all.get(&(features(task, tasks) & self.mask))
    }

    /// A task, among this many, whose partner by the rules of its role does not exist.
    pub(super) fn alone(&self, tasks: TaskNumber) -> Option<TaskNumber> {
        (0..tasks).find(|task| {
            let role = self.of(*task, tasks);
            role.is_none_or(|role| role.tokens.iter().any(|token| token.is_alone(*task, tasks)))
        })
    }

    /// Seconds of computing, and bytes, in the sections of a recording.
    pub(super) fn seen(&self, tasks: TaskNumber) -> (f64, f64) {
        let (mut computing, mut bytes) = (0.0, 0.0);
        let tokens = self.all.values().flat_map(|role| {
            let within = within(role.tokens.iter());
            let tokens = role.tokens.iter().enumerate();
            tokens.filter(move |(place, _)| within.contains(place)).map(|(_, token)| token)
        });
        for part in tokens.flat_map(|token| &token.parts) {
            let seen = part.samples.seen(tasks);
            computing += seen.0 / 1e12;
            let sends = matches!(part.kind, Kind::Send | Kind::Cast);
            bytes += if sends { seen.1 } else { 0.0 };
        }
        (computing, bytes)
    }

    /// A row that does not exist for this number of tasks.
    pub(super) fn unknown_row(&self, tasks: TaskNumber) -> Option<Over> {
        let all = self.all.values().flat_map(|role| &role.tokens);
        all.filter_map(|token| token.over).find(|over| !over.knows(tasks))
    }
}

impl Role {
    /// Compares a task with its role, and adds its measured values.
    fn follow(
        &mut self,
        sketches: &[Sketch],
        (place, task): (usize, TaskNumber),
    ) -> Result<(), Misfit> {
        let (deeds, tasks) = (&sketches[place].tasks[task as usize], sketches[place].count());
        let mut at = 0;
        for number in 0..self.tokens.len() {
            let token = &mut self.tokens[number];
            let wanted: Vec<TokenPlace> = token.wanted(task, tasks).collect();
            for one in wanted {
                let deed = deeds.get(at).filter(|deed| token.take(one, deed, (task, tasks)));
                let Some(deed) = deed else {
                    return Err(self.misfit(sketches, (place, task), (number, at)));
                };
                let step = if token.over.is_some_and(Over::is_short) { one.step } else { 0 };
                token.parts[one.part].samples.add((tasks, step), one.step == 0, deed);
                at += 1;
            }
        }
        if at < deeds.len() {
            let last = self.tokens.len();
            return Err(self.misfit(sketches, (place, task), (last, at)));
        }
        Ok(())
    }

    /// The misfit at a token and a deed, and whether one message more or less would cure it.
    fn misfit(
        &self,
        sketches: &[Sketch],
        (place, task): (usize, TaskNumber),
        (number, at): (usize, usize),
    ) -> Misfit {
        let sketch = &sketches[place];
        let (deeds, of) = (&sketch.tasks[task as usize], (task, sketch.count()));
        let fits = |number: usize, at: usize| {
            let (token, deed) = (self.tokens.get(number), deeds.get(at));
            let first = TokenPlace { part: 0, step: 0 };
            token.zip(deed).is_some_and(|(token, deed)| token.clone().take(first, deed, of))
        };
        let (origin, origin_task) = self.origin;
        let own = deeds.get(at).filter(|_| fits(number, at + 1));
        let other =
            self.tokens.get(number).filter(|token| token.over.is_none() && fits(number + 1, at));
        let other =
            other.and_then(|token| sketches[origin].tasks[origin_task as usize].get(token.place));
        let stray = own.and_then(|deed| deed.name(task)).map(|name| (place, name));
        let stray = stray
            .or_else(|| other.and_then(|deed| deed.name(origin_task)).map(|name| (origin, name)));
        let wanted = self.tokens.get(number).map_or_else(
            || "has ended".to_owned(),
            |token| {
                let first = TokenPlace { part: 0, step: 0 };
                let step = token.over.map_or("", |_| ", one of a row");
                told(token.parts[0].kind, token.peer(first, of)) + step
            },
        );
        let found = deeds
            .get(at)
            .map_or_else(|| "has ended".to_owned(), |deed| told(deed.kind, Some(deed.peer)));
        let (from, from_task) = (sketches[origin].count(), origin_task);
        let what = format!(
            "task {task} of {} {found}, but by the pattern of task {from_task} of {from} it \
             {wanted} (action {at})",
            of.1
        );
        Misfit { reached: at, what, stray }
    }
}

/// A deed in words.
fn told(kind: Kind, peer: Option<TaskNumber>) -> String {
    let peer = peer.map_or_else(|| "nobody".to_owned(), |peer| format!("task {peer}"));
    match kind {
        Kind::Send | Kind::Cast => format!("sends to {peer}"),
        Kind::Receive => format!("receives from {peer}"),
        Kind::Start => format!("starts {peer}"),
        Kind::Meet(_) => "comes to a barrier".to_owned(),
        Kind::Enter(_) => "enters or leaves a section".to_owned(),
        Kind::End => "ends".to_owned(),
    }
}
