//! The tools of a part's steps: commands with their output in the part's log, a limit on their
//! time, the processor time that they take, and a second chance for tests of real processes.

use super::cpu;
use crate::again::{self, Form};
use crate::install::target_folder;
use crate::outside;
use crate::programs::{self, Program};
use crate::tools;
use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// The time after which one step counts as hanging: the slowest, a cold build, needs a few minutes.
const STEP_LIMIT_S: &str = "1800";

/// The prefixes of the variables that `cargo run` puts into the environment.
const OF_CARGO: [&str; 4] = ["CARGO_MANIFEST", "CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_"];

/// The variable and the folder by which suites of programs in C share what they have compiled
/// (`conformance/compiled.sh`).
const COMPILED: &str = "COMPILED_PROGRAMS";
pub(crate) const COMPILED_FOLDER: &str = "compiled";

/// The variable and the folder of the pages of the crates, which the tests of the examples in their
/// documentation make (`xtask/rustdoc.sh`) and the documents take.
const PAGES: &str = "RUST_PAGES";
pub(crate) const PAGES_FOLDER: &str = "rust-pages";

/// Gives way to every other session. Linux shares its cores among sessions before it looks at the
/// niceness of processes, and each daemon of a test is in a session of its own; so this one says it
/// for the whole session.
const GIVE_WAY: &str = "{ echo 10 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 10 \"$@\"";

/// Makes clippy the compiler of the workspace's own crates: compiling them so takes a sixth longer,
/// where a run of clippy beside it would check all of them, and all that they use, once more. What
/// it denies is a warning here, so that the tests run all the same; [`Run::no_warning_of`] fails
/// for it.
const CLIPPY: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "--cap-lints__CLIPPY_HACKERY__warn__CLIPPY_HACKERY__"),
];

/// Tests that failed, of which nothing says yet that it was not the computer's fault.
#[derive(Debug)]
pub(crate) struct Again {
    /// Runs these tests only.
    pub(crate) command: Command,
    pub(crate) names: Vec<String>,
    /// The end of the first run.
    pub(crate) why: String,
}

impl Again {
    /// Runs the tests as often as they must pass; nothing else may run meanwhile.
    pub(crate) fn pass(&self, run: &Run<'_>) -> Result<(), String> {
        (0..again::TIMES).try_for_each(|_| {
            run.command(&self.command).map_err(|_| format!("{}; and alone, too", self.why))
        })
    }
}

