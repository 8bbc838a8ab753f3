//! This task and others: their ids, spawn, kill, notices.

mod notices;
mod spawning;

use std::ffi::{c_char, c_int};

use pvm::{Forked, Gate};
use pvm_wire::request::Request;
use pvm_wire::{Code, Tid};

use crate::guard::{call, failed, inside};
use crate::own::{Own, ThreadOwned as _};
use crate::say::{say, who};
use crate::trace::{self, list_at, traced};
use crate::{buffer, globals, handler, held, output, pointer, registry, session, tuple};

pub(crate) use notices::{Notice, notify, pvm_notify};
pub(crate) use spawning::{Spawn, arguments, pvm_spawn, spawn, spawn_until, started};

/// This task's id; the process becomes a task if it is none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_mytid() -> c_int {
    if !crate::guard::is_inside() {
        if session::current().is_none() {
            session::may_enrol(true);
        }
        trace::enrol_first();
    }
    traced!(MYTID, pvm_mytid(), [], |r| [MT: r]);
    // Handlers ask this at any time; the answer needs no lock.
    if let Some(task) = session::current() {
        return task.tid().as_c_int();
    }
    call("pvm_mytid", || Ok(session::task()?.tid().as_c_int()))
}

/// The task that spawned this one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_parent() -> c_int {
    trace::enrol_first();
    traced!(PARENT, pvm_parent(), [], |r| [PT: r]);
    let parent = call("pvm_parent", || {
        let parent = session::task()?.welcome().parent;
        Ok(if parent == 0 { Code::NoParent.number() } else { parent })
    });
    if let Some(code) = Code::from_number(parent) {
        globals::note_error(code.number());
    }
    parent
}

/// Leaves the machine; the process goes on. Caught output is printed to its end first.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_exit() -> c_int {
    traced!(EXIT, pvm_exit(), [], |r| [CC: r]);
    if session::current().is_none() {
        return 0;
    }
    trace::flush();
    handler::run_all();
    let begun = inside(|| session::current().map_or(Ok(()), output::wait_for_end));
    // A daemon that is gone ends the waiting, and the exit tells so.
    let drained = begun.and_then(|()| output::drain());
    let left = leave();
    match drained.and(left) {
        Ok(()) => 0,
        Err(code) => failed("pvm_exit", code),
    }
}

/// Leaves the machine if the process is in it; handlers and the messages held for matching are
/// forgotten.
pub(crate) fn leave() -> Result<(), Code> {
    inside(|| {
        if let Some(task) = session::current() {
            tuple::farewell(task);
            buffer::sign_all(task.tid());
        }
        let left = session::current().map_or(Ok(()), session::leave);
        handler::forget_all();
        let forgotten = held::forget_all();
        // The buffer stays, but it is not the one that is read any more.
        buffer::set_receiving(0, None);
        left.and(forgotten)
    })
}

/// Tells the last result below zero.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_perror(text: *const c_char) -> c_int {
    call("pvm_perror", || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { pointer::text_or_none(text) };
        let mut line = format!("libpvm {}: ", who()).into_bytes();
        line.extend_from_slice(text.unwrap_or(b"(null)"));
        line.extend_from_slice(b": ");
        line.extend_from_slice(globals::error_text(last_error()).to_bytes());
        line.push(b'\n');
        say(&line);
        Ok(0)
    })
}

fn last_error() -> c_int {
    // SAFETY: an int that is always valid.
    unsafe { (&raw const globals::pvm_errno).read_volatile() }
}

/// The text of the last result below zero.
#[unsafe(no_mangle)]
extern "C" fn pvm_strerror() -> *mut c_char {
    globals::error_text(last_error()).as_ptr().cast_mut()
}

/// The version that this library stands in for.
#[unsafe(no_mangle)]
extern "C" fn pvm_version() -> *mut c_char {
    c"3.4.6".as_ptr().cast_mut()
}

/// The host part of an id.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_tidtohost(tid: c_int) -> c_int {
    tid & 0x3ffc_0000
}

thread_local! {
    /// The list that the last `pvm_siblings` of this thread returned.
    static SIBLINGS: Own<Vec<c_int>> = const { Own::new() };
}

