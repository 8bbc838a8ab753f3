//! This process as a task: enrolment, the current context, and the options.

use std::ffi::{OsString, c_int};
use std::os::unix::ffi::OsStringExt;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

use pvm::probes::EVENTS;
use pvm::{Forked, Gate, Task};
use pvm_wire::request::{Inherited, Request, Target, TraceOptions};
use pvm_wire::{Code, Tid};

use crate::globals;
use crate::masks::{CHILD_MASK, OWN_MASK, mask, store_mask};
use crate::{probe, thread};

/// The enrolled task; null before `pvm_mytid`, after `pvm_exit` and in the child of a fork.
static TASK: AtomicPtr<Task> = AtomicPtr::new(ptr::null_mut());
/// Held while enrolling, so that two threads become one task.
static ENROLLING: Gate<()> = Gate::new(());
static CONTEXT: AtomicI32 = AtomicI32::new(0);

/// `PvmRoute`
pub(crate) const ROUTE: usize = 1;
/// `PvmAllowDirect`, the value for a task that has set none.
const ALLOW_DIRECT: c_int = 2;
/// `PvmAutoErr`
pub(crate) const AUTO_ERR: usize = 3;
/// `PvmOutputTid`
pub(crate) const OUTPUT_TID: usize = 4;
/// `PvmOutputCode`
pub(crate) const OUTPUT_TAG: usize = 5;
const TRACE_TID: usize = 6;
const TRACE_TAG: usize = 7;
const TRACE_BUFFER: usize = 8;
const TRACE_OPTIONS: usize = 9;
/// `PvmFragSize`
pub(crate) const FRAGMENT: usize = 10;
const DEFAULT_FRAGMENT: c_int = 4080;
/// `PvmResvTids`
pub(crate) const RESERVED: usize = 11;
/// `PvmSelfOutputTid`; the codes and options of the task itself follow.
pub(crate) const OWN_OUTPUT_TID: usize = 12;
const OWN_OUTPUT_TAG: usize = 13;
const OWN_TRACE_TID: usize = 14;
const OWN_TRACE_TAG: usize = 15;
/// `PvmSelfTraceBuffer`
pub(crate) const OWN_TRACE_BUFFER: usize = 16;
/// `PvmSelfTraceOptions`
pub(crate) const OWN_TRACE_OPTIONS: usize = 17;
/// `PvmShowTids`
pub(crate) const SHOW_TIDS: usize = 18;
/// `PvmOutputContext`
pub(crate) const OUTPUT_CONTEXT: usize = 21;
const TRACE_CONTEXT: usize = 22;
const OWN_OUTPUT_CONTEXT: usize = 23;
const OWN_TRACE_CONTEXT: usize = 24;
/// `PvmNoReset`
pub(crate) const NO_RESET: usize = 25;
/// One more than the last number.
pub(crate) const OPTIONS: usize = 26;

/// The options by PVM's numbers.
static VALUES: [AtomicI32; OPTIONS] = {
    let mut values = [const { AtomicI32::new(0) }; OPTIONS];
    values[ROUTE] = AtomicI32::new(2);
    values[AUTO_ERR] = AtomicI32::new(1);
    values[FRAGMENT] = AtomicI32::new(DEFAULT_FRAGMENT);
    values[SHOW_TIDS] = AtomicI32::new(1);
    values
};

/// The value of an option.
pub(crate) fn option(number: usize) -> c_int {
    VALUES[number].load(Ordering::Relaxed)
}

/// Sets an option and the datum that mirrors it, and returns the old value.
pub(crate) fn set_option(number: usize, value: c_int) -> c_int {
    let old = VALUES[number].swap(value, Ordering::Relaxed);
    mirror();
    old
}

/// The context of `pvm_send` and `pvm_recv`.
#[inline]
pub(crate) fn context() -> c_int {
    CONTEXT.load(Ordering::Relaxed)
}

/// The context that a number means: -1 is the current one.
#[inline]
pub(crate) fn or_current(number: c_int) -> c_int {
    if number == -1 { context() } else { number }
}

