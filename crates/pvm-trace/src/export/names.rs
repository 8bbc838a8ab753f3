//! Names of records for people.

use crate::tables::{Names, TaskIndex};
use pvm_wire::record::{Class, Reason, Record, What, calls};
use std::borrow::Cow;

/// The function of a record; its kind if it belongs to none.
pub fn function(names: &Names, task: TaskIndex, call: u16) -> Cow<'static, str> {
    if let Some(name) = calls::name(call) {
        return Cow::Borrowed(name);
    }
    match names.get(task, Class::Call, call.into()) {
        Some(name) => Cow::Owned(name),
        None if call == calls::NONE => Cow::Borrowed("none"),
        None => Cow::Owned(format!("call {call}")),
    }
}

/// The word for the kind of a record. Later versions keep these words.
pub const fn what(record: &Record) -> &'static str {
    match record.what {
        What::Call { .. } => "call",
        What::Wait { reason: Reason::Message, .. } => "wait for a message",
        What::Wait { reason: Reason::Answer, .. } => "wait for an answer",
        What::Wait { reason: Reason::Group, .. } => "wait for the group",
        What::Wait { reason: Reason::Room, .. } => "wait for room",
        What::Wait { reason: Reason::Turn, .. } => "wait for its turn",
        What::Wait { .. } => "wait",
        What::Send { .. } => "send",
        What::Receive { .. } => "receive",
        What::Poll { .. } => "poll",
        What::Copy { .. } => "copy",
        What::Chunk { .. } => "piece",
        What::Group { .. } => "group",
        What::Spawn { .. } => "spawn",
        What::Mark { .. } => "mark",
        What::State { .. } => "state",
        What::Progress { .. } => "progress",
        What::Route { .. } => "route",
        What::Name { .. } => "name",
        What::Gap { .. } => "gap",
        What::Begin { .. } => "begin",
        What::End { .. } => "end",
    }
}

/// The name of a record's slice: the function, or a part of a call.
pub(super) fn slice(names: &Names, task: TaskIndex, record: &Record) -> Cow<'static, str> {
    if record.part { Cow::Borrowed(what(record)) } else { function(names, task, record.call) }
}

/// The name of a mark, a state or a text of progress.
pub fn own(names: &Names, task: TaskIndex, record: &Record) -> Option<String> {
    let (class, number) = match record.what {
        What::Mark { name, .. } => (Class::Mark, name),
        What::State { name } => (Class::State, name),
        What::Progress { name, .. } => (Class::Progress, name),
        _ => return None,
    };
    // Number 0 is the end of a state, which has no name.
    if number == 0 {
        return None;
    }
    Some(names.get(task, class, number).unwrap_or_else(|| format!("{} {number}", what(record))))
}
