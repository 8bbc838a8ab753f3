//! Probe points: switching them, and reading what they noted.

use pvm::{Forked, Record, RecordReader};
use pvm_wire::{Code, Tid};
use std::collections::BTreeMap;

use super::{size, status};
use crate::guard::inside;
use crate::pointer::store;
use crate::session;

/// `struct neopvm_record`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Noted {
    time_ns: u64,
    bytes: u64,
    sequence: u64,
    point: i32,
    way: i32,
    hops: i32,
    thread: u32,
    peer: i32,
    tag: i32,
    context: i32,
    asked_source: i32,
    asked_tag: i32,
    call: i32,
    result: i32,
    reserved: u32,
}

impl From<Record> for Noted {
    fn from(record: Record) -> Self {
        Self {
            time_ns: record.time,
            bytes: record.bytes,
            sequence: record.sequence,
            point: record.point.into(),
            way: record.way.into(),
            hops: record.hops.into(),
            thread: record.thread,
            peer: record.peer.cast_signed(),
            tag: record.tag,
            context: record.context,
            asked_source: match record.asked_source {
                0 => -1,
                source => source.cast_signed(),
            },
            asked_tag: record.asked_tag,
            call: record.call.into(),
            result: record.result,
            reserved: 0,
        }
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
    records: *mut Noted,
    room: u64,
    count: *mut u64,
    dropped: *mut u64,
) -> i32 {
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
        let mut at = 0;
        let drained = reader.drain(room, |record| {
            // SAFETY: the caller's promise; no more than `room` come.
            unsafe { records.add(at).write(Noted::from(record)) };
            at += 1;
        });
        // SAFETY: the caller's promise.
        unsafe { store(count, drained.taken as u64) };
        // SAFETY: the caller's promise.
        unsafe { store(dropped, drained.dropped) };
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_size_of_its_header() {
        assert_eq!(size_of::<Noted>(), 72);
    }
}
