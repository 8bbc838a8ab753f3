//! `pvm space`, `pvm out`, `pvm take`, `pvm read`: tuple spaces for shells.
//!
//! The commands are clients as all others: they become tasks for as long as they need.

mod dump;
pub(crate) mod fields;
mod opening;

use crate::failure::{Failure, Status};
use crate::options::space::{
    CreateOptions, FindOptions, NameOptions, OutOptions, ShowSpaceOptions, SpaceCommand,
    SpaceOptions, WhenFull,
};
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use crate::text;
use fields::{json, tuple};
use opening::{as_task, checked_name, failure, opened};
use pvm::Deadline;
use pvm_space::{Error, Plan, Spaces, registry};
use pvm_tuples::frames::{Entry, Full, Options, Seen};
use pvm_tuples::{Find, Tuple};
use pvm_wire::{Blob, Tid};
use serde_json::{Value, json};
use std::io::{Write as _, stderr};
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

/// `pvm space`.
pub(crate) fn space(options: &SpaceOptions) -> Result<(), Failure> {
    match &options.what {
        SpaceCommand::Create(options) => create(options),
        SpaceCommand::List(options) => list(options.json),
        SpaceCommand::Show(options) => show_space(options),
        SpaceCommand::Why(options) => why(options),
        SpaceCommand::Dump(options) => dump::dump(options),
        SpaceCommand::Load(options) => dump::load(options),
        SpaceCommand::Delete(options) => delete(options),
    }
}

fn create(options: &CreateOptions) -> Result<(), Failure> {
    let name = checked_name(&options.name)?;
    let new = Options {
        copies: options.copies,
        limit_bytes: options.limit,
        when_full: match options.full {
            _ if options.fail_when_full => Full::Fail,
            WhenFull::Block => Full::Wait,
            WhenFull::Spill => Full::Spill,
            WhenFull::Error => Full::Fail,
        },
        loss_ms: options.sync_every.map_or(0, |window| window.as_millis().try_into().unwrap_or(0)),
    };
    let directory = options.durable.as_deref().map(std::path::absolute).transpose();
    let directory = directory.map_err(|error| {
        Failure::new(Status::Usage, format!("space {}: --durable: {error}", options.name))
    })?;
    let directory =
        directory.map_or_else(Blob::default, |path| Blob(path.into_os_string().into_vec()));
    let plan = Plan { options: new, owned: false, directory };
    let note = as_task(|spaces| {
        let made = spaces.create(&name, &plan);
        made.map(|(_, note)| note.to_text()).map_err(|error| failure(&options.name, &error))
    })?;
    if options.json {
        let note = (!note.is_empty()).then_some(&note);
        show_json(&json!({"name": options.name, "created": true, "note": note}))?;
    } else if !note.is_empty() {
        let line = format!("pvm: space {}: {}\n", options.name, text::plain(&note));
        // Whoever closes its standard error does not want to know.
        let _ = stderr().write_all(line.as_bytes());
    }
    Ok(())
}

/// A space and, where its server answers, what is in it.
struct Row {
    name: Blob,
    entry: Entry,
    seen: Option<Seen>,
}

fn rows(spaces: &Spaces) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for name in registry::names(spaces.task())? {
        let seen = spaces.open(&name).and_then(|space| spaces.seen(space, 0)).ok();
        // Behind that: the server that has answered may have taken over a moment ago.
        let Some((_, entry)) = registry::latest(spaces.task(), &name)? else { continue };
        if entry.deleted {
            continue;
        }
        let entry = living(spaces, entry)?;
        rows.push(Row { name, entry, seen });
    }
    Ok(rows)
}

/// An entry without the copies that have ended: their server may not have heard of it yet.
fn living(spaces: &Spaces, entry: Entry) -> Result<Entry, Error> {
    let mut copies = Vec::new();
    for copy in entry.copies {
        if registry::is_alive(spaces.task(), copy)? {
            copies.push(copy);
        }
    }
    Ok(Entry { copies, ..entry })
}

