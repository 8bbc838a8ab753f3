//! Calls as they are noted by probe points and told to a tracer (`pvmtev.h`): one hook feeds both.
//!
//! A call that is exported begins with [`traced!`]. While nothing is noted that is one look at a word.
//! Otherwise the call is made again from [`around`], this time unseen, between its two events: so
//! only the program's own calls are told of, not those that the library makes of itself.

mod event;
pub(crate) mod told;

use std::cell::Cell;
use std::time::SystemTime;

use pvm::Point;
use pvm::probes::{EVENTS, RECORDS};
use std::sync::atomic::Ordering;

use crate::{guard, session};
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
