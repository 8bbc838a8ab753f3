//! Secrets in memory that no core file holds.
//!
//! A task is its user's program, and its core file may go to somebody else. What it was told goes
//! with it, but not the keys of its direct routes: they lie in pages that the kernel leaves out
//! (`MADV_DONTDUMP`), and what carried them there is written over.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// More than the calls that make a key leave on the stack: 21 KiB deep where nothing is optimised.
const STACK: usize = 32 << 10;

/// A value in pages of its own.
#[derive(Debug)]
pub(crate) struct Undumped<T> {
    place: NonNull<T>,
}

// SAFETY: it owns the value, as a box does.
unsafe impl<T: Send> Send for Undumped<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Undumped<T> {}

impl<T> Undumped<T> {
    /// The value that `make` gives, if it gives one and the kernel has a page. The stack that it
    /// used is written over.
    pub(crate) fn new(make: impl FnOnce() -> Option<T>) -> Option<Self> {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0) };
        let made = Self::place(make);
        scrub_stack();
        made
    }

    #[inline(never)]
    fn place(make: impl FnOnce() -> Option<T>) -> Option<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: fresh pages, which nobody else knows.
        let pages = unsafe {
            mmap_anonymous(std::ptr::null_mut(), size_of::<T>(), access, MapFlags::PRIVATE)
        };
        let place = NonNull::new(pages.ok()?.cast::<T>())?;
        // SAFETY: the pages from above. A kernel that cannot leave them out keeps the program
        // running.
        let _ = unsafe { madvise(place.as_ptr().cast(), size_of::<T>(), Advice::LinuxDontDump) };
        match make() {
            Some(value) => {
                // SAFETY: mapped for it, and aligned as pages are.
                unsafe { place.write(value) };
                Some(Self { place })
            }
            None => {
                // SAFETY: mapped above, with nothing in it.
                let _ = unsafe { munmap(place.as_ptr().cast(), size_of::<T>()) };
                None
            }
        }
    }
}

/// Writes over the stack that returned calls have used.
#[inline(never)]
fn scrub_stack() {
    let mut left = [0_u8; STACK];
    std::hint::black_box(&mut left);
}

impl<T> Deref for Undumped<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: written by `place`, and there until this is dropped.
        unsafe { self.place.as_ref() }
    }
}

impl<T> DerefMut for Undumped<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this is borrowed exclusively.
        unsafe { self.place.as_mut() }
    }
}

impl<T> Drop for Undumped<T> {
    fn drop(&mut self) {
        // SAFETY: the value from `place`, looked at by nobody from now on.
        unsafe { self.place.drop_in_place() };
        // SAFETY: its pages. The kernel clears them before anybody else has them.
        let _ = unsafe { munmap(self.place.as_ptr().cast(), size_of::<T>()) };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs::{File, read_to_string};
    use std::os::unix::fs::FileExt;
    use std::sync::{Mutex, PoisonError};

    /// The places of these bytes in the memory that a core file would hold. Each byte of the
    /// question is combined with `mask`, so that the question itself is not found.
    pub(crate) fn places_in_core(masked: &[u8], mask: u8) -> Vec<String> {
        // Tests run side by side in this process: one that looks has copied what another one hides.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let maps = read_to_string("/proc/self/smaps").expect("our own");
        let memory = File::open("/proc/self/mem").expect("our own");
        let mut found = Vec::new();
        let mut mapping = None;
        for line in maps.lines() {
            let mut words = line.split_ascii_whitespace();
            let first = words.next().unwrap_or_default();
            if let Some((from, to)) = first.split_once('-')
                && words.next().is_some_and(|access| access.starts_with("rw"))
            {
                let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
                mapping = Some((number(from), number(to), line.to_owned()));
            }
            if first == "VmFlags:"
                && let Some((from, to, what)) = mapping.take()
                && !words.any(|flag| flag == "dd")
            {
                // The copy is written over on every way out, also if only a half was read.
                let size = usize::try_from(to - from).expect("an address");
                let mut bytes = zeroize::Zeroizing::new(vec![0; size]);
                if memory.read_exact_at(&mut bytes, from).is_err() {
                    continue;
                }
                let like = |window: &[u8]| window.iter().zip(masked).all(|(a, b)| a ^ mask == *b);
                let count = bytes.windows(masked.len()).filter(|window| like(window)).count();
                if count > 0 {
                    found.push(format!("{count} times in {what}"));
                }
            }
        }
        found
    }

    #[test]
    fn a_value_is_where_no_core_file_looks_until_it_is_dropped() {
        let masked: Vec<u8> = (0..64).map(|n: u8| n.wrapping_mul(37) ^ 0x6b).collect();
        let mask = std::hint::black_box(0x5c);
        let make = || -> [u8; 64] { std::array::from_fn(|i| masked[i] ^ mask) };
        let mut hidden = Undumped::new(|| Some(make())).expect("a page");
        assert_eq!(hidden[3], masked[3] ^ mask);
        hidden[3] ^= 1;
        hidden[3] ^= 1;
        assert_eq!(places_in_core(&masked, mask), Vec::<String>::new());
        let shown = Box::new(make());
        assert!(!places_in_core(&masked, mask).is_empty(), "the question finds what is there");
        drop((hidden, shown));
        assert!(Undumped::<[u8; 64]>::new(|| None).is_none());
    }
}
