//! `make soak`: the long tests. First a machine of many hosts, then rounds of everything that chance decides.

use crate::{fuzzing, outside, tools};
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Hosts of the largest machine that is simulated.
const CROWD_HOSTS: &str = "700";

/// A crowd, then rounds of everything that chance decides, until the time is up or something fails.
pub(crate) fn run(root: &Path, minutes: &str) -> Result<(), String> {
    let minutes: u64 =
        minutes.parse().map_err(|_| format!("{minutes}: not a number of minutes"))?;
    let start = Instant::now();
    let (mut round, mut executions) = (0, 0);
    let replay = |why| format!("{why}; PVM_SIM_SEED=0 PVM_SIM_HOSTS={CROWD_HOSTS}: doc/testing.md");
    outside::status(&mut tools::crowd(root, "0", CROWD_HOSTS)).map_err(replay)?;
    println!("the crowd of {CROWD_HOSTS} hosts took {} s", start.elapsed().as_secs());
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        round += 1;
        // The clock is as good a source of new seeds as any, and what failed is printed to be replayed.
        let seed = UNIX_EPOCH.elapsed().map_or(round, |t| u64::from(t.subsec_nanos()));
        println!("round {round}: seed {seed}, {} minutes gone", start.elapsed().as_secs() / 60);
        let replay = |why| format!("{why}; replay with: cargo xtask sim {seed}");
        outside::status(&mut tools::simulation(root, &seed.to_string())).map_err(replay)?;
        outside::run(root, "cargo", &["test", "--package=pvm-e2e"])?;
        executions += fuzzing::all(root, "60")?;
    }
    println!("{round} rounds passed, {executions} executions of fuzz targets");
    Ok(())
}
