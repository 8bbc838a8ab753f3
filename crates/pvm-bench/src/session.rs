//! One run of suites: builds the programs, lets the systems take turns, keeps what they say.

use super::bar::Bar;
use super::budget::Budget;
use super::case::{Case, Length, Suite};
use super::figures::{Figures, Key, Problem};
use super::machine::{Folder, Machine};
use super::place;
use super::process::{self, End, Ended, last_words};
use super::system::{Kind, Source, Start, Tools};
use super::told::rows;
use pvm_cli::failure::{Failure, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A compiler that takes longer hangs.
const BUILD_TIME_MAX: Duration = Duration::from_secs(120);
/// After this many failures of a system in a suite its other cases are left out, because each
/// failure may last the whole limit.
const FAILURES_MAX: u32 = 2;

/// A program that has printed nothing for less may just be slow.
const HANG_TIME_MIN: Duration = Duration::from_secs(10);
/// A time that stands for no limit.
const UNBOUNDED: Duration = Duration::from_secs(86_400);

/// The plan of a session.
#[derive(Debug)]
pub(crate) struct Session {
    /// The tools to build and run with.
    pub(crate) tools: Tools,
    /// The extent of the measurement.
    pub(crate) length: Length,
    /// The number of rounds.
    pub(crate) rounds: u32,
    /// No run may take longer, if the suite's own limits are not to count.
    pub(crate) limit: Option<Duration>,
    /// Further hosts.
    pub(crate) hosts: Vec<String>,
    /// True when the user ends the measurement.
    pub(crate) stop: Arc<AtomicBool>,
}

/// The state of a session.
struct Progress {
    figures: Figures,
    programs: BTreeMap<(&'static str, Kind), PathBuf>,
    unbuilt: BTreeSet<(&'static str, Kind)>,
    /// The number of times that a system has failed in a suite.
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
        let mut figures =
            Figures::new(quick, place, peers.into_iter().map(|(_, peer)| peer).collect());
        let mut plan: Vec<(Suite, Vec<Case>)> = suites
            .iter()
            .map(|suite| (*suite, available((suite.cases)(self.length), &kinds)))
            .collect();
        if plan.iter().flat_map(|(_, cases)| cases).any(Case::is_java) {
            figures.peers.push(self.tools.java_peer());
        }
        let missing = self.leave_out_interfaces(&mut plan);
        if self.tools.java.is_err() {
            plan.iter_mut().for_each(|(_, cases)| cases.retain(|case| !case.is_java()));
        }
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
        missing.into_iter().for_each(|what| progress.cut(what));
        for peer in
            progress.figures.peers.iter().filter_map(|peer| Some((peer, peer.missing.as_ref()?)))
        {
            progress.bar.say(&format!("{} is not there: it needs {}", peer.0.system, peer.1));
        }
        for (_, case) in
            plan.iter().flat_map(|(suite, cases)| cases.iter().map(move |case| (suite, case)))
        {
            self.build(case, out, &mut progress)?;
        }
        for (suite, cases) in &plan {
            self.suite(suite, cases, &mut progress)?;
        }
        progress.bar.end();
        progress.figures.took_s = start.elapsed().as_secs_f64();
        Ok(progress.figures)
    }

    /// Takes out the programs whose libraries are not installed, and returns a line for each.
    fn leave_out_interfaces(&self, plan: &mut [(Suite, Vec<Case>)]) -> Vec<String> {
        let mut missing = Vec::new();
        for (suite, cases) in plan {
            cases.retain(|case| {
                let Some(library) = self.tools.missing_library(case.source) else { return true };
                let (suite, name) = (suite.name, case.source.name);
                missing.push(format!("{suite}: {name} is left out: {library} is not installed"));
                false
            });
        }
        missing
    }

    fn suite(&self, suite: &Suite, cases: &[Case], progress: &mut Progress) -> Result<(), Failure> {
        // If the user sets the limit of each run, the suite as a whole has none.
        let time = if self.limit.is_some() { UNBOUNDED } else { suite.seconds.of(self.length) };
        let mut budget = Budget::new(Instant::now(), time);
        for round in 0..self.rounds {
            if !budget.has_room(Instant::now()) {
                let (suite, all, seconds) = (suite.name, self.rounds, time.as_secs());
                progress.cut(format!("{suite}: {round} of {all} rounds in its {seconds} s"));
                break;
            }
            let start = Instant::now();
            self.round(suite, cases, &budget, progress)?;
            budget.spent(start.elapsed());
        }
        Ok(())
    }

    fn round(
        &self,
        suite: &Suite,
        cases: &[Case],
        budget: &Budget,
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        let turns = cases
            .iter()
            .flat_map(|case| case.kinds.iter().map(move |&kind| Measurement { suite, case, kind }));
        let turns: Vec<Measurement<'_>> = turns.collect();
        for (at, &turn) in turns.iter().enumerate() {
            self.check_stopped(&progress.bar)?;
            progress.bar.step(suite.name, &turn.text());
            progress.figures.load.others.extend(place::others());
            let (case, kind) = (turn.case, turn.kind);
            let failures = progress.failures.get(&(suite.name, kind)).copied().unwrap_or(0);
            let built = |source: &Source| progress.programs.get(&(source.name, kind)).cloned();
            let programs: Option<Vec<PathBuf>> = case.sources().map(built).collect();
            let Some(programs) = programs.filter(|_| failures < FAILURES_MAX) else { continue };
            let Some(share) = budget.share(Instant::now(), turns.len() - at) else {
                progress.cut(format!("{}: left out", turn.place()));
                continue;
            };
            let limit = self.limit.unwrap_or(case.limit);
            let outcome = self.run(case, kind, &programs, limit.min(share));
            self.keep(turn, outcome, limit.min(share), progress);
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
        let sources = || case.sources();
        for (kind, source) in case.kinds.iter().flat_map(|&kind| sources().map(move |s| (kind, s)))
        {
            let key = (source.name, kind);
            if progress.programs.contains_key(&key) || progress.unbuilt.contains(&key) {
                continue;
            }
            self.check_stopped(&progress.bar)?;
            match self.compile(source, kind, out) {
                Ok(program) => {
                    progress.programs.insert(key, program);
                }
                Err(last_words) => {
                    let what = format!("{} for {}", source.name, kind.name());
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
        let command = self.tools.compiler(kind, source, &to)?;
        let scratch = Folder::new().map_err(text)?;
        let ended =
            process::run(command, scratch.path(), BUILD_TIME_MAX, &self.stop).map_err(text)?;
        if ended.end != End::Good {
            return Err(last_words(&ended.errors));
        }
        self.tools.finish(source, &to)?;
        Ok(to)
    }

    /// Runs the first of these programs once. The error has the cause, and the last output.
    fn run(
        &self,
        case: &Case,
        kind: Kind,
        programs: &[PathBuf],
        limit: Duration,
    ) -> Result<Ended, (String, String)> {
        let (program, partner) = programs.split_first().expect("a case has a program");
        let text = |error: std::io::Error| ("cannot be run".to_owned(), error.to_string());
        if !kind.is_pvm() || !case.source.talks {
            let folder = Folder::new().map_err(text)?;
            let mut command = if case.source.talks {
                let mut command = Tools::mpirun(kind, case.tasks, &self.hosts);
                command.arg(program);
                command
            } else {
                std::process::Command::new(program)
            };
            command.args(partner).args(&case.arguments);
            return process::run(command, folder.path(), limit, &self.stop).map_err(text);
        }
        let machine = Machine::start(kind, &self.tools, &self.hosts)
            .map_err(|words| ("has no machine".to_owned(), last_words(&words)))?;
        let mut command = self.starter(case, &machine, program).map_err(text)?;
        command.args(partner).args(&case.arguments);
        let mut ended = process::run(command, machine.folder(), limit, &self.stop).map_err(text)?;
        // The log of the machine has the output of the tasks that it has started.
        ended.errors = format!("{}\n{}", ended.errors, machine.log());
        Ok(ended)
    }

    /// The command that starts a program beside its machine; arguments come behind.
    fn starter(
        &self,
        case: &Case,
        machine: &Machine,
        program: &Path,
    ) -> std::io::Result<std::process::Command> {
        let start = case.source.interface.map_or(Start::ByHand, |interface| interface.start);
        let mut command = machine.command(&self.tools.prefix.join("bin/pvm"));
        match (start, case.source.interface) {
            (Start::ByHand, _) | (_, None) => return Ok(machine.command(program)),
            (Start::Ntsnet, _) => {
                command = machine.command(&self.tools.prefix.join("libexec/neopvm/bin/ntsnet"));
            }
            (Start::Job | Start::Procgroup, Some(interface)) => {
                command.args(["run", "--quiet", "--as", interface.name]);
                let host = self.hosts.first().filter(|_| start == Start::Procgroup);
                let file = machine.folder().join("procgroup");
                if let Some(host) = host {
                    std::fs::write(&file, format!("local 0\n{host} 1 {}\n", program.display()))?;
                    command.arg("--hosts").arg(file);
                } else {
                    command.args(["-n", &case.tasks.to_string()]);
                }
            }
        }
        command.arg(program);
        Ok(command)
    }

    fn keep(
        &self,
        turn: Measurement<'_>,
        outcome: Result<Ended, (String, String)>,
        limit: Duration,
        progress: &mut Progress,
    ) {
        // What was cut short by the user is no problem of the system's.
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let told = outcome.and_then(|ended| {
            let rows = rows(&ended.output, turn.case.factor);
            let said = last_words(&format!("{}\n{}", last_words(&ended.output), ended.errors));
            match ended.end {
                End::Good if rows.is_empty() => Err(("told no figures".to_owned(), said)),
                End::Good => Ok(rows),
                // Slowness is no fault, unless the user has set the limit of each run.
                _ if let Some(how) = shortened(&ended, limit).filter(|_| self.limit.is_none()) => {
                    let (place, count) = (turn.place(), rows.len());
                    progress.cut(format!("{place}: {how} with {count} sizes"));
                    Ok(rows)
                }
                end => Err((end.text(limit), said)),
            }
        });
        match told {
            Ok(rows) => {
                for (test, size, unit, values) in rows {
                    progress.figures.add(turn.key(test, size), unit, values);
                }
            }
            Err((how, last_words)) => {
                let what = turn.place();
                progress.bar.say(&format!("{what}: {how}"));
                progress.figures.problems.push(Problem { what, how, last_words });
                *progress.failures.entry((turn.suite.name, turn.kind)).or_default() += 1;
            }
        }
    }
}

/// A sentence about a run that did not end within its share of the suite's time: it still printed
/// figures, had hardly begun, or worked in silence.
fn shortened(ended: &Ended, limit: Duration) -> Option<String> {
    let is_telling = limit < HANG_TIME_MIN || ended.silent < limit / 2;
    match ended.end {
        End::Slow | End::Hung if is_telling => {
            Some(format!("ended after {:.0} s", limit.as_secs_f64()))
        }
        End::Slow => Some(ended.end.text(limit)),
        _ => None,
    }
}

impl Progress {
    /// Tells what is left out for lack of time, once.
    fn cut(&mut self, what: String) {
        if !self.figures.cuts.contains(&what) {
            self.bar.say(&what);
            self.figures.cuts.push(what);
        }
    }
}

/// A case and the system on which it is measured.
#[derive(Clone, Copy)]
struct Measurement<'a> {
    suite: &'a Suite,
    case: &'a Case,
    kind: Kind,
}

impl Measurement<'_> {
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

    fn system(self) -> &'static str {
        self.case.source.subject.unwrap_or_else(|| self.kind.name())
    }

    /// The suite and the run, for messages about it.
    fn place(self) -> String {
        format!("{}, {}", self.suite.name, self.text())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_neither_tells_nor_works_hangs() {
        let said = |end, silent, limit| {
            let (output, errors) = (String::new(), String::new());
            let silent = Duration::from_secs(silent);
            shortened(&Ended { end, output, errors, silent }, Duration::from_secs(limit))
        };
        assert_eq!(said(End::Hung, 10, 20), None);
        assert_eq!(said(End::Slow, 10, 20).unwrap(), "too slow, left out after 20 s");
        for end in [End::Slow, End::Hung] {
            assert_eq!(said(end, 9, 20).unwrap(), "ended after 20 s");
            assert_eq!(said(end, 5, 5).unwrap(), "ended after 5 s");
        }
        assert_eq!(said(End::Interrupted, 10, 20), None);
    }
}
