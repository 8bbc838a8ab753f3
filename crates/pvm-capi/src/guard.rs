//! The one door between C and Rust.
//!
//! Every exported function goes through here. No panic passes it; a signal handler that interrupted
//! the library and calls it again gets `PvmAlready` instead of a deadlock, except that its sends
//! are kept and done by the interrupted call when it leaves; a result below zero is kept in
//! `pvm_errno` and, if `PvmAutoErr` asks for it, told on standard error.
//!
//! A call that waits is in `waiting`: each look passes the door, the sleep between two looks does
//! not.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pvm::{Among, Biased, Owner};
use pvm_wire::Code;

use crate::say::{say, tell};
use crate::thread::parcels::Parcel;
use crate::thread::{self, Thread};
use crate::{globals, probe, session};

/// This thread is in the library for as long as this lives.
struct Inside<'a>(&'a Thread);

impl<'a> Inside<'a> {
    #[inline]
    fn enter(thread: &'a Thread) -> Result<Self, Code> {
        if thread.inside.set_long() { Ok(Self(thread)) } else { Err(Code::Already) }
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        go_out(self.0);
    }
}

/// The thread is in the library no more.
#[inline]
fn go_out(thread: &Thread) {
    thread.inside.clear();
    // Sends that a handler asked for before the mark was gone.
    if !thread.parcels.is_empty() {
        send_parcels(thread);
    }
}

#[cold]
fn send_parcels(thread: &Thread) {
    let sent = inside(|| Ok(thread.parcels.send_all()));
    if let Ok(Some(code)) = sent {
        failed("pvm_send", code);
    }
}

/// True while this thread is in the library: a handler has interrupted it.
pub(crate) fn is_inside() -> bool {
    thread::here(|thread| thread.inside.is_set())
}

/// Sends that a handler asked for: done when the interrupted call leaves. Allocates nothing.
pub(crate) fn put_off(count: usize, parcel: impl Fn(usize) -> Parcel) -> Result<(), Code> {
    thread::here(|thread| thread.parcels.add(count, parcel))
}

/// Runs `body` inside the library; a panic becomes `PvmSysErr`.
#[inline]
pub(crate) fn inside<T>(body: impl FnOnce() -> Result<T, Code>) -> Result<T, Code> {
    inside_of(|_| body())
}

unsafe extern "C" {
    /// In shim/threads.c: true where the process has one thread for certain.
    safe fn _neopvm_has_one_thread() -> c_int;
}

/// Like `inside`, for a body that wants to know its thread. A thread that was cancelled ends behind
/// it: the C library would unwind these frames where a descriptor is closed, and end the process
/// instead. Where there is no second thread, nobody cancels this one, and the two calls that it
/// costs (a sum of four tasks took 0.58 us with them and takes 0.31) are left out.
#[inline]
pub(crate) fn inside_of<T>(body: impl FnOnce(&Thread) -> Result<T, Code>) -> Result<T, Code> {
    // SAFETY: it stays as long as this thread does, and has no destructor.
    let thread = unsafe { &*thread::address() };
    let _inside = Inside::enter(thread)?;
    let body = || catch_unwind(AssertUnwindSafe(|| body(thread)));
    let done = if _neopvm_has_one_thread() != 0 { body() } else { pvm::shielded(body) };
    done.unwrap_or_else(|_| Err(panicked()))
}

/// The fast path of a call, by a thread that is in the library for as long as this lives. Gates are
/// entered only if nobody is inside. Work that cannot be done so is left as it is, and [`call`]
/// does it.
///
/// There is no net below: code on this path does not panic. (If it did, the process would be ended
/// at the exported function.)
pub(crate) struct Fast<O: Owner> {
    /// This thread.
    pub(crate) thread: &'static Thread,
    /// This thread as an owner of gates.
    pub(crate) owner: O,
}

/// A fast path as the process is now: compiled twice, so that the thread that it is biased to pays
/// for no lock.
pub(crate) enum FastPath {
    /// The process is biased to this thread.
    Biased(Fast<Biased>),
    /// Others may be in the library, too.
    Among(Fast<Among>),
}

impl FastPath {
    /// None in a handler that interrupted the library, and in a thread's first call.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        let thread = thread::known().filter(|thread| thread.inside.set_fast())?;
        if thread::is_biased() {
            // SAFETY: the mark was there before this look, and the value ends before it does. A
            // handler of this thread finds it, and each call of the library's looks there first;
            // another thread ends the bias first, and waits for the mark to go. What this thread
            // has done under a mark of its own for long calls is over.
            return Some(Self::Biased(Fast { thread, owner: unsafe { Biased::new() } }));
        }
        thread.inside.take_locks();
        let number = thread.number.get();
        if number.is_none() {
            go_out(thread);
        }
        number.map(|number| Self::Among(Fast { thread, owner: Among(number) }))
    }
}

/// The result of the short way of a [brief] call.
pub(crate) enum Done<T> {
    /// All of it, with this result.
    All(c_int),
    /// A part; a further step, which is seldom needed, must follow.
    But(T),
}

