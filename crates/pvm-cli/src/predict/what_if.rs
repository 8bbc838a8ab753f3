//! `pvm predict what-if`: a grid of networks, speeds and overheads, side by side on all cores.

use super::input::{self, Trace, at};
use super::simulate::{Plan, Stoppable, cores, interrupt, side_by_side};
use crate::failure::{Failure, Status};
use crate::options::predict::{ModelName, WhatIfOptions};
use crate::progress::Progress;
use crate::show::{remark, show, show_json};
use crate::table::{Side, Table};
use crate::trace::draw::canvas::{Anchor, Axis, Canvas, colour, short};
use crate::trace::draw::{png, svg};
use pvm_predict::Error;
use pvm_predict::platform::Platform;
use pvm_predict::report::Report;
use pvm_predict::source::Wish;
use pvm_predict::what_if::Change;
use serde_json::{Value, json};
use std::path::Path;

/// More scenarios are hardly meant.
const SCENARIOS_MAX: usize = 10_000;

/// One of the grid.
struct Scenario {
    network: String,
    platform: Platform,
    speed: f64,
    overhead: f64,
}

/// Predicts all of them, and tells.
pub(super) fn what_if(options: &WhatIfOptions) -> Result<(), Failure> {
    let trace = Trace::find(&options.files, Wish::default())?;
    let all = scenarios(options)?;
    let stop = interrupt()?;
    let progress = Progress::start("simulating");
    let threads = cores();
    let done = side_by_side((all.len() as u32, threads), &stop, |number| {
        let Scenario { platform, overhead, .. } = &all[number as usize];
        let (model, overhead) = (ModelName::Ours, *overhead);
        let threads = threads / all.len();
        let plan = Plan { trace: &trace, platform, model, depth: None, overhead, threads };
        match plan.run(1, &mut Stoppable(&stop)) {
            Ok(report) => Ok(Some(report)),
            Err(Error::Stopped(_)) => Ok(None),
            Err(error) => Err(trace.wrong(&error)),
        }
    })?;
    drop(progress);
    if done.len() < all.len() {
        remark(format_args!("pvm: interrupted: {} of {} are done", done.len(), all.len()));
    }
    let told: Vec<(&Scenario, Report)> =
        done.into_iter().map(|(number, report)| (&all[number as usize], report)).collect();
    if let Some(path) = &options.output {
        draw(path, &bars(&told))?;
    }
    if options.json {
        return Ok(show_json(&told.iter().map(as_json).collect::<Value>())?);
    }
    Ok(show(table(&told))?)
}

fn scenarios(options: &WhatIfOptions) -> Result<Vec<Scenario>, Failure> {
    let count = options.network.len() * options.speed.len() * options.overhead.len();
    if count > SCENARIOS_MAX {
        let text = format!("{count} scenarios are more than {SCENARIOS_MAX}");
        return Err(Failure::new(Status::Usage, text));
    }
    let mut all = Vec::new();
    for network in &options.network {
        let plain = input::platform(network)?;
        for speed in &options.speed {
            for overhead in &options.overhead {
                let (speed, overhead) = (*speed, *overhead);
                let change = Change { speed, overhead, ..Change::default() };
                let platform = change.of(&plain);
                let wrong = |error: Error| Failure::new(Status::Usage, error.to_string());
                let (network, platform) = (plain.name.clone(), platform.map_err(wrong)?);
                all.push(Scenario { network, platform, speed, overhead });
            }
        }
    }
    Ok(all)
}

/// Means over tasks: how long they computed, were in calls, and were blocked.
fn parts(report: &Report) -> [f64; 3] {
    let count = report.stations.len().max(1) as f64;
    let mean = |of: &dyn Fn(&pvm_predict::report::StationReport) -> f64| {
        report.stations.iter().map(of).sum::<f64>() / count
    };
    let calls = mean(&|one| (one.calls + one.sending + one.receiving).seconds());
    let blocked = mean(&|one| one.blocked.total().seconds());
    [mean(&|one| one.computing.seconds()), calls, blocked]
}

