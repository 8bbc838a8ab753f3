//! The output of a prediction: the table of the thesis' appendix A, or JSON.

use super::input::{Trace, depth};
use crate::failure::Failure;
use crate::options::predict::{ChangeOptions, Depth, ModelName, SimulateOptions};
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_predict::blame::{Chain, Phase, Split};
use pvm_predict::platform::Platform;
use pvm_predict::report::{Report, StationReport};
use pvm_predict::{Growth, Time};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The result of a prediction.
pub(super) struct Prediction<'a> {
    pub(super) options: &'a SimulateOptions,
    pub(super) trace: &'a Trace,
    pub(super) platform: &'a Platform,
    /// A run for each seed.
    pub(super) reports: &'a [Report],
    /// A grown program's runs at the ends of its interval.
    pub(super) bounds: &'a [Report],
    /// The names of the sections, in the order of the report.
    pub(super) sections: Vec<String>,
}

/// Tells it.
pub(super) fn tell(prediction: &Prediction<'_>) -> Result<(), Failure> {
    if prediction.options.json {
        return Ok(show_json(&as_json(prediction))?);
    }
    show(table(prediction))?;
    Ok(show(format_args!("\n{}", sums(prediction)))?)
}

impl Prediction<'_> {
    fn first(&self) -> &Report {
        &self.reports[0]
    }

    /// Mean, least and most of the runs.
    fn seconds(&self) -> (f64, f64, f64) {
        self.spread(|report| report.time.seconds())
    }

    /// Mean of the runs, least and most of them and of those at the ends of an interval.
    fn spread(&self, of: impl Fn(&Report) -> f64) -> (f64, f64, f64) {
        let (mean, ..) = spread(self.reports.iter().map(&of));
        let (_, low, high) = spread(self.reports.iter().chain(self.bounds).map(&of));
        (mean, low, high)
    }

    /// The host of each task.
    fn hosts(&self) -> Vec<u32> {
        let tasks = self.first().stations.len() as u32;
        self.platform.place.hosts(tasks).unwrap_or_default()
    }

    fn collisions(&self) -> Option<f64> {
        let all: Option<Vec<u64>> = self.reports.iter().map(|report| report.collisions).collect();
        all.map(|all| all.iter().sum::<u64>() as f64 / all.len() as f64)
    }

    /// The workers of a run: all but the master.
    fn workers<'a>(&self, report: &'a Report) -> Vec<&'a StationReport> {
        let is_worker = |number: &u32| Some(*number) != self.options.master;
        let all = report.stations.iter().zip(0u32..);
        all.filter(|(_, number)| is_worker(number)).map(|(station, _)| station).collect()
    }
}

fn table(prediction: &Prediction<'_>) -> Table {
    let mut table = Table::new(&[
        ("TASK", Side::Right),
        ("SECONDS", Side::Right),
        ("BLOCKED", Side::Right),
        ("SERVICE", Side::Right),
        ("ALGORITHM", Side::Right),
        ("NET", Side::Right),
        ("CALLS", Side::Right),
        ("TRANSPORT", Side::Right),
        ("MESSAGES", Side::Right),
        ("BYTES", Side::Right),
        ("TO ITSELF", Side::Right),
    ]);
    let report = prediction.first();
    for (station, number) in report.stations.iter().zip(0u32..) {
        table.row(row(number.to_string(), &[station]));
    }
    let workers = prediction.workers(report);
    if !workers.is_empty() {
        table.row(row(format!("mean of {}", workers.len()), &workers));
    }
    table
}

/// A row: the mean of some tasks.
fn row(name: String, stations: &[&StationReport]) -> Vec<String> {
    let count = stations.len() as f64;
    let mean = |of: &dyn Fn(&StationReport) -> f64| {
        stations.iter().map(|station| of(station)).sum::<f64>() / count
    };
    let time = |of: &dyn Fn(&StationReport) -> Time| {
        format!("{:.6}", mean(&|station| of(station).seconds()))
    };
    let number =
        |of: &dyn Fn(&StationReport) -> u64| format!("{:.0}", mean(&|station| of(station) as f64));
    vec![
        name,
        time(&|station| station.execution),
        time(&|station| station.blocked.total()),
        time(&|station| station.blocked.service()),
        time(&|station| station.blocked.of(Phase::Late)),
        time(&|station| station.net),
        time(&|station| station.calls + station.sending + station.receiving),
        time(&|station| station.transport),
        number(&|station| station.sent.messages),
        number(&|station| station.sent.bytes),
        number(&|station| station.own.messages),
    ]
}

