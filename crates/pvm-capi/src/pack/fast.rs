//! The fast paths of packing and unpacking few items that lie behind one another.

use std::ffi::{c_int, c_void};

use pvm::{Biased, FEW, Form, Owner, SPANNING_MAX};
use pvm_wire::Kind;

use crate::guard::{Fast, fast};
use crate::slot::{Content, Mode, Slot};
use crate::thread::Thread;

/// The items of a call that lie behind one another and are few; none of others.
#[inline]
pub(crate) fn few(
    kind: Kind,
    first: *mut c_void,
    count: usize,
    stride: isize,
) -> Option<(*mut u8, usize)> {
    let few =
        count.wrapping_sub(1) < SPANNING_MAX && (stride == 1 || count == 1) && !first.is_null();
    few.then(|| (first.cast(), count * kind.size()))
}

/// The fast path of `pack_call`; none if it did nothing.
// Inlined: packing 1000 bytes takes 41 instructions less.
#[inline(always)]
pub(super) unsafe fn pack(
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> Option<()> {
    let (first, bytes) = few(kind, first, usize::try_from(count).ok()?, stride as isize)?;
    // SAFETY: not null, and the program's items, which can be read, are `bytes` long.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    fast!(fast => {
        let mut place = fast.thread.sending.slot()?.try_enter(fast.owner)?;
        let content = &mut place.content;
        if content.reading {
            None
        } else if content.buffer.fast_pack(kind, data) {
            Some(())
        } else {
            // SAFETY: the exported call asks for items that can be read until the buffer is freed
            // or begun anew.
            unsafe { note_place(content, data, stride) }
        }
    }, else None)
}

/// The arguments of a pack call, and the type of its items.
type Passed = (Kind, *mut u8, c_int, c_int);

/// The few items of a call, none of any other.
#[inline]
fn few_of((kind, first, count, stride): Passed) -> Option<(*mut u8, usize)> {
    let bytes = count.cast_unsigned() as usize * kind.size();
    let is_whole = stride == 1 && count != 0 && bytes <= FEW && !first.is_null();
    is_whole.then_some((first, bytes))
}

/// [`pack`] of a few items into a small buffer, by the thread that the process is biased to.
///
/// # Safety
/// The items can be read; with an in-place buffer until it is freed or begun anew.
// Inlined: pvm_pkint of 8 bytes takes 38 instructions less.
#[inline(always)]
pub(super) unsafe fn pack_few(thread: &Thread, owner: Biased, passed: Passed) -> Option<c_int> {
    let (first, bytes) = few_of(passed)?;
    // SAFETY: not null, and the program's items, which can be read, are `bytes` long.
    let items = unsafe { std::slice::from_raw_parts(first, bytes) };
    let mut place = thread.sending.place().enter_biased(owner)?;
    let form = match place.mode {
        Mode::PACKS_RAW => Form::Raw,
        Mode::PACKS_DEFAULT => Form::Default,
        Mode::PACKS_IN_PLACE => {
            // SAFETY: the items can be read until the buffer is freed or begun anew, when it
            // forgets them.
            let memory = unsafe { pvm::ProgramMemory::new(first, bytes) };
            return place.content.buffer.fast_pack_in_place(memory).then_some(0);
        }
        _ => return None,
    };
    place.content.buffer.pack_few(form, passed.0, items).then_some(0)
}

/// [`unpack`] of a few items out of a small buffer, by the thread that the process is biased to.
///
/// # Safety
/// The items can be written.
// Inlined: pvm_upkint of 8 bytes takes 26 instructions less.
#[inline(always)]
pub(super) unsafe fn unpack_few(thread: &Thread, owner: Biased, passed: Passed) -> Option<c_int> {
    let (first, bytes) = few_of(passed)?;
    // SAFETY: not null, and the program's items are `bytes` long. They may be uninitialised: they
    // are only written to.
    let out = unsafe { std::slice::from_raw_parts_mut(first, bytes) };
    let mut place = thread.receiving.place().enter_biased(owner)?;
    let form = match place.mode.form() {
        Mode::PACKS_RAW | Mode::PACKS_TYPED => Form::Raw,
        Mode::PACKS_DEFAULT => Form::Default,
        _ => return None,
    };
    place.content.buffer.unpack_few(form, passed.0, out).then_some(0)
}

/// Notes where items of an in-place buffer are.
///
/// # Safety
/// The items can be read until the buffer is freed or begun anew.
#[inline(never)]
unsafe fn note_place(content: &mut Content, data: &[u8], stride: c_int) -> Option<()> {
    // SAFETY: the items can be read until the buffer is freed or begun anew, when it forgets them.
    let memory = unsafe { pvm::ProgramMemory::new(data.as_ptr(), data.len()) };
    (stride == 1 && content.buffer.fast_pack_in_place(memory)).then_some(())
}

#[inline]
pub(crate) fn pack_by(fast: &Fast<impl Owner>, slot: &Slot, kind: Kind, data: &[u8]) -> Option<()> {
    let mut place = slot.try_enter(fast.owner)?;
    let content = &mut place.content;
    (!content.reading && content.buffer.fast_pack(kind, data)).then_some(())
}

/// The fast path of `unpack_call`; none if it did nothing.
// Inlined: unpacking 1000 bytes takes 21 instructions less.
#[inline(always)]
pub(super) unsafe fn unpack(
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> Option<()> {
    let (first, bytes) = few(kind, first, usize::try_from(count).ok()?, stride as isize)?;
    // SAFETY: not null, and the program's items are `bytes` long. They may be uninitialised: they
    // are only written to.
    let out = unsafe { std::slice::from_raw_parts_mut(first, bytes) };
    fast!(fast => unpack_by(&fast, fast.thread.receiving.slot()?, kind, out), else None)
}

// Inlined: unpacking 1000 bytes takes 5 instructions less.
#[inline(always)]
pub(crate) fn unpack_by(
    fast: &Fast<impl Owner>,
    slot: &Slot,
    kind: Kind,
    out: &mut [u8],
) -> Option<()> {
    let mut place = slot.try_enter(fast.owner)?;
    place.content.buffer.fast_unpack(kind, out).then_some(())
}
