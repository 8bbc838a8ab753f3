//! Mixed machines: the daemon and the library built for other kinds of computers, and one machine
//! of them all.
//!
//! i686 runs here as it is; s390x, whose numbers begin with the highest byte, runs in qemu's user
//! mode. Both are built without optimisation into the common target folder, so that what cargo
//! builds for this computer is shared, and laid out in `target/foreign`.

use crate::install::target_folder;
use crate::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of computer.
struct Kind {
    /// The name of its installation, and of a host in the tests.
    name: &'static str,
    target: &'static str,
    /// The beginning of the names of its compiler and linker.
    tools: &'static str,
    /// The emulator that runs its programs here.
    runner: Option<&'static str>,
}

/// A function that runs a command to its good end.
type Start<'a> = &'a dyn Fn(&Command) -> Result<(), String>;

const KINDS: [Kind; 2] = [
    Kind { name: "i686", target: "i686-unknown-linux-gnu", tools: "i686-linux-gnu-", runner: None },
    Kind {
        name: "s390x",
        target: "s390x-unknown-linux-gnu",
        tools: "s390x-linux-gnu-",
        runner: Some("qemu-s390x -L /usr/s390x-linux-gnu"),
    },
];

/// Builds, tests what crosses the wire on each kind, and runs the mixed machines; `start` runs a
/// command to its good end.
pub(crate) fn run(root: &Path, stage: &str, start: Start<'_>) -> Result<(), String> {
    build(root, start)?;
    let mut mixed = cargo(root, &["test", "--package=pvm-e2e", "--test=mixed", "--"], &[]);
    mixed.args(MIXED_ARGUMENTS).env(INSTALLATIONS, installations(root));
    start(mixed.env("NEOPVM_PREFIX", stage))
}

/// The arguments of the test of mixed machines. One after the other: in an emulator everything
/// takes its time.
pub(crate) const MIXED_ARGUMENTS: [&str; 2] = ["--ignored", "--test-threads=1"];
/// The variable in which that test finds the [`installations`].
pub(crate) const INSTALLATIONS: &str = "NEOPVM_FOREIGN";

/// The folder with an installation for each kind.
pub(crate) fn installations(root: &Path) -> PathBuf {
    target_folder(root).join("foreign")
}

/// Builds for each kind, and tests what crosses the wire on it.
pub(crate) fn build(root: &Path, start: Start<'_>) -> Result<(), String> {
    start(&cargo(root, &["build", "--package=pvmd", "--package=pvm-capi"], &KINDS))?;
    for kind in &KINDS {
        lay_out(root, kind, &installations(root).join(kind.name), start)?;
    }
    start(&cargo(root, &["test", "--package=pvm-wire"], &KINDS))
}

/// Cargo for these kinds, or for this computer.
fn cargo(root: &Path, words: &[&str], kinds: &[Kind]) -> Command {
    let mut command = Command::new("cargo");
    command.args(words).current_dir(root);
    for kind in kinds {
        command.arg(format!("--target={}", kind.target));
        let variable = kind.target.to_uppercase().replace('-', "_");
        let c_variable = kind.target.replace('-', "_");
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), format!("{}gcc", kind.tools));
        command.env(format!("CC_{c_variable}"), format!("{}gcc", kind.tools));
        command.env(format!("AR_{c_variable}"), format!("{}ar", kind.tools));
        if let Some(runner) = kind.runner {
            command.env(format!("CARGO_TARGET_{variable}_RUNNER"), runner);
        }
    }
    if !kinds.is_empty() {
        command.args(tools::FOR_TESTS).arg("--config=profile.release.opt-level=0");
        // Nothing simulates there.
        command.arg("--config=profile.release.package.pvm-tuples.opt-level=0");
        // Ten times slower in the emulator; the full number runs on this computer's own kind.
        command.env("PROPTEST_CASES", "32");
    }
    command
}

/// The daemon, the libraries and the headers, as an installation has them.
fn lay_out(root: &Path, kind: &Kind, prefix: &Path, start: Start<'_>) -> Result<(), String> {
    let built = target_folder(root).join(kind.target).join("release");
    let script = root.join("crates/pvm-capi/link.sh");
    let folder = |name: &str| -> Result<PathBuf, String> {
        let folder = prefix.join(name);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    };
    let mut link = Command::new("bash");
    link.arg(script).arg(built.join("libpvm_capi.a")).arg(folder("lib")?);
    link.env("CROSS", kind.tools).current_dir(root);
    start(&link)?;
    copy(&built.join("pvmd"), &folder("bin")?.join("pvmd"))?;
    let include = folder("include")?;
    let headers = fs::read_dir(root.join("include")).map_err(|e| format!("include: {e}"))?;
    for header in headers.flatten() {
        copy(&header.path(), &include.join(header.file_name()))?;
    }
    Ok(())
}

/// A program that runs cannot be written over, but its name can be given away.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let _ = fs::remove_file(to);
    fs::copy(from, to).map(drop).map_err(|e| format!("{}: {e}", from.display()))
}
