//! Memory of a task that others read and write without its taking part.
//!
//! ```text
//! segment:  0 state u32 (0 in use, 1 withdrawn, 2 its owner is gone)   8 bytes u64
//!           4096 the memory
//! ```
//! The owner maps it, then seals it: against all further mappings that write, if others may only
//! read. Nobody gets the descriptor before, so the rights are the kernel's to keep. A task that has
//! mapped it keeps it for as long as it likes; the state says when it is of no more use.

use crate::segment::{self, Mapping, PAGE};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use pvm_wire::Code;
use pvm_wire::request::{Change, Segment};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::SealFlags;
use std::sync::Arc;

/// `state`: not exposed any more, though its owner lives.
pub(crate) const WITHDRAWN: u32 = 1;
/// `state`: the owner is gone.
pub(crate) const OWNERLESS: u32 = 2;

/// Makes the segment.
pub(crate) fn create(bytes: u64) -> Result<(OwnedFd, Arc<Mapping>, usize), Code> {
    let bytes = usize::try_from(bytes).map_err(|_| Code::NoMem)?;
    let size = bytes.checked_next_multiple_of(PAGE).and_then(|n| n.checked_add(PAGE));
    let size = size.ok_or(Code::NoMem)?;
    let fd = segment::create_unsealed(size).map_err(|_| Code::NoMem)?;
    let head = Mapping::new(&fd, PAGE, true).map_err(|_| Code::NoMem)?;
    length(&head).store(bytes as u64, Ordering::Release);
    Ok((fd, Arc::new(head), size))
}

/// Keeper: sets the state.
pub(crate) fn end(head: &Mapping, state: u32) {
    word(head).store(state, Ordering::Release);
}

fn word(head: &Mapping) -> &AtomicU32 {
    // SAFETY: an atomic, valid for any bits.
    unsafe { head.view(0) }
}

fn length(head: &Mapping) -> &AtomicU64 {
    // SAFETY: as above.
    unsafe { head.view(8) }
}

/// True if others may write, none if its owner has not sealed it yet.
pub(crate) fn rights(fd: impl AsFd) -> Option<bool> {
    let seals = rustix::fs::fcntl_get_seals(fd).ok()?;
    seals.contains(SealFlags::SEAL).then(|| !seals.contains(SealFlags::FUTURE_WRITE))
}

/// Exposed memory, mapped. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Exposed {
    mapping: Arc<Mapping>,
    bytes: usize,
    writable: bool,
}

impl Exposed {
    /// The owner's, which nobody else has yet: others may read it and, if `writable`, write.
    ///
    /// # Errors
    /// [`Code::NoMem`]; [`Code::NotImpl`] where the kernel cannot keep others from writing.
    pub fn own((segment, fd): (Segment, OwnedFd), writable: bool) -> Result<Self, Code> {
        let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
        let mapping = Mapping::new(&fd, size, true).map_err(|_| Code::NoMem)?;
        let seals =
            if writable { SealFlags::SEAL } else { SealFlags::SEAL | SealFlags::FUTURE_WRITE };
        rustix::fs::fcntl_add_seals(&fd, seals).map_err(|_| Code::NotImpl)?;
        Self::of(mapping, true)
    }

    /// Another task's, of the same host; `size` is the segment's.
    ///
    /// # Errors
    /// [`Code::NotFound`] if its owner has not sealed it yet, [`Code::NoMem`].
    pub fn map(fd: impl AsFd, size: u64) -> Result<Self, Code> {
        let fd = fd.as_fd();
        let size = usize::try_from(size).map_err(|_| Code::NoMem)?;
        let writable = rights(fd).ok_or(Code::NotFound)?;
        let touched = size <= 1 << 20;
        let mapping = if writable {
            Mapping::new(fd, size, touched)
        } else {
            Mapping::for_reading(fd, size, touched)
        };
        Self::of(mapping.map_err(|_| Code::NoMem)?, writable)
    }

    fn of(mapping: Mapping, writable: bool) -> Result<Self, Code> {
        // The length is read once; a length beyond the segment is a lie.
        let bytes = usize::try_from(length(&mapping).load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let room = mapping.size().checked_sub(PAGE).ok_or(Code::NoMem)?;
        Ok(Self { mapping: Arc::new(mapping), bytes: bytes.min(room), writable })
    }

    /// The number of bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if this process may write.
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// The address of the memory. Others write there: form no reference.
    pub fn address(&self) -> *mut u8 {
        self.mapping.at(PAGE, self.bytes)
    }

    /// Ok while it is in use; the error tells why it is of no more use.
    ///
    /// # Errors
    /// [`Code::NotFound`] if it was withdrawn, [`Code::NoTask`] if its owner is gone.
    pub fn check(&self) -> Result<(), Code> {
        match word(&self.mapping).load(Ordering::Acquire) {
            0 => Ok(()),
            OWNERLESS => Err(Code::NoTask),
            _ => Err(Code::NotFound),
        }
    }

    /// The offset within the segment of a range that lies inside.
    fn range(&self, offset: u64, length: usize) -> Result<usize, Code> {
        let offset = usize::try_from(offset).map_err(|_| Code::BadParam)?;
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.bytes);
        if inside { Ok(PAGE + offset) } else { Err(Code::BadParam) }
    }

