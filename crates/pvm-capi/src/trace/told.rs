//! Events on their way to the tracer: one message for each, or collected up to a size, or only
//! counted.

use std::ffi::c_int;
use std::time::{Duration, SystemTime};

use pvm::{Buffer, Forked, Gate};
use pvm_wire::events::OWN_END;
use pvm_wire::{Address, Code, Context, Encoding, Tag};

use super::event::{self, Field, Value, did, kind};
use crate::guard::inside;
use crate::session::{self, Tracing};
use crate::trace_tables::event_name;

const KINDS: usize = 109;
/// `TEV_MARK_EVENT_BUFFER` and its end.
const COLLECTED: c_int = -1;
const COLLECTED_END: c_int = -2;
/// `PvmTraceTime`, `PvmTraceCount`
const TIME: c_int = 2;
const COUNT: c_int = 3;

struct TracerState {
    /// Codes whose data were described.
    described: [[bool; 3]; KINDS],
    /// The collected events.
    waiting: Option<Buffer>,
    counts: [(c_int, Duration); KINDS],
}

impl TracerState {
    const fn nothing() -> Self {
        Self { described: [[false; 3]; KINDS], waiting: None, counts: [(0, Duration::ZERO); KINDS] }
    }
}

static TOLD: Gate<TracerState> = Gate::new(TracerState::nothing());

pub(crate) fn reset_after_fork(forked: &Forked) {
    TOLD.reset_after_fork(forked, TracerState::nothing);
    if let Ok(mut told) = TOLD.enter() {
        // The child is another task, and describes its events itself. The collected events belong
        // to its parent, in memory that the child does not have.
        std::mem::forget(told.waiting.take());
        *told = TracerState::nothing();
    }
}

/// Tells of one event. A tracer that is gone, or memory that lacks, changes nothing for the
/// program.
pub(super) fn tell(kind: u16, when: i32, fields: &[Field<'_>]) {
    let Some(tracing) = session::tracing() else { return };
    let _ = inside(|| {
        let mut told = TOLD.enter()?;
        if matches!(tracing.options, TIME | COUNT) {
            told.counts[usize::from(kind).min(KINDS - 1)].0 += 1;
            return Ok(());
        }
        put(&mut told, &tracing, (kind, when), fields)
    });
}

/// A call of this kind took this time.
pub(super) fn count(kind: u16, took: Duration) {
    let _ = inside(|| {
        TOLD.enter()?.counts[usize::from(kind).min(KINDS - 1)].1 += took;
        Ok(())
    });
}

fn put(
    told: &mut TracerState,
    tracing: &Tracing,
    (kind, when): (u16, i32),
    fields: &[Field<'_>],
) -> Result<(), Code> {
    let place = match when {
        event::ENTRY => 0,
        event::EXIT => 1,
        _ => 2,
    };
    let described = &mut told.described[usize::from(kind).min(KINDS - 1)][place];
    let first = !std::mem::replace(described, true);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let common = [
        Field { name: did::TS, value: Value::Int(now.as_secs() as c_int) },
        Field { name: did::TU, value: Value::Int(now.subsec_micros() as c_int) },
        Field { name: did::TID, value: Value::Int(tracing.own.as_c_int()) },
    ];
    let mut buffer = match told.waiting.take() {
        Some(buffer) => buffer,
        None => {
            let mut buffer = Buffer::new(Encoding::Default);
            if tracing.buffer > 0 {
                event::int(&mut buffer, COLLECTED)?;
            }
            buffer
        }
    };
    let code = (i32::from(kind) | when, event_name(kind));
    event::pack(&mut buffer, code, first, &common, fields)?;
    let size = c_int::try_from(buffer.reported_size()).unwrap_or(c_int::MAX);
    if size < tracing.buffer {
        told.waiting = Some(buffer);
        return Ok(());
    }
    if tracing.buffer > 0 {
        event::int(&mut buffer, COLLECTED_END)?;
    }
    send(tracing, &mut buffer)
}

fn send(tracing: &Tracing, buffer: &mut Buffer) -> Result<(), Code> {
    let (tag, context) = (Tag(tracing.tag), Context(tracing.context));
    session::task()?.send(buffer, Address { to: tracing.to, tag, context })
}

/// Sends an event that the program has packed, with its end mark. As in PVM the mark stays in the
/// program's buffer.
pub(super) fn send_own(tracing: &Tracing, buffer: &mut Buffer) -> Result<(), Code> {
    event::int(buffer, OWN_END)?;
    buffer.edit(|about| (about.dst, about.tag) = (tracing.to, tracing.tag));
    send(tracing, buffer)
}

/// Sends what was collected or counted.
pub(super) fn flush() {
    let Some(tracing) = session::tracing() else { return };
    let _ = inside(|| {
        let mut told = TOLD.enter()?;
        if matches!(tracing.options, TIME | COUNT) {
            tell_counts(&mut told, &tracing)?;
        }
        match told.waiting.take() {
            Some(mut buffer) => {
                event::int(&mut buffer, COLLECTED_END)?;
                send(&tracing, &mut buffer)
            }
            None => Ok(()),
        }
    });
}

/// One event with the counts, and the times where they are wanted, of all kinds that occurred.
fn tell_counts(told: &mut TracerState, tracing: &Tracing) -> Result<(), Code> {
    let counts = std::mem::replace(&mut told.counts, [(0, Duration::ZERO); KINDS]);
    let seen: Vec<_> = (0u16..).zip(counts).filter(|(_, (count, _))| *count > 0).collect();
    let names: Vec<&[u8]> = seen.iter().map(|(kind, _)| event_name(*kind)).collect();
    let of = |part: fn(c_int, Duration) -> c_int| -> Vec<c_int> {
        seen.iter().map(|&(_, (count, time))| part(count, time)).collect()
    };
    let seconds = of(|_, time| time.as_secs() as c_int);
    let micros = of(|_, time| time.subsec_micros() as c_int);
    let counts = of(|count, _| count);
    let all = Field { name: did::VCT, value: Value::Int(seen.len() as c_int) };
    let names = Field { name: did::VID, value: Value::Texts(&names) };
    let counts = Field { name: did::PRF, value: Value::Ints(&counts) };
    if tracing.options == TIME {
        let seconds = Field { name: did::TGS, value: Value::Ints(&seconds) };
        let micros = Field { name: did::TGU, value: Value::Ints(&micros) };
        return put(told, tracing, (kind::TIMING, 0), &[all, names, seconds, micros, counts]);
    }
    put(told, tracing, (kind::PROFILING, 0), &[all, names, counts])
}
