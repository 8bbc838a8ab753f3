//! `make check`: every test there is, part by part, with a table at the end.
//!
//! A part runs its steps one after the other, with its output in `target/check/PART.log`; when one fails, the end
//! of that log is shown. A part whose tool is missing is skipped and the package that brings it is named. With
//! `CI=true` nothing may be skipped; with `FAST=1` only the fast parts run. Below the table stands what failed, and
//! which tests of real processes failed once and then passed (see [`again`]).

use crate::install::target_folder;
use crate::{again, corpus, foreign, hosts, outside, second_user, tools};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long one step may take before it counts as hanging: the slowest, a cold build, needs a few minutes.
const STEP_LIMIT_S: &str = "1800";
const FUZZ_SECONDS: &str = "10";
/// How many lines of a failed part's log are shown.
const LOG_TAIL_LINES: usize = 60;
/// How many of them are said once more below the table, which may be all that somebody keeps of a long run.
const CAUSE_LINES: usize = 12;

/// Something a part cannot do without, and the Debian package that brings it.
struct Need(&'static str, &'static str);

struct Part {
    name: &'static str,
    fast: bool,
    /// Programs, or files if they start with `/`.
    needs: &'static [Need],
    steps: fn(&Run<'_>) -> Result<(), String>,
}

const PARTS: &[Part] = &[
    Part { name: "lint", fast: true, needs: &[], steps: |run| run.step(&["make", "lint"]) },
    // Before the tests: those of the C library run their programs on what is installed.
    Part {
        name: "install",
        fast: false,
        needs: &[],
        steps: |run| run.step(&["make", "install", &format!("PREFIX={}", run.stage)]),
    },
    Part {
        name: "tests",
        fast: true,
        needs: &[],
        steps: |run| run.real_tests(&["--workspace", "--exclude=pvm-e2e", "--exclude=pvm-sim"]),
    },
    Part {
        name: "simulation",
        fast: true,
        needs: &[],
        steps: |run| run.tests(&["--package=pvm-sim"]),
    },
    // The test of the tester: bugs that are planted on purpose are found.
    Part {
        name: "planted",
        fast: false,
        needs: &[],
        steps: |run| {
            run.tests(&["--package=pvm-sim", "--features=planted", "--test=planted"])?;
            run.tests(&["--package=pvm-quorum", "--features=planted", "--lib", "exhaustive"])
        },
    },
    Part {
        name: "loom",
        fast: false,
        needs: &[],
        steps: |run| run.command(&tools::loom(run.root)).and_then(|()| run.some_test_ran()),
    },
    Part {
        name: "conformance",
        fast: false,
        needs: &[
            Need("/usr/bin/pvmd", "pvm"),
            Need("/usr/include/pvm3.h", "pvm-dev"),
            Need("/usr/bin/master1", "pvm-examples"),
            Need("tablix2_kernel", "tablix2"),
            Need("slsh", "slsh and slang-pvm"),
            Need("NPpvm", "netpipe-pvm"),
            Need("gfortran", "gfortran"),
            Need("g++", "g++"),
        ],
        steps: conformance,
    },
    Part {
        name: "differ",
        fast: false,
        needs: &[
            Need("/usr/bin/pvmd", "pvm"),
            Need("/usr/include/pvm3.h", "pvm-dev"),
            Need("gfortran", "gfortran"),
        ],
        steps: |run| run.step(&["cargo", "xtask", "differ", run.stage, "check"]),
    },
    Part {
        name: "end-to-end",
        fast: false,
        needs: &[
            Need("gfortran", "gfortran"),
            Need("g++", "g++"),
            Need("strace", "strace"),
            Need("ip", "iproute2"),
            Need("sshd", "openssh-server"),
        ],
        steps: end_to_end,
    },
    Part {
        name: "bench",
        fast: false,
        needs: &[
            Need("/usr/bin/pvmd", "pvm"),
            Need("/usr/include/pvm3.h", "pvm-dev"),
            Need("gfortran", "gfortran"),
            Need("chromium", "chromium"),
        ],
        steps: |run| run.real_tests(&hosts::BENCH_TESTS),
    },
    Part {
        name: "hosts",
        fast: false,
        needs: &[
            Need("/usr/bin/pvmd", "pvm"),
            Need("/usr/include/pvm3.h", "pvm-dev"),
            Need("/usr/bin/master1", "pvm-examples"),
            Need("gfortran", "gfortran"),
            Need("ip", "iproute2"),
            Need("nft", "nftables"),
            Need("sshd", "openssh-server"),
            Need("ssh", "openssh-client"),
        ],
        steps: real_hosts,
    },
    Part {
        name: "mixed",
        fast: false,
        needs: &[
            Need("i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
            Need("/lib/ld-linux.so.2", "libc6-i386"),
            Need("/usr/lib32/libgcc_s.so.1", "lib32gcc-s1"),
            Need("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
            Need("qemu-s390x", "qemu-user"),
            Need("unshare", "util-linux"),
            Need(
                "rust:i686-unknown-linux-gnu",
                "(not Debian's) rustup target add i686-unknown-linux-gnu",
            ),
            Need(
                "rust:s390x-unknown-linux-gnu",
                "(not Debian's) rustup target add s390x-unknown-linux-gnu",
            ),
        ],
        steps: |run| foreign::run(run.root, run.stage, &|command| run.command(command)),
    },
    Part {
        name: "java",
        fast: false,
        needs: &[Need("javac", "default-jdk-headless"), Need("mvn", "maven")],
        steps: |run| run.step(&["bash", "bindings/java/check.sh", run.stage]),
    },
    Part {
        name: "python",
        fast: false,
        needs: &[Need("python3", "python3 and python3-venv")],
        steps: |run| run.step(&["bash", "bindings/python/check.sh", run.stage]),
    },
    Part { name: "demo", fast: false, needs: &[], steps: |run| run.step(&["make", "demo"]) },
    Part {
        name: "fuzz",
        fast: false,
        needs: &[Need("cargo-fuzz", "(not Debian's) cargo install cargo-fuzz")],
        steps: fuzz,
    },
    Part {
        name: "second-user",
        fast: false,
        needs: &[Need("setpriv", "util-linux")],
        steps: as_second_user,
    },
];

fn conformance(run: &Run<'_>) -> Result<(), String> {
    // One after the other: the programs of the original have races that a busy computer shows.
    every([
        run.step(&["bash", "conformance/run.sh", "live"]),
        run.step(&["bash", "conformance/run.sh", "ours", run.stage]),
        run.step(&["bash", "conformance/debian.sh", run.stage]),
    ])
}

/// One step that fails does not hide what the next ones would tell.
fn every(steps: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let failed: Vec<String> = steps.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

fn end_to_end(run: &Run<'_>) -> Result<(), String> {
    let arguments = hosts::other_tests(run.root)?;
    run.real_tests(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn real_hosts(run: &Run<'_>) -> Result<(), String> {
    if !hosts::possible(run.root)? {
        return run.note("skipped: hosts with networks of their own need root");
    }
    every([
        run.real_tests(&hosts::TESTS),
        run.step(&["bash", "conformance/spread.sh", "all", run.stage]),
    ])
}

fn fuzz(run: &Run<'_>) -> Result<(), String> {
    let targets = tools::fuzz_targets(run.root)?;
    every(targets.iter().map(|target| {
        corpus::lay_out(run.root, target)?;
        run.command(&tools::fuzz(run.root, target, FUZZ_SECONDS, "address"))
    }))
}

fn as_second_user(run: &Run<'_>) -> Result<(), String> {
    if outside::output(run.root, "id", &["-u"])?.trim() != "0" {
        return run.note("not root: everything above ran as an ordinary user already");
    }
    let commands = second_user::commands(run.root, run.stage)?;
    every(
        commands
            .iter()
            .map(|words| run.real(&words.iter().map(String::as_str).collect::<Vec<_>>())),
    )
}

/// What the steps of a part work with.
struct Run<'a> {
    root: &'a Path,
    /// Where NeoPVM is installed for the tests.
    stage: &'a str,
    log: PathBuf,
    /// Tests that failed once and then passed.
    unsteady: RefCell<Vec<String>>,
}

impl Run<'_> {
    fn step(&self, words: &[&str]) -> Result<(), String> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.root);
        self.command(&command)
    }

    /// `cargo test`, which must find something to test.
    fn tests(&self, arguments: &[&str]) -> Result<(), String> {
        self.step(&[&["cargo", "test", "--no-fail-fast"], arguments].concat())?;
        self.some_test_ran()
    }

    /// The same for tests of real processes.
    fn real_tests(&self, arguments: &[&str]) -> Result<(), String> {
        self.real(&[&["cargo", "test", "--no-fail-fast"], arguments].concat())?;
        self.some_test_ran()
    }

    /// Runs tests of real processes, of which one or two that fail may be the computer's fault.
    fn real(&self, words: &[&str]) -> Result<(), String> {
        let before = fs::metadata(&self.log).map_or(0, |log| log.len());
        let Err(why) = self.step(words) else { return Ok(()) };
        let log = fs::read(&self.log).unwrap_or_default();
        let begin = usize::try_from(before).unwrap_or(usize::MAX);
        let log = String::from_utf8_lossy(log.get(begin..).unwrap_or_default());
        let Some(names) = again::failed_tests(&log) else { return Err(why) };
        let only = again::only(words, &names);
        for _ in 0..again::TIMES {
            self.step(&only).map_err(|_| format!("{why}; and alone, too"))?;
        }
        self.unsteady.borrow_mut().extend(names.iter().map(|name| (*name).to_owned()));
        Ok(())
    }

    fn some_test_ran(&self) -> Result<(), String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let ran = log.lines().any(|line| line.starts_with("test ") && line.ends_with("... ok"));
        if ran { Ok(()) } else { Err("there was no test to run".to_owned()) }
    }

    /// Runs `command` with its output in the log, a limit on its time, and an end when this process ends.
    fn command(&self, command: &Command) -> Result<(), String> {
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let line = words.join(" ");
        self.note(&format!("$ {line}"))?;
        let (log, errors) = (self.open_log()?, self.open_log()?);
        let mut limited = Command::new("setpriv");
        limited.args(["--pdeathsig", "TERM", "timeout", "--kill-after=10", STEP_LIMIT_S]);
        limited.args(&words).current_dir(command.get_current_dir().unwrap_or(self.root));
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // Not there yet in the parts before, nor with FAST=1.
        if Path::new(self.stage).join("bin/pvmd").exists() {
            limited.env("NEOPVM_PREFIX", self.stage);
        }
        limited.stdin(Stdio::null()).stdout(log).stderr(errors);
        match limited.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if status.code() == Some(124) => {
                Err(format!("{line}: no end after {STEP_LIMIT_S} s"))
            }
            Ok(status) => Err(format!("{line}: {status}")),
            Err(e) => Err(format!("{line}: {e}")),
        }
    }

