//! The calls by which a program tells its recorders about itself.

use std::ffi::c_char;

use super::number::{In, Out};
use super::text::{Length, input};
use crate::handle::probes::{neopvm_mark, neopvm_progress, neopvm_state};

/// `neopvmfmark`
///
/// # Safety
/// `name` has `length` characters; the others point to integers.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfmark_(name: *const c_char, number: In, info: Out, length: Length) {
    // SAFETY: Fortran passes the address of the text and its length.
    let name = unsafe { input(name, length) };
    // SAFETY: the name ends with 0.
    let status = unsafe { neopvm_mark(name.as_ptr(), number.value().into()) };
    info.put(status);
}

/// `neopvmfstate`; a blank name ends the state.
///
/// # Safety
/// `name` has `length` characters; `info` points to an integer.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfstate_(name: *const c_char, info: Out, length: Length) {
    // SAFETY: Fortran passes the address of the text and its length.
    let name = unsafe { input(name, length) };
    // SAFETY: the name ends with 0.
    let status = unsafe { neopvm_state(name.as_ptr()) };
    info.put(status);
}

/// `neopvmfprogress`
///
/// # Safety
/// `text` has `length` characters; the others point to integers.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvmfprogress_(
    text: *const c_char,
    done: In,
    total: In,
    info: Out,
    length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let text = unsafe { input(text, length) };
    let [done, total] = [done, total].map(|number| u64::try_from(number.value()).unwrap_or(0));
    // SAFETY: the text ends with 0.
    let status = unsafe { neopvm_progress(text.as_ptr(), done, total) };
    info.put(status);
}
