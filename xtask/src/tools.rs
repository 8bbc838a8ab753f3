//! The heavier tools behind single chores: loom, Miri, the simulator.

use crate::install::target_folder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that says how the check compiles tests. With `--release`, which makes cargo take the
/// crates from outside that the installation has compiled.
pub(crate) const FOR_TESTS: [&str; 2] = ["--release", "--config=xtask/tests.toml"];

/// Optimises for the check what the simulator runs, as the development profile does.
pub(crate) const SIMULATED: [&str; 4] = [
    "--config=profile.release.package.pvm-wire.opt-level=2",
    "--config=profile.release.package.pvm-core.opt-level=2",
    "--config=profile.release.package.pvm-quorum.opt-level=2",
    "--config=profile.release.package.pvm-sim.opt-level=1",
];

/// The folder of programs that the check builds with [`FOR_TESTS`], apart from those that are
/// installed. What they are built of lies in the common folder.
pub(crate) fn tests_folder(root: &Path) -> PathBuf {
    target_folder(root).join("tests")
}

/// Loom and its coroutines run each interleaving, so they are worth optimising; other crates, of
/// which there are some fifty, and the tests take longer to optimise than they run.
const FOR_LOOM: [&str; 4] = [
    "--config=profile.release.opt-level=1",
    "--config=profile.release.package.\"*\".opt-level=0",
    "--config=profile.release.package.loom.opt-level=3",
    "--config=profile.release.package.generator.opt-level=3",
];

/// The interleavings of pvm-shm: the tests that have loom in their path. Its own target folder,
/// because `--cfg loom` would rebuild everything in the common one.
pub(crate) fn loom(root: &Path) -> Command {
    let mut command = cargo(root, &["test", "--release", "--package=pvm-shm", "--test=loom"]);
    command.args(FOR_LOOM);
    let target = target_folder(root).join("loom");
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target);
    command
}

/// `package` under Miri, which finds undefined behaviour inside one process.
pub(crate) fn miri(root: &Path, package: &str) -> Command {
    let mut command = cargo(root, &["+nightly", "miri", "test", "--package", package, "--lib"]);
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    command.env("CARGO_TARGET_DIR", target_folder(root).join("miri"));
    command
}

/// Replays one simulation.
pub(crate) fn simulation(root: &Path, seed: &str) -> Command {
    let mut command = cargo(root, &["test", "--package=pvm-sim", "--", "--nocapture"]);
    command.env("PVM_SIM_SEED", seed);
    command
}

/// Members of a log that lag, at random, with small bounds. In a build with checks: a sum that
/// wraps is a fault, too.
pub(crate) fn laggards(root: &Path, seed: &str, runs: &str) -> Command {
    let mut command = cargo(root, &["test", "--package=pvm-quorum", "--test=lag"]);
    command.env("PVM_LAG_SEED", seed).env("PVM_LAG_RUNS", runs);
    command
}

/// Many hosts in one machine, of which some die, join and are cut off.
pub(crate) fn crowd(root: &Path, seed: &str, hosts: &str) -> Command {
    let mut command = cargo(root, &["test", "--release", "--package=pvm-sim", "--test=crowd"]);
    command.args(["a_large_crowd", "--", "--ignored", "--nocapture"]);
    command.env("PVM_SIM_SEED", seed).env("PVM_SIM_HOSTS", hosts);
    command
}

/// A machine in which every place is taken, of which hosts die and are cut off.
pub(crate) fn largest(root: &Path, seed: &str) -> Command {
    let mut command = cargo(root, &["test", "--release", "--package=pvm-sim", "--test=crowd"]);
    command.args(["the_largest_machine", "--", "--ignored", "--nocapture"]);
    command.env("PVM_SIM_SEED", seed);
    command
}

/// The test with `count` members of a log that goes along a tree.
pub(crate) fn members(root: &Path, count: &str) -> Command {
    let arguments = ["test", "--package=pvm-quorum", "--test=many", "--", "--nocapture"];
    let mut command = cargo(root, &arguments);
    command.env("PVM_MANY", count);
    command
}

/// Tuple spaces whose processes are killed: durable ones 100 times, others in 100 moves, and a bag
/// of ten million operations beside 500 kills.
pub(crate) fn spaces(root: &Path) -> Command {
    let tests = ["--test=durable", "--test=bag", "--test=moves"];
    let mut command = cargo(root, &[&["test", "--package=pvm-e2e"], &tests[..]].concat());
    let rounds = [("DURABLE_ROUNDS", "100"), ("BAG_OPERATIONS", "10000000"), ("BAG_KILLS", "500")];
    command.envs(rounds).env("MOVES_ROUNDS", "100");
    command
}

/// A tuple space on hosts that are switched off and cut off 100 times.
pub(crate) fn spaces_on_hosts(root: &Path) -> Command {
    let mut command = cargo(root, &["test", "--package=pvm-e2e", "--test=networks"]);
    command.args(["spaces", "--", "--nocapture"]).env("NEOPVM_LONG", "1");
    command
}

/// The tests of the older interfaces in their long form: a million operations by chance and a
/// hundred killed ranks for each.
pub(crate) fn interfaces(root: &Path, stage: &Path) -> Command {
    let mut command = Command::new("bash");
    command.arg("personalities/tests/run.sh").arg(stage);
    command.arg(target_folder(root).join("soak/personalities"));
    command.env("NEOPVM_LONG", "1").current_dir(root);
    command
}

/// The older interfaces on three hosts: a million operations by chance of each, and a hundred
/// killed ranks, killed daemons and hosts that are switched off under its jobs.
pub(crate) fn interfaces_on_hosts(root: &Path, stage: &Path) -> Command {
    let mut command = Command::new("bash");
    command.arg("personalities/tests/spread.sh").arg(stage);
    command.args(["chance", "deaths", "daemons", "power"]);
    command.env("NEOPVM_LONG", "1").current_dir(root);
    command
}

/// Every schedule of two members with a witness, within bounds that take minutes.
pub(crate) fn search(root: &Path) -> Command {
    let arguments = ["test", "--package=pvm-quorum", "--lib", "exhaustive", "--"];
    let mut command = cargo(root, &arguments);
    command.args(["--ignored", "--nocapture"]);
    command
}

fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_crate_of_ours_is_tested_with_all_checks() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let file = std::fs::read_to_string(root.join("xtask/tests.toml")).unwrap();
        let checks = "codegen-units = 4, debug-assertions = true, overflow-checks = true }";
        let checked = file.lines().filter(|line| line.ends_with(checks));
        let named: BTreeSet<&str> = checked.filter_map(|line| line.split(' ').next()).collect();
        let mut crates: BTreeSet<String> = std::fs::read_dir(root.join("crates"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        crates.insert("xtask".to_owned());
        assert_eq!(named, crates.iter().map(String::as_str).collect());
    }

    #[test]
    fn the_check_optimises_the_simulator_as_the_development_profile_does() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
        for option in SIMULATED {
            let (package, level) = option.rsplit_once(".opt-level=").unwrap();
            let package = package.rsplit('.').next().unwrap();
            let lines = format!("[profile.dev.package.{package}]\nopt-level = {level}\n");
            assert!(manifest.contains(&lines), "{lines}");
        }
    }
}
