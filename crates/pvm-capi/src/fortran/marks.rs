//! What a program says of itself to those who record it.

use std::ffi::{c_char, c_int};

use super::text::{Length, input};
use crate::handle::probes::{neopvm_mark, neopvm_progress, neopvm_state};
use crate::pointer::{load, store};

/// An integer that comes in, 0 for none.
///
/// # Safety
/// `number` is null or points to an int.
unsafe fn value(number: *const c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { load(number) }.unwrap_or(0)
}

/// `neopvmfmark`
///
/// # Safety
/// `name` has `length` characters; the others point to integers.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfmark_(
    name: *const c_char,
    number: *const c_int,
    info: *mut c_int,
    length: Length,
) {
    // SAFETY: the program's promise.
    let name = unsafe { input(name, length) };
    // SAFETY: as above; the name ends with 0.
    let status = unsafe { neopvm_mark(name.as_ptr(), value(number).into()) };
    // SAFETY: as above.
    unsafe { store(info, status) };
}

/// `neopvmfstate`; a blank name ends the state.
///
/// # Safety
/// `name` has `length` characters; `info` points to an integer.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfstate_(name: *const c_char, info: *mut c_int, length: Length) {
    // SAFETY: the program's promise.
    let name = unsafe { input(name, length) };
    // SAFETY: the name ends with 0.
    let status = unsafe { neopvm_state(name.as_ptr()) };
    // SAFETY: the program's promise.
    unsafe { store(info, status) };
}

/// `neopvmfprogress`
///
/// # Safety
/// `text` has `length` characters; the others point to integers.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfprogress_(
    text: *const c_char,
    done: *const c_int,
    total: *const c_int,
    info: *mut c_int,
    length: Length,
) {
    // SAFETY: the program's promise.
    let text = unsafe { input(text, length) };
    // SAFETY: as above.
    let [done, total] = [done, total].map(|number| unsafe { value(number) });
    let [done, total] = [done, total].map(|number| u64::try_from(number).unwrap_or(0));
    // SAFETY: the text ends with 0.
    let status = unsafe { neopvm_progress(text.as_ptr(), done, total) };
    // SAFETY: the program's promise.
    unsafe { store(info, status) };
}