/// Changes it and returns the old one.
pub(crate) fn set_context(context: c_int) -> c_int {
    let old = CONTEXT.swap(context, Ordering::Relaxed);
    mirror();
    old
}

/// The task if the process is one.
#[inline]
pub(crate) fn current() -> Option<&'static Task> {
    // SAFETY: tasks are leaked, so a pointer that was stored stays valid.
    unsafe { TASK.load(Ordering::Acquire).as_ref() }
}

/// The task; enrols first if need be. An enrolled task that lost its daemon stays what it is, and
/// its calls tell so.
#[inline]
pub(crate) fn task() -> Result<&'static Task, Code> {
    match current() {
        Some(task) => Ok(task),
        None => enrol(),
    }
}

/// False once a runtime has left by `neopvm_leave`.
static MAY_ENROL: AtomicBool = AtomicBool::new(true);

/// Says whether calls make this process a task, as all of PVM's do.
pub(crate) fn may_enrol(may: bool) {
    MAY_ENROL.store(may, Ordering::Release);
}

#[cold]
fn enrol() -> Result<&'static Task, Code> {
    let _enrolling = ENROLLING.enter()?;
    if let Some(task) = current() {
        return Ok(task);
    }
    if !MAY_ENROL.load(Ordering::Acquire) {
        return Err(Code::SysErr);
    }
    let task = Task::enrol(&program(), option(NO_RESET) == 0)?;
    watch_forks();
    adopt(&task.welcome().inherited);
    if option(ROUTE) != ALLOW_DIRECT {
        task.set_route(option(ROUTE))?;
    }
    TASK.store(ptr::from_ref(task).cast_mut(), Ordering::Release);
    settle_tracing(task);
    probe::follow(Some(task.probe_word()));
    mirror();
    Ok(task)
}

/// The destination and form of this task's trace events.
pub(crate) struct Tracing {
    /// The task whose events they are.
    pub(crate) own: Tid,
    /// The task that gets them.
    pub(crate) to: Tid,
    pub(crate) context: c_int,
    pub(crate) tag: c_int,
    /// Bytes that are collected before they are sent.
    pub(crate) buffer: c_int,
    /// `PvmTraceFull` 1 (or 0), `PvmTraceTime` 2, `PvmTraceCount` 3.
    pub(crate) options: c_int,
}

/// The destination of this task's events; none if no tracer wants them.
pub(crate) fn tracing() -> Option<Tracing> {
    let own = current()?.tid();
    let Target { tid: to, context, tag } = target(OWN_TRACE_TID, OWN_TRACE_CONTEXT, OWN_TRACE_TAG);
    let (buffer, options) = (option(OWN_TRACE_BUFFER), option(OWN_TRACE_OPTIONS));
    to.is_task().then_some(Tracing { own, to, context, tag, buffer, options })
}

/// True if the tracer wants to know of this kind of event.
pub(crate) fn is_traced(kind: u16) -> bool {
    let letter = mask(OWN_MASK).get(usize::from(kind) / 4).copied().unwrap_or(0);
    letter & 1 << (kind & 3) != 0
}

/// Calls look further only if this task's events are wanted.
fn settle_tracing(task: &Task) {
    if tracing_of(task) {
        task.probe_word().fetch_or(EVENTS, Ordering::Relaxed);
    } else {
        task.probe_word().fetch_and(!EVENTS, Ordering::Relaxed);
    }
}

fn tracing_of(task: &Task) -> bool {
    let to = Tid(option(OWN_TRACE_TID).cast_unsigned());
    to.is_task() && mask(OWN_MASK).iter().any(|letter| letter & 0xf != 0) && task.is_alive()
}

/// `pvm_exit`
pub(crate) fn leave(task: &Task) -> Result<(), Code> {
    TASK.store(ptr::null_mut(), Ordering::Release);
    probe::follow(None);
    set_option(FRAGMENT, DEFAULT_FRAGMENT);
    task.leave()
}

