//! The one door between C and Rust.
//!
//! Every exported function goes through here. No panic passes it; a signal handler that interrupted
//! the library and calls it again gets `PvmAlready` instead of a deadlock, except that its sends
//! are kept and done by the interrupted call when it leaves; a result below zero is kept in
//! `pvm_errno` and, if `PvmAutoErr` asks for it, told on standard error.
//!
//! A call that waits is a [`Task::until`] with a [`Patience`]: each look passes the door, the
//! sleep between two looks does not. At that moment no frame holds a lock or owns memory, so that
//! handlers may call the library and may leave with `longjmp`.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pvm::{Among, Awaited, Biased, Owner, Step, Task, WaitToken, Waiting, is_alone};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};

use crate::own::{Own, ThreadOwned as _};
use crate::say::{say, tell};
use crate::selection::Selection;
use crate::thread::{self, Parcel, Thread};
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

/// Like `inside`, for a body that wants to know its thread. A thread that was cancelled ends behind
/// it: the C library would unwind these frames where a descriptor is closed, and end the process
/// instead.
#[inline]
pub(crate) fn inside_of<T>(body: impl FnOnce(&Thread) -> Result<T, Code>) -> Result<T, Code> {
    // SAFETY: it stays as long as this thread does, and has no destructor.
    let thread = unsafe { &*thread::address() };
    let _inside = Inside::enter(thread)?;
    pvm::shielded(|| {
        catch_unwind(AssertUnwindSafe(|| body(thread))).unwrap_or_else(|_| Err(panicked()))
    })
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

/// A function of the program that takes a message by its buffer number.
pub(crate) type Function = unsafe extern "C" fn(c_int) -> c_int;

/// A function of the program that is to be called outside of the library, before the next look.
#[derive(Clone, Copy)]
pub(crate) struct Errand {
    /// The code that knows how to call it.
    pub(crate) run: fn(&Self),
    /// The function.
    pub(crate) function: Function,
    /// Its argument.
    pub(crate) argument: c_int,
    /// The messages for which the program has registered it; none for the library's own.
    pub(crate) wanted: Option<Selection>,
}

impl Errand {
    /// Calls it.
    pub(crate) fn run(self) {
        (self.run)(&self);
    }
}

/// The result of one look at the messages.
pub(crate) enum Look<T> {
    /// The call is done.
    Done(T),
    /// A message for a handler of the program: run it, then look again.
    Handler(Errand),
    /// Nothing has come yet.
    Nothing,
    /// Nothing has come yet; this token, made of the look's own, says what ends the sleep.
    Sleep(WaitToken),
    /// Something else has come in between: look again.
    Again,
}

impl<T> Look<T> {
    /// The outcome that `use_it` makes of what was found.
    pub(crate) fn and_then<U>(
        self,
        use_it: impl FnOnce(T) -> Result<U, Code>,
    ) -> Result<Look<U>, Code> {
        Ok(match self {
            Self::Done(found) => Look::Done(use_it(found)?),
            Self::Handler(due) => Look::Handler(due),
            Self::Nothing => Look::Nothing,
            Self::Sleep(token) => Look::Sleep(token),
            Self::Again => Look::Again,
        })
    }
}

/// The time limit of a call.
pub(crate) type Limit = pvm::Deadline;

/// Looks until something is found or the limit is over (`None`). `look` runs inside the library;
/// it owns nothing, so that the frame may be left by `longjmp` during the wait. A process that
/// leaves the machine meanwhile is told `PvmSysErr`; it does not become another task by waiting.
/// `source`: the only sender whose messages can be found, if there is but one.
pub(crate) fn wait_for<T>(
    limit: Limit,
    source: Option<Tid>,
    mut look: impl FnMut(&'static Task, Awaited) -> Result<Look<T>, Code>,
) -> Result<Option<T>, Code> {
    let mut awaited = Awaited::new(limit, source);
    look_until(Patience::by(limit), |task, token| {
        Ok(match look(task, awaited)? {
            Look::Nothing => Look::Sleep(awaited.narrow(task.tid(), token)),
            found => found,
        })
    })
}

/// [`Task::until`] for the task that the process is or becomes, with each look inside the library
/// and the program's handlers run between two looks.
pub(crate) fn look_until<T>(
    patience: Patience<'_>,
    mut look: impl FnMut(&'static Task, WaitToken) -> Result<Look<T>, Code>,
) -> Result<Option<T>, Code> {
    let task = inside(session::task)?;
    task.until(patience, |token| {
        let looked = inside(|| {
            check_task(task)?;
            look(task, token)
        })?;
        Ok(match looked {
            Look::Done(value) => Step::Done(value),
            Look::Nothing => Step::Sleep(token),
            Look::Sleep(token) => Step::Sleep(token),
            Look::Again => Step::Again,
            Look::Handler(due) => {
                due.run();
                Step::Again
            }
        })
    })
}

/// A thread that has waited. If it was cancelled in its wait, others do not wait for it.
struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(task) = session::current() {
            task.thread_ends();
        }
    }
}

thread_local! {
    static WAITS: Own<Option<Waits>> = const { Own::new() };
}

/// Checks that the process is still the task that has been waiting.
pub(crate) fn check_task(waiting: &Task) -> Result<(), Code> {
    let is_same = session::current().is_some_and(|task| std::ptr::eq(task, waiting));
    if is_same { Ok(()) } else { Err(Code::SysErr) }
}

/// The wait of a call for other tasks.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// It waits until then.
    pub(crate) limit: Limit,
    /// True once it gives up before.
    pub(crate) enough: &'a dyn Fn() -> bool,
}

