//! Items as this host's C compiler has them, and as they lie in a tuple.

use std::ffi::{c_long, c_void};
use std::slice;

use pvm_tuples::Kind;
use pvm_wire::Code;

/// Memory for items of any type.
pub(super) struct Aligned {
    words: Vec<u128>,
    bytes: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Result<Self, Code> {
        let count = bytes.len().div_ceil(size_of::<u128>());
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| Code::NoMem)?;
        for chunk in bytes.chunks(size_of::<u128>()) {
            let mut word = [0; size_of::<u128>()];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u128::from_ne_bytes(word));
        }
        Ok(Self { words, bytes: bytes.len() })
    }

    /// The address of the bytes, and their number.
    pub(super) const fn place(&self) -> (*const c_void, usize) {
        (self.words.as_ptr().cast(), self.bytes)
    }
}

/// Bytes of an item in a program's memory.
pub(super) const fn size(kind: Kind) -> usize {
    match kind {
        Kind::Long | Kind::UnsignedLong => size_of::<c_long>(),
        // The System V ABI of 32-bit x86 has 12 bytes, all others have 16.
        Kind::LongDouble if cfg!(target_arch = "x86") => 12,
        kind => kind.size(),
    }
}

/// True if items lie in a program's memory as in a tuple.
const fn is_plain(kind: Kind) -> bool {
    let is_long_double = matches!(kind, Kind::LongDouble);
    cfg!(target_endian = "little") && size(kind) == kind.size() && !is_long_double
}

/// Bytes of a long double that have a meaning; compilers leave what they like in the others.
const LONG_DOUBLE_BYTES: usize =
    if cfg!(any(target_arch = "x86", target_arch = "x86_64")) { 10 } else { 16 };

/// Hands items of a program to `add`, as they are to lie in a tuple.
///
/// # Safety
/// There are `count` items, or `items` is null and there are none.
pub(super) unsafe fn to_tuple<T>(
    kind: Kind,
    items: *const c_void,
    count: usize,
    add: impl FnOnce(&[u8]) -> Result<T, Code>,
) -> Result<T, Code> {
    let bytes = count.checked_mul(size(kind)).ok_or(Code::BadParam)?;
    // SAFETY: `items` has `count` items, `bytes` in all; `array` refuses null unless there are
    // none.
    let native = unsafe { crate::pointer::array(items.cast::<u8>(), bytes) }?;
    if is_plain(kind) {
        return add(native);
    }
    let mut converted = Vec::new();
    converted.try_reserve_exact(count * kind.size()).map_err(|_| Code::NoMem)?;
    for item in native.chunks_exact(size(kind)) {
        let mut wide = [0; 16];
        widen(kind, item, &mut wide[..kind.size()]);
        converted.extend_from_slice(&wide[..kind.size()]);
    }
    add(&converted)
}

fn widen(kind: Kind, item: &[u8], wide: &mut [u8]) {
    if kind == Kind::LongDouble {
        return wide[..LONG_DOUBLE_BYTES].copy_from_slice(&item[..LONG_DOUBLE_BYTES]);
    }
    let part = kind.part().min(item.len());
    for (from, to) in item.chunks_exact(part).zip(wide.chunks_exact_mut(kind.part())) {
        to[..part].copy_from_slice(from);
        if cfg!(target_endian = "big") {
            to[..part].reverse();
        }
        let is_negative = kind == Kind::Long && to[part - 1] & 0x80 != 0;
        to[part..].fill(if is_negative { 0xff } else { 0 });
    }
}

/// Items of a tuple as this host has them, if they do not lie so in the tuple.
///
/// # Errors
/// [`Code::Overflow`] if a `long` of a host with longer ones does not fit, [`Code::NoMem`].
pub(super) fn converted(
    kind: Kind,
    items: &[u8],
    alignment: usize,
) -> Result<Option<Aligned>, Code> {
    let is_aligned = items.as_ptr().addr().is_multiple_of(alignment);
    if is_aligned && (is_plain(kind) || (kind == Kind::LongDouble && size(kind) == kind.size())) {
        return Ok(None);
    }
    if is_plain(kind) {
        return Aligned::new(items).map(Some);
    }
    let mut native = Vec::new();
    native.try_reserve_exact(items.len()).map_err(|_| Code::NoMem)?;
    for item in items.chunks_exact(kind.size()) {
        let mut narrow = [0; 16];
        narrowed(kind, item, &mut narrow[..size(kind)])?;
        native.extend_from_slice(&narrow[..size(kind)]);
    }
    Aligned::new(&native).map(Some)
}

fn narrowed(kind: Kind, item: &[u8], narrow: &mut [u8]) -> Result<(), Code> {
    if kind == Kind::LongDouble {
        let used = narrow.len();
        narrow.copy_from_slice(&item[..used]);
        return Ok(());
    }
    let part = kind.part().min(narrow.len());
    for (from, to) in item.chunks_exact(kind.part()).zip(narrow.chunks_exact_mut(part)) {
        let is_negative = kind == Kind::Long && from[part - 1] & 0x80 != 0;
        let filling = if is_negative { 0xff } else { 0 };
        if from[part..].iter().any(|byte| *byte != filling) {
            return Err(Code::Overflow);
        }
        to.copy_from_slice(&from[..part]);
        if cfg!(target_endian = "big") {
            to.reverse();
        }
    }
    Ok(())
}

/// The alignment that a program expects.
pub(super) const fn alignment(kind: Kind) -> usize {
    match kind {
        // A struct may have members of any type.
        Kind::Struct | Kind::Bytes | Kind::LongDouble => 16,
        kind => kind.part(),
    }
}

/// Copies bytes to a program.
///
/// # Safety
/// `out` has `count` bytes.
pub(super) unsafe fn give(bytes: *const c_void, count: usize, out: *mut c_void) {
    if count > 0 {
        // SAFETY: `bytes` has `count` bytes of the library's own, and no program has been given
        // them to write.
        let from = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), count) };
        // SAFETY: `out` has room for `count` bytes; `copy` allows the two to overlap.
        unsafe { std::ptr::copy(from.as_ptr(), out.cast(), count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_compiler_leaves_behind_a_long_double_is_not_in_a_tuple() {
        let mut item = [0x55_u8; 16];
        item[..10].fill(1);
        // SAFETY: there is one item of 16 bytes.
        let bytes = unsafe {
            to_tuple(Kind::LongDouble, item.as_ptr().cast(), 1, |bytes| Ok(bytes.to_vec()))
        };
        if size(Kind::LongDouble) == 16 && LONG_DOUBLE_BYTES == 10 {
            assert_eq!(bytes.expect("memory")[10..], [0; 6]);
        }
    }

    #[test]
    fn longs_of_four_bytes_keep_their_value_or_are_refused() {
        let mut wide = [0; 8];
        widen(Kind::Long, &(-5_i32).to_ne_bytes(), &mut wide);
        assert_eq!(i64::from_le_bytes(wide), -5);
        let mut narrow = [0; 4];
        assert_eq!(narrowed(Kind::Long, &(-5_i64).to_le_bytes(), &mut narrow), Ok(()));
        assert_eq!(i32::from_ne_bytes(narrow), -5);
        let large = (1_i64 << 40).to_le_bytes();
        assert_eq!(narrowed(Kind::Long, &large, &mut narrow), Err(Code::Overflow));
    }
}
