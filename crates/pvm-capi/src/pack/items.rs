//! Items of a C array, and how they get into a buffer and out of it.

use std::ffi::{c_int, c_void};
use std::ptr;

use pvm::Buffer;
use pvm_wire::{Code, Encoding, Kind};

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
