//! `pvm trace show`.

mod arguments;

use super::place::{self, Trace, seconds, time, wrong};
use crate::failure::Failure;
use crate::options::trace::ShowOptions;
use crate::show::{show as print, show_json};
use crate::table::{Side, Table};
use crate::text;
use pvm_trace::clocks::{ClockSource, Clocks};
use pvm_trace::{Record, TaskIndex, What, export};
use serde_json::{Map, Value, json};

/// Tells what a trace holds.
pub(super) fn show(options: &ShowOptions) -> Result<(), Failure> {
    let mut trace = place::open(&options.file)?;
    if options.events {
        let clocks = place::times(&options.file, &mut trace, options.raw)?;
        return events(options, &mut trace, &clocks);
    }
    let clocks = place::clocks(&options.file, &mut trace, options.raw)?;
    if options.json {
        return Ok(show_json(&about(&trace, &clocks))?);
    }
    let (begin, end) = place::extent(&trace, &clocks);
    let (count, length) = (trace.summary().records, time(end.saturating_sub(begin)));
    let turns = if trace.tables().in_turns { ", tasks of a host in turns (--alone)" } else { "" };
    print(format_args!("{count} records, {length}{turns}\n\n{}\n", hosts(&trace, &clocks)))?;
    print(format_args!("{}\n", tasks(&trace)))?;
    if !trace.tables().gaps.is_empty() {
        print(gaps(&trace))?;
    }
    Ok(())
}

/// The hosts and what is known of their clocks.
pub(super) fn hosts(trace: &Trace, clocks: &Clocks) -> Table {
    let mut table = Table::new(&[
        ("HOST", Side::Left),
        ("ARCH", Side::Left),
        ("CORES", Side::Right),
        ("VERSION", Side::Left),
        ("CLOCK", Side::Right),
        ("DRIFT", Side::Right),
        ("ERROR", Side::Right),
        ("BY", Side::Left),
    ]);
    for host in &trace.tables().hosts {
        let clock = clocks.hosts().iter().find(|clock| clock.host == host.host);
        let told = |tell: &dyn Fn(&pvm_trace::clocks::HostClock) -> String| {
            clock.map(tell).unwrap_or_default()
        };
        table.row([
            host.name.to_text(),
            host.architecture.to_text(),
            host.cores.to_string(),
            host.version.to_text(),
            told(&|clock| format!("{:+} ns", clock.offset)),
            told(&|clock| format!("{:+.2} ppm", clock.drift / 1e3)),
            told(&|clock| clock.error.map_or_else(|| "unknown".to_owned(), time)),
            told(&|clock| source(clock.source).to_owned()),
        ]);
    }
    table
}

const fn source(source: ClockSource) -> &'static str {
    match source {
        ClockSource::Reference => "reference",
        ClockSource::Compared => "questions",
        ClockSource::Messages => "messages",
        ClockSource::Unknown => "nothing",
    }
}

fn tasks(trace: &Trace) -> Table {
    let mut table = Table::new(&[
        ("TASK", Side::Right),
        ("TID", Side::Right),
        ("PARENT", Side::Right),
        ("PROGRAM", Side::Left),
        ("RECORDS", Side::Right),
        ("SENT", Side::Right),
        ("RECEIVED", Side::Right),
        ("LOST", Side::Right),
        ("STATUS", Side::Right),
    ]);
    for (task, index) in trace.tables().tasks.iter().zip(0..) {
        let sums = sums(trace, index);
        let facts = &task.facts;
        table.row([
            index.to_string(),
            facts.tid.to_string(),
            if facts.parent.0 == 0 { "-".to_owned() } else { facts.parent.to_string() },
            facts.program.to_text(),
            sums.records.to_string(),
            sums.sent.to_string(),
            sums.received.to_string(),
            task.ended.map_or_else(String::new, |ended| ended.lost.to_string()),
            task.ended.map_or_else(|| "-".to_owned(), |ended| ended.status.to_string()),
        ]);
    }
    table
}

fn sums(trace: &Trace, task: TaskIndex) -> pvm_trace::Summary {
    let mut all = pvm_trace::Summary::default();
    let places = trace.places().iter().filter(|place| place.task == task);
    places.for_each(|place| all.add(&place.summary));
    all
}

/// The gaps of a trace.
pub(super) fn gaps(trace: &Trace) -> Table {
    let begin = trace.summary().first;
    let mut table = Table::new(&[
        ("MISSING OF", Side::Left),
        ("FROM", Side::Right),
        ("TO", Side::Right),
        ("RECORDS", Side::Right),
        ("WHY", Side::Left),
    ]);
    for gap in &trace.tables().gaps {
        let since = |at: u64| format!("{:.6} s", seconds(at.saturating_sub(begin)));
        let whose = match (gap.task, gap.host) {
            (Some(task), _) => trace.tables().label(task),
            (None, Some(host)) => format!("host {}", host.0),
            (None, None) => "all".to_owned(),
        };
        let lost = if gap.lost == 0 { "unknown".to_owned() } else { gap.lost.to_string() };
        table.row([whose, since(gap.from), since(gap.to), lost, why(gap.reason).to_owned()]);
    }
    table
}

