//! Calls as they are noted by probe points and told to a tracer (`pvmtev.h`): one hook feeds both.
//!
//! A call that is exported begins with [`traced!`]. While nothing is noted that is one look at a
//! word. Otherwise the call is made again from [`around`], this time unseen, between its two
//! events: so only the program's own calls are told of, not those that the library makes of itself.

mod arguments;
mod event;
pub(crate) mod names;
pub(crate) mod noting;
pub(crate) mod told;

use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use pvm::probes::EVENTS;
use pvm_wire::Code;
use pvm_wire::record::{DEPTH_MAX, What};

use crate::selection::Selection;
use crate::slot::Slot;
use crate::{guard, probe, session, thread};
use arguments::Arguments;
use event::Tell;
pub(crate) use event::{Field, Value, did, int_at, ints_at, kind, list_at, text_at, texts_at};
use noting::Noted;

/// A field of an event: its name among [`did`], and its value.
macro_rules! field {
    ($name:ident, $value:expr) => {
        $crate::trace::Field {
            name: $crate::trace::did::$name,
            value: $crate::trace::Value::from($value),
        }
    };
}
pub(crate) use field;

/// Notes and traces the call that it stands at the beginning of. The fields are those of PVM's own
/// events, which it was asked for.
macro_rules! traced {
    (
        unsafe $kind:ident, $call:expr, [$($in:ident: $value:expr),* $(,)?],
        |$result:ident| [$($out:ident: $told:expr),* $(,)?]
    ) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            #[allow(unused_unsafe, reason = "some fields are numbers")]
            // SAFETY: the same call again, with the arguments for which the program keeps its
            // contract.
            return unsafe {
                $crate::trace::around(
                    $crate::trace::kind::$kind,
                    |tell| {
                        tell(&[$($crate::trace::field!($in, $value)),*]);
                    },
                    || $call,
                    |$result, tell| {
                        tell(&[$($crate::trace::field!($out, $told)),*]);
                    },
                )
            };
        }
    };
    (
        $kind:ident, $call:expr, [$($in:ident: $value:expr),* $(,)?],
        |$result:ident| [$($out:ident: $told:expr),* $(,)?]
    ) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            return $crate::trace::around(
                $crate::trace::kind::$kind,
                |tell| {
                    tell(&[$($crate::trace::field!($in, $value)),*]);
                },
                || $call,
                |$result, tell| {
                    tell(&[$($crate::trace::field!($out, $told)),*]);
                },
            );
        }
    };
}
pub(crate) use traced;

/// Notes a call that PVM's own tracers know nothing of.
macro_rules! noted {
    ($call:ident, $again:expr) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            return $crate::trace::around_ours(pvm_wire::record::calls::$call, || $again);
        }
    };
    (unsafe $call:ident, $again:expr) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            // SAFETY: the same call again, with the arguments for which the program keeps its
            // contract.
            return $crate::trace::around_ours(pvm_wire::record::calls::$call, || unsafe {
                $again
            });
        }
    };
}
pub(crate) use noted;

/// True if this call is traced; then [`around`] must follow.
#[cold]
#[inline(never)]
pub(crate) fn begin() -> bool {
    let marker = 0u8;
    let here = std::hint::black_box(&raw const marker).addr();
    thread::here(|thread| {
        let outer = thread.telling.get();
        if thread.inside.is_set() || outer != 0 && here < outer {
            return false;
        }
        // A function of the program that a call has called, and that was left by longjmp.
        let frame = thread.program.get();
        if frame != 0 && here > frame {
            thread.program.set(0);
            thread.depth.set(0);
        }
        thread.telling.set(here);
        true
    })
}

/// Enrols before the first call of a task is traced, because it is known only then which calls are.
pub(crate) fn enrol_first() {
    if session::current().is_none() {
        let _ = guard::inside(session::task);
    }
}

/// The number that stands for a result.
pub(crate) trait Outcome: Copy {
    /// The number.
    fn number(self) -> i32;
}

impl Outcome for i32 {
    fn number(self) -> i32 {
        self
    }
}

impl<T: Copy> Outcome for Option<T> {
    fn number(self) -> i32 {
        i32::from(self.is_some())
    }
}