    fn note(&self, text: &str) -> Result<(), String> {
        writeln!(self.open_log()?, "{text}").map_err(|e| format!("{}: {e}", self.log.display()))
    }

    fn open_log(&self) -> Result<File, String> {
        let file = File::options().append(true).create(true).open(&self.log);
        file.map_err(|e| format!("{}: {e}", self.log.display()))
    }
}

enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Outcome {
    fn of(part: &Part, run: &Run<'_>, nothing_skipped: bool) -> Self {
        let missing: Vec<&str> = part
            .needs
            .iter()
            .filter(|need| !outside::is_there(need.0))
            .map(|need| need.1)
            .collect();
        if missing.is_empty() {
            return (part.steps)(run).map_or_else(Self::Failed, |()| Self::Passed);
        }
        let why = format!("needs the package {}", missing.join(", "));
        if nothing_skipped { Self::Failed(why) } else { Self::Skipped(why) }
    }

    /// The word in the table and what is to be said beside it.
    fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Passed => ("passed", ""),
            Self::Failed(why) => ("FAILED", why),
            Self::Skipped(why) => ("skipped", why),
        }
    }
}

/// Runs the parts and prints the table; an error if one of them failed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let is_set =
        |name: &str| std::env::var(name).is_ok_and(|v| !matches!(v.as_str(), "" | "0" | "false"));
    let fast = is_set("FAST");
    let logs = target_folder(root).join("check");
    fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let stage = target_folder(root).join("stage").to_string_lossy().into_owned();

    let mut table = Vec::new();
    let mut causes = Vec::new();
    for part in PARTS.iter().filter(|part| part.fast || !fast) {
        let log = logs.join(format!("{}.log", part.name));
        let run = Run { root, stage: &stage, log, unsteady: RefCell::default() };
        // What an earlier check left; it need not exist.
        let _ = fs::remove_file(&run.log);
        print!("{:<12} ", part.name);
        let _ = std::io::stdout().flush();
        let start = Instant::now();
        let outcome = Outcome::of(part, &run, is_set("CI"));
        let spent = start.elapsed();
        let (word, why) = outcome.words();
        println!("{word:<8} {:>7.1} s  {why}", spent.as_secs_f64());
        let unsteady = run.unsteady.take();
        let failed = matches!(outcome, Outcome::Failed(_));
        if failed || !unsteady.is_empty() {
            let log = fs::read_to_string(&run.log).unwrap_or_default();
            if failed {
                show_tail(&log, &run.log);
            }
            causes.extend(causes_in(&log).iter().map(|line| format!("{}: {line}", part.name)));
        }
        let (name, times) = (part.name, again::TIMES);
        causes.extend(unsteady.iter().map(|test| {
            format!("{name}: {test} is UNSTEADY: failed once, then passed {times} times alone")
        }));
        table.push((part.name, outcome, spent));
    }
    let outcome = summary(&table, fast);
    causes.iter().for_each(|line| println!("{line}"));
    outcome
}

