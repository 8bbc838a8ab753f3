//! The interface with handles, `neopvm.h`, on which the bindings stand.
//!
//! A handle is a number of the buffer table, so both interfaces can be mixed. No call prints, keeps
//! an error or has a current buffer; each answers a status.

mod buffers;
pub(crate) mod enrolment;
mod fast;
mod info;
mod items;
mod limits;
mod machine;
mod memory;
mod messages;
pub(crate) mod probes;
mod until;
mod waiting;

use std::ffi::{CStr, c_char, c_int};
use std::time::{Duration, Instant};

use pvm::Buffer;
use pvm_wire::{Code, Kind};

use crate::guard::inside;
use crate::pointer::store;
use crate::trace::noted;
use crate::waiting::Limit;
use crate::{buffer, globals, session};

/// `NEOPVM_INTERFACE`
const INTERFACE: i32 = 8;

/// The status of a call without an answer.
fn status(result: Result<(), Code>) -> i32 {
    result.map_or_else(Code::number, |()| 0)
}

/// Runs a call and puts its answer where the caller wants it.
///
/// # Safety
/// `out` points to a `T`.
unsafe fn answer<T>(out: *mut T, body: impl FnOnce() -> Result<T, Code>) -> i32 {
    status(inside(|| {
        if out.is_null() {
            return Err(Code::BadParam);
        }
        let value = body()?;
        // SAFETY: `out` is null or has room for the answer, by the call's contract.
        unsafe { store(out, value) };
        Ok(())
    }))
}

fn context(context: i32) -> Result<i32, Code> {
    // The context of a spawned task is known once it is enrolled.
    session::task()?;
    Ok(session::or_current(context))
}

fn size(number: u64) -> Result<usize, Code> {
    usize::try_from(number).map_err(|_| Code::BadParam)
}

fn kind(number: i32) -> Result<Kind, Code> {
    Kind::from_number(number).ok_or(Code::BadParam)
}

/// Runs `body` on the buffer of a handle.
fn with<T>(handle: i32, body: impl FnOnce(&mut Buffer) -> Result<T, Code>) -> Result<T, Code> {
    buffer::get(handle)?.with(body)?
}

/// The version of the interface.
#[unsafe(no_mangle)]
extern "C" fn neopvm_interface() -> i32 {
    INTERFACE
}

/// The text of a status.
#[unsafe(no_mangle)]
extern "C" fn neopvm_text(status: i32) -> *const c_char {
    let text: &CStr = if status >= 0 { c"Success" } else { globals::error_text(status) };
    text.as_ptr()
}

fn limit(nanoseconds: i64) -> Limit {
    match u64::try_from(nanoseconds) {
        Err(_) => Limit::Never,
        Ok(0) => Limit::Now,
        Ok(n) => {
            Instant::now().checked_add(Duration::from_nanos(n)).map_or(Limit::Never, Limit::At)
        }
    }
}

/// The descriptor to wait on.
///
/// # Safety
/// `descriptor` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_descriptor(descriptor: *mut c_int) -> i32 {
    noted!(unsafe NEOPVM_DESCRIPTOR, neopvm_descriptor(descriptor));
    // SAFETY: `descriptor` is null or has room for the answer, by the call's contract.
    unsafe { answer(descriptor, || session::task()?.descriptor()) }
}
