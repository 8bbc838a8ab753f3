//! Chrome's JSON, for small traces: complete events, flows for messages, names of processes.

use super::names;
use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::{Edge, Happening, Reader};
use crate::tables::{Tables, TaskIndex};
use pvm_wire::record::{Record, What};
use std::fmt::Write as _;
use std::io::{Read, Seek, Write};

/// Writes the file. Times are microseconds since the begin of the trace.
pub fn chrome<R: Read + Seek>(
    reader: &mut Reader<R>,
    clocks: &Clocks,
    mut out: impl Write,
) -> Result<(), Error> {
    let tables = reader.tables().clone();
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for index in 0..tables.tasks.len() as TaskIndex {
        let name = json(&tables.label(index));
        let comma = if index == 0 { "" } else { "," };
        let meta = "\"ph\":\"M\",\"name\":\"process_name\"";
        write!(out, "{comma}\n{{{meta},\"pid\":{index},\"args\":{{\"name\":{name}}}}}")?;
    }
    let mut base = None;
    let mut comma = if tables.tasks.is_empty() { "" } else { "," };
    for entry in reader.timeline(|task, time| clocks.time(task, time)) {
        let happening = entry?;
        let base = *base.get_or_insert(happening.time);
        for event in events(&tables, clocks, base, &happening) {
            write!(out, "{comma}\n{event}")?;
            comma = ",";
        }
    }
    writeln!(out, "\n]}}")?;
    Ok(out.flush()?)
}

/// The id of a message for flows: the pair and the number.
fn flow(from: u32, to: u32, number: u64) -> String {
    format!("\"{from:x}.{to:x}.{number}\"")
}

fn events(tables: &Tables, clocks: &Clocks, base: u64, happening: &Happening) -> Vec<String> {
    let Happening { task, time, edge, record } = happening;
    let at = micro(time.saturating_sub(base));
    let place = format!("\"pid\":{task},\"tid\":{},\"ts\":{at}", record.thread);
    let mine = tables.tasks.get(*task as usize).map_or(0, |task| task.facts.tid.0);
    let link = |phase: &str, id: String| {
        format!(
            "{{\"ph\":\"{phase}\",\"cat\":\"message\",\"name\":\"message\",{place},\"id\":{id}}}"
        )
    };
    match (edge, &record.what) {
        (Edge::Begin, what) => {
            let end = clocks.time(*task, record.end());
            let length = micro(end.saturating_sub(*time));
            let name = json(&names::slice(&tables.names, *task, record));
            let args = arguments(record);
            let slice = format!(
                "{{\"ph\":\"X\",\"cat\":\"pvm\",\"name\":{name},{place},\"dur\":{length}{args}}}"
            );
            match what {
                What::Send { message, .. } if message.number != 0 => {
                    vec![slice, link("s", flow(mine, message.peer.0, message.number))]
                }
                _ => vec![slice],
            }
        }
        (Edge::End, What::Receive { message, .. }) if message.number != 0 => {
            vec![link("f\",\"bp\":\"e", flow(message.peer.0, mine, message.number))]
        }
        (Edge::Point, _) => {
            let name = names::own(&tables.names, *task, record);
            let name = json(&name.unwrap_or_else(|| names::what(record).to_owned()));
            vec![format!(
                "{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"program\",\"name\":{name},{place}}}"
            )]
        }
        _ => Vec::new(),
    }
}

fn arguments(record: &Record) -> String {
    let (What::Send { message, .. } | What::Receive { message, .. } | What::Chunk { message }) =
        &record.what
    else {
        return String::new();
    };
    let (peer, tag, number, bytes) = (message.peer.0, message.tag, message.number, message.bytes);
    format!(
        ",\"args\":{{\"peer\":\"t{peer:x}\",\"tag\":{tag},\"number\":{number},\"bytes\":{bytes}}}"
    )
}

fn micro(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// A text as a string of JSON.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