/// The call between its two events, and its record.
#[cold]
pub(crate) fn around<R: Outcome>(
    kind: u16,
    fields: impl Fn(Tell<'_>),
    call: impl FnOnce() -> R,
    tell: impl Fn(R, Tell<'_>),
) -> R {
    let events = told_of(kind);
    // A look at the clock is worth a third of all that records cost.
    let started = events.then(SystemTime::now);
    if events {
        fields(&mut |fields| told::tell(kind, event::ENTRY, fields));
    }
    let noted = Noted::begin(kind);
    let arguments = noted.as_ref().map(|_| Arguments::of(kind, &fields));
    // A task that has left notes no more, so the call of leaving is noted before it.
    let (early, late) = if kind == kind::EXIT { (noted, None) } else { (None, noted) };
    if let Some(noted) = early {
        noted.end(0, None);
    }
    let result = call();
    if let (Some(noted), Some(arguments)) = (late, arguments) {
        let what = arguments.what(result.number(), |told| tell(result, told));
        noted.end(result.number(), what);
    }
    // As in PVM, a task that has left tells no more.
    if events && kind != kind::EXIT {
        tell(result, &mut |fields| told::tell(kind, event::EXIT, fields));
        let took = started.and_then(|started| started.elapsed().ok());
        told::count(kind, took.unwrap_or_default());
    }
    thread::here(|thread| thread.telling.set(0));
    result
}

/// A call that has no event, with its record.
#[cold]
pub(crate) fn around_ours(number: u16, call: impl FnOnce() -> i32) -> i32 {
    around_with(number, call, |_| None)
}

/// [`around_ours`] for a call that knows what it did.
#[cold]
pub(crate) fn around_with(
    number: u16,
    call: impl FnOnce() -> i32,
    what: impl FnOnce(i32) -> Option<What>,
) -> i32 {
    let noted = Noted::begin(number);
    let result = call();
    if let Some(noted) = noted {
        noted.end(result, what(result));
    }
    thread::here(|thread| thread.telling.set(0));
    result
}

/// A function of the program is about to be called with a message, which it has asked for.
pub(crate) fn handler_called(wanted: Selection, message: [c_int; 5]) {
    if !probe::is_on() || !told_of(kind::MHF_INVOKE) {
        return;
    }
    let names = [did::MB, did::MNB, did::MC, did::MCX, did::SRC];
    let field = |(name, value)| Field { name, value: Value::Int(value) };
    let mut fields: Vec<Field<'_>> =
        [(did::RST, wanted.source), (did::RMC, wanted.tag), (did::RCX, wanted.context)]
            .map(field)
            .into();
    fields.extend(names.into_iter().zip(message).map(field));
    told::tell(kind::MHF_INVOKE, event::ENTRY, &fields);
}

/// Runs a function of the program that a call has called: calls within it count as the program's
/// own.
pub(crate) fn as_program<T>(work: impl FnOnce() -> T) -> T {
    let marker = 0u8;
    let here = std::hint::black_box(&raw const marker).addr();
    let before = thread::here(|thread| {
        let depth = thread.depth.get();
        let inner = depth + u8::from(thread.telling.get() != 0);
        thread.depth.set(inner.min(DEPTH_MAX));
        (thread.telling.replace(0), thread.program.replace(here), depth)
    });
    let done = work();
    thread::here(|thread| {
        thread.telling.set(before.0);
        thread.program.set(before.1);
        thread.depth.set(before.2);
    });
    done
}

/// `PVM_TRACE_TID` and `PVM_TRACE_CODE`: what is sent there is an event that the program has packed
/// itself.
pub(crate) const OWN_EVENT: (c_int, c_int) = (-1111, -2222);

/// Sends such an event, if a tracer wants to know of them.
pub(crate) fn own_event(slot: &Slot) -> Result<(), Code> {
    let Some(tracing) = session::tracing().filter(|_| told_of(kind::USER_DEFINED)) else {
        return Ok(());
    };
    slot.with(|buffer| told::send_own(&tracing, buffer))?
}

/// Sends the collected events, also if nothing more is traced by now; the task leaves.
pub(crate) fn flush() {
    told::flush();
}

/// True if a tracer wants this kind of event.
fn told_of(kind: u16) -> bool {
    session::current().is_some_and(|task| task.probe_word().load(Ordering::Relaxed) & EVENTS != 0)
        && session::is_traced(kind)
}
