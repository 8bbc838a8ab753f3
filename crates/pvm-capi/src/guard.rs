//! The one door between C and Rust.
//!
//! Every exported function goes through here. No panic passes it; a signal handler that interrupted
//! the library and calls it again gets `PvmAlready` instead of a deadlock; a result below zero is
//! kept in `pvm_errno` and, if `PvmAutoErr` asks for it, told on standard error.
//!
//! A call that waits is a loop in [`wait_for`]: each look at the messages passes the door, the wait
//! itself does not. At that moment no frame holds a lock or owns memory, so that handlers may call
//! the library and may leave with `longjmp`.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{Ordering, compiler_fence};

use pvm::{Task, WaitToken};
use pvm_wire::Code;

use crate::say::{say, who};
use crate::{globals, session};

thread_local! {
    /// True while this thread is in the library.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread is in the library for as long as this lives.
struct Inside;

impl Inside {
    fn enter() -> Result<Self, Code> {
        if INSIDE.replace(true) {
            return Err(Code::Already);
        }
        // A handler of this thread must see the mark before anything is touched.
        compiler_fence(Ordering::SeqCst);
        Ok(Self)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        INSIDE.set(false);
    }
}

/// Runs `body` inside the library; a panic becomes `PvmSysErr`.
pub(crate) fn inside<T>(body: impl FnOnce() -> Result<T, Code>) -> Result<T, Code> {
    let _inside = Inside::enter()?;
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        say(b"libpvm: internal error, please report it\n");
        Err(Code::SysErr)
    })
}

/// For helpers without result codes: `fallback` where the body cannot run.
pub(crate) fn plain<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    inside(|| Ok(body())).unwrap_or(fallback)
}

/// Calls of PVM's group library, which tells nothing by itself.
const SILENT: [&str; 11] = [
    "pvm_joingroup",
    "pvm_lvgroup",
    "pvm_gettid",
    "pvm_getinst",
    "pvm_gsize",
    "pvm_barrier",
    "pvm_bcast",
    "pvm_freezegroup",
    "pvm_reduce",
    "pvm_gather",
    "pvm_scatter",
];

/// True for results that are answers rather than errors, and that PVM does not print.
fn is_answer(call: &str, code: Code) -> bool {
    matches!((call, code), ("pvm_recvinfo", Code::NotFound) | ("pvm_pstat", Code::NoTask))
        || SILENT.contains(&call)
}

/// Keeps and tells a result below zero, and gives its number back.
pub(crate) fn failed(call: &str, code: Code) -> c_int {
    globals::note_error(code);
    let auto = session::option(session::AUTO_ERR);
    if auto != 0 && !is_answer(call, code) {
        say(format!("libpvm {}: {call}(): {code}\n", who()).as_bytes());
        match auto {
            2 => std::process::exit(1),
            3 => std::process::abort(),
            _ => {}
        }
    }
    code.number()
}

/// A call that does not wait: its result, or the code of what went wrong.
pub(crate) fn call(name: &str, body: impl FnOnce() -> Result<c_int, Code>) -> c_int {
    match inside(body) {
        Ok(value) => value,
        Err(code) => failed(name, code),
    }
}

/// A function of the program that takes a message by its buffer number.
pub(crate) type Function = unsafe extern "C" fn(c_int) -> c_int;

/// A function of the program that is to be called outside of the library, before the next look.
#[derive(Clone, Copy)]
pub(crate) struct Errand {
    /// Who knows how to call it.
    pub(crate) run: fn(Function, c_int),
    /// The function.
    pub(crate) function: Function,
    /// Its argument.
    pub(crate) argument: c_int,
}

impl Errand {
    /// Calls it.
    pub(crate) fn run(self) {
        (self.run)(self.function, self.argument);
    }
}

/// What one look at the messages found.
pub(crate) enum Look<T> {
    /// The call is done.
    Done(T),
    /// A message for a handler of the program: run it, then look again.
    Handler(Errand),
    /// Nothing yet.
    Nothing,
}

/// A look that found nothing: what to wait for.
enum Step<T> {
    Done(T),
    Handler(Errand),
    Wait(&'static Task, WaitToken),
}

/// How long a call waits.
pub(crate) type Limit = pvm::Deadline;

/// Looks until something is found or the limit is over (`None`). `look` runs inside the library;
/// it owns nothing, so that the frame may be left by `longjmp` during the wait.
pub(crate) fn wait_for<T>(
    limit: Limit,
    mut look: impl FnMut(&'static Task) -> Result<Look<T>, Code>,
) -> Result<Option<T>, Code> {
    loop {
        // Asked before the look: a message that comes after it is seen by the last look.
        let over = limit.passed();
        let step = inside(|| {
            let task = session::task()?;
            let token = task.token();
            Ok(match look(task)? {
                Look::Done(value) => Step::Done(value),
                Look::Handler(due) => Step::Handler(due),
                Look::Nothing => Step::Wait(task, token),
            })
        })?;
        match step {
            Step::Done(value) => return Ok(Some(value)),
            Step::Handler(due) => due.run(),
            Step::Wait(..) if over => return Ok(None),
            // Whatever ended the wait, the next look tells; only a lost daemon ends the call.
            Step::Wait(task, token) => {
                task.wait(token, limit)?;
            }
        }
    }
}
