//! `make check`: every test there is, in parts that run side by side, with a table at the end.
//!
//! A part ([`part`]) runs its steps one after the other, with its output in
//! `target/check/PART.log`; when one fails, the end of that log is shown. [`schedule`] decides
//! which parts run at the same time, [`choice`] which run at all (`FAST=1`, `PART=a,b`,
//! `SINCE=commit`). A part whose tool is missing is skipped and the package that brings it is
//! named. With `CI=true` nothing may be skipped; with `JOBS=1` the parts run one after the other.
//! Below the table stands what failed, and which tests of real processes failed once and then
//! passed (see [`crate::again`]).

mod choice;
mod cpu;
mod part;
mod parts;
mod run;
mod schedule;
mod table;

use crate::install::target_folder;
use crate::manifest::Packages;
use crate::{outside, source};
use part::{Outcome, Part, Work};
use parts::PARTS;
use run::Run;
use schedule::{Move, Room, Schedule};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;
use table::Row;

/// The reason why a check did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request makes no sense.
    Asked(String),
    Failed(String),
}

/// The folders and files of a check.
struct CheckPaths<'a> {
    root: &'a Path,
    stage: String,
    logs: PathBuf,
}

impl CheckPaths<'_> {
    fn log(&self, part: &str) -> PathBuf {
        self.logs.join(format!("{part}.log"))
    }
}

/// Runs the chosen parts and prints the table; an error if one of them failed.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let chosen = chosen(root)?;
    let target = target_folder(root);
    let stage = target.join("stage").to_string_lossy().into_owned();
    let places = CheckPaths { root, stage, logs: target.join("check") };
    for name in [run::COMPILED_FOLDER, run::PAGES_FOLDER] {
        let folder = places.logs.join(name);
        // What the check before has made of other sources; there need not be any of it.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)
            .map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    }
    let names: Vec<&str> = chosen.iter().map(|part| part.name).collect();
    if names.len() < PARTS.len() {
        println!("{} of {} parts: {}", names.len(), PARTS.len(), names.join(" "));
    }
    let (start, before) = (Instant::now(), cpu::of_computer());
    let mut rows = run_all(&places, Schedule::new(chosen, room()), start);
    rows.iter_mut().for_each(|row| run_again(&places, row));
    let computer = cpu::of_computer().saturating_sub(before);
    print!("{}", table::table(&rows, start.elapsed(), computer));
    for row in &rows {
        row.causes(&read(&places.log(row.name))).iter().for_each(|line| println!("{line}"));
    }
    match rows.iter().filter(|row| row.failed()).count() {
        0 => Ok(()),
        failed => Err(Failure::Failed(format!("{failed} parts failed"))),
    }
}

/// A variable that says something: not empty, nor 0.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

fn chosen(root: &Path) -> Result<Vec<&'static Part>, Failure> {
    match (set("PART"), set("SINCE"), set("FAST")) {
        (Some(names), None, None) => choice::by_name(PARTS, &names).map_err(Failure::Asked),
        (None, Some(commit), None) => since(root, &commit).map_err(Failure::Asked),
        (None, None, Some(_)) => Ok(choice::with_what_they_use(PARTS, |part| part.fast)),
        (None, None, None) => Ok(PARTS.iter().collect()),
        _ => Err(Failure::Asked("only one of PART, SINCE and FAST can be given".to_owned())),
    }
}

/// The parts that what differs from this commit can affect, whether it is committed or not.
fn since(root: &Path, commit: &str) -> Result<Vec<&'static Part>, String> {
    let changed = outside::output(root, "git", &["diff", "--name-only", commit, "--"])
        .map_err(|why| format!("SINCE={commit}: {why}"))?;
    let new = outside::output(root, "git", &["ls-files", "--others", "--exclude-standard"])?;
    let files: BTreeSet<String> = changed.lines().chain(new.lines()).map(str::to_owned).collect();
    let sources = source::read_all(root).map_err(|e| format!("cannot read the sources: {e}"))?;
    println!("{} files have changed since {commit}", files.len());
    Ok(choice::by_change(PARTS, &Packages::new(&sources), &files))
}

