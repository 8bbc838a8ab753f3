//! Texts: how they get into a buffer and out of it, and the calls for them.

use std::ffi::{c_char, c_int};
use std::ptr;

use pvm::Buffer;
use pvm_wire::{Code, Encoding, Kind};

use crate::guard::{call, inside};
use crate::trace::traced;
use crate::{buffer, pointer};

/// Packs a text with its end mark.
pub(crate) fn pack_text(buffer: &mut Buffer, text: &[u8]) -> Result<(), Code> {
    if buffer.encoding() == Encoding::InPlace {
        return Err(Code::NotImpl);
    }
    let mut ended = Vec::with_capacity(text.len() + 1);
    ended.extend_from_slice(text);
    ended.push(0);
    buffer.pack_str(&ended)
}

/// Unpacks a text if it has no more than `room` bytes; its length is returned in any case.
pub(crate) fn unpack_text_up_to(
    buffer: &mut Buffer,
    room: usize,
    tell: impl FnOnce(usize),
) -> Result<Vec<u8>, Code> {
    if !buffer.may_be_text() {
        return Err(Code::Mismatch);
    }
    let before = buffer.read_size();
    let text = buffer.unpack_str()?;
    tell(text.len());
    if text.len() > room {
        // What was read before the text, as bytes, leads back to its beginning.
        buffer.rewind();
        buffer.unpack(Kind::Byte, &mut vec![0; before])?;
        return Err(Code::Overflow);
    }
    Ok(text)
}

/// Unpacks a text into a C array that is large enough.
///
/// # Safety
/// `out` has room for the text and its end mark.
pub(super) unsafe fn unpack_text(buffer: &mut Buffer, out: *mut c_char) -> Result<(), Code> {
    // As in PVM a length below zero is that of an empty text, which is the one that no memory is
    // needed for.
    let length = usize::try_from(buffer.unpack_length()?).unwrap_or(0);
    let text = buffer.unpack_str_of(length)?;
    // SAFETY: `out` has room for the text, which lies in the buffer's memory and so not in the
    // program's.
    unsafe { ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len()) };
    // SAFETY: `out` has room for one byte behind the text.
    unsafe { out.add(text.len()).write(0) };
    Ok(())
}

/// Packs a text.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_pkstr(text: *const c_char) -> c_int {
    traced!(unsafe PKSTR, pvm_pkstr(text), [PDA: text], |r| [CC: r]);
    call("pvm_pkstr", || {
        // SAFETY: `text` is null, which is refused, or ends with 0, and stays until this call
        // returns.
        let text = unsafe { pointer::text(text) }?;
        buffer::sending()?.write(Kind::Int, |buffer| pack_text(buffer, text))??;
        Ok(0)
    })
}

/// Unpacks a text.
///
/// # Safety
/// `out` has room for it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_upkstr(out: *mut c_char) -> c_int {
    traced!(unsafe UPKSTR, pvm_upkstr(out), [PDA: out], |r| [CC: r]);
    call("pvm_upkstr", || {
        let slot = buffer::receiving()?;
        if out.is_null() {
            return Err(Code::BadParam);
        }
        // SAFETY: `out` has room for the text that is next in the message and its end mark.
        slot.with(|buffer| unsafe { unpack_text(buffer, out) })??;
        Ok(0)
    })
}

/// Unpacks a text into memory that the program frees; null if there is none.
#[unsafe(no_mangle)]
extern "C" fn pvmupkstralloc() -> *mut c_char {
    inside(|| buffer::receiving()?.with(Buffer::unpack_str)?)
        .map_or(ptr::null_mut(), |text| crate::memory::c_copy(&text))
}