/// The name that the program has given itself.
static NAME: Gate<Vec<u8>> = Gate::new(Vec::new());

/// Names the program before it is a task; a task has its name for good.
pub(crate) fn set_program(name: &[u8]) -> Result<(), Code> {
    if current().is_some() {
        return Err(Code::Exists);
    }
    *NAME.enter()? = name.to_vec();
    Ok(())
}

pub(crate) fn reset_name_after_fork(forked: &Forked) {
    NAME.reset_after_fork(forked, Vec::new);
}

/// The name of the program: its own, or as it was called.
fn program() -> Vec<u8> {
    let own = NAME.enter().map_or_else(|_| Vec::new(), |name| name.clone());
    if !own.is_empty() {
        return own;
    }
    std::env::args_os().next().map(OsString::into_vec).unwrap_or_default()
}

/// Takes over what the parent handed on.
fn adopt(inherited: &Inherited) {
    static ADOPTED: AtomicBool = AtomicBool::new(false);
    // As in PVM a process that was a task before is still in the context that it was in.
    if !ADOPTED.swap(true, Ordering::Relaxed) {
        CONTEXT.store(inherited.context, Ordering::Relaxed);
    }
    let (output, trace) = (&inherited.output, &inherited.trace);
    for (number, value) in [
        (OUTPUT_TID, output.tid.0.cast_signed()),
        (OUTPUT_CONTEXT, output.context),
        (OUTPUT_TAG, output.tag),
        (OWN_OUTPUT_TID, output.tid.0.cast_signed()),
        (OWN_OUTPUT_CONTEXT, output.context),
        (OWN_OUTPUT_TAG, output.tag),
        (TRACE_TID, trace.target.tid.0.cast_signed()),
        (TRACE_CONTEXT, trace.target.context),
        (TRACE_TAG, trace.target.tag),
        (TRACE_BUFFER, trace.buffer),
        (TRACE_OPTIONS, trace.options),
        (OWN_TRACE_TID, trace.target.tid.0.cast_signed()),
        (OWN_TRACE_CONTEXT, trace.target.context),
        (OWN_TRACE_TAG, trace.target.tag),
        (OWN_TRACE_BUFFER, trace.buffer),
        (OWN_TRACE_OPTIONS, trace.options),
    ] {
        VALUES[number].store(value, Ordering::Relaxed);
    }
    for whose in [OWN_MASK, CHILD_MASK] {
        store_mask(whose, &inherited.trace.mask.0);
    }
}

/// The settings that tasks spawned now inherit.
pub(crate) fn inherited() -> Inherited {
    let (output, trace) = settings_of_children();
    Inherited { context: context(), output, trace }
}

fn target(tid: usize, context: usize, tag: usize) -> Target {
    Target { tid: Tid(option(tid).cast_unsigned()), context: option(context), tag: option(tag) }
}

fn settings_of_children() -> (Target, TraceOptions) {
    let trace = TraceOptions {
        target: target(TRACE_TID, TRACE_CONTEXT, TRACE_TAG),
        buffer: option(TRACE_BUFFER),
        options: option(TRACE_OPTIONS),
        mask: mask(CHILD_MASK).to_vec().into(),
    };
    (target(OUTPUT_TID, OUTPUT_CONTEXT, OUTPUT_TAG), trace)
}

/// Tells the daemon where this task's own output goes.
pub(crate) fn announce_output(task: &Task) -> Result<(), Code> {
    let output = target(OWN_OUTPUT_TID, OWN_OUTPUT_CONTEXT, OWN_OUTPUT_TAG);
    task.request(&Request::SetOutput { output }).map(drop)
}

/// Sets the task, the context and the tag to which events go, of this task and of those that it
/// spawns.
pub(crate) fn lead_events([tid, context, tag]: [c_int; 3]) {
    set_all([(OWN_TRACE_TID, tid), (OWN_TRACE_CONTEXT, context), (OWN_TRACE_TAG, tag)]);
    set_all([(TRACE_TID, tid), (TRACE_CONTEXT, context), (TRACE_TAG, tag)]);
}

