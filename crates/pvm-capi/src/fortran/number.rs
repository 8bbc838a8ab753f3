//! Integers that Fortran passes, each by its address.

use std::ffi::c_int;

use crate::pointer::{load, store};

/// An integer that comes in.
///
/// A Fortran program makes it by calling a function of `fortran`; Rust code cannot, because the
/// address is private. So it is null or the address of an integer that stays for the time of the
/// call, as the description of the calls asks of the program, and to read it is safe.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct In(*const c_int);

impl In {
    /// The integer; 0 if there is none.
    pub(super) fn value(self) -> c_int {
        // SAFETY: null or the address of an integer: see the type.
        unsafe { load(self.0) }.unwrap_or(0)
    }
}

/// An integer that goes out, made as [`In`] is; some bring a value in, too.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out(*mut c_int);

impl Out {
    /// Gives the program its answer, unless it wants none.
    pub(super) fn put(self, value: c_int) {
        // SAFETY: null or the address of an integer: see the type.
        unsafe { store(self.0, value) };
    }

    /// The program's integer; 0 if there is none.
    pub(super) fn value(self) -> c_int {
        In(self.0).value()
    }

    /// For a C call that writes there.
    pub(super) fn address(self) -> *mut c_int {
        self.0
    }
}