const fn why(reason: pvm_trace::Loss) -> &'static str {
    match reason {
        pvm_trace::Loss::Full => "the ring was full",
        pvm_trace::Loss::Recorder => "the recorder was gone",
        pvm_trace::Loss::Damaged => "the ring was damaged",
        pvm_trace::Loss::Link => "the host was not reached",
        pvm_trace::Loss::Size => "the file had its size",
        pvm_trace::Loss::Killed => "it was killed",
    }
}

fn about(trace: &Trace, clocks: &Clocks) -> Value {
    let (tables, all) = (trace.tables(), trace.summary());
    let hosts = tables.hosts.iter().map(|host| {
        json!({
            "name": host.name.to_text(), "index": host.host.0,
            "arch": host.architecture.to_text(), "version": host.version.to_text(),
            "cores": host.cores, "congestion": host.congestion.to_text(), "mtu": host.mtu,
            "probe_cost_ns": host.probe_cost_ps as f64 / 1e3,
        })
    });
    let clocks = clocks.hosts().iter().map(|clock| {
        json!({
            "host": clock.host.0, "source": source(clock.source), "offset_ns": clock.offset,
            "drift_ppm": clock.drift / 1e3, "error_ns": clock.error,
        })
    });
    let tasks = tables.tasks.iter().zip(0u32..).map(|(task, index)| {
        let facts = &task.facts;
        json!({
            "index": index, "tid": facts.tid.to_string(), "parent": facts.parent.to_string(),
            "program": facts.program.to_text(), "host": facts.tid.host().0, "pid": facts.process,
            "begin": facts.began, "end": task.ended.map(|ended| ended.at),
            "status": task.ended.map(|ended| ended.status),
            "noted": task.ended.map(|ended| ended.noted),
            "lost": task.ended.map(|ended| ended.lost),
        })
    });
    let gaps = tables.gaps.iter().map(|gap| {
        json!({
            "host": gap.host.map(|host| host.0), "task": gap.task, "from": gap.from, "to": gap.to,
            "lost": gap.lost, "reason": why(gap.reason),
        })
    });
    json!({
        "complete": trace.cut().is_none(), "records": all.records,
        "begin": if all.records > 0 { all.first } else { 0 }, "end": all.last,
        "in_turns": tables.in_turns,
        "hosts": hosts.collect::<Vec<_>>(), "clocks": clocks.collect::<Vec<_>>(),
        "tasks": tasks.collect::<Vec<_>>(), "gaps": gaps.collect::<Vec<_>>(),
    })
}

/// The records of a window, a line each.
fn events(options: &ShowOptions, trace: &mut Trace, clocks: &Clocks) -> Result<(), Failure> {
    let (begin, _) = place::extent(trace, clocks);
    let at = |seconds: f64| begin.saturating_add((seconds * 1e9) as u64);
    let (from, to) = (options.from.map_or(0, at), options.to.map_or(u64::MAX, at));
    let tables = trace.tables().clone();
    place::into(None, |out| {
        for entry in trace.merged_in((from, to), |task, time| clocks.time(task, time)) {
            let (task, record) = entry.map_err(|error| wrong(&options.file, &error))?;
            let [start, end] = [record.begin, record.end()].map(|raw| clocks.time(task, raw));
            if start > to || end < from {
                continue;
            }
            let span = (start.saturating_sub(begin), end - start);
            let function = export::function(&tables.names, task, record.call);
            let name = export::own(&tables.names, task, &record);
            if options.json {
                writeln!(out, "{}", json_of((task, name), span, &function, &record))?;
            } else {
                let names = (tables.label(task), name);
                let line = line_of(names, span, &function, &record);
                writeln!(out, "{}", text::plain(&line))?;
            }
        }
        Ok(())
    })
}

fn line_of(
    (label, name): (String, Option<String>),
    (from, length): (u64, u64),
    function: &str,
    record: &Record,
) -> String {
    let indent = "  ".repeat(usize::from(record.depth));
    let what = if record.part || !matches!(record.what, What::Call { .. }) {
        format!(" {}", export::what(record))
    } else {
        String::new()
    };
    let result = if record.part { String::new() } else { format!(" = {}", record.result) };
    let message = match &record.what {
        What::Send { message, .. } | What::Chunk { message } => {
            let (peer, tag, number) = (message.peer, message.tag, message.number);
            format!(" to {peer} tag {tag} number {number}, {} bytes", message.bytes)
        }
        What::Receive { message, .. } => {
            let (peer, tag, number) = (message.peer, message.tag, message.number);
            format!(" from {peer} tag {tag} number {number}, {} bytes", message.bytes)
        }
        What::Mark { value, .. } => format!(": {value}"),
        What::Progress { done, total, .. } => format!(": {done} of {total}"),
        _ => String::new(),
    };
    let name = name.map_or_else(String::new, |name| format!(" \"{name}\""));
    let at = seconds(from);
    let length = time(length);
    format!("{at:14.9}  {length:>9}  {label}  {indent}{function}{what}{result}{name}{message}")
}

fn json_of(
    (task, name): (TaskIndex, Option<String>),
    (from, length): (u64, u64),
    function: &str,
    record: &Record,
) -> Value {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
    put("task", task.into());
    put("begin", from.into());
    put("length", length.into());
    put("thread", record.thread.into());
    put("depth", record.depth.into());
    put("function", function.into());
    put("what", export::what(record).into());
    put("result", record.result.into());
    if let Some(name) = name {
        put("name", name.into());
    }
    arguments::of(&record.what, &mut put);
    Value::Object(all)
}
