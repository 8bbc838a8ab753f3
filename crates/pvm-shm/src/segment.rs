//! Memory that processes share: sealed memfds and their mappings.
//!
//! A segment never shrinks (sealed) and has its pages from the start (allocated), so that
//! touching it raises no SIGBUS. It does not survive a fork into the child.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// Granularity of segments.
pub const PAGE: usize = 4096;

/// This part of a disk is never taken by files.
const SPARED: u64 = 20;

/// A mapped segment.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is an address range; what is done with the bytes is synchronised by the code
// that uses them (atomics, lanes).
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Makes a segment of at least `size` bytes, all zero.
///
/// # Errors
/// The host has no memory left, or no descriptors.
pub fn create(size: usize) -> io::Result<OwnedFd> {
    let fd = create_unsealed(size)?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SEAL)?;
    Ok(fd)
}

/// A segment to which its owner may add seals.
///
/// # Errors
/// As for [`create`].
pub fn create_unsealed(size: usize) -> io::Result<OwnedFd> {
    let size = size.next_multiple_of(PAGE) as u64;
    may_be_as_long(size)?;
    let fd = rustix::fs::memfd_create(c"neopvm", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&fd, size)?;
    rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, size)?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(fd)
}

/// A segment of which only the first `allocated` bytes have memory: the rest must be asked for by
/// [`Mapping::provide`] before it is touched.
///
/// # Errors
/// As for [`create`].
pub fn create_sparse(size: usize, allocated: usize) -> io::Result<OwnedFd> {
    let size = size.next_multiple_of(PAGE) as u64;
    may_be_as_long(size)?;
    let fd = rustix::fs::memfd_create(c"neopvm", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&fd, size)?;
    rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, size.min(allocated as u64))?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(fd)
}

/// The user's limit of the size of files (`ulimit -f`) applies to shared memory, too, and the
/// system ends a process that exceeds it by SIGXFSZ. That is meant for programs that exceed it by
/// mistake, so this function checks first.
pub(crate) fn may_be_as_long(size: u64) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| limit < size) { Err(io::Errno::FBIG) } else { Ok(()) }
}

/// Makes a file of `size` bytes in a folder, without a name, and opens it a second time to be read
/// only.
///
/// # Errors
/// The disk is full, or the folder may not be written.
pub fn create_file(folder: &Path, size: u64) -> io::Result<(OwnedFd, OwnedFd)> {
    may_be_as_long(size)?;
    let disk = rustix::fs::statvfs(folder)?;
    let left = disk.f_bavail.saturating_mul(disk.f_frsize).checked_sub(size);
    // The files of others need room there, too.
    if left.is_none_or(|left| left < disk.f_blocks.saturating_mul(disk.f_frsize) / SPARED) {
        return Err(io::Errno::NOSPC);
    }
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let fd = match rustix::fs::open(folder, flags | OFlags::TMPFILE, mode) {
        // Not every file system knows files without names.
        Err(io::Errno::OPNOTSUPP | io::Errno::ISDIR | io::Errno::INVAL) => {
            let path = folder.join(format!("spill-{}", std::process::id()));
            // One that was left here by a process of this number that was killed.
            let _ = rustix::fs::unlink(&path);
            let fd = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
            rustix::fs::unlink(&path)?;
            fd
        }
        fd => fd?,
    };
    match rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, size) {
        Err(io::Errno::OPNOTSUPP | io::Errno::NOSYS) => fill(&fd, size)?,
        done => done?,
    }
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let reader = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((fd, reader))
}

/// Takes the blocks of a file where they cannot be had otherwise.
fn fill(fd: &OwnedFd, size: u64) -> io::Result<()> {
    let zeros = [0; 16 * PAGE];
    let mut at = 0;
    while at < size {
        let n = usize::try_from(size - at).map_or(zeros.len(), |left| left.min(zeros.len()));
        at += rustix::io::pwrite(fd, &zeros[..n], at)? as u64;
    }
    Ok(())
}

impl Mapping {
    /// Maps the first `size` bytes. `touched` asks for the page table to be filled at once.
    ///
    /// # Errors
    /// The descriptor is no sealed segment of this size, or there is no address space.
    pub fn new(fd: impl AsFd, size: usize, touched: bool) -> io::Result<Self> {
        Self::with(fd, size, touched, ProtFlags::READ | ProtFlags::WRITE)
    }

