//! Calls as they are noted by probe points and told to a tracer (`pvmtev.h`): one hook feeds both.
//!
//! A call that is exported begins with [`traced!`]. While nothing is noted that is one look at a word.
//! Otherwise the call is made again from [`around`], this time unseen, between its two events: so
//! only the program's own calls are told of, not those that the library makes of itself.

mod event;
pub(crate) mod told;

use std::cell::Cell;
use std::ffi::c_int;
use std::time::SystemTime;

use pvm::Point;
use pvm::probes::{EVENTS, RECORDS};
use pvm_wire::Code;
use std::sync::atomic::Ordering;

use crate::selection::Selection;
use crate::slot::Slot;
use crate::{guard, probe, session};
pub(crate) use event::{Field, Value, did, int_at, ints_at, kind, list_at, text_at, texts_at};

/// Notes and traces the call that it stands at the beginning of. The fields are those of PVM's own
/// events, which it was asked for.
macro_rules! traced {
    (unsafe $kind:ident, $call:expr, [$($in:ident: $value:expr),* $(,)?], |$result:ident| [$($out:ident: $told:expr),* $(,)?]) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            #[allow(unused_unsafe, reason = "some fields are numbers")]
            // SAFETY: the program's promise to the call, whose arguments these are.
            return unsafe {
                $crate::trace::around(
                    $crate::trace::kind::$kind,
                    &[$($crate::trace::Field { name: $crate::trace::did::$in, value: $crate::trace::Value::from($value) }),*],
                    || $call,
                    |$result, tell| {
                        tell(&[$($crate::trace::Field { name: $crate::trace::did::$out, value: $crate::trace::Value::from($told) }),*]);
                    },
                )
            };
        }
    };
    ($kind:ident, $call:expr, [$($in:ident: $value:expr),* $(,)?], |$result:ident| [$($out:ident: $told:expr),* $(,)?]) => {
        if $crate::probe::is_on() && $crate::trace::begin() {
            return $crate::trace::around(
                $crate::trace::kind::$kind,
                &[$($crate::trace::Field { name: $crate::trace::did::$in, value: $crate::trace::Value::from($value) }),*],
                || $call,
                |$result, tell| {
                    tell(&[$($crate::trace::Field { name: $crate::trace::did::$out, value: $crate::trace::Value::from($told) }),*]);
                },
            );
        }
    };
}
pub(crate) use traced;

thread_local! {
    /// Where on the stack the call of this thread is that is told of, 0 for none: calls below it are
    /// the library's own. A call that was left by longjmp stays here; those that come later are not
    /// below it.
    static TELLING: Cell<usize> = const { Cell::new(0) };
}

/// True if this call is to be told of; then [`around`] must follow.
#[cold]
#[inline(never)]
pub(crate) fn begin() -> bool {
    let marker = 0u8;
    let here = std::hint::black_box(&raw const marker).addr();
    let outer = TELLING.get();
    if guard::is_inside() || outer != 0 && here < outer {
        return false;
    }
    TELLING.set(here);
    true
}

/// Enrols before the first call of a task is told of, as what is traced is known only then.
pub(crate) fn enrol_first() {
    if session::current().is_none() {
        let _ = guard::inside(session::task);
    }
}

/// What a result is as a number.
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

/// The call between its two events.
#[cold]
pub(crate) fn around<R: Outcome>(
    kind: u16,
    fields: &[Field<'_>],
    call: impl FnOnce() -> R,
    tell: impl FnOnce(R, &mut dyn FnMut(&[Field<'_>])),
) -> R {
    let events = told_of(kind);
    // A look at the clock is worth a third of all that records cost.
    let started = events.then(SystemTime::now);
    note(Point::Enter, kind, 0);
    if events {
        told::tell(kind, event::ENTRY, fields);
    }
    let result = call();
    note(Point::Leave, kind, result.number());
    // As in PVM, who has left tells no more.
    if events && kind != kind::EXIT {
        tell(result, &mut |fields| told::tell(kind, event::EXIT, fields));
        let took = started.and_then(|started| started.elapsed().ok());
        told::count(kind, took.unwrap_or_default());
    }
    TELLING.set(0);
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

/// What the program does in a function that a call of it calls is its own again.
pub(crate) fn as_program<T>(work: impl FnOnce() -> T) -> T {
    let outer = TELLING.replace(0);
    let done = work();
    TELLING.set(outer);
    done
}

/// `PVM_TRACE_TID` and `PVM_TRACE_CODE`: what is sent there is an event that the program has packed itself.
pub(crate) const OWN_EVENT: (c_int, c_int) = (-1111, -2222);

/// Sends such an event, if a tracer wants to know of them.
pub(crate) fn own_event(slot: &Slot) -> Result<(), Code> {
    let Some(tracing) = session::tracing().filter(|_| told_of(kind::USER_DEFINED)) else {
        return Ok(());
    };
    slot.with(|buffer| told::send_own(&tracing, buffer))?
}

/// What was collected is sent, also if no more is traced by now; the task leaves.
pub(crate) fn flush() {
    told::flush();
}

fn note(point: Point, kind: u16, result: i32) {
    if let Some(task) = session::current()
        && task.probe_word().load(Ordering::Relaxed) & RECORDS != 0
    {
        task.probe_call(point, kind, result);
    }
}

/// True if a tracer wants to know of this kind.
fn told_of(kind: u16) -> bool {
    session::current().is_some_and(|task| task.probe_word().load(Ordering::Relaxed) & EVENTS != 0)
        && session::is_traced(kind)
}
