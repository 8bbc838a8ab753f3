//! CSV: a line for each record, in the order of their ends.

use super::names;
use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::Reader;
use crate::tables::TaskIndex;
use pvm_wire::record::{Record, Transfer, What};
use std::io::{Read, Seek, Write};

const HEADING: &str = "begin_ns,length_ns,task,tid,host,thread,depth,function,what,result,peer,tag,\
                       context,number,bytes,wire_bytes,pieces,encoding,way,asked_source,asked_tag,\
                       group,members,instance,root,count,name,value";

/// Writes the file: numbers as they are, names in quotes, and nothing in a column that does not
/// apply.
pub fn csv<R: Read + Seek>(
    reader: &mut Reader<R>,
    clocks: &Clocks,
    mut out: impl Write,
) -> Result<(), Error> {
    writeln!(out, "{HEADING}")?;
    let tables = reader.tables().clone();
    for entry in reader.merged(|task, time| clocks.time(task, time)) {
        let (task, record) = entry?;
        let begin = clocks.time(task, record.begin);
        let length = clocks.time(task, record.end()).saturating_sub(begin);
        let Some(facts) = tables.tasks.get(task as usize).map(|task| &task.facts) else { continue };
        write!(out, "{begin},{length},{task},t{:x},{}", facts.tid.0, facts.tid.host().0)?;
        let function = names::function(&tables.names, task, record.call);
        let what = names::what(&record);
        write!(out, ",{},{}", record.thread, record.depth)?;
        write!(out, ",{},{what},{},", quoted(&function), record.result)?;
        message(&record, &mut out)?;
        rest(&tables.names, task, &record, &mut out)?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

/// Writes peer, tag, context, number, bytes, wire_bytes, pieces, encoding, way, asked_source,
/// asked_tag.
fn message(record: &Record, out: &mut impl Write) -> Result<(), Error> {
    let common = |out: &mut dyn Write, message: &Transfer| {
        let Transfer { peer, tag, context, number, bytes, .. } = message;
        write!(out, "t{:x},{tag},{context},{number},{bytes}", peer.0)
    };
    match &record.what {
        What::Send { message, wire, pieces } => {
            common(out, message)?;
            let (encoding, route) = (message.encoding as u8, message.route as u8);
            write!(out, ",{wire},{pieces},{encoding},{route},,")?;
        }
        What::Receive { message, any_source, any_tag } => {
            common(out, message)?;
            let (encoding, route) = (message.encoding as u8, message.route as u8);
            let source =
                if *any_source { "any".to_owned() } else { format!("t{:x}", message.peer.0) };
            let tag = if *any_tag { -1 } else { message.tag };
            write!(out, ",,,{encoding},{route},{source},{tag}")?;
        }
        What::Chunk { message } => {
            common(out, message)?;
            write!(out, ",,,{},{},,", message.encoding as u8, message.route as u8)?;
        }
        What::Call { bytes } | What::Copy { bytes } => write!(out, ",,,,{bytes},,,,,,")?,
        What::Poll { source, tag, context } => {
            let source = if source.0 == 0 { "any".to_owned() } else { format!("t{:x}", source.0) };
            write!(out, ",,{context},,,,,,,{source},{tag}")?;
        }
        What::Route { peer, .. } => write!(out, "t{:x},,,,,,,,,,", peer.0)?,
        _ => write!(out, ",,,,,,,,,,")?,
    }
    Ok(())
}

/// Writes group, members, instance, root, count, name, value.
fn rest(
    all: &crate::tables::Names,
    task: TaskIndex,
    record: &Record,
    out: &mut impl Write,
) -> Result<(), Error> {
    let own = names::own(all, task, record).map(|name| quoted(&name)).unwrap_or_default();
    match &record.what {
        What::Group { name, members, instance, root, count, .. } => {
            let class = pvm_wire::record::Class::Group;
            let name = all.get(task, class, *name).map(|name| quoted(&name)).unwrap_or_default();
            write!(out, ",{name},{members},{instance},{root},{count},,")?;
        }
        What::Mark { value, .. } => write!(out, ",,,,,,{own},{value}")?,
        What::State { .. } => write!(out, ",,,,,,{own},")?,
        What::Progress { done, total, .. } => write!(out, ",,,,,{total},{own},{done}")?,
        What::Spawn { children } => {
            let children: Vec<_> = children.iter().map(|child| format!("{child:x}")).collect();
            write!(out, ",,,,,{},{},", children.len(), quoted(&children.join(" ")))?;
        }
        What::Route { step, .. } => write!(out, ",,,,,,,{}", *step as u8)?,
        What::End { status, noted, .. } => write!(out, ",,,,,{noted},,{status}")?,
        _ => write!(out, ",,,,,,,")?,
    }
    Ok(())
}

/// A name in quotes. A character that would make a spreadsheet evaluate it is masked.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_ ./-".contains(c);
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    if text.chars().all(is_plain) && !is_formula {
        return text.to_owned();
    }
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}
