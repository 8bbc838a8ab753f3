//! Events in the form of PVM's tracers and XPVM: SDDF describes each kind once, before its first
//! event.

use super::names;
use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::{Edge, Reader};
use crate::tables::Tables;
use pvm_wire::record::{Class, Record, What, calls};
use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};

/// One datum: its name in pvmtev.h, and its value.
enum Datum {
    Int(&'static str, i64),
    Ints(&'static str, Vec<i64>),
    Text(&'static str, String),
}

/// Writes the file.
pub fn sddf<R: Read + Seek>(
    reader: &mut Reader<R>,
    clocks: &Clocks,
    out: impl Write,
) -> Result<(), Error> {
    let tables = reader.tables().clone();
    let mut writer = Sddf { out, described: BTreeSet::new() };
    writeln!(writer.out, "/*\n * \"Machine\" \"NeoPVM\"\n */ ;;")?;
    for host in &tables.hosts {
        let tid = i64::from(host.host.0) << 18;
        let (name, architecture) = (host.name.to_text(), host.architecture.to_text());
        let more = vec![
            Datum::Text("HN", name.clone()),
            Datum::Text("HNA", name),
            Datum::Text("HA", architecture),
            Datum::Int("HSP", 1000),
        ];
        writer.tell(("host_add(0)", 1802), host.began, tid, more)?;
    }
    let mut begun = BTreeSet::new();
    for entry in reader.timeline(|task, time| clocks.time(task, time)) {
        let happening = entry?;
        let Some(task) = tables.tasks.get(happening.task as usize) else { continue };
        let tid = i64::from(task.facts.tid.0);
        if begun.insert(happening.task) {
            let more = vec![
                Datum::Int("PT", i64::from(task.facts.parent.0)),
                Datum::Int("TF", 0),
                Datum::Text("TN", task.facts.program.to_text()),
            ];
            let began = clocks.time(happening.task, task.facts.began).min(happening.time);
            writer.tell(("newtask(0)", 1150), began, tid, more)?;
        }
        let record = &happening.record;
        if record.part || record.call == calls::NONE || happening.edge == Edge::Point {
            continue;
        }
        let name = names::function(&tables.names, happening.task, record.call);
        let name = name.strip_prefix("pvm_").unwrap_or(&name).to_owned();
        let at_end = happening.edge == Edge::End;
        let (suffix, number) = if at_end { ("(1.1)", 2001) } else { ("(0.0)", 1000) };
        let kind = (format!("{name}{suffix}"), number + 2 * u32::from(record.call));
        let told = data(&tables, happening.task, record, at_end);
        let more = shaped(record.call, at_end, told);
        writer.tell((&kind.0, kind.1), happening.time, tid, more)?;
    }
    for (task, index) in tables.tasks.iter().zip(0..) {
        if let Some(ended) = task.ended {
            let times = ["TUS", "TUU", "TSS", "TSU"].map(|name| Datum::Int(name, 0));
            let mut more = vec![Datum::Int("TST", ended.status.into())];
            more.extend(times);
            let (at, tid) = (clocks.time(index, ended.at), i64::from(task.facts.tid.0));
            writer.tell(("endtask(0)", 1152), at, tid, more)?;
        }
    }
    Ok(writer.out.flush()?)
}

/// Completes the data of an event. A kind is described once and has the same data each time, so
/// data that are not known are -1.
fn shaped(call: u16, at_end: bool, mut told: Vec<Datum>) -> Vec<Datum> {
    let names: &[&str] = match (call, at_end) {
        (calls::SEND | calls::PSEND | calls::NEOPVM_SEND | calls::NEOPVM_SEND_ITEMS, false) => {
            &["MNB", "DST", "MC", "MCX"]
        }
        (calls::RECV | calls::NRECV | calls::TRECV | calls::PRECV | calls::PROBE, false)
        | (calls::NEOPVM_RECEIVE | calls::NEOPVM_RECEIVE_ITEMS | calls::NEOPVM_PROBE, false) => {
            &["RST", "RMC", "RCX"]
        }
        (calls::RECV | calls::NRECV | calls::TRECV | calls::PRECV, true)
        | (calls::NEOPVM_RECEIVE | calls::NEOPVM_RECEIVE_ITEMS, true) => {
            &["MB", "MNB", "MC", "MCX", "SRC"]
        }
        (calls::BARRIER | calls::JOINGROUP | calls::LVGROUP | calls::BCAST, false)
        | (calls::REDUCE | calls::GATHER | calls::SCATTER, false) => &["GN"],
        (calls::SPAWN | calls::NEOPVM_SPAWN, true) => &["STL"],
        (_, true) => &["CC"],
        (_, false) => &[],
    };
    let mut take = |name: &'static str| {
        let place = told.iter().position(|datum| datum.name() == name);
        place.map_or_else(|| Datum::missing(name), |place| told.swap_remove(place))
    };
    names.iter().map(|name| take(name)).collect()
}

impl Datum {
    const fn name(&self) -> &'static str {
        match self {
            Self::Int(name, _) | Self::Ints(name, _) | Self::Text(name, _) => name,
        }
    }

    fn missing(name: &'static str) -> Self {
        match name {
            "GN" => Self::Text(name, String::new()),
            "STL" => Self::Ints(name, Vec::new()),
            _ => Self::Int(name, -1),
        }
    }
}

/// The data of a call besides time and task: its arguments at its begin, and its results at its
/// end.
fn data(tables: &Tables, task: u32, record: &Record, at_end: bool) -> Vec<Datum> {
    let int = |name, value: i32| Datum::Int(name, value.into());
    let tid = |name, tid: u32| Datum::Int(name, tid.into());
    match (&record.what, at_end) {
        (What::Send { message, .. }, false) => vec![
            Datum::Int("MNB", bytes(message.bytes)),
            tid("DST", message.peer.0),
            int("MC", message.tag),
            int("MCX", message.context),
        ],
        (What::Receive { message, any_source, any_tag }, false) => vec![
            Datum::Int("RST", if *any_source { -1 } else { message.peer.0.into() }),
            int("RMC", if *any_tag { -1 } else { message.tag }),
            int("RCX", message.context),
        ],
        (What::Receive { message, .. }, true) => vec![
            int("MB", record.result),
            Datum::Int("MNB", bytes(message.bytes)),
            int("MC", message.tag),
            int("MCX", message.context),
            tid("SRC", message.peer.0),
        ],
        (What::Poll { source, tag, context }, false) => vec![
            Datum::Int("RST", if source.0 == 0 { -1 } else { source.0.into() }),
            int("RMC", *tag),
            int("RCX", *context),
        ],
        (What::Group { name, .. }, false) => {
            vec![Datum::Text("GN", tables.names.get(task, Class::Group, *name).unwrap_or_default())]
        }
        (What::Spawn { children }, true) => {
            vec![Datum::Ints("STL", children.iter().map(|child| (*child).into()).collect())]
        }
        (_, true) => vec![int("CC", record.result)],
        _ => Vec::new(),
    }
}

fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

struct Sddf<W> {
    out: W,
    described: BTreeSet<String>,
}

impl<W: Write> Sddf<W> {
    fn tell(
        &mut self,
        (kind, number): (&str, u32),
        time: u64,
        tid: i64,
        more: Vec<Datum>,
    ) -> Result<(), Error> {
        let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(0);
        let micro = i64::try_from(time % 1_000_000_000 / 1000).unwrap_or(0);
        let mut data =
            vec![Datum::Int("TS", seconds), Datum::Int("TU", micro), Datum::Int("TID", tid)];
        data.extend(more);
        let kind = text(kind);
        if self.described.insert(kind.clone()) {
            writeln!(self.out, "\n#{number}: \"{kind}\"\n{{")?;
            for datum in &data {
                // Debian's trcsort reads the data of a kind from these lines.
                writeln!(self.out, "\t// \"{}\" \"{}\"", datum.name(), meaning(datum.name()))?;
                match datum {
                    Datum::Int(name, _) => writeln!(self.out, "\tint \"{name}\";")?,
                    Datum::Ints(name, _) => writeln!(self.out, "\tint \"{name}\"[];")?,
                    Datum::Text(name, _) => writeln!(self.out, "\tchar \"{name}\"[];")?,
                }
            }
            writeln!(self.out, "}};;\n")?;
        }
        let values: Vec<_> = data.iter().map(value).collect();
        Ok(writeln!(self.out, "\"{kind}\" {{ {} }};;", values.join(", "))?)
    }
}

/// The name that PVM's tracer has for a datum.
fn meaning(name: &str) -> &str {
    match name {
        "CC" => "Condition Code",
        "DST" => "Message Destination Task ID",
        "GN" => "Group Name",
        "HA" => "Host Architecture",
        "HN" => "Host Name",
        "HNA" => "Host Name Alias",
        "HSP" => "Host Speed",
        "MB" => "Message Buffer",
        "MC" => "Message Code",
        "MCX" => "Message Context",
        "MNB" => "Message Number of Bytes",
        "PT" => "Parent Task ID",
        "RCX" => "Receive Msg Context",
        "RMC" => "Receive Msg Code / Wildcard",
        "RST" => "Receive Msg Source Task / Wildcard",
        "SRC" => "Message Source Task ID",
        "STL" => "Spawned Task ID List",
        "TF" => "Task Flags",
        "TID" => "Task ID",
        "TN" => "Task Name",
        "TS" => "Time Seconds",
        "TSS" => "Task System Usage Seconds",
        "TST" => "Task Status",
        "TSU" => "Task System Usage Microseconds",
        "TU" => "Time Microseconds",
        "TUS" => "Task User Usage Seconds",
        "TUU" => "Task User Usage Microseconds",
        // Our own data keep their names.
        name => name,
    }
}

fn value(datum: &Datum) -> String {
    match datum {
        Datum::Int(_, value) => value.to_string(),
        Datum::Ints(_, values) => {
            let all: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("[{}] {{ {} }}", values.len(), all.join(", "))
        }
        Datum::Text(_, value) => {
            let value = text(value);
            format!("[{}] {{ \"{value}\" }}", value.len() + 1)
        }
    }
}

/// A text for a string: quotes and characters that cannot be printed become question marks.
fn text(text: &str) -> String {
    text.chars().map(|c| if c == '"' || c == '\\' || c.is_control() { '?' } else { c }).collect()
}
