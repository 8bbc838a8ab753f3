//! The steps of `pvm_packf` and `pvm_unpackf`, a function for each, which the shim calls.

use std::ffi::{c_char, c_int, c_void};

use pvm_wire::{Code, Encoding, Kind};

use super::items::{Items, pack, unpack};
use super::texts::{pack_text, unpack_text};
use crate::guard::{failed, inside};
use crate::trace::{text_at, traced};
use crate::{buffer, pointer};

/// Checks before the format of `pvm_packf` and `pvm_unpackf`: whether there is a buffer, which a
/// format that begins with "%+" makes itself.
///
/// # Safety
/// `format` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_format_begin(format: *const c_char, packing: c_int) -> c_int {
    // SAFETY: `format` is null or ends with 0: the shim hands on the program's.
    let makes_one = unsafe { pointer::text_or_none(format) }
        .is_some_and(|format| packing != 0 && format.starts_with(b"%+"));
    let slot = if packing != 0 { buffer::sending } else { buffer::receiving };
    inside(|| if makes_one { Ok(()) } else { slot()?.with(|_| ()).map_err(buffer::not_current) })
        .map_or_else(Code::number, |()| 0)
}

/// "%+" of `pvm_packf`: a new send buffer.
#[unsafe(no_mangle)]
extern "C" fn _neopvm_format_init(encoding: c_int) -> c_int {
    inside(|| buffer::begin_sending(buffer::encoding(encoding)?)).map_or_else(Code::number, |_| 0)
}

/// One item of `pvm_packf`: told by number, with the results of `pvm_packf`.
///
/// # Safety
/// `items` can be read as the format said.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_format_pack(
    kind: c_int,
    items: *mut c_void,
    count: c_int,
    stride: c_int,
    by_value: c_int,
) -> c_int {
    let packed = inside(|| {
        let slot = buffer::sending()?;
        let Some(kind) = Kind::from_number(kind) else {
            // SAFETY: the format said `%s`, so `items` is null, which is refused, or ends with 0.
            let text = unsafe { pointer::text(items.cast()) }?;
            return match slot.write(Kind::Int, |buffer| pack_text(buffer, text))? {
                // PVM leaves a text out of an in-place message here, and does not complain.
                Err(Code::NotImpl) => Ok(()),
                packed => packed,
            };
        };
        // PVM packs nothing, and does not complain.
        let items = Items::new(items, count.max(0), stride)?;
        slot.write(kind, |buffer| {
            if by_value != 0 && buffer.encoding() == Encoding::InPlace {
                // The value is gone when the message is sent, there is no array to point to. PVM
                // does not complain.
                return Ok(());
            }
            // SAFETY: `items` can be read as the format said, which `kind` and the count are made
            // of.
            unsafe { pack(buffer, kind, items) }
        })?
    });
    packed.map_or_else(Code::number, |()| 0)
}

/// One item of `pvm_unpackf`.
///
/// # Safety
/// `items` can be written as the format said.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_format_unpack(
    kind: c_int,
    items: *mut c_void,
    count: c_int,
    stride: c_int,
) -> c_int {
    let unpacked = inside(|| {
        let slot = buffer::receiving()?;
        let Some(kind) = Kind::from_number(kind) else {
            if items.is_null() {
                return Err(Code::BadParam);
            }
            // SAFETY: the format said `%s`, so `items` has room for the text and its end mark.
            return slot.with(|buffer| unsafe { unpack_text(buffer, items.cast()) })?;
        };
        let items = Items::new(items, count.max(0), stride)?;
        // SAFETY: `items` can be written as the format said, which `kind` and the count are made
        // of.
        slot.with(|buffer| unsafe { unpack(buffer, kind, items) })?
    });
    unpacked.map_or_else(Code::number, |()| 0)
}

/// Makes a formatted call, which is told of where somebody wants to know.
///
/// # Safety
/// `format` is null or ends with 0; `work` can be called with `state`.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_format_call(
    format: *const c_char,
    packing: c_int,
    work: unsafe extern "C" fn(*mut c_void) -> c_int,
    state: *mut c_void,
) -> c_int {
    // SAFETY: the shim's own function, with what it was made for.
    let work = || unsafe { work(state) };
    if packing != 0 {
        traced!(unsafe PACKF, work(), [PF: text_at(format)], |r| [CC: r]);
    } else {
        traced!(unsafe UNPACKF, work(), [PF: text_at(format)], |r| [CC: r]);
    }
    work()
}

/// Keeps and tells the result below zero of a formatted call.
#[unsafe(no_mangle)]
extern "C" fn _neopvm_format_fail(packing: c_int, number: c_int) -> c_int {
    let name = if packing != 0 { "pvm_packf" } else { "pvm_unpackf" };
    failed(name, Code::from_number(number).unwrap_or(Code::SysErr))
}
