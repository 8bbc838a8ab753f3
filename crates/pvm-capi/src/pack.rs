//! Packing and unpacking: `pvm_pk*`, `pvm_upk*`, and what `pvm_packf` does for one item.

pub(crate) mod fast;

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_short, c_void};
use std::ptr;

use pvm::{Buffer, FEW};
use pvm_wire::{Code, Encoding, Kind};

use crate::buffer;
use crate::guard::{brief_call, call, call_here, failed, inside};
use crate::trace::noting::Begun;
use crate::trace::{kind, text_at, traced};
use crate::{pointer, probe};

/// Items of a C array: where the first is, how many, and how many apart.
#[derive(Clone, Copy)]
pub(crate) struct Items {
    first: *mut u8,
    count: usize,
    stride: isize,
}

impl Items {
    /// Checks the arguments of a program. A count below zero is wrong before anything else is.
    #[inline]
    pub(crate) fn new(first: *mut c_void, count: c_int, stride: c_int) -> Result<Self, Code> {
        let count = usize::try_from(count).map_err(|_| Code::BadParam)?;
        Self::of_any_count(first, count, stride as isize)
    }

    /// Like `new`, with the counts of neopvm.h.
    #[inline]
    pub(crate) fn of_any_count(
        first: *mut c_void,
        count: usize,
        stride: isize,
    ) -> Result<Self, Code> {
        if first.is_null() && count > 0 {
            return Err(Code::BadParam);
        }
        Ok(Self { first: first.cast(), count, stride })
    }

    fn is_contiguous(self) -> bool {
        self.stride == 1 || self.count <= 1
    }

    /// The address of an item.
    fn at(self, index: usize, size: usize) -> *mut u8 {
        let offset = (index as isize).wrapping_mul(self.stride).wrapping_mul(size as isize);
        self.first.wrapping_offset(offset)
    }

    /// Bytes of all items.
    #[inline]
    fn bytes(self, kind: Kind) -> Result<usize, Code> {
        let bytes = self.count.checked_mul(kind.size()).ok_or(Code::BadParam)?;
        if bytes > isize::MAX as usize { Err(Code::BadParam) } else { Ok(bytes) }
    }
}

/// Packs items behind those that the buffer holds.
///
/// # Safety
/// The items can be read; with an in-place buffer until it is freed or begun anew.
#[inline]
pub(crate) unsafe fn pack(buffer: &mut Buffer, kind: Kind, items: Items) -> Result<(), Code> {
    let bytes = items.bytes(kind)?;
    if buffer.encoding() == Encoding::InPlace {
        if items.stride != 1 {
            return Err(Code::NotImpl);
        }
        // SAFETY: the items can be read, `bytes` of them, until the buffer is freed or begun anew.
        let memory = unsafe { pvm::ProgramMemory::new(items.first, bytes) };
        return buffer.pack_in_place(kind, memory);
    }
    if items.count == 0 {
        return Ok(());
    }
    if items.is_contiguous() {
        // SAFETY: not null, as the count is above zero; the items lie side by side, `bytes` of
        // them.
        let data = unsafe { std::slice::from_raw_parts(items.first, bytes) };
        return buffer.pack(kind, data);
    }
    let size = kind.size();
    buffer.pack_strided(kind, items.count, &mut |first, out| {
        for (i, item) in out.chunks_exact_mut(size).enumerate() {
            let from = items.at(first + i, size);
            // SAFETY: `from` is one of the `count` items, which can be read; bytes have no
            // alignment.
            unsafe { ptr::copy_nonoverlapping(from, item.as_mut_ptr(), size) };
        }
    })
}

