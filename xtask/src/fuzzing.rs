//! The fuzz targets one after the other, and how often they were run.

use crate::install::target_folder;
use crate::{outside, tools};
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

/// What libFuzzer says at its end before the number of its runs.
const RUNS: &str = "stat::number_of_executed_units:";
/// How much of a failed target's words is shown.
const TAIL_LINES: usize = 40;

/// Runs each target for so many seconds; gives the number of executions in all. What a target says is
/// in `target/check/fuzz-TARGET.log`.
pub(crate) fn all(root: &Path, seconds: &str) -> Result<u64, String> {
    let mut total = 0;
    for target in tools::fuzz_targets(root)? {
        let runs = one(root, &target, seconds)?;
        println!("fuzz {target:<10} {runs:>12} executions");
        total += runs;
    }
    println!("fuzz {:<10} {total:>12} executions", "in all");
    Ok(total)
}

fn one(root: &Path, target: &str, seconds: &str) -> Result<u64, String> {
    let folder = target_folder(root).join("check");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let log = folder.join(format!("fuzz-{target}.log"));
    let file = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut command = tools::fuzz(root, target, seconds);
    command.arg("-print_final_stats=1").stdout(Stdio::null()).stderr(file);
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

    #[test]
    fn the_number_of_runs_is_found() {
        let text = "Done 7 runs\nstat::number_of_executed_units: 4242\nstat::other: 1\n";
        assert_eq!(runs_in(text), Some(4242));
        assert_eq!(runs_in("nothing"), None);
    }
}