fn list(as_json: bool) -> Result<(), Failure> {
    let rows = as_task(|spaces| rows(spaces).map_err(|error| failure("list", &error)))?;
    if as_json {
        let all: Vec<Value> = rows.iter().map(row_json).collect();
        return Ok(show_json(&json!({ "spaces": all }))?);
    }
    let mut table = Table::new(&[
        ("SPACE", Side::Left),
        ("SERVER", Side::Right),
        ("COPIES", Side::Left),
        ("TUPLES", Side::Right),
        ("CLAIMED", Side::Right),
        ("WAITING", Side::Right),
        ("BYTES", Side::Right),
        ("LIMIT", Side::Right),
    ]);
    for row in &rows {
        let number = |of: fn(&Seen) -> u64| {
            row.seen.as_ref().map_or_else(|| "lost".to_owned(), |seen| of(seen).to_string())
        };
        table.row([
            text::of(&row.name),
            row.entry.primary.to_string(),
            copies(&row.entry),
            number(|seen| seen.tuples),
            number(|seen| seen.claimed.len() as u64),
            number(|seen| seen.waiting.len() as u64),
            number(|seen| seen.bytes),
            row.entry.options.limit_bytes.to_string(),
        ]);
    }
    Ok(show(table)?)
}

/// The servers that have a copy, and how many more were asked for.
fn copies(entry: &Entry) -> String {
    let mut all: Vec<String> = entry.copies.iter().map(Tid::to_string).collect();
    let missing = usize::from(entry.options.copies).saturating_sub(all.len());
    if missing > 0 {
        all.push(format!("{missing} missing"));
    }
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

fn row_json(row: &Row) -> Value {
    let number = |of: fn(&Seen) -> u64| row.seen.as_ref().map(of);
    let loss_ms = row.entry.options.loss_ms;
    json!({
        "name": row.name.to_text(),
        "server": row.entry.primary.to_string(),
        "copies": row.entry.copies.iter().map(Tid::to_string).collect::<Vec<String>>(),
        "copies_wanted": row.entry.options.copies,
        "owner": (row.entry.owner != Tid::NONE).then(|| row.entry.owner.to_string()),
        "tuples": number(|seen| seen.tuples),
        "claimed": number(|seen| seen.claimed.len() as u64),
        "waiting": number(|seen| seen.waiting.len() as u64),
        "bytes": number(|seen| seen.bytes),
        "limit": row.entry.options.limit_bytes,
        "full": match row.entry.options.when_full {
            Full::Wait => "block",
            Full::Fail => "error",
            Full::Spill => "spill",
        },
        "fail_when_full": row.entry.options.when_full == Full::Fail,
        "spilled": number(|seen| seen.spilled),
        "sync_every": (loss_ms > 0).then(|| seconds(loss_ms.into())),
        "lost": row.seen.is_none(),
        "durable": (!row.entry.directory.0.is_empty()).then(|| row.entry.directory.to_text()),
    })
}

fn show_space(options: &ShowSpaceOptions) -> Result<(), Failure> {
    let seen = opened(&options.name, |spaces, space| spaces.seen(space, options.tuples))?;
    if options.json {
        let tuples: Vec<Value> = seen.oldest.iter().map(json).collect();
        let claimed = seen.claimed.iter().map(|claimed| {
            json!({
                "task": claimed.client.to_string(),
                "tuple": json(&claimed.tuple),
                "tries": claimed.tries,
                "seconds": seconds(claimed.held_ms),
            })
        });
        let claimed: Vec<Value> = claimed.collect();
        let all = json!({
            "name": options.name, "count": seen.tuples, "bytes": seen.bytes,
            "tuples": tuples, "claimed": claimed,
        });
        return Ok(show_json(&all)?);
    }
    let mut lines: Vec<String> = seen.oldest.iter().map(Tuple::to_string).collect();
    let more = seen.tuples - seen.oldest.len() as u64;
    if more > 0 {
        lines.push(format!("... and {more} more"));
    }
    lines.extend(seen.claimed.iter().map(|claimed| {
        let (task, time) = (claimed.client, seconds(claimed.held_ms));
        format!(
            "{}  claimed by {task} for {time} s, tries before: {}",
            claimed.tuple, claimed.tries
        )
    }));
    Ok(show(lines.into_iter().map(|line| text::plain(&line) + "\n").collect::<String>())?)
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> f64 {
    Duration::from_millis(ms).as_secs_f64()
}

fn why(options: &NameOptions) -> Result<(), Failure> {
    let seen = opened(&options.name, |spaces, space| spaces.seen(space, 0))?;
    if options.json {
        let waiting = seen.waiting.iter().map(|waiter| {
            json!({
                "task": waiter.client.to_string(),
                "operation": waiter.operation,
                "tuple": json(&waiter.template),
                "seconds": seconds(waiter.waited_ms),
                "near": waiter.near.iter().map(json).collect::<Vec<Value>>(),
            })
        });
        let waiting: Vec<Value> = waiting.collect();
        return Ok(show_json(&json!({"name": options.name, "waiting": waiting}))?);
    }
    let mut table = Table::new(&[
        ("TASK", Side::Right),
        ("SECONDS", Side::Right),
        ("WAITS IN", Side::Left),
        ("FOR", Side::Left),
        ("NEARLY FITS", Side::Left),
    ]);
    for waiter in &seen.waiting {
        let near: Vec<String> = waiter.near.iter().map(Tuple::to_string).collect();
        table.row([
            waiter.client.to_string(),
            format!("{:.1}", seconds(waiter.waited_ms)),
            waiter.operation.clone(),
            waiter.template.to_string(),
            near.join(" "),
        ]);
    }
    Ok(show(table)?)
}

fn delete(options: &NameOptions) -> Result<(), Failure> {
    let name = checked_name(&options.name)?;
    as_task(|spaces| spaces.delete(&name).map_err(|error| failure(&options.name, &error)))?;
    if options.json {
        show_json(&json!({"name": options.name, "deleted": true}))?;
    }
    Ok(())
}

fn limit(timeout: Option<f64>) -> Deadline {
    match timeout {
        None => Deadline::Never,
        Some(0.0) => Deadline::Now,
        Some(seconds) => Deadline::after(Duration::from_secs_f64(seconds)),
    }
}

fn parsed(words: &[String]) -> Result<Tuple, Failure> {
    tuple(words).map_err(|text| Failure::new(Status::Usage, text))
}

/// `pvm out`.
pub(crate) fn out(options: &OutOptions) -> Result<(), Failure> {
    let tuple = parsed(&options.fields)?;
    if tuple.has_formals() {
        let text =
            "out: a tuple that is put has no ?fields; a text that begins with ? is text:?...";
        return Err(Failure::new(Status::Usage, text));
    }
    let done = opened(&options.space, |spaces, space| {
        spaces.put(space, vec![tuple], limit(options.timeout))
    })?;
    if options.json {
        show_json(&json!({ "put": done }))?;
    }
    if done { Ok(()) } else { Err(none("the space stayed full")) }
}

/// `pvm take`.
pub(crate) fn take(options: &FindOptions) -> Result<(), Failure> {
    find(options, Find::Take)
}

/// `pvm read`.
pub(crate) fn read(options: &FindOptions) -> Result<(), Failure> {
    find(options, Find::Copy)
}

fn find(options: &FindOptions, how: Find) -> Result<(), Failure> {
    let template = parsed(&options.fields)?;
    let found = opened(&options.space, |spaces, space| {
        spaces.find(space, template, how, limit(options.timeout))
    })?;
    let tuple = found.map(|found| found.tuple);
    if options.json {
        show_json(&json!({ "tuple": tuple.as_ref().map(json) }))?;
    } else if let Some(tuple) = &tuple {
        show(fields::line(tuple))?;
    }
    tuple.map(drop).ok_or_else(|| none("no such tuple"))
}

/// There was none in time: exit status 1.
fn none(text: &str) -> Failure {
    Failure::new(Status::Refused, text)
}
