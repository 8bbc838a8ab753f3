//! The reader's side of a slab: its description in a cell, and the data where they lie.

use super::holders::{HOLDERS, holders};
use crate::segment::{Mapping, PAGE};
use crate::stream;
use crate::sync::Ordering;
use pvm_wire::Tid;
use pvm_wire::request::SegmentId;
use std::sync::Arc;

/// In a descriptor's holder: the data lie in the file beside the segment.
const IN_FILE: u32 = 1 << 31;

/// A cell's description of data in a slab: where they lie, and where the reader strikes itself out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// The segment.
    pub segment: SegmentId,
    /// The index of the holder.
    pub holder: u32,
    /// The offset at which the data begin.
    pub offset: u64,
}

impl Descriptor {
    /// Bytes of the fixed form.
    pub const SIZE: usize = 16;

    /// The fixed form.
    pub fn to_array(self) -> [u8; Self::SIZE] {
        let mut a = [0; Self::SIZE];
        a[..4].copy_from_slice(&self.segment.to_le_bytes());
        a[4..8].copy_from_slice(&self.holder.to_le_bytes());
        a[8..].copy_from_slice(&self.offset.to_le_bytes());
        a
    }

    /// In a file: `holder` is one of its own.
    pub(crate) const fn in_file(segment: SegmentId, holder: u32, offset: u64) -> Self {
        Self { segment, holder: holder | IN_FILE, offset }
    }

    /// True where the data lie in a file.
    pub const fn is_in_file(self) -> bool {
        self.holder & IN_FILE != 0
    }

    /// The index of the holder.
    pub(crate) const fn place(self) -> usize {
        (self.holder & !IN_FILE) as usize
    }

    /// Reads the fixed form.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        let (segment, rest) = bytes.split_first_chunk()?;
        let (holder, rest) = rest.split_first_chunk()?;
        Some(Self {
            segment: u32::from_le_bytes(*segment),
            holder: u32::from_le_bytes(*holder),
            offset: u64::from_le_bytes(*rest.first_chunk()?),
        })
    }
}

/// Data in another task's slab, held until this is dropped.
#[derive(Debug)]
pub struct SlabView {
    mapping: Arc<Mapping>,
    me: Tid,
    holder: usize,
    offset: usize,
    size: usize,
    /// The slot whose owner may still be writing.
    follows: Option<usize>,
}

impl SlabView {
    /// The data that a descriptor names, if it names any.
    pub fn new(mapping: Arc<Mapping>, me: Tid, d: Descriptor, size: u64) -> Option<Self> {
        let offset = usize::try_from(d.offset).ok()?;
        let size = usize::try_from(size).ok()?;
        let holder = d.holder as usize;
        let inside = offset.checked_add(size).is_some_and(|end| end <= mapping.size());
        // Not `then_some`: a value that is made is also dropped.
        (inside && offset >= PAGE && holder < HOLDERS).then(|| Self {
            mapping,
            me,
            holder,
            offset,
            size,
            follows: None,
        })
    }

    /// This view while the owner of `slot` still writes: reading follows the owner.
    #[must_use]
    pub const fn following(mut self, slot: usize) -> Self {
        self.follows = Some(slot);
        self
    }

    fn words(&self) -> Option<&stream::Words> {
        self.follows.and_then(|slot| stream::words(&self.mapping, slot))
    }

    /// True if the owner has left before it wrote all. Bytes that were read of the rest are not the
    /// message's.
    pub fn is_broken(&self) -> bool {
        self.words().is_some_and(|words| {
            matches!(words.filled(), stream::Filled::Left(bytes) if bytes < self.size as u64)
        })
    }

    /// Waits until all is written, or never will be.
    pub fn settle(&self) {
        if let Some(words) = self.words()
            && let Some(last) = self.size.checked_sub(1)
        {
            stream::wait_beyond(words, last as u64);
        }
    }

    /// The size in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Copies out.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        assert!(offset.checked_add(out.len()).is_some_and(|end| end <= self.size));
        let Some(words) = self.words() else {
            return self.mapping.read(self.offset + offset, out);
        };
        let mut done = 0;
        while done < out.len() {
            let Some(filled) = stream::wait_beyond(words, (offset + done) as u64) else { return };
            let end = usize::try_from(filled).unwrap_or(self.size) - offset;
            let end = end.min(out.len());
            self.mapping.read(self.offset + offset + done, &mut out[done..end]);
            done = end;
        }
    }

    /// This view, of at most `size` bytes.
    #[must_use]
    pub fn cut(mut self, size: usize) -> Self {
        self.size = self.size.min(size);
        self
    }

    /// The address of the bytes, when all are written. The sender may still write them: never form
    /// a reference.
    pub fn address(&self) -> *const u8 {
        self.settle();
        self.mapping.at(self.offset, self.size)
    }
}

impl Drop for SlabView {
    fn drop(&mut self) {
        let holder = &holders(&self.mapping)[self.holder];
        // PAIRS WITH: `Slot::is_unread`. Only our own name: a lying descriptor strikes out nobody.
        let _ = holder.compare_exchange(self.me.0, 0, Ordering::Release, Ordering::Relaxed);
    }
}
