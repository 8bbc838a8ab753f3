//! Reduce, gather and scatter for Fortran.

use std::ffi::{c_char, c_void};

use super::number::{In, Out};
use super::text::{Length, input};
use crate::group::collective;

/// `pvmfreduce`: the operation is an EXTERNAL with C's arguments.
///
/// # Safety
/// As `pvm_reduce`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfreduce_(
    operation: Option<crate::reduction::Function>,
    data: *mut c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let group = unsafe { input(group, length) };
    let (count, kind, tag, root) = (count.value(), kind.value(), tag.value(), root.value());
    // SAFETY: the array has `count` items; the group is a C text.
    let result =
        unsafe { collective::pvm_reduce(operation, data, count, kind, tag, group.as_ptr(), root) };
    info.put(result);
}

/// `pvmfgather`
///
/// # Safety
/// As `pvm_gather`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfgather_(
    result: *mut c_void,
    data: *const c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let group = unsafe { input(group, length) };
    let (count, kind, tag, root) = (count.value(), kind.value(), tag.value(), root.value());
    // SAFETY: the root has room for all; the group is a C text.
    let code =
        unsafe { collective::pvm_gather(result, data, count, kind, tag, group.as_ptr(), root) };
    info.put(code);
}

/// `pvmfscatter`
///
/// # Safety
/// As `pvm_scatter`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfscatter_(
    result: *mut c_void,
    data: *const c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let group = unsafe { input(group, length) };
    let (count, kind, tag, root) = (count.value(), kind.value(), tag.value(), root.value());
    // SAFETY: the root has the items of all; the group is a C text.
    let code =
        unsafe { collective::pvm_scatter(result, data, count, kind, tag, group.as_ptr(), root) };
    info.put(code);
}
