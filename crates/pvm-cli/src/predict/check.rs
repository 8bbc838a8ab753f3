//! `pvm predict check`.

use super::input::Trace;
use crate::failure::Failure;
use crate::options::predict::CheckOptions;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_predict::platform::{Host, Line};
use pvm_predict::report::{Report, Unwatched, Watcher};
use pvm_predict::source::Wish;
use pvm_predict::{Time, model};
use serde_json::{Value, json};

/// Runs the trace on a network that costs nothing: every line is read, and every receive needs its
/// send.
pub(super) fn check(options: &CheckOptions) -> Result<(), Failure> {
    let trace = Trace::find(&options.files, Wish::default())?;
    let report = run(&trace, &mut Unwatched)?;
    if options.json {
        return Ok(show_json(&as_json(&trace, &report))?);
    }
    show(table(&report))?;
    let sent = report.sent();
    Ok(show(format_args!(
        "\n{} actions of {} tasks; {} messages, {} bytes. On a network that costs nothing: {}\n",
        report.actions,
        report.stations.len(),
        sent.messages,
        sent.bytes,
        report.time
    ))
    .and_then(|()| lacks(&trace))?)
}

/// A run on a network that costs nothing.
pub(super) fn run(trace: &Trace, watcher: &mut dyn Watcher) -> Result<Report, Failure> {
    let mut source = trace.open()?;
    let line = Line::new(Time::ZERO, 0.0);
    let run = model::line::run(source.as_mut(), line, Host::default(), watcher);
    run.map_err(|error| trace.wrong(&error))
}

/// Prints what the trace lacks.
fn lacks(trace: &Trace) -> std::io::Result<()> {
    trace.lacks().sentences().iter().try_for_each(|sentence| show(format_args!("{sentence}\n")))
}

fn table(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("TASK", Side::Right),
        ("COMPUTES", Side::Right),
        ("SENDS", Side::Right),
        ("BYTES", Side::Right),
        ("TO ITSELF", Side::Right),
        ("RECEIVES", Side::Right),
    ]);
    for (station, number) in report.stations.iter().zip(0u32..) {
        table.row([
            number.to_string(),
            station.computing.to_string(),
            station.sent.messages.to_string(),
            station.sent.bytes.to_string(),
            station.own.messages.to_string(),
            station.received.messages.to_string(),
        ]);
    }
    table
}

fn as_json(trace: &Trace, report: &Report) -> Value {
    let tasks = report.stations.iter().zip(0u32..).map(|(station, number)| {
        json!({"task": number, "computing": station.computing.seconds(),
            "messages": station.sent.messages, "bytes": station.sent.bytes,
            "own_messages": station.own.messages, "receives": station.received.messages})
    });
    json!({"form": trace.form.word(), "actions": report.actions, "seconds": report.time.seconds(),
        "lacks": trace.lacks().sentences(), "tasks": tasks.collect::<Vec<_>>()})
}
