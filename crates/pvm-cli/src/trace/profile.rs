//! `pvm trace profile`.

use super::place::{self, Trace, bytes, seconds, time, wrong};
use crate::failure::Failure;
use crate::options::trace::ProfileOptions;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_trace::profile::Profile;
use pvm_trace::{Tables, TaskIndex, export};
use serde_json::{Value, json};

/// Pairs of tasks that are printed; JSON has all.
const PAIRS_SHOWN: usize = 40;

/// Tells where the time went.
pub(super) fn profile(options: &ProfileOptions) -> Result<(), Failure> {
    let mut trace = place::open(&options.file)?;
    let clocks = place::clocks(&options.file, &mut trace, options.raw)?;
    let profile = Profile::of(&mut trace, &clocks).map_err(|error| wrong(&options.file, &error))?;
    if options.json {
        return Ok(show_json(&as_json(&trace, &profile))?);
    }
    for part in [
        functions(trace.tables(), &profile).to_string(),
        tasks(trace.tables(), &profile).to_string(),
        pairs(trace.tables(), &profile).to_string(),
        sums(&trace, &profile),
    ] {
        show(format_args!("{part}\n"))?;
    }
    Ok(())
}

/// The functions, the longest first.
pub(super) fn functions(tables: &Tables, profile: &Profile) -> Table {
    let mut table = Table::new(&[
        ("FUNCTION", Side::Left),
        ("CALLS", Side::Right),
        ("TIME", Side::Right),
        ("OWN", Side::Right),
        ("WAITING", Side::Right),
        ("LONGEST", Side::Right),
        ("MESSAGES", Side::Right),
        ("BYTES", Side::Right),
    ]);
    let mut all: Vec<_> = profile.functions.iter().collect();
    all.sort_by_key(|(_, function)| u64::MAX - function.time);
    for (call, function) in all {
        table.row([
            export::function(&tables.names, 0, *call).into_owned(),
            function.calls.to_string(),
            time(function.time),
            time(function.own),
            time(function.waiting),
            time(function.longest),
            function.messages.to_string(),
            bytes(function.bytes),
        ]);
    }
    table
}

/// The tasks.
pub(super) fn tasks(tables: &Tables, profile: &Profile) -> Table {
    let mut table = Table::new(&[
        ("TASK", Side::Left),
        ("COMPUTING", Side::Right),
        ("IN CALLS", Side::Right),
        ("NOT YET SENT", Side::Right),
        ("ON THE WAY", Side::Right),
        ("GROUP", Side::Right),
        ("OTHER WAITS", Side::Right),
        ("SENT", Side::Right),
        ("RECEIVED", Side::Right),
    ]);
    for (task, index) in profile.tasks.iter().zip(0..) {
        table.row([
            tables.label(index),
            time(task.computing()),
            time(task.call_time),
            time(task.waiting.not_yet_sent),
            time(task.waiting.on_the_way),
            time(task.waiting.group),
            time(task.waiting.other),
            format!("{} ({})", task.sent.messages, bytes(task.sent.bytes)),
            format!("{} ({})", task.received.messages, bytes(task.received.bytes)),
        ]);
    }
    table
}

/// The pairs of tasks, those with the most bytes first.
pub(super) fn pairs(tables: &Tables, profile: &Profile) -> Table {
    let mut table = Table::new(&[
        ("FROM", Side::Left),
        ("TO", Side::Left),
        ("MESSAGES", Side::Right),
        ("BYTES", Side::Right),
    ]);
    let mut all: Vec<_> = profile.pairs.iter().collect();
    all.sort_by_key(|(_, traffic)| u64::MAX - traffic.bytes);
    let left = all.len().saturating_sub(PAIRS_SHOWN);
    for ((from, to), traffic) in all.into_iter().take(PAIRS_SHOWN) {
        let to = to.map_or_else(|| "not recorded".to_owned(), |to| tables.label(to));
        table.row([tables.label(*from), to, traffic.messages.to_string(), bytes(traffic.bytes)]);
    }
    if left > 0 {
        table.row([format!("and {left} more pairs: --json has them")]);
    }
    table
}

