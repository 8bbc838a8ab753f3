//! Growth: predicts the actions of a program of more tasks from recordings of fewer.
//!
//! Tasks are numbered as they were started. The largest recording is divided into roles: the tasks
//! of a role do the same with other partners. The actions of a role are a sequence of tokens. A
//! token is one message, such as to the next task in the ring or to a neighbour in a square or a
//! tree, or a row of messages, such as to all others or along the bits of a hypercube. A token
//! gives its messages for any number of tasks, so the smaller recordings can be compared with it,
//! deed by deed; a program that does not fit is refused. Sizes and times are curves over the number
//! of tasks.

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

/// The fewest recordings: two determine a line, and the third one tests it.
const RECORDINGS_MIN: usize = 3;
/// The most tasks of a grown program.
const TASKS_MAX: TaskNumber = 1 << 20;
/// The most messages that are left out as strays: one in this many messages of a recording, and
/// four more.
const STRAYS: usize = 64;
/// A relative error of sizes above this means that no curve fits.
const OFF_MAX: f64 = 0.5;

/// A grown program.
#[derive(Debug)]
pub struct Growth {
    plan: Arc<Plan>,
    /// The numbers of tasks of the recordings.
    pub recorded: Vec<TaskNumber>,
    /// The number of roles that its tasks have.
    pub roles: usize,
    /// The number of messages that were left out: those behind the last section, and those that
    /// only some recordings have.
    pub strays: usize,
    /// The relative error of computing when the smaller recordings predict the largest one.
    pub computing_off: f64,
    /// The relative error of bytes in that prediction.
    pub bytes_off: f64,
}

impl Growth {
    /// Reads recordings of one program and grows it to this many tasks.
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

    /// The factors of computing between which the true time lies, judged by the errors of the
    /// recordings.
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

/// The errors when the smaller recordings predict the largest one.
fn held_out(roles: &Roles, largest: TaskNumber, names: &Names) -> (f64, f64) {
    let off = |told: f64, seen: f64| if seen > 0.0 { told / seen - 1.0 } else { 0.0 };
    let (told, seen) = (Plan::new(roles, largest, largest, names).sums(), roles.seen(largest));
    (off(told.0, seen.0), off(told.1, seen.1))
}

/// The roles of the recordings, and the number of messages that were left out. If no roles fit,
/// messages behind the last named section are left out, then single messages that only some
/// recordings have.
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

/// The roles by the fewest features with which all recordings fit; otherwise the misfit that came
/// furthest.
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
