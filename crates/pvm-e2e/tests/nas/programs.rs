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

/// The folder with the programs; what has not changed since the last time is not built again.
pub(crate) fn build(build: &Build) -> PathBuf {
    static BUILT: [OnceLock<PathBuf>; 4] = [const { OnceLock::new() }; 4];
    let (at, name, variables): (_, _, &[&str]) = match build {
        Build::Ours => (0, "ours", &["OPT=-O2"]),
        Build::Planted => (1, "planted", &["OPT=-O1", "PLANT=1"]),
        Build::Fast => (2, "fast", &[]),
        Build::Checked => (3, "checked", &["CHECK=1"]),
    };
    BUILT[at].get_or_init(|| made(name, variables)).clone()
}

/// The folder in which programs are kept from one run to the next. Another user than the one who
/// compiled the tests may not write there.
fn kept() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_ours = rustix::fs::access(target, rustix::fs::Access::WRITE_OK).is_ok();
    if is_ours { target.to_owned() } else { std::env::temp_dir() }
}

fn made(name: &str, variables: &[&str]) -> PathBuf {
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
    command.arg(format!("PVM_HOME={home}")).args(variables);
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
