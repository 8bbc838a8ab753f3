//! Copying few bytes.

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

/// The most that [`copy_few`] copies.
pub const FEW: usize = 64;

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
    // SAFETY: `size` bytes are valid, and each part begins and ends within them. All are read
    // before one is written.
    unsafe {
        if size <= 16 {
            return copy(from, to, size);
        }
        let last = size - 16;
        let parts = [0, size.min(32) - 16, last.saturating_sub(16), last];
        let bytes = parts.map(|at| from.add(at).cast::<u128>().read_unaligned());
        for (at, bytes) in parts.into_iter().zip(bytes) {
            to.add(at).cast::<u128>().write_unaligned(bytes);
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
pub(crate) fn prefetch_to_read<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it touches nothing, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_none_behind() {
        let from: Vec<u8> = (1..=64).collect();
        for size in 0..=64 {
            for few in [true, false] {
                let mut to = [0; 66];
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
