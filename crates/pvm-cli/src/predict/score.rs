//! `pvm predict score`: a sealed prediction beside real runs.

use super::input::at;
use super::seal::VERSION;
use crate::failure::{Failure, Status};
use crate::options::predict::ScoreOptions;
use crate::show::{show, show_json};
use serde_json::{Value, json};
use std::path::Path;

/// A seal has fewer bytes, and runs as well.
const BYTES_MAX: u64 = 64 << 20;

/// The result of a comparison.
struct Score {
    predicted: f64,
    runs: Vec<f64>,
    median: f64,
    /// Between these the median lies with 95 % certainty, if there are enough runs.
    interval: Option<(f64, f64)>,
}

/// Compares.
pub(super) fn score(options: &ScoreOptions) -> Result<(), Failure> {
    let seal = read(&options.seal)?;
    let seal: Value = serde_json::from_str(&seal).map_err(|error| no_seal(options, &error))?;
    if seal["seal"].as_u64() != Some(VERSION) {
        return Err(no_seal(options, &"its version is not known here"));
    }
    let predicted = seconds(options, &seal["prediction"])?;
    let mut runs = Vec::new();
    for word in &options.runs {
        match word.parse::<f64>() {
            Ok(seconds) => runs.push(seconds),
            Err(_) => of_lines(Path::new(word), &mut runs)?,
        }
    }
    if !runs.iter().all(|run| run.is_finite() && *run > 0.0) || runs.is_empty() {
        return Err(Failure::new(Status::Usage, "a run takes more than 0 s"));
    }
    runs.sort_by(f64::total_cmp);
    let (median, interval) = (median(&runs), interval(&runs));
    tell(options, &Score { predicted, runs, median, interval })
}

/// The predicted time of the run, or of a section.
fn seconds(options: &ScoreOptions, prediction: &Value) -> Result<f64, Failure> {
    let Some(name) = &options.section else {
        return prediction["seconds"]
            .as_f64()
            .ok_or_else(|| no_seal(options, &"it has no seconds"));
    };
    let sections = prediction["sections"].as_array().map_or(&[][..], Vec::as_slice);
    let found = sections.iter().find(|section| section["name"] == name.as_str());
    found
        .and_then(|section| section["median"].as_f64().or_else(|| section["seconds"].as_f64()))
        .ok_or_else(|| {
            let names = sections.iter().filter_map(|section| section["name"].as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let text = format!("{name}: the sealed run has no such section, but these: {names}");
            Failure::new(Status::Usage, text)
        })
}

/// The key `seconds` of each line that has one.
fn of_lines(path: &Path, runs: &mut Vec<f64>) -> Result<(), Failure> {
    let text = read(path)?;
    let before = runs.len();
    let values = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    runs.extend(values.filter_map(|value| value["seconds"].as_f64()));
    if runs.len() == before {
        let text = format!("{}: no line of JSON with the key seconds", path.display());
        return Err(Failure::new(Status::Refused, text));
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    let length = std::fs::metadata(path).map_err(|error| at(path, &error))?.len();
    if length > BYTES_MAX {
        let text = format!("{}: {length} bytes are more than {BYTES_MAX}", path.display());
        return Err(Failure::new(Status::Refused, text));
    }
    std::fs::read_to_string(path).map_err(|error| at(path, &error))
}

fn no_seal(options: &ScoreOptions, why: &dyn std::fmt::Display) -> Failure {
    let path = options.seal.display();
    let text = format!("{path}: no sealed prediction: {why}\n  `pvm predict seal` writes them");
    Failure::new(Status::Refused, text)
}

fn median(runs: &[f64]) -> f64 {
    let middle = runs.len() / 2;
    if runs.len() % 2 == 1 { runs[middle] } else { f64::midpoint(runs[middle - 1], runs[middle]) }
}

/// The pair of runs, which are in their order, around the median that holds it with 95 % certainty
/// whatever their distribution (binomial). There is none for five runs or less.
fn interval(runs: &[f64]) -> Option<(f64, f64)> {
    let count = runs.len();
    let mut outside = 0.0;
    let mut chance = 0.5f64.powi(i32::try_from(count).ok()?);
    let mut place = None;
    for below in 0..count / 2 {
        outside += 2.0 * chance;
        if outside > 0.05 {
            break;
        }
        place = Some(below);
        chance *= (count - below) as f64 / (below + 1) as f64;
    }
    place.map(|place| (runs[place], runs[count - 1 - place]))
}

impl Score {
    fn error(&self) -> f64 {
        100.0 * (self.predicted / self.median - 1.0)
    }

    /// The interval of the median, as far as the runs tell.
    fn known(&self) -> (f64, f64) {
        let all = (self.runs[0], self.runs[self.runs.len() - 1]);
        self.interval.unwrap_or(all)
    }

    /// Met; missed, wherever the median lies; or not to be told, since the runs differ by too much.
    fn verdict(&self, goal: f64) -> &'static str {
        let (low, high) = self.known();
        let nearest = self.predicted.clamp(low, high);
        let at_least = 100.0 * (self.predicted / nearest - 1.0).abs();
        let width = 50.0 * (high - low) / self.median;
        match self.error().abs() <= goal {
            true if width <= goal => "met",
            false if width <= goal || at_least > goal => "missed",
            _ => "open",
        }
    }
}

fn tell(options: &ScoreOptions, score: &Score) -> Result<(), Failure> {
    let (low, high) = (score.runs[0], score.runs[score.runs.len() - 1]);
    let (goal, verdict) = (options.goal, score.verdict(options.goal));
    if options.json {
        return Ok(show_json(&json!({"predicted": score.predicted, "median": score.median,
            "low": low, "high": high, "interval": score.interval.map(|(low, high)| [low, high]),
            "runs": score.runs, "error": score.error(), "goal": goal, "verdict": verdict}))?);
    }
    let count = score.runs.len();
    show(format_args!(
        "predicted {:.6} s, median of {count} runs {:.6} s ({low:.6} to {high:.6}): {:+.1} %\n",
        score.predicted,
        score.median,
        score.error()
    ))?;
    let why = match verdict {
        "open" => "open: the runs differ by more than the goal, so they cannot tell",
        other => other,
    };
    Ok(show(format_args!("goal {goal} %: {why}\n"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_binomial_distribution() {
        let runs: Vec<f64> = (1..=15).map(f64::from).collect();
        assert_eq!(interval(&runs[..5]), None);
        // The least and the most of six hold the median with 1 - 2/64.
        assert_eq!(interval(&runs[..6]), Some((1.0, 6.0)));
        assert_eq!(interval(&runs[..9]), Some((2.0, 8.0)));
        assert_eq!(interval(&runs), Some((4.0, 12.0)));
        assert_eq!((median(&runs), median(&runs[..6])), (8.0, 3.5));
    }
}
