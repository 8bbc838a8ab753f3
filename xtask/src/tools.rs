//! The heavier tools behind single chores: loom, Miri, the fuzzer, the simulator.

use crate::install::target_folder;
use crate::outside;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The interleavings of pvm-shm: the tests that have loom in their path. Its own target folder, because `--cfg loom` would rebuild everything in the common one.
pub(crate) fn loom(root: &Path) -> Command {
    let mut command = cargo(root, &["test", "--release", "--package=pvm-shm", "--test=loom"]);
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

/// The names of the fuzz targets.
pub(crate) fn fuzz_targets(root: &Path) -> Result<Vec<String>, String> {
    let list = outside::output(root, "cargo", &["+nightly", "fuzz", "list"])?;
    let targets: Vec<String> = list.lines().map(|line| line.trim().to_owned()).collect();
    if targets.is_empty() { Err("fuzz/ has no targets".to_owned()) } else { Ok(targets) }
}

/// One fuzz target for some seconds.
pub(crate) fn fuzz(root: &Path, target: &str, seconds: &str) -> Command {
    let time = format!("-max_total_time={seconds}");
    cargo(
        root,
        &["+nightly", "fuzz", "run", target, "--", &time, "-rss_limit_mb=2048", "-timeout=10"],
    )
}

/// Replays one simulation.
pub(crate) fn simulation(root: &Path, seed: &str) -> Command {
    let mut command = cargo(root, &["test", "--package=pvm-sim", "--", "--nocapture"]);
    command.env("PVM_SIM_SEED", seed);
    command
}

fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root);
    command
}

/// Rounds of everything that chance decides, until the time is up or something fails.
pub(crate) fn soak(root: &Path, minutes: &str) -> Result<(), String> {
    let minutes: u64 =
        minutes.parse().map_err(|_| format!("{minutes}: not a number of minutes"))?;
    let start = Instant::now();
    let mut round = 0;
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        round += 1;
        // The clock is as good a source of new seeds as any, and what failed is printed to be replayed.
        let seed = UNIX_EPOCH.elapsed().map_or(round, |t| u64::from(t.subsec_nanos()));
        println!("round {round}: seed {seed}, {} minutes gone", start.elapsed().as_secs() / 60);
        let replay = |why| format!("{why}; replay with: cargo xtask sim {seed}");
        outside::status(&mut simulation(root, &seed.to_string())).map_err(replay)?;
        outside::run(root, "cargo", &["test", "--package=pvm-e2e"])?;
        for target in fuzz_targets(root)? {
            outside::status(&mut fuzz(root, &target, "60"))?;
        }
    }
    println!("{round} rounds passed");
    Ok(())
}