fn show_tail(text: &str, log: &Path) {
    // What went well tells nothing of what did not.
    let passed = |line: &&str| line.ends_with(": ok") || line.ends_with("... ok");
    let lines: Vec<&str> = text.lines().filter(|line| !passed(line)).collect();
    for line in &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..] {
        println!("  | {line}");
    }
    println!("  the whole log: {}", log.display());
}

/// The lines of a log that tell why it ends as it does: tests that failed, and what a panic said.
fn causes_in(text: &str) -> Vec<&str> {
    let mut said = 0;
    let mut is_cause = |line: &&str| {
        if line.contains(" panicked at ") {
            said = 3;
        }
        said = usize::saturating_sub(said, 1);
        said > 0 || line.ends_with("... FAILED") || line.contains(": FAIL")
    };
    text.lines().filter(|line| is_cause(line)).take(CAUSE_LINES).collect()
}

fn summary(table: &[(&str, Outcome, Duration)], fast: bool) -> Result<(), String> {
    println!("\n{:<12} {:<8} {:>9}", "PART", "RESULT", "TIME");
    for (name, outcome, spent) in table {
        let (word, why) = outcome.words();
        println!("{name:<12} {word:<8} {:>7.1} s  {why}", spent.as_secs_f64());
    }
    if fast {
        println!("FAST=1: {} slower parts were left out", PARTS.len() - table.len());
    }
    let count =
        |word: &str| table.iter().filter(|(_, outcome, _)| outcome.words().0 == word).count();
    let failed = count("FAILED");
    println!("{} passed, {failed} failed, {} skipped", count("passed"), count("skipped"));
    if failed == 0 { Ok(()) } else { Err(format!("{failed} parts failed")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(
        needs: &'static [Need],
        steps: fn(&Run<'_>) -> Result<(), String>,
        strict: bool,
    ) -> &'static str {
        let part = Part { name: "x", fast: true, needs, steps };
        let log = PathBuf::from("/dev/null");
        let run = Run { root: Path::new("/"), stage: "", log, unsteady: RefCell::default() };
        Outcome::of(&part, &run, strict).words().0
    }

    #[test]
    fn a_missing_tool_skips_the_part_and_fails_it_where_nothing_may_be_skipped() {
        const NEEDS: &[Need] = &[Need("no-such-program", "no-such-package")];
        assert_eq!(outcome(NEEDS, |_| Ok(()), false), "skipped");
        assert_eq!(outcome(NEEDS, |_| Ok(()), true), "FAILED");
    }

    #[test]
    fn the_outcome_of_a_step_is_the_outcome_of_its_part() {
        assert_eq!(outcome(&[], |run| run.step(&["true"]), false), "passed");
        assert_eq!(outcome(&[], |run| run.step(&["false"]), false), "FAILED");
        assert_eq!(outcome(&[], |run| run.step(&["no-such-program"]), false), "FAILED");
    }

    /// What a test program that fails so often makes of a part, and the tests that are called unsteady.
    fn outcome_of_failing(times: usize) -> (&'static str, Vec<String>) {
        let folder = std::env::temp_dir().join(format!("xtask-{}-{times}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = format!(
            "echo x >> runs; [ $(wc -l < runs) -gt {times} ] && exit; \
             echo 'test a ... FAILED'; echo 'test result: FAILED.'; exit 101"
        );
        fs::write(folder.join("program"), program).unwrap();
        let (log, unsteady) = (folder.join("log"), RefCell::default());
        let run = Run { root: &folder, stage: "", log, unsteady };
        let part =
            Part { name: "x", fast: true, needs: &[], steps: |run| run.real(&["sh", "program"]) };
        let word = Outcome::of(&part, &run, true).words().0;
        let _ = fs::remove_dir_all(&folder);
        (word, run.unsteady.take())
    }

    #[test]
    fn a_test_of_real_processes_that_fails_once_is_told_and_one_that_fails_twice_fails() {
        assert_eq!(outcome_of_failing(0), ("passed", vec![]));
        assert_eq!(outcome_of_failing(1), ("passed", vec!["a".to_owned()]));
        assert_eq!(outcome_of_failing(2), ("FAILED", vec![]));
        assert_eq!(outcome_of_failing(9), ("FAILED", vec![]));
    }

    #[test]
    fn what_failed_is_said_with_its_words() {
        let log = "test a ... ok\ntest b ... FAILED\n\nthread 'b' (7) panicked at b.rs:3:9:\n\
                   no answer\nstack backtrace:\ntest c ... ok\n";
        let said = ["test b ... FAILED", "thread 'b' (7) panicked at b.rs:3:9:", "no answer"];
        assert_eq!(causes_in(log), said);
    }

    #[test]
    fn a_step_that_fails_does_not_hide_the_next_one() {
        let why = every(["a", "b"].map(|step| Err(step.to_owned())));
        assert_eq!(why, Err("a; b".to_owned()));
        assert_eq!(every([Ok(())]), Ok(()));
    }

    #[test]
    fn one_failed_part_fails_the_whole() {
        let passed = || ("a", Outcome::Passed, Duration::ZERO);
        let failed = ("b", Outcome::Failed(String::new()), Duration::ZERO);
        assert!(summary(&[passed()], false).is_ok());
        assert!(summary(&[passed(), failed], false).is_err());
    }
}