/// The sums that stand beside the table.
fn sums(prediction: &Prediction<'_>) -> String {
    let (mean, low, high) = prediction.seconds();
    let report = prediction.first();
    let runs = prediction.reports.len();
    let mut text = format!("{mean:.6} s on {}", prediction.platform.name);
    if runs + prediction.bounds.len() > 1 {
        text += &format!(", {low:.6} to {high:.6} s in {} runs", runs + prediction.bounds.len());
    }
    text += "\n";
    text += &prediction.trace.growth().map_or_else(String::new, grown);
    if let Some(collisions) = prediction.collisions() {
        let messages = report.sent().messages.max(1) as f64;
        text += &format!("{collisions:.0} collisions, {:.2} a message\n", collisions / messages);
    }
    if report.lost > 0 {
        text +=
            &format!("{} frames were lost, {} segments sent anew\n", report.lost, report.resent);
    }
    if report.put_off > 0 {
        text += &format!("{} polls that found a message would find none\n", report.put_off);
    }
    for (section, name) in report.sections.iter().zip(&prediction.sections) {
        let (longest, begin, end) = (section.longest, section.begin, section.end);
        text += &format!("section {name}: {longest} of one task at most, from {begin} to {end}\n");
    }
    let blocked = report.stations.iter().fold(Split::default(), |mut sum, station| {
        sum.add_all(&station.blocked);
        sum
    });
    text += &format!("blocked, all tasks: {}\n", phases(&blocked));
    let path = &report.path;
    text += &format!(
        "causes of the end of task {}: computing {}, {}; {} messages\n",
        report.last,
        path.computing,
        phases(&path.split),
        path.messages
    );
    text
}

/// The origin of a grown program, and how far to trust it.
fn grown(growth: &Growth) -> String {
    let (recorded, largest) = (&growth.recorded, growth.recorded.iter().max().unwrap_or(&0));
    let mut text = format!(
        "grown from {recorded:?} tasks in {} roles; of {largest} tasks the others tell computing \
         {:+.1} %, bytes {:+.1} %\n",
        growth.roles,
        100.0 * growth.computing_off,
        100.0 * growth.bytes_off
    );
    if growth.strays > 0 {
        text += &format!(
            "{} messages that some recordings have and others do not are left out\n",
            growth.strays
        );
    }
    text
}

fn phases(split: &Split) -> String {
    let told = Split::PHASES.iter().filter(|(_, phase)| split.of(*phase) > Time::ZERO);
    let told: Vec<String> =
        told.map(|(name, phase)| format!("{name} {}", split.of(*phase))).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
}

/// All of it, its keys in the order of the alphabet as in all our JSON.
#[derive(Serialize)]
pub(super) struct PredictionJson<'a> {
    collisions: Option<f64>,
    events: u64,
    high: f64,
    inputs: Value,
    lost: u64,
    low: f64,
    path: Value,
    put_off: u64,
    resent: u64,
    seconds: f64,
    sections: Vec<Value>,
    stations: Stations<'a>,
}

/// Each task. There may be a million, so they are written without a tree of values between.
struct Stations<'a>(&'a [StationReport]);

impl Serialize for Stations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.0.iter().zip(0..).map(|(station, number)| task(station, number)))
    }
}

pub(super) fn as_json<'a>(prediction: &'a Prediction<'_>) -> PredictionJson<'a> {
    let (seconds, low, high) = prediction.seconds();
    let report = prediction.first();
    PredictionJson {
        collisions: prediction.collisions(),
        events: report.events,
        high,
        inputs: inputs(prediction),
        lost: report.lost,
        low,
        path: path(&report.path, report.last),
        put_off: report.put_off,
        resent: report.resent,
        seconds,
        sections: sections(prediction),
        stations: Stations(&report.stations),
    }
}