    /// Maps a segment for reading only: a write is a fault of the process.
    ///
    /// # Errors
    /// As for [`Mapping::new`].
    pub fn for_reading(fd: impl AsFd, size: usize, touched: bool) -> io::Result<Self> {
        Self::with(fd, size, touched, ProtFlags::READ)
    }

    fn with(fd: impl AsFd, size: usize, touched: bool, rights: ProtFlags) -> io::Result<Self> {
        let fd = fd.as_fd();
        let seals = rustix::fs::fcntl_get_seals(fd)?;
        let real = u64::try_from(rustix::fs::fstat(fd)?.st_size).unwrap_or(0);
        if size == 0 || real < size as u64 || !seals.contains(SealFlags::SHRINK) {
            return Err(io::Errno::INVAL);
        }
        let flags = if touched { MapFlags::POPULATE } else { MapFlags::empty() };
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
        let start =
            unsafe { mmap(std::ptr::null_mut(), size, rights, MapFlags::SHARED | flags, fd, 0)? };
        // SAFETY: the range was mapped above and belongs to nobody else. Without this a forked
        // child could write into the parent's lanes.
        unsafe { madvise(start, size, Advice::LinuxDontFork) }?;
        let start = NonNull::new(start.cast()).ok_or(io::Errno::NOMEM)?;
        Ok(Self { start, size })
    }

    /// Maps another segment at the address of this one, which is not needed any more but may still
    /// be looked at, and so is never unmapped. Nor is the new one.
    ///
    /// # Errors
    /// As for [`Mapping::new`].
    pub fn replace(&'static self, fd: impl AsFd) -> io::Result<Arc<Self>> {
        self.may_become(fd.as_fd())?;
        // SAFETY: this mapping lives for ever, and its readers rely on no value.
        unsafe { self.map_over(fd.as_fd()) };
        let replaced = Arc::new(Self { start: self.start, size: self.size });
        std::mem::forget(replaced.clone());
        Ok(replaced)
    }

    /// [`Mapping::replace`] for the only owner of a mapping: the new one can be unmapped. Nothing
    /// changes where the segment could not be mapped.
    pub(crate) fn become_another(self: &mut Arc<Self>, fd: impl AsFd) -> io::Result<()> {
        if Arc::get_mut(self).is_none() {
            return Err(io::Errno::BUSY);
        }
        self.may_become(fd.as_fd())?;
        // SAFETY: nobody else has this mapping, and the caller's may look at any bytes.
        unsafe { self.map_over(fd.as_fd()) };
        Ok(())
    }

    /// Whatever could be wrong with a segment is found here.
    fn may_become(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Self::new(fd, self.size, false).map(drop)
    }

    /// Maps a segment over this one.
    ///
    /// # Safety
    /// The readers of this mapping rely on no value.
    unsafe fn map_over(&self, fd: BorrowedFd<'_>) {
        let at = self.start.as_ptr().cast();
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::POPULATE;
        // SAFETY: the range is this mapping's. It stays mapped with the same rights, and the caller
        // promises that no value there is relied on.
        let mapped = unsafe { mmap(at, self.size, rights, flags, fd, 0) };
        // SAFETY: as in `with`.
        let kept =
            mapped.and_then(|start| unsafe { madvise(start, self.size, Advice::LinuxDontFork) });
        if kept.is_err() {
            // The old one may be unmapped by now, under the eyes of others.
            std::process::abort();
        }
    }

    /// Has memory behind whole pages of a sparse segment, so that touching them raises no SIGBUS.
    /// False if the host has none left.
    pub fn provide(&self, offset: usize, length: usize) -> bool {
        if offset.checked_add(length).is_none_or(|end| end > self.size) {
            return false;
        }
        let start = self.at(offset, length).cast();
        // SAFETY: the range is inside of the mapping; its bytes stay as they are.
        unsafe { madvise(start, length, Advice::LinuxPopulateWrite) }.is_ok()
    }

    /// Gives the memory behind whole pages back: they are zero from now on, in every mapping of
    /// them.
    pub fn give_up(&self, offset: usize, length: usize) {
        if offset.checked_add(length).is_none_or(|end| end > self.size) {
            return;
        }
        let start = self.at(offset, length).cast();
        // SAFETY: the range is inside of the mapping, and plain bytes to all its readers. An error
        // leaves the memory where it is.
        let _ = unsafe { madvise(start, length, Advice::LinuxRemove) };
    }

