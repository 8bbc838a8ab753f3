//! Recording: calls that switch it, read records, and add a program's own.

use pvm::{Forked, RecordReader};
use pvm_wire::record::{Class, DecodedRecords, Processor, Record, Scale, Transfer, What, calls};
use pvm_wire::{Code, Tid};
use std::collections::BTreeMap;
use std::ffi::c_char;

use super::{size, status};
use crate::guard::inside;
use crate::pointer::{store, text_or_none};
use crate::trace::{around_with, begin, names, noted};
use crate::{probe, session};

/// `struct neopvm_record`
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
struct Line {
    begin_ns: u64,
    length_ns: u64,
    bytes: u64,
    number: u64,
    more: u64,
    kind: i32,
    call: i32,
    result: i32,
    flags: u32,
    depth: u32,
    thread: u32,
    peer: i32,
    tag: i32,
    context: i32,
    way: i32,
    hops: i32,
    encoding: i32,
    name: i32,
    members: i32,
    instance: i32,
    root: i32,
}

const PART: u32 = 1;
const SLEPT: u32 = 2;
const ANY_SOURCE: u32 = 4;
const ANY_TAG: u32 = 8;

impl Line {
    fn new(record: &Record, scale: &Scale) -> Self {
        let begin_ns = scale.nanoseconds(record.begin);
        let mut line = Self {
            begin_ns,
            length_ns: scale.nanoseconds(record.end()).saturating_sub(begin_ns),
            kind: record.what.kind().into(),
            call: if record.call == calls::NONE { -1 } else { record.call.into() },
            result: record.result,
            flags: if record.part { PART } else { 0 },
            depth: record.depth.into(),
            thread: record.thread.into(),
            tag: -1,
            root: -1,
            ..Self::default()
        };
        line.tell(&record.what);
        line
    }

    fn tell(&mut self, what: &What) {
        match *what {
            What::Call { bytes } | What::Copy { bytes } => self.bytes = bytes,
            What::Wait { reason, processor } => {
                self.way = reason as i32;
                if let Some(Processor { begin, end }) = processor {
                    (self.flags, self.more) = (self.flags | SLEPT, end.saturating_sub(begin));
                }
            }
            What::Send { ref message, wire, .. } => {
                self.tell_message(message);
                self.more = wire;
            }
            What::Receive { ref message, any_source, any_tag } => {
                self.tell_message(message);
                self.flags |= if any_source { ANY_SOURCE } else { 0 };
                self.flags |= if any_tag { ANY_TAG } else { 0 };
            }
            What::Chunk { ref message } => self.tell_message(message),
            What::Poll { source, tag, context } => {
                (self.peer, self.tag, self.context) = (source.as_c_int(), tag, context);
            }
            What::Group { name, members, instance, root, tag, count } => {
                (self.name, self.members) = (name.cast_signed(), members.cast_signed());
                (self.instance, self.root) = (instance.cast_signed(), root);
                (self.tag, self.number) = (tag, count);
            }
            What::Spawn { ref children } => {
                self.number = children.len() as u64;
                self.peer = children.first().copied().unwrap_or(0);
            }
            What::Mark { name, value } => {
                (self.name, self.number) = (name.cast_signed(), value.cast_unsigned());
            }
            What::State { name } => self.name = name.cast_signed(),
            What::Progress { name, done, total } => {
                (self.name, self.number, self.more) = (name.cast_signed(), done, total);
            }
            What::Route { peer, step } => (self.peer, self.way) = (peer.as_c_int(), step as i32),
            What::Name { number, .. } => self.name = number.cast_signed(),
            What::Gap { lost, .. } | What::End { lost, .. } => self.number = lost,
            What::Begin { parent, process, .. } => {
                (self.peer, self.number) = (parent.as_c_int(), process.into());
            }
        }
    }

    fn tell_message(&mut self, message: &Transfer) {
        (self.peer, self.tag) = (message.peer.as_c_int(), message.tag);
        (self.context, self.number) = (message.context, message.number);
        (self.bytes, self.encoding) = (message.bytes, i32::from(message.encoding as u8));
        (self.way, self.hops) = (message.route as i32, message.hops.into());
    }
}