/// Each section: how long the task was in it that was in it longest, over all runs.
fn sections(prediction: &Prediction<'_>) -> Vec<Value> {
    let first = &prediction.first().sections;
    let all = first.iter().zip(&prediction.sections).map(|(section, name)| {
        let of_run = |report: &Report| {
            let same = report.sections.iter().find(|one| one.number == section.number);
            same.map_or(0.0, |one| one.longest.seconds())
        };
        let (mean, low, high) = prediction.spread(of_run);
        let middle = median(prediction.reports.iter().map(of_run));
        json!({"name": name, "seconds": mean, "median": middle, "low": low, "high": high,
            "begin": section.begin.seconds(), "end": section.end.seconds()})
    });
    all.collect()
}

/// The value in the middle.
fn median(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Mean, least and most.
fn spread(all: impl Iterator<Item = f64> + Clone) -> (f64, f64, f64) {
    let count = all.clone().count().max(1) as f64;
    let least = all.clone().fold(f64::INFINITY, f64::min);
    (all.clone().sum::<f64>() / count, least, all.fold(0.0, f64::max))
}

fn inputs(prediction: &Prediction<'_>) -> Value {
    let options = prediction.options;
    let files: Vec<String> =
        prediction.trace.files.iter().map(|file| file.display().to_string()).collect();
    let model = match options.model {
        ModelName::Ours => "ours",
        ModelName::Thesis => "thesis",
    };
    let tasks = prediction.first().stations.len() as u32;
    let word = (options.model == ModelName::Ours).then(|| {
        match depth(options.depth, prediction.platform, tasks) {
            Depth::Line => "line",
            Depth::Flow => "flow",
            Depth::Packet => "packet",
        }
    });
    json!({
        "trace": files, "form": prediction.trace.form.word(),
        "network": prediction.platform.name, "model": model, "depth": word,
        "runs": prediction.reports.len(), "actions": prediction.first().actions,
        "lacks": prediction.trace.lacks().sentences(),
        "place": prediction.hosts(), "cores": prediction.platform.host.cores,
        "computers": prediction.platform.host.computers, "change": change(&options.change),
        "times": if options.wall { "wall" } else { "processor" },
        "growth": prediction.trace.growth().map(growth),
        "probes": options.probes, "version": env!("CARGO_PKG_VERSION"),
    })
}

fn growth(growth: &Growth) -> Value {
    json!({"tasks": growth.recorded, "roles": growth.roles, "left_out": growth.strays,
        "computing": growth.computing_off, "bytes": growth.bytes_off})
}

fn change(options: &ChangeOptions) -> Value {
    json!({"rate": options.rate, "latency": options.latency, "loss": options.loss,
        "speed": options.speed, "overhead": options.overhead})
}

/// Times of a split by phase, in seconds.
struct Phases(Split);

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = Split::PHASES;
        all.sort_unstable_by_key(|(name, _)| *name);
        serializer.collect_map(all.map(|(name, phase)| (name, self.0.of(phase).seconds())))
    }
}

/// A task, its keys in the order of the alphabet.
#[derive(Serialize)]
struct Station {
    algorithmic: f64,
    blocked: f64,
    bytes: u64,
    calls: f64,
    computing: f64,
    messages: u64,
    net: f64,
    own_bytes: u64,
    own_messages: u64,
    phases: Phases,
    receiving: f64,
    seconds: f64,
    sending: f64,
    service: f64,
    station: u32,
    transport: f64,
}

fn task(station: &StationReport, number: u32) -> Station {
    Station {
        algorithmic: station.blocked.of(Phase::Late).seconds(),
        blocked: station.blocked.total().seconds(),
        bytes: station.sent.bytes,
        calls: station.calls.seconds(),
        computing: station.computing.seconds(),
        messages: station.sent.messages,
        net: station.net.seconds(),
        own_bytes: station.own.bytes,
        own_messages: station.own.messages,
        phases: Phases(station.blocked),
        receiving: station.receiving.seconds(),
        seconds: station.execution.seconds(),
        sending: station.sending.seconds(),
        service: station.blocked.service().seconds(),
        station: number,
        transport: station.transport.seconds(),
    }
}

fn path(path: &Chain, last: u32) -> Value {
    json!({"task": last, "seconds": path.total().seconds(), "computing": path.computing.seconds(),
        "phases": Phases(path.split), "messages": path.messages})
}
