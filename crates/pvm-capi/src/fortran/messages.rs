//! Messages for Fortran: packing, sending and receiving with arrays.

use std::ffi::{c_int, c_long, c_void};

use super::number::{In, Out};
use crate::guard::call;
use crate::message::{bulk, receiving, sending};
use crate::{buffer, pack};

/// `pvmfbufinfo`
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfbufinfo_(bufid: In, bytes: Out, tag: Out, tid: Out, info: Out) {
    // SAFETY: each is null or the address of an integer: see `Out`.
    let result = unsafe {
        buffer::pvm_bufinfo(bufid.value(), bytes.address(), tag.address(), tid.address())
    };
    info.put(result);
}

/// Types of `pvmfpack` and `pvmfunpack`: PVM's numbers, where 0 is characters.
macro_rules! typed {
    ($what:expr, $count:expr, $stride:expr, $items:expr, $($kind:literal => $call:ident),*) => {
        match $what {
            // SAFETY: the program has `$count` items of this kind, `$stride` apart.
            $($kind => unsafe { pack::$call($items.cast(), $count, $stride) },)*
            _ => call("pvmfpack", || Err(pvm_wire::Code::BadParam)),
        }
    };
}

/// `pvmfpack`
///
/// # Safety
/// The arguments point to integers, `items` to the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfpack_(
    what: In,
    items: *const c_void,
    count: In,
    stride: In,
    info: Out,
) {
    let (what, count, stride) = (what.value(), count.value(), stride.value());
    let result = typed!(what, count, stride, items,
        0 => pvm_pkbyte, 1 => pvm_pkbyte, 2 => pvm_pkshort, 3 => pvm_pkint, 4 => pvm_pkfloat,
        5 => pvm_pkcplx, 6 => pvm_pkdouble, 7 => pvm_pkdcplx, 8 => pvm_pklong);
    info.put(result);
}

/// `pvmfunpack`
///
/// # Safety
/// The arguments point to integers, `items` to room for the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfunpack_(
    what: In,
    items: *mut c_void,
    count: In,
    stride: In,
    info: Out,
) {
    let (what, count, stride) = (what.value(), count.value(), stride.value());
    let result = typed!(what, count, stride, items,
        0 => pvm_upkbyte, 1 => pvm_upkbyte, 2 => pvm_upkshort, 3 => pvm_upkint,
        4 => pvm_upkfloat, 5 => pvm_upkcplx, 6 => pvm_upkdouble, 7 => pvm_upkdcplx,
        8 => pvm_upklong);
    info.put(result);
}

/// `pvmfmcast`
///
/// # Safety
/// The arguments point to integers, `tids` to `count` of them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfmcast_(count: In, tids: *const c_int, tag: In, info: Out) {
    // SAFETY: `tids` is null or has `count` ids, as pvmfmcast asks.
    let result = unsafe { sending::pvm_mcast(tids, count.value(), tag.value()) };
    info.put(result);
}

/// `pvmfpsend`
///
/// # Safety
/// The arguments point to integers, `items` to the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfpsend_(
    tid: In,
    tag: In,
    items: *const c_void,
    count: In,
    kind: In,
    info: Out,
) {
    let (tid, tag, count, kind) = (tid.value(), tag.value(), count.value(), kind.value());
    // SAFETY: the program has `count` items of this kind.
    let result = unsafe { bulk::pvm_psend(tid, tag, items, count, kind) };
    info.put(result);
}

/// `pvmfprecv`
///
/// # Safety
/// The arguments point to integers, `items` to room for the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfprecv_(
    tid: In,
    tag: In,
    items: *mut c_void,
    count: In,
    kind: In,
    from_tid: Out,
    from_tag: Out,
    length: Out,
    info: Out,
) {
    let (tid, tag, count, kind) = (tid.value(), tag.value(), count.value(), kind.value());
    // SAFETY: the program has room for `count` items, and for the answers.
    let result = unsafe {
        bulk::pvm_precv(
            tid,
            tag,
            items,
            count,
            kind,
            from_tid.address(),
            from_tag.address(),
            length.address(),
        )
    };
    info.put(result);
}

/// `pvmftrecv`; -1 seconds are no limit.
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmftrecv_(tid: In, tag: In, seconds: In, micros: In, bufid: Out) {
    let limit = [c_long::from(seconds.value()), c_long::from(micros.value())];
    let limit: *const _ = if limit[0] == -1 { std::ptr::null() } else { &raw const limit };
    // SAFETY: null, which is no limit, or the array above.
    let result = unsafe { receiving::pvm_trecv(tid.value(), tag.value(), limit) };
    bufid.put(result);
}
