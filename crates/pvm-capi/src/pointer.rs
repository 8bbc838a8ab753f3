//! Pointers that programs pass in.

use std::ffi::{CStr, c_char};

use pvm_wire::Code;

/// Writes an answer unless the program does not want it.
///
/// # Safety
/// `out` is null or points to memory for a `T`.
pub(crate) unsafe fn store<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not null, so it points to memory for a `T`; the write needs no alignment, which
        // Fortran may not have given.
        unsafe { out.write_unaligned(value) };
    }
}

/// Reads an argument that may be missing.
///
/// # Safety
/// `from` is null or points to a `T`.
pub(crate) unsafe fn load<T: Copy>(from: *const T) -> Option<T> {
    // SAFETY: not null, so it points to a `T`; the read needs no alignment, which Fortran may not
    // have given.
    (!from.is_null()).then(|| unsafe { from.read_unaligned() })
}

/// A text argument; null is an error.
///
/// # Safety
/// `text` is null or ends with 0, and stays for the time of the call.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a [u8], Code> {
    // SAFETY: `text` is null or ends with 0: this function asks its callers for it, too.
    unsafe { text_or_none(text) }.ok_or(Code::BadParam)
}

/// A text argument that may be missing.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn text_or_none<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: not null, so it ends with 0, and it stays for the time of the call.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// An array argument: null with a count above zero is an error, and so is a count that no memory
/// has.
///
/// # Safety
/// `items` is null or has `count` elements that stay for the time of the call.
pub(crate) unsafe fn array<'a, T>(items: *const T, count: usize) -> Result<&'a [T], Code> {
    match (items.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Code::BadParam),
        (_, count) if count > isize::MAX.unsigned_abs() / size_of::<T>().max(1) => {
            Err(Code::BadParam)
        }
        // SAFETY: not null, no larger than memory can be, so it has `count` elements, and they stay
        // for the time of the call.
        (false, count) => Ok(unsafe { std::slice::from_raw_parts(items, count) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A count of -1 that became the largest one ended the process in a debug build, and was
    /// undefined in others.
    #[test]
    fn a_count_that_no_memory_has_is_refused() {
        let item = 7_i32;
        // SAFETY: there is one item; the other counts are refused before anything is read.
        unsafe {
            assert_eq!(array(&raw const item, 1), Ok(&[7][..]));
            assert_eq!(array(&raw const item, usize::MAX), Err(Code::BadParam));
            assert_eq!(array(&raw const item, isize::MAX.unsigned_abs()), Err(Code::BadParam));
        }
    }
}
