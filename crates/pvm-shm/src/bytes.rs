//! Copying few bytes.
//!
//! All of it is inlined by force. Where the compiler decides, `pvm_send` of 1000 bytes takes 12
//! instructions more, and `pvm_precv` of 8 bytes calls `copy`.

use crate::lane::INLINE_MAX;

/// Copies `size` bytes. Most messages are small, and for them the call of the C library's function
/// costs more than the copy.
///
/// # Safety
/// As for `std::ptr::copy_nonoverlapping`.
#[inline(always)]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, size: usize) {
    /// The first and the last `T`: they may overlap.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, size: usize) {
        let last = size - size_of::<T>();
        // SAFETY: `size` bytes are valid, and a `T` is no more; both ends are read before one is
        // written.
        unsafe {
            let (a, b) =
                (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(a);
            to.add(last).cast::<T>().write_unaligned(b);
        }
    }
    // SAFETY: `size` bytes can be read and written there, and each branch's `T` is no larger than
    // `size`.
    unsafe {
        // The most frequent sizes are asked for first.
        if size.wrapping_sub(8) <= 8 {
            ends::<u64>(from, to, size);
        } else if size > 16 {
            std::ptr::copy_nonoverlapping(from, to, size);
        } else if size >= 4 {
            ends::<u32>(from, to, size);
        } else if size > 0 {
            ends::<u8>(from, to, size);
            to.add(size / 2).write(from.add(size / 2).read());
        }
    }
}

/// Like `copy`, for slices of equal length.
///
/// # Panics
/// If they are not.
#[inline(always)]
pub fn copy_slice(from: &[u8], to: &mut [u8]) {
    assert!(from.len() == to.len(), "as many bytes as there is room for");
    // SAFETY: both have as many bytes, and memory that is borrowed to be written overlaps with
    // nothing.
    unsafe { copy(from.as_ptr(), to.as_mut_ptr(), from.len()) }
}

/// The most that [`copy_few`] copies: what rides in one cell.
pub const FEW: usize = INLINE_MAX;
/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Like `copy_slice`, for at most [`FEW`] bytes and without a call: a function that calls nothing
/// saves no registers. False if there are more bytes, or not as many on both sides.
#[inline(always)]
pub fn copy_few(from: &[u8], to: &mut [u8]) -> bool {
    let fits = from.len() <= FEW && to.len() == from.len();
    if fits {
        // SAFETY: there are few, and as many on both sides; memory that is borrowed to be written
        // overlaps with nothing.
        unsafe { copy_few_to(from, to.as_mut_ptr()) };
    }
    fits
}

/// Like `copy_few`, to a place outside of all borrows.
///
/// # Safety
/// There are at most [`FEW`] bytes, as many can be written at `to`, and nobody else writes there or
/// to `from`.
#[inline(always)]
pub(crate) unsafe fn copy_few_to(from: &[u8], to: *mut u8) {
    // SAFETY: as many bytes as `from` has can be written at `to`, and nobody else writes to either.
    unsafe { copy_few_between(from.as_ptr(), to, from.len()) }
}

/// Like `copy_few_to`, from a place outside of all borrows.
///
/// # Safety
/// As for `std::ptr::copy_nonoverlapping`; `size` is at most [`FEW`].
#[inline(always)]
pub(crate) unsafe fn copy_few_between(from: *const u8, to: *mut u8, size: usize) {
    /// Copies a `T`.
    #[inline(always)]
    unsafe fn one<T: Copy>(from: *const u8, to: *mut u8, at: usize) {
        // SAFETY: the caller has a `T` there.
        unsafe { to.add(at).cast::<T>().write_unaligned(from.add(at).cast::<T>().read_unaligned()) }
    }
    // SAFETY: `size` bytes are valid, and each part begins where the last one ended.
    unsafe {
        if size <= 16 {
            return copy(from, to, size);
        }
        // The parts of a size never overlap and are the same in each copy. So a read finds all its
        // bytes in one write of the copy before, which the processor may not have finished yet.
        let mut at = 0;
        // Two parts in each step: of a loop with one the compiler would make a call.
        while at + 32 <= size {
            one::<u128>(from, to, at);
            one::<u128>(from, to, at + 16);
            at += 32;
        }
        if size & 16 != 0 {
            one::<u128>(from, to, at);
            at += 16;
        }
        if size & 8 != 0 {
            one::<u64>(from, to, at);
            at += 8;
        }
        if size & 4 != 0 {
            one::<u32>(from, to, at);
            at += 4;
        }
        if size & 2 != 0 {
            one::<u16>(from, to, at);
            at += 2;
        }
        if size & 1 != 0 {
            one::<u8>(from, to, at);
        }
    }
}

/// Asks the processor for a cache line that will be written soon.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // The compiler's own hint reads the line only, where it may not take the instruction for
        // granted; a processor without it does nothing.
        // SAFETY: a hint; it touches nothing, whatever the address is.
        unsafe {
            std::arch::asm!(
                "prefetchw [{place}]",
                place = in(reg) place,
                options(nostack, preserves_flags, readonly),
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// Asks the processor for a cache line that will be read soon.
#[inline(always)]
pub(crate) fn prefetch_to_read<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it touches nothing, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_none_behind() {
        let from: Vec<u8> = (1..=FEW as u8).collect();
        // Miri is slow.
        for size in (0..=FEW).step_by(if cfg!(miri) { 13 } else { 1 }) {
            for few in [true, false] {
                let mut to = [0; FEW + 2];
                match few {
                    true => assert!(copy_few(&from[..size], &mut to[..size])),
                    false => copy_slice(&from[..size], &mut to[..size]),
                }
                assert_eq!(&to[..size], &from[..size], "{size}");
                assert!(to[size..].iter().all(|byte| *byte == 0), "{size}");
            }
        }
    }
}