/// A call that is brief nearly always: `short` is run by the thread that the process is biased to
/// and calls nothing, so that no register is saved for it. `but` is run behind it under the same
/// mark, and `rest` without one, to do whatever `short` leaves as it was: both in functions of
/// their own.
#[inline]
pub(crate) fn brief<T>(
    short: impl FnOnce(&'static Thread, Biased) -> Option<Done<T>>,
    but: impl FnOnce(Fast<Biased>, T) -> c_int,
    rest: impl FnOnce() -> c_int,
) -> c_int {
    if probe::is_on() {
        return rest();
    }
    let thread = thread::known_or_nobody();
    if !thread.inside.set_fast() {
        return rest();
    }
    // SAFETY: as in `FastPath::enter`; what has a copy of the value ends before the mark does.
    let owner = unsafe { Biased::new() };
    let done = if thread::is_biased() { short(thread, owner) } else { None };
    if let Some(Done::But(value)) = done {
        return but(Fast { thread, owner }, value);
    }
    thread.inside.clear();
    match done {
        Some(Done::All(result)) if thread.parcels.is_empty() => result,
        Some(Done::All(result)) => behind_parcels(result),
        _ => rest(),
    }
}

/// A [brief] call that has nothing more behind it.
#[inline]
pub(crate) fn brief_call(
    short: impl FnOnce(&'static Thread, Biased) -> Option<c_int>,
    rest: impl FnOnce() -> c_int,
) -> c_int {
    let never = |_, never: std::convert::Infallible| match never {};
    brief(|thread, owner| short(thread, owner).map(Done::All), never, rest)
}

#[cold]
#[inline(never)]
fn behind_parcels(result: c_int) -> c_int {
    thread::here(send_parcels);
    result
}

/// Runs the body by the way that is open for this call; gives `$else` where none is.
macro_rules! fast {
    ($fast:ident => $body:expr, else $none:expr) => {
        match $crate::guard::FastPath::enter() {
            Some($crate::guard::FastPath::Biased($fast)) => $body,
            Some($crate::guard::FastPath::Among($fast)) => $body,
            None => $none,
        }
    };
}
pub(crate) use fast;

impl<O: Owner> Drop for Fast<O> {
    #[inline]
    fn drop(&mut self) {
        go_out(self.thread);
    }
}

#[cold]
fn panicked() -> Code {
    say(b"libpvm: internal error, please report it\n");
    Code::SysErr
}

/// For helpers without result codes: `fallback` where the body cannot run.
pub(crate) fn plain<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    inside(|| Ok(body())).unwrap_or(fallback)
}

/// When a call's result is an answer rather than an error: PVM does not print it, and it ends no
/// program.
#[derive(Clone, Copy)]
enum Quiet {
    /// Whatever it is.
    Always,
    /// If it is one of these.
    For(&'static [Code]),
}

/// Calls that do not tell of each result below zero. The list is PVM's own:
/// `conformance/c/special.c` makes every call.
const QUIET: [(&str, Quiet); 19] = [
    ("pvm_barrier", Quiet::Always),
    ("pvm_bcast", Quiet::Always),
    ("pvm_delete", Quiet::For(&[Code::NotFound])),
    ("pvm_delinfo", Quiet::For(&[Code::NotFound, Code::Denied])),
    ("pvm_freezegroup", Quiet::Always),
    ("pvm_getinst", Quiet::Always),
    ("pvm_gettid", Quiet::Always),
    ("pvm_gsize", Quiet::Always),
    ("pvm_insert", Quiet::For(&[Code::Denied])),
    ("pvm_joingroup", Quiet::Always),
    ("pvm_lookup", Quiet::For(&[Code::NotFound])),
    ("pvm_lvgroup", Quiet::Always),
    ("pvm_mstat", Quiet::For(&[Code::NoHost])),
    ("pvm_pkmesg", Quiet::Always),
    ("pvm_pkmesgbody", Quiet::Always),
    ("pvm_pstat", Quiet::For(&[Code::NoTask])),
    ("pvm_putinfo", Quiet::For(&[Code::Denied])),
    ("pvm_recvinfo", Quiet::For(&[Code::NotFound])),
    ("pvm_upkmesg", Quiet::Always),
];

fn is_quiet(call: &str, code: Code) -> bool {
    QUIET.iter().any(|(name, quiet)| {
        *name == call
            && match quiet {
                Quiet::Always => true,
                Quiet::For(codes) => codes.contains(&code),
            }
    })
}

/// Keeps and tells a result below zero, and gives its number back. Allocates nothing: a handler may
/// have interrupted anything.
#[cold]
pub(crate) fn failed(call: &str, code: Code) -> c_int {
    globals::note_error(code.number());
    if !is_quiet(call, code) {
        report(call, code.number(), &code);
    }
    code.number()
}

/// Like `failed`, for a number of the program's own, below zero: that of its matching function.
#[cold]
pub(crate) fn refused(call: &str, number: c_int) -> c_int {
    globals::note_error(number);
    report(call, number, &globals::error_text(number).to_string_lossy());
    number
}

/// Tells an error and ends the program, as the program wishes (`PvmAutoErr`).
fn report(call: &str, number: c_int, text: &dyn std::fmt::Display) {
    let auto = session::option(session::AUTO_ERR);
    if auto != 0 {
        tell(format_args!("{call}(): {text}"));
    }
    match auto {
        2 => std::process::exit(number),
        3 => std::process::abort(),
        _ => {}
    }
}

/// A call that does not wait: its result, or the code of what went wrong.
#[inline]
pub(crate) fn call(name: &str, body: impl FnOnce() -> Result<c_int, Code>) -> c_int {
    inside(body).unwrap_or_else(|code| failed(name, code))
}

/// Like `call`, for a body that wants to know its thread.
#[inline]
pub(crate) fn call_here(name: &str, body: impl FnOnce(&Thread) -> Result<c_int, Code>) -> c_int {
    inside_of(body).unwrap_or_else(|code| failed(name, code))
}