    /// A segment for a test. Miri knows no memory files, so there it is memory of this process.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_a_test(size: usize) -> io::Result<Self> {
        if !cfg!(miri) {
            return Self::new(create(size)?, size, true);
        }
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
        let start = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), size, rights, MapFlags::PRIVATE)?
        };
        Ok(Self { start: NonNull::new(start.cast()).ok_or(io::Errno::NOMEM)?, size })
    }

    /// The size in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The address of `offset`; `length` bytes from there are inside.
    ///
    /// # Panics
    /// If they are not.
    pub fn at(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.size), "outside of the segment");
        // SAFETY: just checked to be inside of the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The `T` at `offset`: a type made of atomics and [`crate::sync::Shared`] only.
    ///
    /// # Safety
    /// Every bit pattern must be a valid `T`, and all its parts must allow other processes to
    /// write them at any time.
    pub unsafe fn view<T>(&self, offset: usize) -> &T {
        let address = self.at(offset, size_of::<T>()).cast::<T>();
        assert!(address.is_aligned());
        // SAFETY: inside and aligned, as was checked; any bits are a `T`, and its parts allow other
        // writers.
        unsafe { &*address }
    }

    /// As many `T` from `offset` on.
    ///
    /// # Safety
    /// As for [`Mapping::view`].
    pub unsafe fn views<T>(&self, offset: usize, count: usize) -> &[T] {
        let bytes = size_of::<T>().checked_mul(count).expect("a count within a segment");
        let address = self.at(offset, bytes).cast::<T>();
        assert!(address.is_aligned());
        // SAFETY: inside and aligned, as was checked; any bits are a `T`, and its parts allow other
        // writers.
        unsafe { std::slice::from_raw_parts(address, count) }
    }

    /// Copies out.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset, out.len());
        // SAFETY: `from` has as many bytes, `out` is private memory; a peer that writes
        // meanwhile spoils only the copied values, which are checked afterwards.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) }
    }

    /// Copies in.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        // SAFETY: `to` has as many bytes; nobody holds a reference to shared bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; every user of a view holds the mapping. An error would mean a
        // wrong address: nothing that could be done here.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.size) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn two_mappings_of_a_segment_show_the_same_bytes() {
        let fd = create(100).expect("a segment");
        let a = Mapping::new(&fd, PAGE, true).expect("mapped");
        let b = Mapping::new(&fd, PAGE, false).expect("mapped");
        a.write(10, b"hello");
        let mut out = [0; 5];
        b.read(10, &mut out);
        assert_eq!(&out, b"hello");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn another_segment_in_the_place_of_one_that_may_still_be_looked_at() {
        let (first, second) = (create(100).expect("a segment"), create(100).expect("a segment"));
        let old: &'static Mapping =
            Box::leak(Box::new(Mapping::new(&first, PAGE, true).expect("mapped")));
        old.write(10, b"first");
        let wrong = create(PAGE).expect("a segment");
        let larger: &'static Mapping = Box::leak(Box::new(
            Mapping::new(create(2 * PAGE).expect("a segment"), 2 * PAGE, true).expect("mapped"),
        ));
        assert!(larger.replace(&wrong).is_err(), "it is too small");
        let new = old.replace(&second).expect("mapped");
        assert_eq!(new.at(0, PAGE), old.at(0, PAGE));
        new.write(10, b"after");
        let mut out = [0; 5];
        old.read(10, &mut out);
        assert_eq!(&out, b"after");
        Mapping::new(&first, PAGE, false).expect("mapped").read(10, &mut out);
        assert_eq!(&out, b"first", "the segment itself is as it was");
        drop(new);
        old.read(10, &mut out);
        assert_eq!(&out, b"after");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn what_could_shrink_or_is_too_small_is_not_mapped() {
        let fd = create(PAGE).expect("a segment");
        assert!(Mapping::new(&fd, 2 * PAGE, false).is_err());
        let open = rustix::fs::memfd_create(c"x", MemfdFlags::ALLOW_SEALING).expect("memfd");
        rustix::fs::ftruncate(&open, PAGE as u64).expect("sized");
        assert!(Mapping::new(&open, PAGE, false).is_err());
    }
}