    /// Reads. The next read sees all that was written before the bytes that are read here. Four or
    /// eight bytes at a multiple of their number are read as a whole.
    ///
    /// # Errors
    /// [`Code::BadParam`] for a range that is not inside; as for [`Exposed::check`].
    pub fn get(&self, offset: u64, out: &mut [u8]) -> Result<(), Code> {
        let at = self.range(offset, out.len())?;
        self.check()?;
        match out.len() {
            4 if at.is_multiple_of(4) => {
                // SAFETY: an atomic, inside and aligned, valid for any bits.
                let word: &AtomicU32 = unsafe { self.mapping.view(at) };
                out.copy_from_slice(&word.load(Ordering::Acquire).to_ne_bytes());
            }
            8 if at.is_multiple_of(8) => {
                // SAFETY: as above.
                let word: &AtomicU64 = unsafe { self.mapping.view(at) };
                out.copy_from_slice(&word.load(Ordering::Acquire).to_ne_bytes());
            }
            _ => {
                self.mapping.read(at, out);
                fence(Ordering::Acquire);
            }
        }
        Ok(())
    }

    /// Writes. A reader of these bytes sees what was written before them, too. Four or eight bytes
    /// at a multiple of their number are written as a whole.
    ///
    /// # Errors
    /// [`Code::Denied`] if others may only read; as for [`Exposed::get`].
    pub fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Code> {
        let at = self.range(offset, bytes.len())?;
        self.check()?;
        if !self.writable {
            return Err(Code::Denied);
        }
        match *bytes {
            [a, b, c, d] if at.is_multiple_of(4) => {
                // SAFETY: an atomic, inside and aligned, valid for any bits; mapped for writing.
                let word: &AtomicU32 = unsafe { self.mapping.view(at) };
                word.store(u32::from_ne_bytes([a, b, c, d]), Ordering::Release);
            }
            [a, b, c, d, e, f, g, h] if at.is_multiple_of(8) => {
                // SAFETY: as above.
                let word: &AtomicU64 = unsafe { self.mapping.view(at) };
                word.store(u64::from_ne_bytes([a, b, c, d, e, f, g, h]), Ordering::Release);
            }
            _ => {
                fence(Ordering::Release);
                self.mapping.write(at, bytes);
            }
        }
        Ok(())
    }

    /// Changes a word in one step that no other change, `get` or `put` of the word can divide, and
    /// gives its value before. A reader of the new value sees what was written before it, too.
    ///
    /// # Errors
    /// [`Code::BadParam`] for a word that is not inside or not at a multiple of its size; as for
    /// [`Exposed::put`].
    pub fn change(&self, offset: u64, change: &Change) -> Result<u64, Code> {
        let size = match change {
            Change::Add4 { .. } | Change::Exchange4 { .. } => 4,
            Change::Add8 { .. } | Change::Exchange8 { .. } => 8,
        };
        let at = self.range(offset, size)?;
        if !at.is_multiple_of(size) {
            return Err(Code::BadParam);
        }
        self.check()?;
        if !self.writable {
            return Err(Code::Denied);
        }
        // SAFETY: an atomic, inside and aligned, valid for any bits; mapped for writing.
        let short = || unsafe { self.mapping.view::<AtomicU32>(at) };
        // SAFETY: as above.
        let long = || unsafe { self.mapping.view::<AtomicU64>(at) };
        let (both, seen) = (Ordering::AcqRel, Ordering::Acquire);
        Ok(match *change {
            Change::Add4 { add } => short().fetch_add(add, both).into(),
            Change::Add8 { add } => long().fetch_add(add, both),
            Change::Exchange4 { expected, wanted } => {
                before(short().compare_exchange(expected, wanted, both, seen)).into()
            }
            Change::Exchange8 { expected, wanted } => {
                before(long().compare_exchange(expected, wanted, both, seen))
            }
        })
    }
}

