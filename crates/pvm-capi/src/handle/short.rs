//! The short ways of the calls that a small message needs. They are those of `pvm3.h`, for a buffer that is told by
//! its number. Each gives none if it did nothing; the long way then does it, or tells what is wrong.

use std::ffi::c_void;

use pvm_wire::{Encoding, Kind, Tid};

use super::info::Info;
use crate::guard::swiftly;
use crate::{buffer, message, pack, probe, session};

/// `neopvm_new`. A process that is no task goes the long way, as the child of a fork must.
#[inline(always)]
pub(super) fn new(encoding: i32) -> Option<i32> {
    let encoding = Encoding::from_number(encoding)?;
    session::current()?;
    swiftly!(swift => buffer::short::make_by(&swift, encoding), else None)
}

/// `neopvm_free`
#[inline(always)]
pub(super) fn free(handle: i32) -> Option<()> {
    swiftly!(swift => buffer::short::free_by(&swift, handle), else None)
}

/// `neopvm_pack`
///
/// # Safety
/// The items can be read.
#[inline(always)]
pub(super) unsafe fn pack(
    handle: i32,
    kind: i32,
    items: *const c_void,
    count: u64,
    stride: i64,
) -> Option<()> {
    let (kind, first, bytes) = few(kind, items.cast_mut(), count, stride)?;
    // SAFETY: the caller's promise; not null.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    let slot = buffer::short::find(handle)?;
    swiftly!(swift => pack::pack_by(&swift, slot, kind, data), else None)
}

/// `neopvm_unpack`
///
/// # Safety
/// The items can be written.
#[inline(always)]
pub(super) unsafe fn unpack(
    handle: i32,
    kind: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> Option<()> {
    let (kind, first, bytes) = few(kind, items, count, stride)?;
    // SAFETY: the caller's promise; not null. It is only written to.
    let out = unsafe { std::slice::from_raw_parts_mut(first, bytes) };
    let slot = buffer::short::find(handle)?;
    swiftly!(swift => pack::unpack_by(&swift, slot, kind, out), else None)
}

#[inline(always)]
pub(super) fn few(
    kind: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> Option<(Kind, *mut u8, usize)> {
    if probe::is_on() {
        return None;
    }
    let kind = Kind::from_number(kind)?;
    let (count, stride) = (usize::try_from(count).ok()?, isize::try_from(stride).ok()?);
    pack::few(kind, items, count, stride).map(|(first, bytes)| (kind, first, bytes))
}

/// `neopvm_send`
#[inline(always)]
pub(super) fn send(handle: i32, tid: i32, tag: i32, context: i32) -> Option<()> {
    if probe::is_on() || tag < 0 {
        return None;
    }
    let to = (Tid::from_c_int(tid), tag, session::or_current(context));
    let slot = buffer::short::find(handle)?;
    swiftly!(swift => message::short::send_by(&swift, slot, to), else None)
}

/// `neopvm_info`
#[inline(always)]
pub(super) fn info(handle: i32) -> Option<Info> {
    let slot = buffer::short::find(handle)?;
    swiftly!(swift => Some(Info::of(&slot.enter_swiftly(swift.owner)?.content)), else None)
}
