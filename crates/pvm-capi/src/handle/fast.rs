//! The fast paths of the calls that a small message needs. They are those of `pvm3.h`, for a buffer
//! that is told by its number. Each gives none if it did nothing; the long way then does the work,
//! or tells what is wrong.

use std::ffi::c_void;

use pvm::Buffer;
use pvm_wire::record::calls;
use pvm_wire::{Address, Encoding, Kind};

use super::info::Info;
use crate::guard::fast;
use crate::slot::Slot;
use crate::trace::noting::Begun;
use crate::{buffer, message, pack, probe, selection, session};

/// `neopvm_new`. A process that is no task goes the long way, as the child of a fork must.
#[inline]
pub(super) fn new(encoding: i32) -> Option<i32> {
    let encoding = Encoding::from_number(encoding)?;
    session::current()?;
    let make = || fast!(fast => buffer::fast::make_by(&fast, encoding), else None);
    if probe::is_on() { noted(calls::NEOPVM_NEW, 0, make) } else { make() }
}

/// A fast path of a call that is noted.
#[inline(never)]
fn noted<T>(call: u16, bytes: usize, work: impl FnOnce() -> Option<T>) -> Option<T> {
    let begun = Begun::now()?;
    let done = work()?;
    begun.end(call, 0, bytes);
    Some(done)
}

/// `neopvm_free`
#[inline]
pub(super) fn free(handle: i32) -> Option<()> {
    let free = || fast!(fast => buffer::fast::free_by(&fast, handle), else None);
    if probe::is_on() { noted(calls::NEOPVM_FREE, 0, free) } else { free() }
}

/// `neopvm_pack`
///
/// # Safety
/// The items can be read.
#[inline]
pub(super) unsafe fn pack(
    handle: i32,
    kind: i32,
    items: *const c_void,
    count: u64,
    stride: i64,
) -> Option<()> {
    let (kind, first, bytes) = few(kind, items.cast_mut(), count, stride)?;
    // SAFETY: not null, and the program's items, which can be read, are `bytes` long.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    let slot = buffer::fast::find(handle)?;
    let pack = || fast!(fast => pack::fast::pack_by(&fast, slot, kind, data), else None);
    if probe::is_on() { noted(calls::NEOPVM_PACK, bytes, pack) } else { pack() }
}

/// `neopvm_unpack`
///
/// # Safety
/// The items can be written.
#[inline]
pub(super) unsafe fn unpack(
    handle: i32,
    kind: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> Option<()> {
    let (kind, first, bytes) = few(kind, items, count, stride)?;
    // SAFETY: not null, and the program's items are `bytes` long. They may be uninitialised: they
    // are only written to.
    let out = unsafe { std::slice::from_raw_parts_mut(first, bytes) };
    let slot = buffer::fast::find(handle)?;
    let mut unpack = || fast!(fast => pack::fast::unpack_by(&fast, slot, kind, out), else None);
    if probe::is_on() { noted(calls::NEOPVM_UNPACK, bytes, unpack) } else { unpack() }
}

#[inline]
pub(super) fn few(
    kind: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> Option<(Kind, *mut u8, usize)> {
    let kind = Kind::from_number(kind)?;
    let (count, stride) = (usize::try_from(count).ok()?, isize::try_from(stride).ok()?);
    pack::fast::few(kind, items, count, stride).map(|(first, bytes)| (kind, first, bytes))
}

/// `neopvm_send`
#[inline]
pub(super) fn send(handle: i32, tid: i32, tag: i32, context: i32) -> Option<()> {
    if tag < 0 {
        return None;
    }
    let to = selection::address(tid, tag, session::or_current(context));
    let slot = buffer::fast::find(handle)?;
    if probe::is_on() {
        return send_noted(slot, to);
    }
    fast!(fast => message::fast::send_by(&fast, slot, to, |_, _| ()), else None)
}

#[inline(never)]
fn send_noted(slot: &Slot, to: Address) -> Option<()> {
    let begun = Begun::now()?;
    let then = |number: u64, buffer: &Buffer| {
        begun.sent_buffer(calls::NEOPVM_SEND, to, (number, buffer));
    };
    fast!(fast => message::fast::send_by(&fast, slot, to, then), else None)
}

/// `neopvm_info`
#[inline]
pub(super) fn info(handle: i32) -> Option<Info> {
    let slot = buffer::fast::find(handle)?;
    let info = || fast!(fast => Some(Info::of(&slot.try_enter(fast.owner)?.content)), else None);
    if probe::is_on() { noted(calls::NEOPVM_INFO, 0, info) } else { info() }
}