/// Unpacks the next items.
///
/// # Safety
/// The items can be written.
#[inline]
pub(crate) unsafe fn unpack(buffer: &mut Buffer, kind: Kind, items: Items) -> Result<(), Code> {
    let bytes = items.bytes(kind)?;
    if buffer.encoding() == Encoding::InPlace {
        // As in PVM what was packed in place can be read once it was sent, and not even no items
        // before.
        return Err(Code::BadMsg);
    }
    if items.count == 0 {
        return Ok(());
    }
    if items.is_contiguous() {
        // SAFETY: the items lie side by side, `bytes` of them, and can be written. They may be
        // uninitialised for C; `unpack` only writes to them.
        let out = unsafe { std::slice::from_raw_parts_mut(items.first, bytes) };
        return buffer.unpack(kind, out);
    }
    // One call, one run: the padding of bytes in PVM's encoding belongs to the call. A count that
    // lies reserves no memory: one item more than the message can hold fails as well, and leaves
    // the message where PVM does.
    let size = kind.size();
    let most = buffer.data_size().saturating_mul(8).max(64) / size + 1;
    let mut gathered = vec![0; bytes.min(most.saturating_mul(size))];
    buffer.unpack(kind, &mut gathered)?;
    for (i, item) in gathered.chunks_exact(size).enumerate() {
        // SAFETY: item `i` is below the count, and items can be written; bytes have no alignment.
        unsafe { ptr::copy_nonoverlapping(item.as_ptr(), items.at(i, size), size) };
    }
    Ok(())
}

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
unsafe fn unpack_text(buffer: &mut Buffer, out: *mut c_char) -> Result<(), Code> {
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

/// One pack call on the current send buffer.
#[inline]
unsafe fn pack_call(
    name: &str,
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> c_int {
    call_here(name, |thread| {
        let items = Items::new(first, count, stride)?;
        let slot = thread.sending.slot().ok_or(Code::NoBuf)?;
        // SAFETY: the exported call asks the program for items that can be read.
        let packed = slot.write(kind, |buffer| unsafe { pack(buffer, kind, items) });
        packed.map_err(buffer::not_current)??;
        Ok(0)
    })
}

/// One unpack call on the current receive buffer.
#[inline]
unsafe fn unpack_call(
    name: &str,
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> c_int {
    call_here(name, |thread| {
        let items = Items::new(first, count, stride)?;
        let slot = thread.receiving.slot().ok_or(Code::NoBuf)?;
        // SAFETY: the exported call asks the program for items that can be written.
        let unpacked = slot.with(|buffer| unsafe { unpack(buffer, kind, items) });
        unpacked.map_err(buffer::not_current)??;
        Ok(0)
    })
}

macro_rules! typed_calls {
    ($($pack:ident $unpack:ident $item:ty, $kind:ident, $packed:ident $unpacked:ident;)*) => {$(
        /// Packs `count` items that lie `stride` apart.
        ///
        /// # Safety
        /// The items can be read.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $pack(
            items: *const $item,
            count: c_int,
            stride: c_int,
        ) -> c_int {
            #[inline(never)]
            unsafe fn long(items: *const $item, count: c_int, stride: c_int) -> c_int {
                traced!(
                    unsafe $packed,
                    $pack(items, count, stride),
                    [PDA: items, PC: count, PSD: stride],
                    |r| [CC: r]
                );
                let items = items.cast_mut().cast();
                // SAFETY: the items can be read, by this call's contract; packing does not write
                // through the cast.
                unsafe { pack_call(stringify!($pack), Kind::$kind, items, count, stride) }
            }
            #[inline(never)]
            unsafe fn noted(items: *const $item, count: c_int, stride: c_int) -> Option<()> {
                let begun = Begun::now()?;
                // SAFETY: as above.
                unsafe { fast::pack(Kind::$kind, items.cast_mut().cast(), count, stride) }?;
                begun.end(kind::$packed, 0, count as usize * Kind::$kind.size());
                Some(())
            }
            #[inline(never)]
            unsafe fn rest(items: *const $item, count: c_int, stride: c_int) -> c_int {
                let done = if probe::is_on() {
                    // SAFETY: as above.
                    unsafe { noted(items, count, stride) }
                } else {
                    // SAFETY: as above.
                    unsafe { fast::pack(Kind::$kind, items.cast_mut().cast(), count, stride) }
                };
                match done {
                    Some(()) => 0,
                    // SAFETY: as above.
                    None => unsafe { long(items, count, stride) },
                }
            }
            if count as usize > FEW / Kind::$kind.size() {
                // SAFETY: as above.
                return unsafe { rest(items, count, stride) };
            }
            brief_call(
                // SAFETY: as above.
                |thread, owner| unsafe {
                    let items = items.cast_mut().cast();
                    fast::pack_few(thread, owner, (Kind::$kind, items, count, stride))
                },
                // SAFETY: as above.
                || unsafe { rest(items, count, stride) },
            )
        }

        /// Unpacks `count` items that are to lie `stride` apart.
        ///
        /// # Safety
        /// The items can be written.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $unpack(
            items: *mut $item,
            count: c_int,
            stride: c_int,
        ) -> c_int {
            #[inline(never)]
            unsafe fn long(items: *mut $item, count: c_int, stride: c_int) -> c_int {
                traced!(
                    unsafe $unpacked,
                    $unpack(items, count, stride),
                    [PDA: items, PC: count, PSD: stride],
                    |r| [CC: r]
                );
                // SAFETY: the items can be written, by this call's contract.
                unsafe {
                    unpack_call(stringify!($unpack), Kind::$kind, items.cast(), count, stride)
                }
            }
            #[inline(never)]
            unsafe fn noted(items: *mut $item, count: c_int, stride: c_int) -> Option<()> {
                let begun = Begun::now()?;
                // SAFETY: as above.
                unsafe { fast::unpack(Kind::$kind, items.cast(), count, stride) }?;
                begun.end(kind::$unpacked, 0, count as usize * Kind::$kind.size());
                Some(())
            }
            #[inline(never)]
            unsafe fn rest(items: *mut $item, count: c_int, stride: c_int) -> c_int {
                let done = if probe::is_on() {
                    // SAFETY: as above.
                    unsafe { noted(items, count, stride) }
                } else {
                    // SAFETY: as above.
                    unsafe { fast::unpack(Kind::$kind, items.cast(), count, stride) }
                };
                match done {
                    Some(()) => 0,
                    // SAFETY: as above.
                    None => unsafe { long(items, count, stride) },
                }
            }
            if count as usize > FEW / Kind::$kind.size() {
                // SAFETY: as above.
                return unsafe { rest(items, count, stride) };
            }
            brief_call(
                // SAFETY: as above.
                |thread, owner| unsafe {
                    fast::unpack_few(thread, owner, (Kind::$kind, items.cast(), count, stride))
                },
                // SAFETY: as above.
                || unsafe { rest(items, count, stride) },
            )
        }
    )*};
}

typed_calls! {
    pvm_pkbyte pvm_upkbyte c_char, Byte, PKBYTE UPKBYTE;
    pvm_pkshort pvm_upkshort c_short, Short, PKSHORT UPKSHORT;
    pvm_pkushort pvm_upkushort c_short, Ushort, PKUSHORT UPKUSHORT;
    pvm_pkint pvm_upkint c_int, Int, PKINT UPKINT;
    pvm_pkuint pvm_upkuint c_int, Uint, PKUINT UPKUINT;
    pvm_pklong pvm_upklong c_long, Long, PKLONG UPKLONG;
    pvm_pkulong pvm_upkulong c_long, Ulong, PKULONG UPKULONG;
    pvm_pkfloat pvm_upkfloat c_float, Float, PKFLOAT UPKFLOAT;
    pvm_pkdouble pvm_upkdouble c_double, Double, PKDOUBLE UPKDOUBLE;
    pvm_pkcplx pvm_upkcplx c_float, Cplx, PKCPLX UPKCPLX;
    pvm_pkdcplx pvm_upkdcplx c_double, Dcplx, PKDCPLX UPKDCPLX;
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

/// The buffer `id`, which must not be the send buffer, put into the send buffer, where it begins
/// with items of `first`.
fn pack_other(
    id: c_int,
    first: Kind,
    how: impl FnOnce(&mut Buffer, &Buffer) -> Result<(), Code>,
) -> Result<c_int, Code> {
    let other = buffer::get(id)?;
    if id == buffer::pvm_getsbuf() {
        return Err(Code::BadParam);
    }
    let packed = buffer::sending()?.write_beside(other, first, how);
    packed.map_err(|code| if other.is_empty() { code } else { buffer::not_current(code) })??;
    Ok(0)
}

/// Packs a message with its envelope into the send buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pkmesg(id: c_int) -> c_int {
    call("pvm_pkmesg", || pack_other(id, Kind::Int, Buffer::pack_buffer))
}

/// Packs the items of a message behind those of the send buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pkmesgbody(id: c_int) -> c_int {
    call("pvm_pkmesgbody", || pack_other(id, Kind::Byte, Buffer::pack_body))
}