/// Like `lead_events`, for output.
pub(crate) fn lead_output([tid, context, tag]: [c_int; 3]) {
    set_all([(OWN_OUTPUT_TID, tid), (OWN_OUTPUT_CONTEXT, context), (OWN_OUTPUT_TAG, tag)]);
    set_all([(OUTPUT_TID, tid), (OUTPUT_CONTEXT, context), (OUTPUT_TAG, tag)]);
}

fn set_all(options: [(usize, c_int); 3]) {
    for (number, value) in options {
        set_option(number, value);
    }
}

/// Tells the daemon where this task's own traces go.
pub(crate) fn announce_trace(task: &Task) -> Result<(), Code> {
    settle_tracing(task);
    let trace = TraceOptions {
        target: target(OWN_TRACE_TID, OWN_TRACE_CONTEXT, OWN_TRACE_TAG),
        buffer: option(OWN_TRACE_BUFFER),
        options: option(OWN_TRACE_OPTIONS),
        mask: mask(OWN_MASK).to_vec().into(),
    };
    task.request(&Request::SetTrace { tid: task.tid(), trace }).map(drop)
}

/// Writes the exported data that mirror the state; nothing is read back from them.
fn mirror() {
    let task = current();
    let tid = task.map_or(-1, |task| task.tid().0.cast_signed());
    let parent = task.map_or(-1, |task| task.welcome().parent);
    let enrolled_pid =
        task.map_or(-1, |_| c_int::try_from(std::process::id()).unwrap_or(c_int::MAX));
    let ints = [
        (&raw mut globals::pvmmytid, tid),
        (&raw mut globals::pvmmyptid, parent),
        (&raw mut globals::pvmmyupid, enrolled_pid),
        (&raw mut globals::pvmmyctx, context()),
        (&raw mut globals::pvmmydsig, globals::DATA_SIGNATURE),
        (&raw mut globals::pvmautoerr, option(AUTO_ERR)),
        (&raw mut globals::pvmrouteopt, option(ROUTE)),
        (&raw mut globals::pvmfrgsiz, option(FRAGMENT)),
        (&raw mut globals::pvmdebmask, option(2)),
        (&raw mut globals::pvmshowtaskid, option(SHOW_TIDS)),
        (&raw mut globals::pvmnoreset, option(NO_RESET)),
        (&raw mut globals::pvmrescode, option(RESERVED)),
    ];
    for (datum, value) in ints {
        // SAFETY: each is an exported int, always valid; C reads them as it likes.
        unsafe { datum.write_volatile(value) };
    }
}

unsafe extern "C" {
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        in_parent: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
    /// In `shim/threads.c`, which says why.
    static _neopvm_thread_functions: [usize; 1];
}

unsafe extern "Rust" {
    /// In `forks.rs`: every room above this one forgets what was its parent's.
    safe fn _neopvm_forget_in_child(forked: &Forked);
}

fn watch_forks() {
    static WATCHING: AtomicBool = AtomicBool::new(false);
    if !WATCHING.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler is a function of this library, which is never unloaded while the
        // program forks.
        unsafe { pthread_atfork(None, None, Some(after_fork)) };
        std::hint::black_box(&raw const _neopvm_thread_functions);
    }
}

/// After a fork the child is no task: it may enrol as one of its own.
extern "C" fn after_fork() {
    TASK.store(ptr::null_mut(), Ordering::Release);
    probe::follow(None);
    let is_torn = thread::reset_after_fork();
    // SAFETY: the C library calls this in the child of a fork, whose only thread it is.
    let forked = unsafe { Forked::now(is_torn) };
    ENROLLING.reset_after_fork(&forked, || ());
    may_enrol(true);
    pvm::after_fork();
    _neopvm_forget_in_child(&forked);
    mirror();
}

/// An answer of the machine that does not fit its question.
pub(crate) fn unexpected() -> Code {
    Code::DSysErr
}