/// Rings that are mapped here.
static READERS: pvm::Gate<BTreeMap<u32, RecordReader>> = pvm::Gate::new(BTreeMap::new());

pub(crate) fn reset_after_fork(forked: &Forked) {
    READERS.reset_after_fork(forked, BTreeMap::new);
}

/// Switches the probe points of a task.
#[unsafe(no_mangle)]
extern "C" fn neopvm_set_probes(tid: i32, on: i32) -> i32 {
    noted!(NEOPVM_SET_PROBES, neopvm_set_probes(tid, on));
    status(inside(|| {
        if !matches!(on, 0 | 1) {
            return Err(Code::BadParam);
        }
        let task = session::task()?;
        let mask = on.cast_unsigned();
        if Tid::from_c_int(tid) == task.tid() {
            task.set_own_probes(mask);
            return Ok(());
        }
        task.set_probes(Tid::from_c_int(tid), mask)
    }))
}

/// Takes records out of a task's ring.
///
/// # Safety
/// `records` has `room` elements; each other pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_read_records(
    tid: i32,
    records: *mut Line,
    room: u64,
    count: *mut u64,
    dropped: *mut u64,
) -> i32 {
    noted!(unsafe NEOPVM_READ_RECORDS, neopvm_read_records(tid, records, room, count, dropped));
    status(inside(|| {
        let room = if records.is_null() { 0 } else { size(room)? };
        let tid = Tid::from_c_int(tid);
        let task = session::task()?;
        let mut readers = READERS.enter()?;
        let reader = match readers.remove(&tid.0) {
            Some(reader) => reader,
            None => task.read_recorder(tid)?,
        };
        let reader = readers.entry(tid.0).or_insert(reader);
        let mut cells = Vec::new();
        let drained = reader.drain((room, usize::MAX), false, &mut cells);
        let mut at = 0;
        if let Some((from, to)) = drained.span {
            let scale = Scale::new(from, to);
            for record in DecodedRecords::new(&cells).flatten().take(room) {
                // SAFETY: `records` has `room` elements, and `at` is below that: no more records
                // than `room` come.
                unsafe { records.add(at).write(Line::new(&record, &scale)) };
                at += 1;
            }
        }
        reader.pass(drained.taken as u64);
        // SAFETY: `count` is null or has room for the answer, by the call's contract.
        unsafe { store(count, at as u64) };
        // SAFETY: `dropped` is null or has room for the answer, by the call's contract.
        unsafe { store(dropped, drained.lost) };
        Ok(())
    }))
}

/// Notes a record of the program's own; does nothing while no recorder reads.
///
/// # Safety
/// `name` is null or ends with 0.
unsafe fn own(
    call: u16,
    (class, name): (Class, *const c_char),
    what: impl FnOnce(u32) -> What,
) -> i32 {
    if !probe::is_on() || !begin() {
        return 0;
    }
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let number = match unsafe { text_or_none(name) } {
        Some(text) if !text.is_empty() => names::number(class, text),
        _ => 0,
    };
    around_with(call, || 0, |_| Some(what(number)))
}

/// A mark in the trace.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn neopvm_mark(name: *const c_char, value: i64) -> i32 {
    let what = |name| What::Mark { name, value };
    // SAFETY: `name` is null, which `own` takes for no name, or ends with 0.
    unsafe { own(calls::NEOPVM_MARK, (Class::Mark, name), what) }
}

/// States what the program does from now on; null for nothing more.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn neopvm_state(name: *const c_char) -> i32 {
    let what = |name| What::State { name };
    // SAFETY: `name` is null, which `own` takes for no name, or ends with 0.
    unsafe { own(calls::NEOPVM_STATE, (Class::State, name), what) }
}

/// States how far the program is.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn neopvm_progress(text: *const c_char, done: u64, total: u64) -> i32 {
    let what = |name| What::Progress { name, done, total };
    // SAFETY: `text` is null, which `own` takes for no name, or ends with 0.
    unsafe { own(calls::NEOPVM_PROGRESS, (Class::Progress, text), what) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_size_of_its_header() {
        assert_eq!(size_of::<Line>(), 104);
    }
}
