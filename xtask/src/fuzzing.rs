//! The fuzz targets, as many beside one another as there are cores, and how often each was run.

use crate::install::target_folder;
use crate::{corpus, outside, tools};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;

/// What libFuzzer says at its end before the number of its runs.
const RUNS: &str = "stat::number_of_executed_units:";
/// How much of a failed target's words is shown.
const TAIL_LINES: usize = 40;

/// How often each target was run.
pub(crate) type Executions = BTreeMap<String, u64>;

/// Runs each target for so many seconds. What a target says is in `target/check/fuzz-TARGET.log`.
pub(crate) fn all(root: &Path, seconds: &str) -> Result<Executions, String> {
    let targets = tools::fuzz_targets(root)?;
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

/// A line for each target, and one for all.
pub(crate) fn table(executions: &Executions) -> String {
    let line = |(target, runs): (&str, u64)| format!("fuzz {target:<10} {runs:>12} executions\n");
    let each = executions.iter().map(|(target, &runs)| line((target.as_str(), runs)));
    each.chain([line(("in all", executions.values().sum()))]).collect()
}

fn one(root: &Path, target: &str, seconds: &str) -> Result<u64, String> {
    let folder = target_folder(root).join("check");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    corpus::lay_out(root, target)?;
    let log = folder.join(format!("fuzz-{target}.log"));
    let file = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut command = tools::fuzz(root, target, seconds, tools::sanitizer(target));
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

    #[test]
    fn the_last_line_of_the_table_is_the_sum() {
        let executions = Executions::from([("lane".to_owned(), 7), ("frame".to_owned(), 35)]);
        let text = table(&executions);
        let numbers: Vec<&str> =
            text.lines().map(|line| line.split_whitespace().rev().nth(1).unwrap()).collect();
        assert_eq!(numbers, ["35", "7", "42"]);
    }
}
