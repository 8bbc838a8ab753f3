//! `pvm predict generate`.

use super::input::at;
use crate::failure::{Failure, Status};
use crate::options::predict::{PatternName, PatternOptions};
use pvm_predict::source::{Pattern, Shape};
use pvm_predict::{Action, Source, TaskNumber, Time};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// More actions are hardly meant.
const ACTIONS_MAX: u64 = 1 << 32;

/// Writes a pattern.
pub(super) fn generate(options: &PatternOptions) -> Result<(), Failure> {
    let actions = u64::from(options.tasks) * u64::from(options.rounds);
    if actions > ACTIONS_MAX {
        let text = format!("{actions} rounds of tasks are more than {ACTIONS_MAX}");
        return Err(Failure::new(Status::Usage, text));
    }
    let computing = Time::microseconds(options.compute);
    let shape = shape(options.pattern);
    let made = Pattern::new(shape, options.tasks, options.rounds, options.bytes, computing);
    let mut pattern = made.map_err(|error| Failure::new(Status::Usage, error.to_string()))?;
    if let Some(folder) = &options.stations {
        std::fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        for task in 0..options.tasks {
            let path = folder.join(format!("station.{task}"));
            let file = File::create(&path).map_err(|error| at(&path, &error))?;
            let mut out = BufWriter::new(file);
            each(&mut pattern, task, |action| station_line(task, action, &mut out))?;
            out.flush().map_err(|error| at(&path, &error))?;
        }
        return Ok(());
    }
    match &options.output {
        Some(path) => {
            let file = File::create(path).map_err(|error| at(path, &error))?;
            ranks(&mut pattern, BufWriter::new(file))
        }
        None => ranks(&mut pattern, BufWriter::new(io::stdout().lock())),
    }
}

const fn shape(name: PatternName) -> Shape {
    match name {
        PatternName::Pairs => Shape::Pairs,
        PatternName::Ring => Shape::Ring,
        PatternName::Stencil => Shape::Stencil,
        PatternName::Tree => Shape::Tree,
        PatternName::Exchange => Shape::Exchange,
        PatternName::Star => Shape::Star,
    }
}

fn each(
    pattern: &mut Pattern,
    task: TaskNumber,
    mut write: impl FnMut(&Action) -> io::Result<()>,
) -> Result<(), Failure> {
    let wrong = |error: pvm_predict::Error| Failure::new(Status::Refused, error.to_string());
    while let Some(action) = pattern.next(task).map_err(wrong)? {
        write(&action)?;
    }
    Ok(())
}

/// SimGrid's form, all ranks in one file. Who reads only the begin is no failure.
fn ranks(pattern: &mut Pattern, mut out: impl Write) -> Result<(), Failure> {
    let written = (0..pattern.tasks()).try_for_each(|task| {
        writeln!(out, "{task} init")?;
        each(pattern, task, |action| rank_line(task, action, &mut out))?;
        Ok::<(), Failure>(writeln!(out, "{task} finalize")?)
    });
    written?;
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn rank_line(task: TaskNumber, action: &Action, out: &mut impl Write) -> io::Result<()> {
    match action {
        Action::Compute(time) => writeln!(out, "{task} compute {}", time.to_nanoseconds()),
        Action::Send { bytes, to, tag, .. } => writeln!(out, "{task} send {to} {tag} {bytes}"),
        Action::Receive { bytes, from, tag, .. } => {
            writeln!(out, "{task} recv {from} {tag} {bytes}")
        }
        Action::Multicast { bytes, to, tag, .. } => {
            to.iter().try_for_each(|to| writeln!(out, "{task} send {to} {tag} {bytes}"))
        }
        _ => Ok(()), // no pattern has more
    }
}

fn station_line(task: TaskNumber, action: &Action, out: &mut impl Write) -> io::Result<()> {
    let micro = |time: &Time| time.to_nanoseconds() / 1000;
    match action {
        Action::Compute(time) => writeln!(out, "c\t{}\t0\t0\t0", micro(time)),
        Action::Send { time, bytes, to, .. } => {
            writeln!(out, "s\t{}\t{bytes}\t{task}\t{to}", micro(time))
        }
        Action::Receive { time, bytes, from, .. } => {
            writeln!(out, "r\t{}\t{bytes}\t{from}\t{task}", micro(time))
        }
        Action::Multicast { time, bytes, to, .. } => {
            write!(out, "m\t{}\t{bytes}\t{task}", micro(time))?;
            to.iter().try_for_each(|to| write!(out, "\t{to}"))?;
            writeln!(out)
        }
        _ => Ok(()), // no pattern has more
    }
}