/// The sums below the tables.
pub(super) fn sums(trace: &Trace, profile: &Profile) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<22}{value}\n");
    line("run", time(profile.length()));
    if let Some(efficiency) = profile.efficiency() {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let [total, balance, transfer] =
            [efficiency.total, efficiency.balance, efficiency.transfer].map(percent);
        line("efficiency", format!("{total} = balance {balance} x transfer {transfer}"));
    }
    let path = &profile.path;
    let running: u64 = path.running.values().sum();
    let (way, messages) = (time(path.on_the_way), path.messages);
    let critical =
        format!("{} = {} running + {way} on the way", time(path.length()), time(running));
    line("critical path", format!("{critical}, {messages} messages"));
    let (own, waiting) = (profile.own, profile.waiting());
    line("to oneself", format!("{} messages, {}", own.messages, bytes(own.bytes)));
    let split = [waiting.not_yet_sent, waiting.on_the_way, waiting.group, waiting.other].map(time);
    let [sent, way, group, other] = split;
    let waits = format!("{sent} not yet sent + {way} on the way + {group} group + {other} other");
    line("waiting", format!("{} = {waits}", time(waiting.total())));
    let unmatched = profile.unmatched;
    line("messages", format!("{} with both ends", profile.matched));
    for (count, what) in [
        (unmatched.sends, "sent and not taken in the trace"),
        (unmatched.receives, "taken and not sent in the trace"),
        (unmatched.apart, "of tasks that were not recorded"),
        (unmatched.given_up, "not searched for, because too many were open"),
        (profile.damaged, "blocks of records damaged and left out"),
    ] {
        if count > 0 {
            line("", format!("{count} {what}"));
        }
    }
    let lost: u64 = trace.tables().gaps.iter().map(|gap| gap.lost).sum();
    if !trace.tables().gaps.is_empty() {
        line("missing", format!("{lost} records: `pvm trace show` lists them"));
    }
    text
}

fn as_json(trace: &Trace, profile: &Profile) -> Value {
    let tables = trace.tables();
    let functions = profile.functions.iter().map(|(call, function)| {
        json!({
            "name": export::function(&tables.names, 0, *call), "calls": function.calls,
            "time_ns": function.time, "own_ns": function.own, "waiting_ns": function.waiting,
            "longest_ns": function.longest, "messages": function.messages,
            "bytes": function.bytes,
        })
    });
    let pairs = profile.pairs.iter().map(|((from, to), traffic)| {
        json!({
            "from": from, "to": to, "messages": traffic.messages, "bytes": traffic.bytes,
        })
    });
    let unmatched = profile.unmatched;
    let path = &profile.path;
    json!({
        "begin": profile.begin, "end": profile.end, "seconds": seconds(profile.length()),
        "functions": functions.collect::<Vec<_>>(),
        "tasks": profile.tasks.iter().zip(0..).map(|row| task(tables, row)).collect::<Vec<_>>(),
        "pairs": pairs.collect::<Vec<_>>(),
        "own": { "messages": profile.own.messages, "bytes": profile.own.bytes },
        "unmatched": {
            "sends": unmatched.sends, "receives": unmatched.receives, "apart": unmatched.apart,
            "given_up": unmatched.given_up,
        },
        "matched": profile.matched, "damaged": profile.damaged,
        "efficiency": profile.efficiency().map(|efficiency| json!({
            "total": efficiency.total, "balance": efficiency.balance,
            "transfer": efficiency.transfer,
        })),
        "path": {
            "seconds": seconds(path.length()), "running_ns": path.running.values().sum::<u64>(),
            "on_the_way_ns": path.on_the_way, "messages": path.messages,
            "complete": !path.is_cut,
        },
    })
}

fn task(tables: &Tables, (task, index): (&pvm_trace::profile::TaskProfile, TaskIndex)) -> Value {
    json!({
        "index": index, "name": tables.label(index), "computing_ns": task.computing(),
        "calls": task.calls, "call_ns": task.call_time,
        "not_yet_sent_ns": task.waiting.not_yet_sent, "on_the_way_ns": task.waiting.on_the_way,
        "group_ns": task.waiting.group, "other_ns": task.waiting.other,
        "sent": task.sent.messages, "sent_bytes": task.sent.bytes,
        "received": task.received.messages, "received_bytes": task.received.bytes,
    })
}
