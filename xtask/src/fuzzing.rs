//! The fuzz targets: one program that is built with the fuzzer's instrumentation, run once for each
//! target, as many beside one another as there are cores.
//!
//! The program (`fuzz/src/main.rs`) holds all targets, and the variable `NEOPVM_FUZZ` names the one
//! that it runs. The instrumentation is LLVM's, so cargo alone builds it; only the address
//! sanitizer needs a nightly compiler.

use crate::install::target_folder;
use crate::{corpus, outside};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// The words of libFuzzer in front of the number of its runs.
const RUNS: &str = "stat::number_of_executed_units:";
/// The number of lines of a failed target's output that are shown.
const TAIL_LINES: usize = 40;
/// Targets that simulate or replay what an input says: a thousand inputs take seconds.
const SLOW: [&str; 7] = ["growth", "lane", "order", "pattern", "recorded", "sddf", "tuples"];
/// The variable that names the target, as in `fuzz/src/main.rs`.
const CHOICE: &str = "NEOPVM_FUZZ";

/// Options with which the compiler counts branches and comparisons, and tells them to libFuzzer.
const INSTRUMENTATION: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-sanitizer-coverage-stack-depth \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 \
    --cfg fuzzing -Ccodegen-units=1";

/// The number of executions of each target.
pub(crate) type Executions = BTreeMap<String, u64>;

/// The watchers of a target besides its own assertions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    /// The address sanitizer finds what unsafe code reads or writes in the wrong place.
    Addresses,
    /// Safe code needs no sanitizer, and is run more often without.
    Nothing,
}

impl Watch {
    /// Targets that reach unsafe code are watched, others are not: for runs that are long enough to
    /// pay for a second build.
    pub(crate) fn of(target: &str) -> Self {
        const REACH_UNSAFE: [&str; 2] = ["lane", "route"];
        if REACH_UNSAFE.contains(&target) { Self::Addresses } else { Self::Nothing }
    }

    fn folder(self, root: &Path) -> PathBuf {
        let name = match self {
            Self::Addresses => "fuzz-addresses",
            Self::Nothing => "fuzz",
        };
        target_folder(root).join(name)
    }
}

/// The kind of this computer. Naming it keeps the instrumentation out of build scripts.
fn this_kind() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// The names of the targets, each of which is a file.
pub(crate) fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/src");
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name != "main" {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Builds the program of all targets.
pub(crate) fn build(root: &Path, watch: Watch) -> Command {
    let mut command = Command::new("cargo");
    let mut flags = INSTRUMENTATION.to_owned();
    if watch == Watch::Addresses {
        command.arg("+nightly");
        flags.push_str(" -Zsanitizer=address");
    }
    command.args(["build", "--release", "--manifest-path=fuzz/Cargo.toml"]);
    command.arg(format!("--target={}", this_kind()));
    command.current_dir(root).env("RUSTFLAGS", flags);
    command.env("CARGO_TARGET_DIR", watch.folder(root));
    if let Some(built) = libfuzzer() {
        command.env("CUSTOM_LIBFUZZER_PATH", built);
    }
    command
}

/// Debian's build of libFuzzer. Where it is missing, a minute goes into compiling the one that the
/// crate `libfuzzer-sys` brings.
fn libfuzzer() -> Option<PathBuf> {
    let name = format!("libclang_rt.fuzzer-{}.a", std::env::consts::ARCH);
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let compilers = folders(Path::new("/usr/lib")).into_iter().filter(|folder| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm-"))
    });
    let versions = compilers.flat_map(|compiler| folders(&compiler.join("lib/clang")));
    versions.map(|version| version.join("lib/linux").join(&name)).find(|file| file.is_file())
}

/// The built program, with this target chosen.
fn program(root: &Path, target: &str, watch: Watch) -> Command {
    let program = watch.folder(root).join(this_kind()).join("release/decoders");
    let mut command = Command::new(program);
    command.env(CHOICE, target).current_dir(root);
    // Where what it finds is left; it would be the current folder otherwise.
    let found = root.join("fuzz/artifacts").join(target);
    command.arg(format!("-artifact_prefix={}/", found.display()));
    command
}

/// One target for some seconds, beginning with its corpus.
pub(crate) fn for_seconds(root: &Path, target: &str, seconds: &str, watch: Watch) -> Command {
    let mut command = from_corpus(root, target, watch);
    command.arg(format!("-max_total_time={seconds}"));
    command
}

/// One target with its corpus, which [`prepare`] has laid out, and a number of new inputs that is
/// the same on a busy computer as on an idle one: beside a whole check, four seconds of one target
/// were eight inputs.
pub(crate) fn for_inputs(root: &Path, target: &str, watch: Watch) -> Command {
    let new = if SLOW.contains(&target) { 400 } else { 2000 };
    let kept = fs::read_dir(corpus::folder(root, target)).map_or(0, Iterator::count);
    let mut command = from_corpus(root, target, watch);
    command.arg(format!("-runs={}", kept + new));
    command
}

fn from_corpus(root: &Path, target: &str, watch: Watch) -> Command {
    let mut command = program(root, target, watch);
    command.arg(corpus::folder(root, target));
    // The limit of one input counts the time for which a busy computer keeps it waiting, too.
    command.args(["-rss_limit_mb=2048", "-timeout=60", "-print_final_stats=1"]);
    // To name each function that is reached first takes a second and more.
    command.arg("-print_funcs=0");
    command
}