/// The siblings that this process was started with, in place of those that its daemon names.
static TOLD_SIBLINGS: Gate<Vec<c_int>> = Gate::new(Vec::new());

/// From now on these are the tasks that were spawned together with this one.
pub(crate) fn set_siblings(tids: Vec<c_int>) -> Result<(), Code> {
    *TOLD_SIBLINGS.enter()? = tids;
    Ok(())
}

/// The child of a fork was not spawned.
pub(crate) fn reset_after_fork(forked: &Forked) {
    TOLD_SIBLINGS.reset_after_fork(forked, Vec::new);
    let _ = set_siblings(Vec::new());
}

/// The tasks that were spawned together with this one, itself included.
pub(crate) fn siblings() -> Result<Vec<c_int>, Code> {
    let task = session::task()?;
    let told = TOLD_SIBLINGS.enter()?;
    if !told.is_empty() {
        return Ok(told.clone());
    }
    drop(told);
    let listed = &task.welcome().siblings;
    if listed.is_empty() {
        return Ok(vec![task.tid().as_c_int()]);
    }
    Ok(listed.iter().map(|tid| tid.as_c_int()).collect())
}

/// The tasks that were spawned together with this one, itself included.
///
/// # Safety
/// `tids` is null or points to a pointer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_siblings(tids: *mut *const c_int) -> c_int {
    traced!(unsafe SIBLINGS, pvm_siblings(tids), [], |r| [SIB: list_at(tids, r)]);
    call("pvm_siblings", || {
        let listed = siblings()?;
        let count = c_int::try_from(listed.len()).map_err(|_| Code::Overflow)?;
        let list = SIBLINGS.kept(|list| {
            *list.borrow_mut() = listed;
            list.borrow().as_ptr()
        });
        // SAFETY: `tids` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(tids, list) };
        Ok(count)
    })
}

/// Sends a signal to a task.
pub(crate) fn signal(tid: c_int, signal: c_int) -> Result<c_int, Code> {
    let tid = Tid::from_c_int(tid);
    if !tid.may_be_task() {
        return Err(Code::BadParam);
    }
    match session::task()?.request(&Request::Signal { tid, signal }) {
        // As in PVM, it is not reported that the task does not exist.
        Ok(_) | Err(Code::NoTask) => Ok(0),
        Err(code) => Err(code),
    }
}

/// Ends a task.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_kill(tid: c_int) -> c_int {
    traced!(KILL, pvm_kill(tid), [TT: tid], |r| [CC: r]);
    call("pvm_kill", || signal(tid, 15))
}

/// Sends a signal to a task.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_sendsig(tid: c_int, number: c_int) -> c_int {
    traced!(SENDSIG, pvm_sendsig(tid, number), [TT: tid, SN: number], |r| [CC: r]);
    call("pvm_sendsig", || signal(tid, number))
}

/// `PvmOk` if a task runs.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pstat(tid: c_int) -> c_int {
    traced!(PSTAT, pvm_pstat(tid), [TT: tid], |r| [TST: r]);
    call("pvm_pstat", || {
        let tid = Tid::from_c_int(tid);
        if !tid.may_be_task() {
            return Err(Code::BadParam);
        }
        session::task()?.request(&Request::TaskStatus { tid })?;
        Ok(0)
    })
}

thread_local! {
    /// The list that the last `pvm_getnoresets` of this thread returned.
    static SPARED: Own<Vec<c_int>> = const { Own::new() };
}

/// The tasks that a reset spares.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getnoresets(tids: *mut *const c_int, count: *mut c_int) -> c_int {
    call("pvm_getnoresets", || {
        let spared: Vec<c_int> = registry::list(b"###_PVM_NO_RESET_###")?
            .iter()
            .flat_map(|class| class.entries.iter().map(|entry| entry.owner.as_c_int()))
            .collect();
        let number = c_int::try_from(spared.len()).map_err(|_| Code::Overflow)?;
        let list = SPARED.kept(|list| {
            *list.borrow_mut() = spared;
            list.borrow().as_ptr()
        });
        // SAFETY: `tids` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(tids, list) };
        // SAFETY: `count` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(count, number) };
        Ok(0)
    })
}
