//! `pvm_getopt`, `pvm_setopt`, trace masks, and the variables that spawned tasks shall have.

use std::ffi::{OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use pvm_wire::request::Request;
use pvm_wire::{Blob, Code, Tid};

use crate::guard::call;
use crate::masks::{CHILD_MASK, MASK_LETTERS, OWN_MASK, mask, store_mask};
use crate::trace::traced;
use crate::{pointer, session};

/// `PvmNotImpl` in PVM's Unix library, too.
const POLL_TYPE: usize = 19;
const POLL_TIME: usize = 20;

/// Checks that PVM accepts a value. Values that PVM does not check are not checked here either.
fn check(number: usize, value: c_int) -> Result<(), Code> {
    let good = match number {
        session::ROUTE => (1..=3).contains(&value),
        4 | 6 => value == 0 || is_running(Tid::from_c_int(value))?,
        9 | 17 => (1..=3).contains(&value),
        session::FRAGMENT => (64..=1 << 20).contains(&value),
        POLL_TYPE | POLL_TIME | 23 | 24 => return Err(Code::NotImpl),
        _ => true,
    };
    if good { Ok(()) } else { Err(Code::BadParam) }
}

/// True for a task that could receive messages.
fn is_running(tid: Tid) -> Result<bool, Code> {
    let task = session::task()?;
    if !tid.is_task() || tid == task.tid() {
        return Ok(tid.is_task());
    }
    Ok(task.request(&Request::TaskStatus { tid }).is_ok())
}

fn number(option: c_int) -> Result<usize, Code> {
    let number = usize::try_from(option).map_err(|_| Code::BadParam)?;
    if (1..session::OPTIONS).contains(&number) { Ok(number) } else { Err(Code::BadParam) }
}

/// The value of an option.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getopt(option: c_int) -> c_int {
    traced!(GETOPT, pvm_getopt(option), [OPT: option], |r| [OPV: r]);
    call("pvm_getopt", || {
        let number = number(option)?;
        if matches!(number, POLL_TYPE | POLL_TIME) {
            return Err(Code::BadParam);
        }
        enrol_for(number)?;
        Ok(session::option(number))
    })
}

/// Options that a task inherits are known once it is one.
fn enrol_for(number: usize) -> Result<(), Code> {
    if matches!(number, 4..=9 | 12..=17 | 21..=25) { session::task().map(drop) } else { Ok(()) }
}

/// Changes an option and returns its old value.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setopt(option: c_int, value: c_int) -> c_int {
    traced!(SETOPT, pvm_setopt(option, value), [OPT: option, OPV: value], |r| [OPV: r]);
    call("pvm_setopt", || {
        let number = number(option)?;
        check(number, value)?;
        enrol_for(number)?;
        // Without a receiver there is no tag to send it with.
        if matches!(number, 13 | 15) && session::option(number - 1) <= 0 {
            return Ok(0);
        }
        let old = session::set_option(number, value);
        match number {
            session::ROUTE => {
                // A process that is no task yet says it when it becomes one.
                if let Some(task) = session::current() {
                    task.set_route(value)?;
                }
            }
            12 | 13 => {
                lead_children(number, value);
                session::announce_output(session::task()?)?;
            }
            14 | 15 => {
                lead_children(number, value);
                session::announce_trace(session::task()?)?;
            }
            16 | 17 => session::announce_trace(session::task()?)?,
            session::NO_RESET => {
                session::task()?.request(&Request::SetReset { reset: value == 0 })?;
            }
            _ => {}
        }
        Ok(old)
    })
}

/// A task that sets its own receiver or tag sets that of its children, too, and with the receiver
/// its context. How events are collected is not handed on.
fn lead_children(number: usize, value: c_int) {
    session::set_option(number - 8, value);
    match number {
        12 => drop(session::set_option(21, session::option(23))),
        14 => drop(session::set_option(22, session::option(24))),
        _ => {}
    }
}

fn whose(who: c_int) -> Result<usize, Code> {
    match who {
        0 => Ok(OWN_MASK),
        1 => Ok(CHILD_MASK),
        _ => Err(Code::BadParam),
    }
}

/// Writes the kinds of events that are traced.
///
/// # Safety
/// `out` has 36 characters.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_gettmask(who: c_int, out: *mut c_char) -> c_int {
    call("pvm_gettmask", || {
        let whose = whose(who)?;
        if out.is_null() {
            return Err(Code::BadParam);
        }
        session::task()?;
        let mut text = [0; MASK_LETTERS + 1];
        text[..MASK_LETTERS].copy_from_slice(&mask(whose));
        // SAFETY: not null, and it has 36 characters, as many as the text with its end mark.
        unsafe { pointer::store(out.cast(), text) };
        Ok(0)
    })
}

/// Changes which kinds of events are traced.
///
/// # Safety
/// `letters` ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_settmask(who: c_int, letters: *const c_char) -> c_int {
    call("pvm_settmask", || {
        let whose = whose(who)?;
        // SAFETY: `letters` is null or ends with 0, by the call's contract.
        let letters = unsafe { pointer::text(letters) }?;
        let task = session::task()?;
        store_mask(whose, letters);
        if whose == OWN_MASK {
            session::announce_trace(task)?;
        }
        Ok(0)
    })
}

const EXPORT: &str = "PVM_EXPORT";

/// The names in `PVM_EXPORT`.
fn exported() -> Vec<OsString> {
    let list = std::env::var_os(EXPORT).unwrap_or_default().into_vec();
    let names = list.split(|&c| c == b':').filter(|name| !name.is_empty());
    names.map(|name| OsStr::from_bytes(name).to_owned()).collect()
}

/// The variables that spawned tasks get on top of their daemon's environment: the variables named
/// by `PVM_EXPORT`, and that variable.
pub(crate) fn environment() -> Vec<Blob> {
    let names = exported();
    let mut all = Vec::new();
    for name in std::iter::once(OsString::from(EXPORT)).chain(names) {
        if let Some(value) = std::env::var_os(&name) {
            let mut setting = name.into_vec();
            setting.push(b'=');
            setting.extend(value.into_vec());
            all.push(Blob(setting));
        }
    }
    all
}

fn export(names: &[OsString]) {
    let list = names.join(OsStr::new(":"));
    // SAFETY: as with the C library's setenv, a program that reads its environment in another
    // thread at the same time must not call this.
    unsafe { std::env::set_var(EXPORT, list) };
}

/// Spawned tasks shall have this variable.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_export(name: *const c_char) -> c_int {
    call("pvm_export", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = OsStr::from_bytes(unsafe { pointer::text(name) }?);
        let mut names = exported();
        if !name.is_empty() && !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
            export(&names);
        }
        Ok(0)
    })
}

/// Spawned tasks need not have this variable.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_unexport(name: *const c_char) -> c_int {
    call("pvm_unexport", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = OsStr::from_bytes(unsafe { pointer::text(name) }?);
        let mut names = exported();
        let before = names.len();
        names.retain(|other| other != name);
        if names.len() != before {
            export(&names);
        }
        Ok(0)
    })
}