fn table(told: &[(&Scenario, Report)]) -> Table {
    let mut table = Table::new(&[
        ("NETWORK", Side::Left),
        ("SPEED", Side::Right),
        ("OVERHEAD", Side::Right),
        ("SECONDS", Side::Right),
        ("OF THE FIRST", Side::Right),
        ("COMPUTING", Side::Right),
        ("CALLS", Side::Right),
        ("BLOCKED", Side::Right),
    ]);
    let first = told.first().map_or(1.0, |(_, report)| report.time.seconds());
    for (scenario, report) in told {
        let [computing, calls, blocked] = parts(report).map(|time| format!("{time:.6}"));
        table.row([
            scenario.network.clone(),
            scenario.speed.to_string(),
            scenario.overhead.to_string(),
            format!("{:.6}", report.time.seconds()),
            format!("{:.1} %", 100.0 * report.time.seconds() / first),
            computing,
            calls,
            blocked,
        ]);
    }
    table
}

fn as_json((scenario, report): &(&Scenario, Report)) -> Value {
    let [computing, calls, blocked] = parts(report);
    json!({"network": scenario.network, "speed": scenario.speed, "overhead": scenario.overhead,
        "seconds": report.time.seconds(), "computing": computing, "calls": calls,
        "blocked": blocked, "collisions": report.collisions})
}

/// A bar for each scenario: what a task computes, is in calls, and is blocked in the mean.
fn bars(told: &[(&Scenario, Report)]) -> Canvas {
    let (left, wide, row) = (230.0, 620.0, 26.0);
    let bottom = 50.0 + row * told.len() as f64;
    let mut canvas =
        Canvas::new(left + wide + 90.0, bottom + 66.0, "What if: the mean of all tasks");
    let most = told.iter().map(|(_, report)| parts(report).iter().sum()).fold(0.0, f64::max);
    let axis = Axis::up_to(most);
    for mark in axis.marks() {
        let at = left + mark / axis.most * wide;
        canvas.line((at, 45.0), (at, bottom), (colour::FAINT, 1.0));
        canvas.text((at, bottom + 14.0), Anchor::Middle, 11, &short(mark));
    }
    canvas.text((left + wide / 2.0, bottom + 32.0), Anchor::Middle, 11, "time, s");
    let fills = [colour::COMPUTING, colour::CALLS, colour::WAITING];
    for (place, (scenario, report)) in told.iter().enumerate() {
        let y = 50.0 + row * place as f64;
        canvas.text((left - 8.0, y + 15.0), Anchor::End, 11, &label(scenario));
        let mut at = left;
        for (time, fill) in parts(report).into_iter().zip(fills) {
            let long = time / axis.most * wide;
            let tell = format!("{time:.6} s");
            canvas.told((at, y + 3.0), (long, row - 7.0), (fill, 1.0), tell);
            at += long;
        }
        let seconds = format!("{:.4} s", report.time.seconds());
        canvas.text((at + 5.0, y + 15.0), Anchor::Start, 10, &seconds);
    }
    let names = [(fills[0], "computing"), (fills[1], "calls"), (fills[2], "blocked")];
    canvas.legend((left, bottom + 54.0), &names);
    canvas
}

fn label(scenario: &Scenario) -> String {
    let mut text = scenario.network.clone();
    if scenario.speed != 1.0 {
        text += &format!(", speed {}", scenario.speed);
    }
    text + &format!(", {} % overhead", short(100.0 * scenario.overhead))
}

/// Writes a picture, in the form that its file's ending names.
pub(super) fn draw(path: &Path, canvas: &Canvas) -> Result<(), Failure> {
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    let bytes = if is_png {
        let wrong = |error| format!("the picture cannot be drawn: {error}");
        png::write(canvas).map_err(|error| Failure::new(Status::Refused, wrong(error)))?
    } else {
        svg::write(canvas).into_bytes()
    };
    std::fs::write(path, bytes).map_err(|error| at(path, &error))
}
