//! Buffers by handle: made, packed, read, freed.

use std::ffi::{c_char, c_void};

use pvm::Buffer;
use pvm_wire::{Code, Encoding, Kind, RunList};

use super::info::Info;
use super::{answer, fast, kind, size, status, with};
use crate::buffer;
use crate::guard::inside;
use crate::pack::items::{self, Items};
use crate::pack::texts::{pack_text, unpack_text_up_to};
use crate::pointer::store;
use crate::trace::noted;

/// A new buffer.
///
/// # Safety
/// `buffer` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_new(encoding: i32, buffer: *mut i32) -> i32 {
    if !buffer.is_null()
        && let Some(handle) = fast::new(encoding)
    {
        // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
        unsafe { store(buffer, handle) };
        return 0;
    }
    noted!(unsafe NEOPVM_NEW, neopvm_new(encoding, buffer));
    let new = || buffer::insert_packed(Buffer::new(buffer::encoding(encoding)?));
    // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
    unsafe { answer(buffer, new) }
}

/// Frees a buffer.
#[unsafe(no_mangle)]
pub(super) extern "C" fn neopvm_free(handle: i32) -> i32 {
    if fast::free(handle).is_some() {
        return 0;
    }
    noted!(NEOPVM_FREE, neopvm_free(handle));
    status(inside(|| {
        if handle != 0 {
            buffer::occupied(handle)?;
            buffer::free_everywhere(handle);
        }
        Ok(())
    }))
}

/// Type and items of a call, if its numbers make sense.
fn described(
    kind_number: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> Result<(Kind, Items), Code> {
    let kind = kind(kind_number)?;
    let stride = isize::try_from(stride).map_err(|_| Code::BadParam)?;
    Ok((kind, Items::of_any_count(items, size(count)?, stride)?))
}

/// Packs items.
///
/// # Safety
/// They can be read; with an in-place buffer until it is freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_pack(
    handle: i32,
    kind_number: i32,
    items: *const c_void,
    count: u64,
    stride: i64,
) -> i32 {
    // SAFETY: the items can be read for as long as the buffer refers to them; null is checked
    // there.
    if unsafe { fast::pack(handle, kind_number, items, count, stride) }.is_some() {
        return 0;
    }
    noted!(unsafe NEOPVM_PACK, neopvm_pack(handle, kind_number, items, count, stride));
    status(inside(|| {
        let (kind, items) = described(kind_number, items.cast_mut(), count, stride)?;
        // SAFETY: `described` has checked the numbers, and the items can be read, by the call's
        // contract.
        buffer::get(handle)?.write(kind, |buffer| unsafe { items::pack(buffer, kind, items) })?
    }))
}

/// Packs a text.
///
/// # Safety
/// `text` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_pack_text(handle: i32, text: *const c_char, length: u64) -> i32 {
    noted!(unsafe NEOPVM_PACK_TEXT, neopvm_pack_text(handle, text, length));
    status(inside(|| {
        // SAFETY: `text` is null or has `length` bytes, by the call's contract.
        let text = unsafe { crate::pointer::array(text.cast::<u8>(), size(length)?) }?;
        if text.contains(&0) {
            return Err(Code::BadParam);
        }
        buffer::get(handle)?.write(Kind::Int, |buffer| pack_text(buffer, text))?
    }))
}

/// The head of a message.
///
/// # Safety
/// `info` points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_info(handle: i32, info: *mut Info) -> i32 {
    if !info.is_null()
        && let Some(known) = fast::info(handle)
    {
        // SAFETY: `info` is null or has room for the answer, by the call's contract.
        unsafe { store(info, known) };
        return 0;
    }
    noted!(unsafe NEOPVM_INFO, neopvm_info(handle, info));
    // SAFETY: `info` is null or has room for the answer, by the call's contract.
    unsafe { answer(info, || buffer::get(handle)?.content(|content| Info::of(content))) }
}

/// Unpacks items.
///
/// # Safety
/// They can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_unpack(
    handle: i32,
    kind_number: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> i32 {
    // SAFETY: the items can be written, by the call's contract; null is checked there.
    if unsafe { fast::unpack(handle, kind_number, items, count, stride) }.is_some() {
        return 0;
    }
    noted!(unsafe NEOPVM_UNPACK, neopvm_unpack(handle, kind_number, items, count, stride));
    status(inside(|| {
        let (kind, items) = described(kind_number, items, count, stride)?;
        // SAFETY: `described` has checked the numbers, and the items can be written, by the call's
        // contract.
        with(handle, |buffer| unsafe { items::unpack(buffer, kind, items) })
    }))
}

/// Unpacks a text.
///
/// # Safety
/// `out` has `room` bytes; `length` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_unpack_text(
    handle: i32,
    out: *mut c_char,
    room: u64,
    length: *mut u64,
) -> i32 {
    noted!(unsafe NEOPVM_UNPACK_TEXT, neopvm_unpack_text(handle, out, room, length));
    status(inside(|| {
        let room = if out.is_null() { 0 } else { size(room)? };
        with(handle, |buffer| {
            let text = unpack_text_up_to(buffer, room, |needed| {
                // SAFETY: `length` is null or has room for the answer, by the call's contract.
                unsafe { store(length, needed as u64) };
            })?;
            // SAFETY: `out` has `room` bytes, and the text with its end mark is no longer than
            // that.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len()) };
            Ok(())
        })
    }))
}

/// Reads again from the start.
#[unsafe(no_mangle)]
extern "C" fn neopvm_rewind(handle: i32) -> i32 {
    noted!(NEOPVM_REWIND, neopvm_rewind(handle));
    status(inside(|| buffer::get(handle)?.with(Buffer::rewind)))
}

/// True where the bytes in memory are what a reader of one type expects.
fn may_be_viewed(encoding: Encoding, runs: &RunList) -> bool {
    match encoding {
        Encoding::Raw => true,
        Encoding::Default | Encoding::Trace => runs.len() <= 1,
        Encoding::InPlace => false,
    }
}

/// The data where they lie.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_view(handle: i32, data: *mut *const c_void, bytes: *mut u64) -> i32 {
    noted!(unsafe NEOPVM_VIEW, neopvm_view(handle, data, bytes));
    status(inside(|| {
        let slot = buffer::get(handle)?;
        let (address, size) = slot.content(|content| {
            // Data that a reader has seen must stay where they are: packing begins a new message.
            content.reading = true;
            let buffer = &content.buffer;
            let native = buffer.envelope().layout == pvm_wire::Layout::NATIVE;
            let good = native && may_be_viewed(buffer.encoding(), buffer.runs());
            if good { buffer.view() } else { Err(Code::NotImpl) }
        })??;
        // SAFETY: `data` is null or has room for the answer, by the call's contract.
        unsafe { store(data, address.cast()) };
        // SAFETY: `bytes` is null or has room for the answer, by the call's contract.
        unsafe { store(bytes, size as u64) };
        Ok(())
    }))
}