/// Takes a message out of the receive buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_upkmesg() -> c_int {
    call("pvm_upkmesg", || {
        let inner = buffer::receiving()?.with(Buffer::unpack_buffer)??;
        buffer::insert_received(inner)
    })
}

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

/// Unpacks as many items as both the array and the message have.
///
/// # Safety
/// The items can be written.
pub(crate) unsafe fn unpack_what_fits(
    buffer: &mut Buffer,
    kind: Kind,
    items: Items,
) -> Result<(), Code> {
    let in_memory = if buffer.encoding() == Encoding::Default {
        let (shape, each) = kind.shape();
        buffer.reported_size() / (shape.xdr_size() * each) * kind.size()
    } else {
        buffer.reported_size()
    };
    // Not only whole items: the bytes of a raw message need not be a multiple.
    let room = items.bytes(kind)?;
    let whole = Items { count: room.min(in_memory) / kind.size(), ..items };
    // SAFETY: the items can be written, and `whole` is no more of them than there are.
    unsafe { unpack(buffer, kind, whole) }?;
    let rest = room.min(in_memory) % kind.size();
    if rest == 0 {
        return Ok(());
    }
    let at = items.at(whole.count, kind.size());
    let tail = Items::of_any_count(at.cast(), rest, 1)?;
    // SAFETY: the items can be written, and the rest of the array is longer than these bytes.
    unsafe { unpack(buffer, Kind::Byte, tail) }
}