/// None with `JOBS=1`.
fn room() -> Option<Room> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (set("JOBS").as_deref() != Some("1")).then(|| Room::on(cores))
}

/// Runs parts side by side until all have ended. Only this thread prints.
fn run_all(places: &CheckPaths<'_>, mut schedule: Schedule<'_>, start: Instant) -> Vec<Row> {
    let (done, ended) = mpsc::channel();
    let mut rows = Vec::new();
    thread::scope(|scope| {
        while !schedule.is_over() {
            while let Some(step) = schedule.next() {
                match step {
                    Move::Begin(at) => {
                        let (part, done) = (schedule.part(at), done.clone());
                        println!(
                            "{:>6.0} s  {:<12} begins",
                            start.elapsed().as_secs_f64(),
                            part.name
                        );
                        scope.spawn(move || run_one(places, at, part, start, &done));
                    }
                    Move::GiveUp(at, lacking) => {
                        let why =
                            format!("not run: it needs the part {lacking}, which did not pass");
                        let mut row = Row::new(schedule.part(at), Outcome::Failed(why));
                        row.begin = start.elapsed();
                        let _ = fs::remove_file(places.log(row.name));
                        tell(&row, places, start);
                        rows.push(row);
                    }
                }
            }
            if schedule.is_over() {
                break;
            }
            let (at, row): (usize, Row) = ended.recv().expect("a part that runs tells its end");
            // What takes something from a part that was skipped lacks the same tool, and says so
            // itself.
            schedule.ended(at, !row.failed());
            tell(&row, places, start);
            rows.push(row);
        }
    });
    rows
}

fn run_one(
    places: &CheckPaths<'_>,
    at: usize,
    part: &Part,
    start: Instant,
    done: &Sender<(usize, Row)>,
) {
    let log = places.log(part.name);
    // What an earlier check left; it need not exist.
    let _ = fs::remove_file(&log);
    let begin = start.elapsed();
    let work = || {
        let mut run = Run::new(places.root, &places.stage, &places.logs, log.clone());
        run.gives_way = part.work == Work::Computes;
        let outcome = Outcome::of(part, &run, set("CI").is_some());
        let mut row = Row::new(part, outcome);
        (row.cpu, row.again) = (run.cpu.get(), run.again.take());
        row
    };
    // A fault of the check itself must not leave the others waiting for the end of this part.
    let mut row =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Row::new(part, Outcome::Failed("the check itself panicked".to_owned()))
        });
    (row.begin, row.took) = (begin, start.elapsed() - begin);
    // It is received as long as parts run.
    let _ = done.send((at, row));
}

/// Runs the tests of a part again that failed while other parts ran; now nothing does.
fn run_again(places: &CheckPaths<'_>, row: &mut Row) {
    let begin = Instant::now();
    let run = Run::new(places.root, &places.stage, &places.logs, places.log(row.name));
    for again in std::mem::take(&mut row.again) {
        if row.failed() {
            break;
        }
        println!("{:<12} once more: {}", row.name, again.names.join(" "));
        match again.pass(&run) {
            Ok(()) => row.unsteady.extend(again.names),
            Err(why) => {
                row.outcome = Outcome::Failed(why);
                println!("{}", table::tail(&read(&run.log), &run.log));
            }
        }
    }
    row.took += begin.elapsed();
    row.cpu += run.cpu.get();
}

/// One line when a part has ended; with the end of its log if it failed.
fn tell(row: &Row, places: &CheckPaths<'_>, start: Instant) {
    let (word, why) = row.outcome.words();
    let (now, took) = (start.elapsed().as_secs_f64(), row.took.as_secs_f64());
    println!("{now:>6.0} s  {:<12} {word} after {took:.1} s  {why}", row.name);
    let log = places.log(row.name);
    if row.failed() && log.exists() {
        println!("{}", table::tail(&read(&log), &log));
    }
}

/// A log may hold anything.
fn read(log: &Path) -> String {
    String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests;
