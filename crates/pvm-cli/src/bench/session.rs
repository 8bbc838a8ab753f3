//! One run of suites: builds the programs, lets the systems take turns, keeps what they say.

use super::bar::Bar;
use super::case::{Case, Length, Suite};
use super::figures::{Figures, Key, Problem};
use super::machine::{Folder, Machine};
use super::place;
use super::process::{self, End, Ended, last_words};
use super::system::{Kind, Source, Tools};
use crate::failure::{Failure, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A compiler that takes longer hangs.
const BUILD_TIME_MAX: Duration = Duration::from_secs(120);
/// After so many failures of a system in a suite the rest of it is left out: each may last its whole limit.
const FAILURES_MAX: u32 = 2;

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Session {
    /// What to build and run with.
    pub(crate) tools: Tools,
    /// How much.
    pub(crate) length: Length,
    /// How often.
    pub(crate) rounds: u32,
    /// No run may take longer, if the suite's own limits are not to count.
    pub(crate) limit: Option<Duration>,
    /// Where else.
    pub(crate) hosts: Vec<String>,
    /// Somebody wants it to end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// What stands while it goes on.
struct Progress {
    figures: Figures,
    programs: BTreeMap<(&'static str, Kind), PathBuf>,
    unbuilt: BTreeSet<(&'static str, Kind)>,
    /// How often a system has failed in a suite.
    failures: BTreeMap<(&'static str, Kind), u32>,
    bar: Bar,
}

impl Session {
    /// Measures; the programs go below `out`.
    pub(crate) fn measure(&self, suites: &[Suite], out: &Path) -> Result<Figures, Failure> {
        let start = Instant::now();
        let peers = self.tools.peers();
        let kinds: Vec<Kind> = peers
            .iter()
            .filter(|(_, peer)| peer.missing.is_none())
            .map(|(kind, _)| *kind)
            .collect();
        let place = place::here(&self.hosts);
        let quick = self.length == Length::Quick;
        let figures = Figures::new(quick, place, peers.into_iter().map(|(_, peer)| peer).collect());
        let plan: Vec<(Suite, Vec<Case>)> = suites
            .iter()
            .map(|suite| (*suite, available((suite.cases)(self.length), &kinds)))
            .collect();
        let runs: usize =
            plan.iter().flat_map(|(_, cases)| cases).map(|case| case.kinds.len()).sum();
        let bar = Bar::new(runs * self.rounds as usize);
        let mut progress = Progress {
            figures,
            programs: BTreeMap::new(),
            unbuilt: BTreeSet::new(),
            failures: BTreeMap::new(),
            bar,
        };
        for peer in
            progress.figures.peers.iter().filter_map(|peer| Some((peer, peer.missing.as_ref()?)))
        {
            progress.bar.say(&format!("{} is not there: {} bring it", peer.0.system, peer.1));
        }
        for (_, case) in
            plan.iter().flat_map(|(suite, cases)| cases.iter().map(move |case| (suite, case)))
        {
            self.build(case, out, &mut progress)?;
        }
        for (suite, cases) in &plan {
            for _ in 0..self.rounds {
                self.round(suite, cases, &mut progress)?;
            }
        }
        progress.bar.end();
        progress.figures.took_s = start.elapsed().as_secs_f64();
        Ok(progress.figures)
    }

    fn round(&self, suite: &Suite, cases: &[Case], progress: &mut Progress) -> Result<(), Failure> {
        for case in cases {
            for &kind in &case.kinds {
                let turn = Turn { suite, case, kind };
                self.check_stopped(&progress.bar)?;
                progress.bar.step(suite.name, &turn.text());
                progress.figures.load.others.extend(place::others());
                let failures = progress.failures.get(&(suite.name, kind)).copied().unwrap_or(0);
                let program = progress.programs.get(&(case.source.name, kind)).cloned();
                if let Some(program) = program.filter(|_| failures < FAILURES_MAX) {
                    let outcome = self.run(case, kind, &program);
                    self.keep(turn, outcome, progress);
                }
            }
        }
        Ok(())
    }

    fn check_stopped(&self, bar: &Bar) -> Result<(), Failure> {
        if !self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        bar.end();
        Err(Failure::new(Status::Refused, "stopped: nothing was written"))
    }

    fn build(&self, case: &Case, out: &Path, progress: &mut Progress) -> Result<(), Failure> {
        for &kind in &case.kinds {
            let key = (case.source.name, kind);
            if progress.programs.contains_key(&key) || progress.unbuilt.contains(&key) {
                continue;
            }
            self.check_stopped(&progress.bar)?;
            match self.compile(case.source, kind, out) {
                Ok(program) => {
                    progress.programs.insert(key, program);
                }
                Err(last_words) => {
                    let what = format!("{} for {}", case.source.name, kind.name());
                    let how = "was not built".to_owned();
                    progress.figures.problems.push(Problem { what, how, last_words });
                    progress.unbuilt.insert(key);
                }
            }
        }
        Ok(())
    }

    /// The program, or the compiler's last words.
    fn compile(&self, source: &Source, kind: Kind, out: &Path) -> Result<PathBuf, String> {
        let text = |error: std::io::Error| error.to_string();
        let folder = out.canonicalize().map_err(text)?.join("programs");
        std::fs::create_dir_all(&folder).map_err(text)?;
        let system = kind.name().to_lowercase().replace([' ', '.'], "");
        let to = folder.join(format!("{}-{system}", source.name));
        let command = self.tools.compiler(kind, source, &to);
        let scratch = Folder::new().map_err(text)?;
        let ended =
            process::run(command, scratch.path(), BUILD_TIME_MAX, &self.stop).map_err(text)?;
        if ended.end == End::Good { Ok(to) } else { Err(last_words(&ended.errors)) }
    }

    /// One run; the error says how it ended and what was said at last.
    fn run(&self, case: &Case, kind: Kind, program: &Path) -> Result<Ended, (String, String)> {
        let text = |error: std::io::Error| ("cannot be run".to_owned(), error.to_string());
        let limit = self.limit.unwrap_or(case.limit);
        if !kind.is_pvm() || !case.source.talks {
            let folder = Folder::new().map_err(text)?;
            let mut command = if case.source.talks {
                let mut command = Tools::mpirun(kind, case.tasks, &self.hosts);
                command.arg(program);
                command
            } else {
                std::process::Command::new(program)
            };
            command.args(&case.arguments);
            let ended = process::run(command, folder.path(), limit, &self.stop).map_err(text)?;
            return judged(ended, limit, "");
        }
        let machine = Machine::start(kind, &self.tools, &self.hosts)
            .map_err(|words| ("has no machine".to_owned(), last_words(&words)))?;
        let mut command = machine.command(program);
        command.args(&case.arguments);
        let ended = process::run(command, machine.folder(), limit, &self.stop).map_err(text)?;
        judged(ended, limit, &machine.log())
    }

    fn keep(
        &self,
        turn: Turn<'_>,
        outcome: Result<Ended, (String, String)>,
        progress: &mut Progress,
    ) {
        let told = outcome.and_then(|ended| {
            let rows = rows(&ended.output, turn.case.factor);
            let none = || ("told no figures".to_owned(), last_words(&ended.errors));
            if rows.is_empty() { Err(none()) } else { Ok(rows) }
        });
        match told {
            Ok(rows) => {
                for (test, size, unit, values) in rows {
                    progress.figures.add(turn.key(test, size), unit, values);
                }
            }
            // What was cut short by us is no problem of the system's.
            Err(_) if self.stop.load(Ordering::Relaxed) => {}
            Err((how, last_words)) => {
                let what = format!("{}, {}", turn.suite.name, turn.text());
                progress.bar.say(&format!("{what}: {how}"));
                progress.figures.problems.push(Problem { what, how, last_words });
                *progress.failures.entry((turn.suite.name, turn.kind)).or_default() += 1;
            }
        }
    }
}

/// A case and the system whose turn it is.
#[derive(Clone, Copy)]
struct Turn<'a> {
    suite: &'a Suite,
    case: &'a Case,
    kind: Kind,
}

impl Turn<'_> {
    fn key(self, test: String, size: u64) -> Key {
        Key {
            suite: self.suite.name.to_owned(),
            test,
            tasks: self.case.tasks,
            size,
            system: self.system().to_owned(),
            variant: self.case.variant.clone(),
        }
    }

    /// A program that talks to nobody says nothing of a system.
    fn system(self) -> &'static str {
        if self.case.source.talks { self.kind.name() } else { "this computer" }
    }

    fn text(self) -> String {
        let case = self.case;
        let gap = if case.variant.is_empty() { "" } else { ", " };
        let test = case.arguments.first().filter(|_| case.variant.is_empty());
        let test = test.map_or_else(String::new, |test| format!(" {test}"));
        let tasks = if case.tasks > 1 { format!(", {} tasks", case.tasks) } else { String::new() };
        format!("{}{test} on {}{gap}{}{tasks}", case.source.name, self.system(), case.variant)
    }
}

/// The cases with those systems only that are there.
fn available(cases: Vec<Case>, kinds: &[Kind]) -> Vec<Case> {
    let only = |mut case: Case| {
        case.kinds.retain(|kind| kinds.contains(kind));
        case
    };
    cases.into_iter().map(only).filter(|case| !case.kinds.is_empty()).collect()
}

fn judged(ended: Ended, limit: Duration, log: &str) -> Result<Ended, (String, String)> {
    if ended.end == End::Good {
        return Ok(ended);
    }
    // What tasks said that the machine has started stands in its log.
    let said = format!("{}\n{}\n{log}", last_words(&ended.output), ended.errors);
    Err((ended.end.text(limit), last_words(&said)))
}

/// A test, a size, the unit and the values.
type Told = (String, u64, &'static str, Vec<f64>);

/// What a program told: see `benchmarks/suites/measure.h`. Times in ns become us, without what
/// reading the clock costs.
fn rows(output: &str, factor: f64) -> Vec<Told> {
    let mut clock_ns = 0.0;
    let mut rows = Vec::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["clock", ns] => clock_ns = ns.parse().unwrap_or(0.0),
            ["row", test, size, unit, values] => {
                let Ok(size) = size.parse() else { continue };
                let values = values.split(' ').filter_map(|value| value.parse::<f64>().ok());
                let (unit, values): (_, Vec<f64>) = match unit {
                    "ns" => ("us", values.map(|ns| micros(factor * (ns - clock_ns))).collect()),
                    "s" => ("s", values.collect()),
                    "Mflop/s" => ("Mflop/s", values.collect()),
                    "MHz" => ("MHz", values.collect()),
                    _ => continue,
                };
                if !values.is_empty() {
                    rows.push((test.to_owned(), size, unit, values));
                }
            }
            _ => {}
        }
    }
    rows
}

/// To a tenth of a nanosecond: more is noise, and makes files long.
fn micros(ns: f64) -> f64 {
    ((ns * 10.0).round() / 10_000.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_tells_becomes_rows() {
        let output = "noise\nclock\t20\nrow\techo\t8\tns\t1020 2020\nrow\tlu\t100\tMflop/s\t5.5\n\
                      row\techo\tx\tns\t1\nrow\techo\t8\tns\t\nrow\techo\t8\tparsecs\t1\n";
        let rows = rows(output, 0.5);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], ("echo".to_owned(), 8, "us", vec![0.5, 1.0]));
        assert_eq!(rows[1], ("lu".to_owned(), 100, "Mflop/s", vec![5.5]));
    }

    #[test]
    fn a_clock_that_costs_more_than_what_is_measured_gives_no_negative_time() {
        assert_eq!(rows("clock\t50\nrow\tx\t0\tns\t20\n", 1.0)[0].3, [0.0]);
    }
}
