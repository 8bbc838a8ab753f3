//! Questions to the interpreter as a whole: which one this is, and to raise something later.

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};

/// False in a subinterpreter: classes and the task are those of the first one that asked.
#[pyfunction]
pub(crate) fn is_main_interpreter() -> bool {
    // SAFETY: called by the interpreter, whose thread state is this thread's; the main one has the
    // number 0.
    unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) == 0 }
}

/// An exception of a signal came too late for a call: what that has done stands, so it returns, and
/// the exception is raised behind it, as that of a signal which comes a moment later. Has the main
/// thread raise it, in which all signals are seen, before its next step of Python. The error again
/// if it cannot be kept for so long.
pub(crate) fn raise_later(raised: PyResult<()>) -> PyResult<()> {
    let Err(error) = raised else { return Ok(()) };
    let kept = Box::into_raw(Box::new(error));
    // SAFETY: `raise_now` is given this box once.
    if unsafe { ffi::Py_AddPendingCall(Some(raise_now), kept.cast()) } == 0 {
        return Ok(());
    }
    // SAFETY: there was no room for it, and nobody else has the box.
    Err(*unsafe { Box::from_raw(kept) })
}

extern "C" fn raise_now(kept: *mut c_void) -> c_int {
    // SAFETY: the box of `raise_later`, which comes back once.
    let error = unsafe { Box::from_raw(kept.cast::<PyErr>()) };
    // SAFETY: the interpreter calls this, in its main thread.
    error.restore(unsafe { Python::assume_attached() });
    -1
}