impl Patience<'_> {
    /// Without an end.
    pub(crate) const FOR_EVER: Self = Self { limit: Limit::Never, enough: &|| false };

    /// Until a time limit.
    pub(crate) fn by(limit: Limit) -> Self {
        Self { limit, ..Self::FOR_EVER }
    }

    /// The patience for the last word about a question that was given up.
    pub(crate) fn last() -> Self {
        Self::by(Limit::after(LAST_WORD))
    }
}

impl<E: From<Code>> Waiting<E> for Patience<'_> {
    fn is_over(&self) -> bool {
        self.limit.passed() || (self.enough)()
    }

    fn sleep(&mut self, task: &Task, token: WaitToken) -> Result<(), E> {
        if !is_alone() {
            WAITS.kept(|waits| {
                waits.borrow_mut().get_or_insert(Waits);
            });
        }
        // The next look tells what has ended the sleep; only a lost daemon ends the wait.
        Ok(task.wait(token, self.limit).map(drop)?)
    }
}

/// A daemon that does not say within this what came of a question that was given up has failed.
const LAST_WORD: Duration = Duration::from_secs(60);

/// Asks the machine something that it may answer late: the wait is as that for a message.
pub(crate) fn ask(
    request: impl FnOnce(&'static Task) -> Result<Request, Code>,
) -> Result<Reply, Code> {
    ask_until(request, Patience::FOR_EVER)?.ok_or(Code::SysErr)
}

/// Like `ask`, for a caller that may give up: then none, unless the answer has brought something.
pub(crate) fn ask_until(
    request: impl FnOnce(&'static Task) -> Result<Request, Code>,
    patience: Patience<'_>,
) -> Result<Option<Reply>, Code> {
    let (task, id) = inside(|| {
        let task = session::task()?;
        Ok((task, task.ask(&request(task)?)?))
    })?;
    let look = |token| Ok(Step::of(inside(|| task.answer(id))?, token));
    if let Some(reply) = task.until(patience, look)? {
        return Ok(Some(reply));
    }
    inside(|| task.withdraw_question(id))?;
    match task.until(Patience::last(), look)?.ok_or(Code::SysErr)? {
        Reply::Withdrawn => Ok(None),
        reply => Ok(Some(reply)),
    }
}
