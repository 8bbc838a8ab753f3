//! The calls of `neopvm.h` for programs that wait for others, and may not want to wait for ever.

use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering};

use pvm_wire::Code;

use super::{answer, limit, machine, status};
use crate::guard::inside;
use crate::pointer::{store, text};
use crate::trace::noted;
use crate::waiting::{Limit, Patience};
use crate::{buffer, group, process, registry, session};

/// The caller's word that is not 0 any more once it gives up; one that is always 0 where there is
/// none.
///
/// # Safety
/// `word` is null, or points to a number that lives for as long as the call and is written
/// atomically.
unsafe fn word<'a>(word: *const i32) -> &'a AtomicI32 {
    static NEVER: AtomicI32 = AtomicI32::new(0);
    if word.is_null() {
        return &NEVER;
    }
    // SAFETY: not null, it lives for as long as the call and is written atomically; here it is only
    // read.
    unsafe { AtomicI32::from_ptr(word.cast_mut()) }
}

/// Waits with the patience of a caller that gives up by its word, or at the limit.
///
/// # Safety
/// `give_up` as for [`word`].
unsafe fn patiently<T>(
    limit: Limit,
    give_up: *const i32,
    wait: impl FnOnce(Patience<'_>) -> Result<T, Code>,
) -> Result<T, Code> {
    // SAFETY: `give_up` is null or lives for as long as the call: this function asks its callers
    // for it, too.
    let word = unsafe { word(give_up) };
    wait(Patience { limit, enough: &|| word.load(Ordering::Acquire) != 0 })
}

/// Gets the message under a name, or none in time.
///
/// # Safety
/// `name` is null or ends with 0; `give_up` as for [`word`]; `buffer` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_get_until(
    name: *const c_char,
    index: i32,
    flags: i32,
    limit_ns: i64,
    give_up: *const i32,
    buffer: *mut i32,
) -> i32 {
    noted!(
        unsafe NEOPVM_GET_UNTIL,
        neopvm_get_until(name, index, flags, limit_ns, give_up, buffer)
    );
    if buffer.is_null() {
        return Code::BadParam.number();
    }
    let wait = |patience: Patience<'_>| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        registry::receive_until(|| unsafe { text(name) }, (index, flags), patience)
    };
    // SAFETY: `give_up` is null or lives for as long as the call, and is written atomically.
    let received = unsafe { patiently(limit(limit_ns), give_up, wait) };
    // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
    unsafe {
        answer(buffer, || match received? {
            Some((message, _)) => buffer::insert_received(message),
            None => Ok(0),
        })
    }
}

/// Waits until `count` members have called, or the caller gives up.
///
/// # Safety
/// `name` is null or ends with 0; `give_up` as for [`word`]; `met` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_barrier_until(
    name: *const c_char,
    count: i32,
    limit_ns: i64,
    give_up: *const i32,
    met: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_BARRIER_UNTIL, neopvm_barrier_until(name, count, limit_ns, give_up, met));
    let wait = |patience: Patience<'_>| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        group::barrier_until(|| unsafe { group::group_name(name) }, count, patience)
    };
    // SAFETY: `give_up` is null or lives for as long as the call, and is written atomically.
    let waited = unsafe { patiently(limit(limit_ns), give_up, wait) };
    status(waited.and_then(|is_met| {
        inside(|| {
            // SAFETY: `met` is null or has room for the answer, by the call's contract.
            unsafe { store(met, i32::from(is_met)) };
            Ok(())
        })
    }))
}

/// Starts programs, or gives up: then `started` is -1, and none of them runs.
///
/// # Safety
/// As for [`super::machine::wish`] and [`super::machine::told`]; `give_up` as for [`word`].
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_spawn_until(
    program: *const c_char,
    args: *const *const c_char,
    flags: i32,
    place: *const c_char,
    count: i32,
    give_up: *const i32,
    outcomes: *mut i32,
    started: *mut i32,
) -> i32 {
    noted!(
        unsafe NEOPVM_SPAWN_UNTIL,
        neopvm_spawn_until(program, args, flags, place, count, give_up, outcomes, started)
    );
    // SAFETY: the texts are null or end with 0, and live until this call returns; the wish is used
    // before.
    let wish = || unsafe { machine::wish(program, args, flags, place, count) };
    let wait = |patience: Patience<'_>| process::spawn_until(wish, patience);
    // SAFETY: `give_up` is null or lives for as long as the call, and is written atomically.
    let spawned = unsafe { patiently(Limit::Never, give_up, wait) };
    status(spawned.and_then(|results| {
        inside(|| match results {
            // SAFETY: `outcomes` has `count` elements, one for each result, and `started` is null
            // or a number's.
            Some(results) => unsafe { machine::told(&results, outcomes, started) },
            None => {
                // SAFETY: `started` is null or has room for the answer, by the call's contract.
                unsafe { store(started, -1) };
                Ok(())
            }
        })
    }))
}

/// Waits until `size` members want the group frozen, or the caller gives up: then `members` is -1.
///
/// # Safety
/// `name` is null or ends with 0; `give_up` as for [`word`]; `members` is null or points to a
/// number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_freeze_until(
    name: *const c_char,
    size: i32,
    give_up: *const i32,
    members: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_FREEZE_UNTIL, neopvm_freeze_until(name, size, give_up, members));
    let wait = |patience: Patience<'_>| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        group::freeze_until(|| unsafe { group::group_name(name) }, size, patience)
    };
    // SAFETY: `give_up` is null or lives for as long as the call, and is written atomically.
    let frozen = unsafe { patiently(Limit::Never, give_up, wait) };
    status(frozen.and_then(|frozen| {
        inside(|| {
            // SAFETY: `members` is null or has room for the answer, by the call's contract.
            unsafe { store(members, frozen.unwrap_or(-1)) };
            Ok(())
        })
    }))
}

/// Ends every sleep of this task's threads: those that wait look whether they are to give up.
#[unsafe(no_mangle)]
extern "C" fn neopvm_wake() -> i32 {
    noted!(NEOPVM_WAKE, neopvm_wake());
    status(inside(|| session::current().ok_or(Code::SysErr).map(pvm::Task::nudge)))
}
