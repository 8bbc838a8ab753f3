//! Growth: what a program of more tasks does, from recordings of fewer.
//!
//! Tasks are numbered as they were started. The largest recording is read as roles: tasks that do
//! the same with other partners. What a task does is a row of tokens: a message to the next task
//! in the ring, to a neighbour in a square or a tree, or a row of messages to all others, along
//! the bits of a hypercube and the like. Such tokens say for each number of tasks what is done, so
//! the smaller recordings are compared, deed for deed; a program that does not fit is refused.
//! Sizes and times are curves over the number of tasks.

mod grown;
mod law;
mod relation;
mod roles;
mod sketch;
mod token;

pub use grown::Grown;

use crate::action::TaskNumber;
use crate::error::Error;
use crate::program::Source;
use grown::Plan;
use roles::{MASKS, Misfit, Roles};
use sketch::{Names, Sketch};
use std::sync::Arc;

/// Recordings at least: two make a line, the third one tells whether it holds.
const RECORDINGS_MIN: usize = 3;
/// Tasks of a grown program.
const TASKS_MAX: TaskNumber = 1 << 20;
/// Messages that may be left out as strays: one of so many in a recording, and four.
const STRAYS: usize = 64;
/// Sizes that are further off than that are no law.
const OFF_MAX: f64 = 0.5;

/// A program that has grown.
#[derive(Debug)]
pub struct Growth {
    plan: Arc<Plan>,
    /// The numbers of tasks of the recordings.
    pub recorded: Vec<TaskNumber>,
    /// The number of roles that its tasks have.
    pub roles: usize,
    /// Messages that were left out: those behind the last section, and those that one recording has
    /// and others do not.
    pub strays: usize,
    /// The error of the smaller recordings when they tell the largest one: computing.
    pub computing_off: f64,
    /// And bytes.
    pub bytes_off: f64,
}

impl Growth {
    /// Reads recordings of one program and grows it to so many tasks.
    pub fn of(sources: Vec<Box<dyn Source>>, tasks: TaskNumber) -> Result<Self, Error> {
        let mut names = Names::new();
        let mut sketches = Vec::new();
        for mut source in sources {
            sketches.push(Sketch::read(source.as_mut(), &mut names)?);
        }
        sketches.sort_by_key(Sketch::count);
        sketches.dedup_by_key(|sketch| sketch.count());
        let recorded: Vec<TaskNumber> = sketches.iter().map(Sketch::count).collect();
        may_grow(&recorded, tasks)?;
        let (roles, strays) = find(&mut sketches)?;
        if let Some(over) = roles.unknown_row(tasks) {
            return Err(Error::Unfit(format!(
                "its messages go by the bits of the tasks' numbers ({over:?}), so the number of \
                 tasks is a power of two, and {tasks} is none"
            )));
        }
        if let Some(task) = roles.alone(tasks) {
            return Err(Error::Unfit(format!(
                "task {task} of {tasks} has a role or a partner that no recording has: the pattern \
                 is one of other numbers of tasks (squares, for a grid)"
            )));
        }
        let largest = recorded[recorded.len() - 1];
        let (computing_off, bytes_off) = held_out(&roles, largest, &names);
        if bytes_off.abs() > OFF_MAX {
            return Err(Error::Unfit(format!(
                "sizes follow no law: for {largest} tasks the smaller recordings tell {:+.0} % of \
                 the bytes that there are",
                100.0 * bytes_off
            )));
        }
        let plan = Arc::new(Plan::new(&roles, tasks, u32::MAX, &names));
        let roles = roles.all.len();
        Ok(Self { plan, recorded, roles, strays, computing_off, bytes_off })
    }

    /// A run whose computing takes `factor` times as long.
    pub fn source(&self, factor: f64) -> Grown {
        Grown::new(&self.plan, factor)
    }

    /// The factors of computing between which the truth lies, as far as the recordings tell.
    pub fn factors(&self) -> (f64, f64) {
        let off = 1.0 + self.computing_off.abs().min(1.0);
        (1.0 / off, off)
    }
}

fn may_grow(recorded: &[TaskNumber], tasks: TaskNumber) -> Result<(), Error> {
    if recorded.len() < RECORDINGS_MIN {
        return Err(Error::Unfit(format!(
            "growth needs recordings of {RECORDINGS_MIN} different numbers of tasks, and these \
             have {recorded:?}: record the program with more, such as 2, 4 and 8 tasks"
        )));
    }
    if tasks <= recorded[0] || tasks > TASKS_MAX {
        return Err(Error::Unfit(format!(
            "{tasks} tasks: growth goes from more than the smallest recording ({}) to {TASKS_MAX}",
            recorded[0]
        )));
    }
    Ok(())
}

/// The error of the smaller recordings when they tell the largest one.
fn held_out(roles: &Roles, largest: TaskNumber, names: &Names) -> (f64, f64) {
    let off = |told: f64, seen: f64| if seen > 0.0 { told / seen - 1.0 } else { 0.0 };
    let (told, seen) = (Plan::new(roles, largest, largest, names).sums(), roles.seen(largest));
    (off(told.0, seen.0), off(told.1, seen.1))
}

/// The roles of recordings, and the messages that were left out. If none fit, those behind the last
/// section that the program names are left out, and single ones that only some recordings have.
fn find(sketches: &mut [Sketch]) -> Result<(Roles, usize), Error> {
    let wrong = match fitting(sketches) {
        Ok(roles) => return Ok((roles, 0)),
        Err(misfit) => misfit,
    };
    let cut: usize = sketches.iter_mut().map(Sketch::cut_ends).sum();
    for mask in MASKS {
        let mut tried = sketches.to_vec();
        let mut may: Vec<usize> =
            tried.iter().map(|sketch| 4 + sketch.messages() / STRAYS).collect();
        let mut strays = 0;
        while let Err(misfit) = Roles::find(&tried, mask) {
            let Some((place, name)) = misfit.stray.filter(|(place, _)| may[*place] > 0) else {
                break;
            };
            may[place] -= 1;
            strays += 1;
            tried[place].forget(name);
        }
        if let Ok(roles) = Roles::find(&tried, mask) {
            sketches.clone_from_slice(&tried);
            return Ok((roles, cut + strays));
        }
    }
    Err(Error::Unfit(format!("the recordings do not fit one another: {}", wrong.what)))
}

/// The roles by the fewest features with which all recordings fit; else the misfit that came last.
fn fitting(sketches: &[Sketch]) -> Result<Roles, Misfit> {
    let mut worst: Option<Misfit> = None;
    for mask in MASKS {
        match Roles::find(sketches, mask) {
            Ok(roles) => return Ok(roles),
            Err(misfit) => {
                let reached = worst.as_ref().map_or(0, |worst| worst.reached + 1);
                worst = if misfit.reached >= reached { Some(misfit) } else { worst };
            }
        }
    }
    Err(worst.expect("there are masks"))
}

#[cfg(test)]
mod tests;
