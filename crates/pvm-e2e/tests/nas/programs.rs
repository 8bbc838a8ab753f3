//! The programs, built once for all tests of this process.

use pvm_e2e::{Machine, Output, Running, prefix};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// In the order of the specification's chapters.
pub(crate) const ALL: [&str; 8] = ["ep", "mg", "cg", "ft", "is", "lu", "sp", "bt"];

/// A program of class S takes less, also where sixteen others want the processors.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// The way in which they are built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Build {
    /// For NeoPVM.
    Ours,
    /// With an error in each.
    Planted,
    /// As users build them.
    Fast,
    /// With checks of bounds and the sanitizers of addresses and of undefined behaviour.
    Checked,
}

/// The folder of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/nas")
}

impl Build {
    /// Its name, and the variables for `make`.
    fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Ours => ("ours", &["OPT=-O2"]),
            Self::Planted => ("planted", &["OPT=-O1", "PLANT=1"]),
            Self::Fast => ("fast", &[]),
            Self::Checked => ("checked", &["CHECK=1"]),
        }
    }
}

/// The folder with the programs; what has not changed since the last time is not built again.
pub(crate) fn build(build: &Build) -> PathBuf {
    static BUILT: [OnceLock<PathBuf>; 4] = [const { OnceLock::new() }; 4];
    BUILT[*build as usize].get_or_init(|| made(*build, "all")).clone()
}

/// One of the programs, without the others.
pub(crate) fn one(build: Build, name: &str) -> PathBuf {
    made(build, &format!("nas-{name}")).join(format!("nas-{name}"))
}

/// The folder in which programs are kept from one run to the next. Another user than the one who
/// compiled the tests may not write there.
fn kept() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_ours = rustix::fs::access(target, rustix::fs::Access::WRITE_OK).is_ok();
    if is_ours { target.to_owned() } else { std::env::temp_dir() }
}

fn made(build: Build, target: &str) -> PathBuf {
    let (name, variables) = build.words();
    let home = prefix().display().to_string();
    // The programs know where their library is.
    let of = home.replace('/', "-");
    let folder = kept().join(format!("nas-{name}{of}"));
    // Tests of other programs may want them at the same time.
    let mut command = Command::new("flock");
    command.arg(kept().join(format!("nas-{name}{of}.lock")));
    command
        .args(["make", "-j2"])
        .arg("-C")
        .arg(sources())
        .arg(format!("BUILD={}", folder.display()));
    command.arg(format!("PVM_HOME={home}")).args(variables).arg(target);
    // Who calls this may be a `make` himself, with variables of his own.
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "OPT", "CFLAGS", "FFLAGS", "LDFLAGS"] {
        command.env_remove(variable);
    }
    let done = command.output().expect("make can be run");
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    folder
}

/// A command for one of them beside a machine.
pub(crate) fn command(machine: &Machine, build: &Build, name: &str, words: &[&str]) -> Command {
    let program = self::build(build).join(format!("nas-{name}"));
    let mut command = machine.place().command(program);
    command.args(words);
    command
}

/// Runs one of them beside a machine, to its end.
pub(crate) fn run(machine: &Machine, build: &Build, name: &str, words: &[&str]) -> Output {
    Running::start(command(machine, build, name, words)).finish(LIMIT)
}
