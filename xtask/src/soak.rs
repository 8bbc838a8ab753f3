//! `make soak`: the long tests. First machines of many hosts, a log of many members, a search of
//! two, the NAS Parallel Benchmarks, tuple spaces and the older interfaces, then rounds of
//! everything that chance decides.

use crate::fuzzing::{self, Executions};
use crate::install::target_folder;
use crate::{differ, hosts, outside, tools};
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Hosts of the machine of which three of ten die.
const CROWD_HOSTS: &str = "1000";
/// Members of the largest log: as many as a machine may have hosts.
const MEMBERS: &str = "4095";
/// The number of new sequences of each of the three programs of random calls that are compared in a
/// round: half a minute.
const SEQUENCES: u32 = 20;
/// The number of random runs of members that lag in a round.
const LAGGARDS: &str = "5000";
/// The time for which each fuzz target runs in a round.
const FUZZ_SECONDS: &str = "60";
/// The NAS Parallel Benchmarks in classes W and A on 1, 2, 4 and 16 tasks, and on three hosts.
const NAS: [&str; 7] = [
    "test",
    "--package=pvm-e2e",
    "--test=nas",
    "--",
    "--ignored",
    "--nocapture",
    "--test-threads=1",
];
/// The time for which a binding is in a storm of kills, interrupts, cancelled waits and forks in a
/// round; Java's two engines each.
const STORM_SECONDS: &str = "300";

/// A crowd, then rounds of everything that chance decides, until the time is up or something fails.
pub(crate) fn run(root: &Path, minutes: &str) -> Result<(), String> {
    let minutes: u64 =
        minutes.parse().map_err(|_| format!("{minutes}: not a number of minutes"))?;
    let stage = target_folder(root).join("stage");
    let start = Instant::now();
    outside::run(root, "make", &["install", &format!("PREFIX={}", stage.display())])?;
    let (mut round, mut executions) = (0, Executions::new());
    let replay = |why| format!("{why}; PVM_SIM_SEED=0 PVM_SIM_HOSTS={CROWD_HOSTS}: doc/testing.md");
    outside::status(&mut tools::crowd(root, "0", CROWD_HOSTS)).map_err(replay)?;
    println!("the crowd of {CROWD_HOSTS} hosts took {} s", start.elapsed().as_secs());
    let largest = Instant::now();
    let replay = |why| format!("{why}; PVM_SIM_SEED=0, every place taken: doc/testing.md");
    outside::status(&mut tools::largest(root, "0")).map_err(replay)?;
    println!("the largest machine took {} s", largest.elapsed().as_secs());
    outside::status(&mut tools::members(root, MEMBERS))?;
    outside::status(&mut tools::search(root))?;
    let nas = Instant::now();
    outside::run(root, "cargo", &NAS)?;
    println!("the NAS Parallel Benchmarks took {} s", nas.elapsed().as_secs());
    outside::status(&mut tools::spaces(root))?;
    outside::status(&mut tools::interfaces(root, &stage))?;
    if hosts::possible(root)? {
        outside::status(&mut tools::spaces_on_hosts(root))?;
        outside::status(&mut tools::interfaces_on_hosts(root, &stage))?;
    }
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        round += 1;
        // The clock is as good a source of new seeds as any, and what failed is printed to be
        // replayed.
        let seed = UNIX_EPOCH.elapsed().map_or(round, |t| u64::from(t.subsec_nanos()));
        println!("round {round}: seed {seed}, {} minutes gone", start.elapsed().as_secs() / 60);
        let replay = |why| format!("{why}; replay with: cargo xtask sim {seed}");
        outside::status(&mut tools::simulation(root, &seed.to_string())).map_err(replay)?;
        outside::status(&mut tools::laggards(root, &seed.to_string(), LAGGARDS))?;
        outside::run(root, "cargo", &["test", "--package=pvm-e2e"])?;
        differ::new_ones(root, &stage, SEQUENCES)?;
        storms(root, &stage)?;
        for (target, runs) in fuzzing::all(root, FUZZ_SECONDS)? {
            *executions.entry(target).or_default() += runs;
        }
    }
    let commit =
        outside::output(root, "git", &["rev-parse", "--short", "HEAD"]).unwrap_or_default();
    println!("{round} rounds passed, commit {}", commit.trim());
    print!("{}", fuzzing::table(&executions));
    Ok(())
}

/// The bindings in their storms: what is installed in `stage` loses nothing and leaves nothing. A
/// failure prints its seed where it has one.
fn storms(root: &Path, stage: &Path) -> Result<(), String> {
    let stage = &stage.display().to_string();
    let seconds = format!("-Dpvm.storm.s={STORM_SECONDS}");
    let java = ["bindings/java/check.sh", stage, "all", "-Dtest=StormTest", &seconds];
    outside::run(root, "bash", &java)?;
    outside::run(root, "bash", &["bindings/python/storm.sh", stage, STORM_SECONDS])
}