/// One target with the inputs in these files, to see once more what a run has found.
pub(crate) fn again(root: &Path, target: &str, files: &[&str]) -> Result<(), String> {
    outside::status(&mut build(root, Watch::Addresses))?;
    outside::status(program(root, target, Watch::Addresses).args(files))
}

/// Chooses anew what each target begins with: the smallest set of short inputs that shows all that
/// its corpus shows.
pub(crate) fn keep(root: &Path, targets: &[String]) -> Result<(), String> {
    for target in targets {
        let watch = Watch::of(target);
        outside::status(&mut build(root, watch))?;
        prepare(root, target)?;
        let corpus = corpus::folder(root, target);
        let merged = corpus.with_extension("merged");
        fs::create_dir_all(&merged).map_err(|e| format!("{}: {e}", merged.display()))?;
        let mut merge = program(root, target, watch);
        outside::status(merge.arg("-merge=1").args([&merged, &corpus]))?;
        corpus::keep(root, target, &merged)?;
    }
    Ok(())
}

/// Makes the folders that a run reads and writes.
pub(crate) fn prepare(root: &Path, target: &str) -> Result<(), String> {
    let found = root.join("fuzz/artifacts").join(target);
    fs::create_dir_all(&found).map_err(|e| format!("{}: {e}", found.display()))?;
    corpus::lay_out(root, target)
}

/// Runs each target for so many seconds. The output of a target is in
/// `target/check/fuzz-TARGET.log`.
pub(crate) fn all(root: &Path, seconds: &str) -> Result<Executions, String> {
    let targets = targets(root)?;
    for watch in [Watch::Addresses, Watch::Nothing] {
        outside::status(&mut build(root, watch))?;
    }
    let open = Mutex::new(targets.iter());
    let outcomes = Mutex::new(Ok(Executions::new()));
    let next = || open.lock().expect("no thread panics").next();
    let work = || {
        while let Some(target) = next() {
            let outcome = one(root, target, seconds);
            let mut outcomes = outcomes.lock().expect("no thread panics");
            match (outcome, &mut *outcomes) {
                (Ok(runs), Ok(all)) => drop(all.insert(target.clone(), runs)),
                (Err(why), Ok(_)) => *outcomes = Err(why),
                (_, Err(_)) => return,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let executions = outcomes.into_inner().expect("no thread panics")?;
    println!("{}", table(&executions));
    Ok(executions)
}

/// Builds one target's program, watched, and runs it for some seconds.
pub(crate) fn alone(root: &Path, target: &str, seconds: &str) -> Result<(), String> {
    let all = targets(root)?;
    if !all.iter().any(|known| known == target) {
        return Err(format!("there is no fuzz target '{target}'; they are: {}", all.join(" ")));
    }
    prepare(root, target)?;
    outside::status(&mut build(root, Watch::Addresses))?;
    outside::status(&mut for_seconds(root, target, seconds, Watch::Addresses))
}

/// A line for each target, and one for all.
pub(crate) fn table(executions: &Executions) -> String {
    let line = |(target, runs): (&str, u64)| format!("fuzz {target:<10} {runs:>12} executions\n");
    let each = executions.iter().map(|(target, &runs)| line((target.as_str(), runs)));
    each.chain([line(("in all", executions.values().sum()))]).collect()
}

fn one(root: &Path, target: &str, seconds: &str) -> Result<u64, String> {
    let folder = target_folder(root).join("check");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    prepare(root, target)?;
    let log = folder.join(format!("fuzz-{target}.log"));
    let file = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut command = for_seconds(root, target, seconds, Watch::of(target));
    command.stdout(Stdio::null()).stderr(file);
    let outcome = outside::status(&mut command);
    let text = fs::read_to_string(&log).unwrap_or_default();
    if let Err(why) = outcome {
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        return Err(format!("fuzz {target}: {why}\n{tail}"));
    }
    runs_in(&text).ok_or_else(|| format!("fuzz {target}: no number of runs in {}", log.display()))
}

fn runs_in(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(RUNS))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_number_of_runs_is_found() {
        let text = "Done 7 runs\nstat::number_of_executed_units: 4242\nstat::other: 1\n";
        assert_eq!(runs_in(text), Some(4242));
        assert_eq!(runs_in("nothing"), None);
    }

    #[test]
    fn the_last_line_of_the_table_is_the_sum() {
        let executions = Executions::from([("lane".to_owned(), 7), ("frame".to_owned(), 35)]);
        let text = table(&executions);
        let numbers: Vec<&str> =
            text.lines().map(|line| line.split_whitespace().rev().nth(1).unwrap()).collect();
        assert_eq!(numbers, ["35", "7", "42"]);
    }

    #[test]
    fn every_file_of_a_target_is_in_the_program_and_has_seeds() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let main = fs::read_to_string(root.join("fuzz/src/main.rs")).unwrap();
        assert!(main.contains(&format!("\"{CHOICE}\"")));
        let names: BTreeSet<String> = targets(&root).unwrap().into_iter().collect();
        assert!(names.len() >= 14, "{names:?}");
        assert!(SLOW.iter().all(|slow| names.contains(*slow)), "{names:?}");
        for name in &names {
            assert!(main.contains(&format!("(\"{name}\", {name}::run)")), "{name}");
            assert!(root.join(format!("fuzz/seeds/{name}.hex")).is_file(), "{name}");
        }
    }
}