/// One part that is running.
pub(crate) struct Run<'a> {
    pub(crate) root: &'a Path,
    /// The folder in which NeoPVM is installed for the tests.
    pub(crate) stage: &'a str,
    /// The folder of the lists of test programs.
    pub(crate) lists: &'a Path,
    pub(crate) log: PathBuf,
    /// Whether the processes of all other parts come first.
    pub(crate) gives_way: bool,
    /// Tests of real processes that failed and are to be run again.
    pub(crate) again: RefCell<Vec<Again>>,
    /// The processor time of the commands so far.
    pub(crate) cpu: Cell<Duration>,
    /// Further variables in the environment of every command.
    environment: RefCell<Vec<(String, String)>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(root: &'a Path, stage: &'a str, lists: &'a Path, log: PathBuf) -> Self {
        let (again, cpu, environment) = Default::default();
        Self { root, stage, lists, log, gives_way: false, again, cpu, environment }
    }

    /// From now on every command has this in its environment.
    pub(crate) fn with(&self, name: &str, value: &str) {
        self.environment.borrow_mut().push((name.to_owned(), value.to_owned()));
    }

    /// A chore of this program, without cargo, which would wait for whoever compiles.
    pub(crate) fn own(&self, words: &[&str]) -> Result<(), String> {
        let own = std::env::current_exe().map_err(|e| format!("where xtask lies: {e}"))?;
        self.step(&[&[&*own.to_string_lossy()], words].concat())
    }

    /// Runs commands, so many at the same time, with their output one after the other in the log.
    pub(crate) fn side_by_side(
        &self,
        commands: Vec<(&str, Command)>,
        at_once: usize,
    ) -> Result<(), String> {
        let (root, stage, lists, gives_way) = (self.root, self.stage, self.lists, self.gives_way);
        let part = self.log.file_stem().unwrap_or_default().to_string_lossy();
        let log_of = |name: &str| lists.join(format!("{part}-{name}.log"));
        let (open, done) = (Mutex::new(commands.into_iter()), Mutex::new(Vec::new()));
        let work = || {
            // The lock is not held while the command runs.
            let next = || open.lock().expect("no thread panics").next();
            while let Some((name, command)) = next() {
                let log = log_of(name);
                let _ = fs::remove_file(&log);
                let run = Run { gives_way, ..Run::new(root, stage, lists, log.clone()) };
                let outcome = run.command(&command);
                done.lock().expect("no thread panics").push((log, outcome, run.cpu.get()));
            }
        };
        thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
        every(done.into_inner().expect("no thread panics").into_iter().map(
            |(log, outcome, cpu)| {
                self.cpu.set(self.cpu.get() + cpu);
                let said = fs::read(&log).unwrap_or_default();
                self.note(&String::from_utf8_lossy(&said))?;
                outcome
            },
        ))
    }

    pub(crate) fn step(&self, words: &[&str]) -> Result<(), String> {
        self.command(&self.prepare(words))
    }

    /// A command in the root of the workspace.
    pub(crate) fn prepare(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.root);
        command
    }

    /// Compiles tests without running them, and notes under `list` which programs came of it.
    pub(crate) fn compile_tests(&self, list: &str, arguments: &[&str]) -> Result<(), String> {
        let words =
            [&["test", "--no-run", "--message-format=json-render-diagnostics"], arguments].concat();
        let messages = self.list(&format!("{list}.json"));
        self.watch(self.cargo(&words), |command| self.command_to(command, Some(&messages)))
    }

    /// Cargo with these words, with the crates as [`Self::compile_tests`] has compiled them.
    pub(crate) fn with_compiled_tests(&self, words: &[&str]) -> Result<(), String> {
        self.watch(self.cargo(words), |command| self.command(command))
    }

    /// Cargo with these words, which takes the crates from outside that the installation has
    /// compiled, and leaves alone the programs that are to be installed.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut cargo = self.prepare(&["cargo", words[0]]);
        cargo.args(tools::FOR_TESTS).args(&words[1..]);
        cargo.env("CARGO_BUILD_BUILD_DIR", target_folder(self.root));
        cargo.env("CARGO_TARGET_DIR", tools::tests_folder(self.root));
        cargo
    }

    /// Tests the examples in the documentation of crates that [`Self::compile_tests`] has compiled
    /// with these arguments.
    pub(crate) fn test_documents(&self, arguments: &[&str]) -> Result<(), String> {
        let mut cargo = self.cargo(&[&["test", "--doc", "--no-fail-fast"], arguments].concat());
        cargo.env("RUSTDOC", self.root.join("xtask/rustdoc.sh"));
        self.watch(cargo, |command| self.command(command))
    }

    /// Runs cargo with clippy as the compiler, where there is clippy.
    fn watch(
        &self,
        mut cargo: Command,
        run: impl Fn(&Command) -> Result<(), String>,
    ) -> Result<(), String> {
        if outside::is_there(CLIPPY[0].1) {
            cargo.envs(CLIPPY);
        }
        run(&cargo)
    }

    /// From now on clippy compiles the Python module of a wheel (`bindings/python/wheel.sh`), where
    /// there is clippy. The part `python` looks for warnings; a run of clippy there would check all
    /// crates that the module uses once more.
    pub(crate) fn lint_wheels(&self) {
        if outside::is_there(CLIPPY[0].1) {
            self.with("LINT_WHEEL", "1");
        }
    }

    /// Fails if that part, which has compiled something in this check, was warned of anything.
    pub(crate) fn no_warning_of(&self, part: &str) -> Result<(), String> {
        let log = self.list(&format!("{part}.log"));
        let text = fs::read_to_string(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let warnings = warnings(&text);
        if warnings.is_empty() {
            return Ok(());
        }
        self.note(&warnings.join("\n"))?;
        Err(format!("{} lines with warnings in {}", warnings.len(), log.display()))
    }

    /// The test programs that are noted under `list`.
    pub(crate) fn programs(&self, list: &str) -> Result<Vec<Program>, String> {
        let file = self.list(&format!("{list}.json"));
        let messages = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let found = programs::in_messages(&messages);
        if found.is_empty() { Err(format!("{}: no tests", file.display())) } else { Ok(found) }
    }

    fn list(&self, name: &str) -> PathBuf {
        self.lists.join(name)
    }

    /// Runs test programs one after the other, as cargo would. Which fail does not stop the next
    /// ones.
    pub(crate) fn run_programs(
        &self,
        programs: &[Program],
        arguments: &[&str],
    ) -> Result<(), String> {
        self.run_each(programs, arguments, |program, words| self.command(&program.prepare(words)))
    }

    /// Runs tests of real processes, as [`Self::run_programs`] runs others.
    pub(crate) fn run_real_programs(
        &self,
        programs: &[Program],
        arguments: &[&str],
    ) -> Result<(), String> {
        self.run_each(programs, arguments, |program, words| {
            self.real(words, &|words| program.prepare(words))
        })
    }

    fn run_each(
        &self,
        programs: &[Program],
        arguments: &[&str],
        run: impl Fn(&Program, &[&str]) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = self.log_length();
        every(programs.iter().map(|program| {
            let path = program.path.to_string_lossy();
            run(program, &[&[&*path], arguments].concat())
        }))?;
        self.some_test_ran(before)
    }

    /// Runs tests of real processes. One or two in a part that fail may be the computer's fault;
    /// they are noted, to be run again when nothing else runs.
    pub(crate) fn real(
        &self,
        words: &[&str],
        prepare: &dyn Fn(&[&str]) -> Command,
    ) -> Result<(), String> {
        self.tests(words, again::PROGRAM, prepare)
    }

    /// Runs a script that uses `xtask/failed.sh`, as [`Self::real`] runs a test program.
    pub(crate) fn script(&self, words: &[&str]) -> Result<(), String> {
        self.tests(words, again::SCRIPT, &|words| self.prepare(words))
    }

    fn tests(
        &self,
        words: &[&str],
        form: Form,
        prepare: &dyn Fn(&[&str]) -> Command,
    ) -> Result<(), String> {
        let before = self.log_length();
        let Err(why) = self.command(&prepare(words)) else { return Ok(()) };
        let log = self.log_from(before);
        let Some(names) = (form.failed)(&log) else { return Err(why) };
        let failed: usize = self.again.borrow().iter().map(|again| again.names.len()).sum();
        if failed + names.len() > again::MOST {
            return Err(format!("{why}; more tests of this part failed than accidents explain"));
        }
        let mut command = prepare(&(form.only)(words, &names));
        // It runs when the part has ended.
        command.envs(self.environment.borrow().iter().map(|(name, value)| (name, value)));
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.again.borrow_mut().push(Again { command, names, why });
        Ok(())
    }

    /// Whether a test passed, by what the log says from there on.
    pub(crate) fn some_test_ran(&self, begin: usize) -> Result<(), String> {
        let log = self.log_from(begin);
        let ran = log.lines().any(|line| line.starts_with("test ") && line.ends_with("... ok"));
        if ran { Ok(()) } else { Err("there was no test to run".to_owned()) }
    }

    fn log_length(&self) -> usize {
        fs::metadata(&self.log).map_or(0, |log| usize::try_from(log.len()).unwrap_or(usize::MAX))
    }

    fn log_from(&self, begin: usize) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(log.get(begin..).unwrap_or_default()).into_owned()
    }

    /// Runs `command` with its output in the log, a limit on its time, and an end when this process
    /// ends.
    pub(crate) fn command(&self, command: &Command) -> Result<(), String> {
        self.command_to(command, None)
    }

    /// Runs `command` so, with what it prints in a file of its own.
    fn command_to(&self, command: &Command, output: Option<&Path>) -> Result<(), String> {
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let line = words.join(" ");
        self.note(&format!("$ {line}"))?;
        let failed = |e: std::io::Error| format!("{line}: {e}");
        let log = match output {
            Some(file) => File::create(file).map_err(|e| format!("{}: {e}", file.display()))?,
            None => self.open_log()?,
        };
        let mut limited = self.limited(&words);
        limited.current_dir(command.get_current_dir().unwrap_or(self.root));
        limited.envs(self.environment.borrow().iter().map(|(name, value)| (name, value)));
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.stdin(Stdio::null()).stdout(log).stderr(self.open_log()?);
        let mut child = limited.spawn().map_err(failed)?;
        self.cpu.set(self.cpu.get() + cpu::until_end(child.id()));
        let status = child.wait().map_err(failed)?;
        match status.code() {
            Some(0) => Ok(()),
            Some(124) => Err(format!("{line}: no end after {STEP_LIMIT_S} s")),
            _ => Err(format!("{line}: {status}")),
        }
    }

    /// The words behind what limits them. The kernel ends the first of these when the thread that
    /// started it ends.
    fn limited(&self, words: &[String]) -> Command {
        let bound = ["setpriv", "--pdeathsig", "TERM"];
        let limit = ["timeout", "--kill-after=10", STEP_LIMIT_S];
        let aside = ["sh", "-c", GIVE_WAY, "sh"];
        let mut all: Vec<&str> = if self.gives_way { vec!["setsid"] } else { Vec::new() };
        all.extend(bound);
        all.extend(if self.gives_way { &aside[..] } else { &[] });
        all.extend(limit);
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).args(words);
        // What cargo tells of the package of this program would make build scripts run anew, and
        // all that needs them.
        let of_cargo = |name: &String| OF_CARGO.iter().any(|start| name.starts_with(start));
        for name in std::env::vars().map(|(name, _)| name).filter(of_cargo) {
            command.env_remove(name);
        }
        // Not there yet in the parts before, nor with FAST=1.
        if Path::new(self.stage).join("bin/pvmd").exists() {
            command.env("NEOPVM_PREFIX", self.stage);
        }
        let testbed = tools::tests_folder(self.root).join("release/testbed");
        if testbed.exists() {
            command.env("TESTBED_PROGRAM", testbed);
        }
        command.env(COMPILED, self.lists.join(COMPILED_FOLDER));
        command.env(PAGES, self.lists.join(PAGES_FOLDER));
        command
    }

    pub(crate) fn note(&self, text: &str) -> Result<(), String> {
        writeln!(self.open_log()?, "{text}").map_err(|e| format!("{}: {e}", self.log.display()))
    }

    fn open_log(&self) -> Result<File, String> {
        let file = File::options().append(true).create(true).open(&self.log);
        file.map_err(|e| format!("{}: {e}", self.log.display()))
    }
}

/// The lines in which a compiler or cargo warns, each with the next one, which says where.
fn warnings(log: &str) -> Vec<&str> {
    let lines: Vec<&str> = log.lines().collect();
    let warns =
        |at: &usize| ["warning:", "error:", "error["].iter().any(|w| lines[*at].starts_with(w));
    (0..lines.len()).filter(warns).flat_map(|at| lines[at..].iter().take(2).copied()).collect()
}

/// One step that fails does not hide what the next ones would tell.
pub(crate) fn every(steps: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let failed: Vec<String> = steps.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}