/// The value before, whether it was exchanged or not.
fn before<T>(exchanged: Result<T, T>) -> T {
    exchanged.unwrap_or_else(|found| found)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Keeper;
    use pvm_wire::Tid;

    const OWNER: Tid = Tid(0x40001);
    const OTHER: Tid = Tid(0x40002);

    fn exposed(keeper: &mut Keeper, writable: bool) -> Exposed {
        let (segment, fd) = keeper.expose(OWNER, 7, 5000).expect("memory");
        Exposed::own((segment, fd.try_clone().expect("a descriptor")), writable).expect("mapped")
    }

    fn mapped(keeper: &Keeper) -> Result<Exposed, Code> {
        let (segment, fd) = keeper.map_exposed(OWNER, 7)?;
        Exposed::map(fd, segment.size)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn others_read_and_write_what_they_may_and_nothing_beyond() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        let own = exposed(&mut keeper, true);
        let other = mapped(&keeper).expect("mapped");
        assert_eq!((own.bytes(), other.bytes()), (5000, 5000));
        for length in [1, 4, 8, 100, 5000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8 ^ 0x5a).collect();
            other.put(5000 - length as u64, &bytes).expect("inside");
            let mut out = vec![0; length];
            own.get(5000 - length as u64, &mut out).expect("inside");
            assert_eq!(out, bytes);
        }
        for (offset, length) in [(4993, 8), (5001, 0), (u64::MAX, 1), (u64::MAX - 3, 8), (0, 5001)]
        {
            assert_eq!(other.get(offset, &mut vec![0; length]), Err(Code::BadParam));
            assert_eq!(other.put(offset, &vec![0; length]), Err(Code::BadParam));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn memory_for_reading_cannot_be_written_by_any_means() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        let own = exposed(&mut keeper, false);
        own.put(8, b"12345678").expect("the owner writes");
        let other = mapped(&keeper).expect("mapped");
        assert!(!other.is_writable());
        assert_eq!(other.put(0, &[1]), Err(Code::Denied));
        assert_eq!(other.change(0, &Change::Add4 { add: 1 }), Err(Code::Denied));
        let mut out = [0; 8];
        other.get(8, &mut out).expect("read");
        assert_eq!(&out, b"12345678");
        // Neither by mapping the descriptor otherwise nor by writing to it.
        let (segment, fd) = keeper.map_exposed(OWNER, 7).expect("there");
        assert!(Mapping::new(fd, segment.size as usize, false).is_err());
        assert!(rustix::io::pwrite(fd, b"x", PAGE as u64).is_err());
        own.put(8, b"abcdefgh").expect("the owner still writes");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_word_is_changed_as_a_whole_and_tells_its_value_before() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        let own = exposed(&mut keeper, true);
        let other = mapped(&keeper).expect("mapped");
        assert_eq!(other.change(8, &Change::Add8 { add: u64::MAX }), Ok(0));
        assert_eq!(own.change(8, &Change::Add8 { add: 3 }), Ok(u64::MAX));
        assert_eq!(own.change(8, &Change::Exchange8 { expected: 2, wanted: 9 }), Ok(2));
        assert_eq!(own.change(8, &Change::Exchange8 { expected: 2, wanted: 7 }), Ok(9));
        assert_eq!(own.change(20, &Change::Add4 { add: u32::MAX }), Ok(0));
        assert_eq!(
            own.change(20, &Change::Exchange4 { expected: 1, wanted: 5 }),
            Ok(u64::from(u32::MAX))
        );
        assert_eq!(own.change(16, &Change::Add4 { add: 0 }), Ok(0), "the word beside is untouched");
        let threads = 4_u64;
        std::thread::scope(|scope| {
            for memory in [&own, &other, &own, &other] {
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        memory.change(4992, &Change::Add8 { add: 1 }).expect("inside");
                    }
                });
            }
        });
        assert_eq!(own.change(4992, &Change::Add8 { add: 0 }), Ok(threads * 10_000));
        for (offset, change) in [
            (4993, Change::Add8 { add: 1 }),
            (4, Change::Add8 { add: 1 }),
            (2, Change::Add4 { add: 1 }),
            (u64::MAX - 7, Change::Add8 { add: 1 }),
            (5000, Change::Exchange4 { expected: 0, wanted: 1 }),
        ] {
            assert_eq!(other.change(offset, &change), Err(Code::BadParam), "{offset}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn nobody_gets_memory_that_its_owner_has_not_sealed() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.expose(OWNER, 7, 10).expect("memory");
        assert_eq!(mapped(&keeper).err(), Some(Code::NotFound));
        assert_eq!(keeper.expose(OWNER, 7, 10).err(), Some(Code::Already));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn the_end_of_the_owner_is_told_and_leaves_nothing() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.create_inbox(OTHER, pvm_wire::Blob::default()).expect("memory");
        let before = keeper.bytes();
        let own = exposed(&mut keeper, true);
        let other = mapped(&keeper).expect("mapped");
        keeper.withdraw(OWNER, 7).expect("there");
        assert_eq!(other.get(0, &mut [0]), Err(Code::NotFound));
        assert_eq!(own.put(0, &[0]), Err(Code::NotFound));
        let own = exposed(&mut keeper, true);
        let other = mapped(&keeper).expect("mapped");
        keeper.remove_task(OWNER);
        assert_eq!(other.get(0, &mut [0]), Err(Code::NoTask));
        assert_eq!(own.check(), Err(Code::NoTask));
        assert_eq!((keeper.bytes(), mapped(&keeper).err()), (before, Some(Code::NotFound)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_size_that_lies_gives_no_more_than_the_segment() {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        let own = exposed(&mut keeper, true);
        length(&own.mapping).store(u64::MAX, Ordering::Release);
        let other = mapped(&keeper).expect("mapped");
        assert_eq!(other.bytes(), 2 * PAGE);
        assert_eq!(other.get(2 * PAGE as u64, &mut [0]), Err(Code::BadParam));
    }
}
