//! Packing: items are appended to a buffer.

use super::{Buffer, Data, Store};
use crate::source;
use crate::sys::memory::{self, ProgramMemory};
use pvm_shm::bytes::copy_slice;
use pvm_shm::lane::{SPANNING_MAX, room_for};
use pvm_wire::{Bytes as _, Code, Encoding, Kind, RunList};

impl Buffer {
    /// Packs items of one kind that lie behind one another.
    ///
    /// # Errors
    /// [`Code::NoMem`]; [`Code::NotImpl`] for an in-place message.
    #[inline]
    pub fn pack(&mut self, kind: Kind, items: &[u8]) -> Result<(), Code> {
        debug_assert!(items.len().is_multiple_of(kind.size()));
        if self.encoding == Encoding::InPlace {
            return Err(Code::NotImpl);
        }
        let end = self.size + items.len();
        match &mut self.store {
            Store::Small(small) if end <= small.len() => {
                copy_slice(items, &mut small[self.size..end]);
                self.size = end;
            }
            _ => self.append(items)?,
        }
        if self.encoding.has_runs() {
            self.runs.push(kind, items.len() / kind.size());
        }
        Ok(())
    }

    /// Packs items that are gathered block by block: `fill` is told the index of the first item
    /// of a block and gets the place for it.
    ///
    /// # Errors
    /// As for [`Buffer::pack`].
    pub fn pack_strided(
        &mut self,
        kind: Kind,
        count: usize,
        fill: &mut dyn FnMut(usize, &mut [u8]),
    ) -> Result<(), Code> {
        if self.encoding == Encoding::InPlace {
            return Err(Code::NotImpl);
        }
        let mut block = [0; 2048];
        let each = block.len() / kind.size();
        self.reserve(count.checked_mul(kind.size()).ok_or(Code::NoMem)?)?;
        for first in (0..count).step_by(each) {
            let n = each.min(count - first);
            let bytes = &mut block[..n * kind.size()];
            fill(first, bytes);
            self.append(bytes)?;
        }
        self.note(kind, count);
        Ok(())
    }

    /// Packs a string as PVM does: its length with the final NUL, then the bytes.
    ///
    /// # Errors
    /// As for [`Buffer::pack`]; [`Code::Overflow`] beyond 2 GiB.
    pub fn pack_str(&mut self, text_with_nul: &[u8]) -> Result<(), Code> {
        let length = i32::try_from(text_with_nul.len()).map_err(|_| Code::Overflow)?;
        self.pack(Kind::Int, &length.to_ne_bytes())?;
        self.pack(Kind::Byte, text_with_nul)
    }

    /// Says of a raw message that everything in it is items of `kind`, as `pvm_psend` does: then
    /// a machine of another layout can read it.
    pub fn say_kind(&mut self, kind: Kind) {
        self.runs = RunList::new();
        self.runs.push(kind, self.sent_size() / kind.size());
    }

    /// Notes items of an in-place message; they are read at each send.
    ///
    /// # Errors
    /// [`Code::BadParam`] for another encoding, or for a part of an item.
    pub fn pack_in_place(&mut self, kind: Kind, items: ProgramMemory) -> Result<(), Code> {
        if self.encoding != Encoding::InPlace || !items.size().is_multiple_of(kind.size()) {
            return Err(Code::BadParam);
        }
        self.in_place.push(items);
        Ok(())
    }

    #[inline]
    pub(super) fn note(&mut self, kind: Kind, count: usize) {
        if self.encoding.has_runs() {
            self.runs.push(kind, count);
        }
    }

    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Code> {
        self.reserve(bytes.len())?;
        self.write(bytes);
        Ok(())
    }

    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let end = self.size + bytes.len();
        match &mut self.store {
            Store::Small(small) => small[self.size..end].copy_from_slice(bytes),
            Store::Heap(heap) => heap.extend_from_slice(bytes),
            Store::Slab(slab) => slab.write(self.size, bytes),
            Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_) => {
                unreachable!("`reserve` makes it our own")
            }
        }
        self.size = end;
    }

    /// Makes room for `more` bytes behind the data, in memory that may be written.
    #[inline]
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), Code> {
        let end = self.size.checked_add(more).ok_or(Code::NoMem)?;
        let fits = match &mut self.store {
            Store::Small(small) => end <= small.len(),
            Store::Heap(heap) => {
                return heap.try_reserve(more).map_err(|_| Code::NoMem);
            }
            Store::Slab(slab) => end <= slab.capacity() && (!self.sealed || slab.is_unread()),
            Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_) => false,
        };
        if fits { Ok(()) } else { self.move_to(end) }
    }

    /// Moves the data to where at least `end` bytes fit.
    #[cold]
    pub(super) fn move_to(&mut self, end: usize) -> Result<(), Code> {
        // The first call often packs everything: then exactly that; later ones double.
        let wanted = if self.size == 0 { end } else { end.max(self.size.saturating_mul(2)) };
        let old = Data { store: &self.store, size: self.size };
        let slab = if wanted <= SPANNING_MAX { None } else { source::slab(wanted) };
        let next = match slab {
            None if wanted <= SPANNING_MAX => {
                let mut room = room_for(wanted);
                old.copy_to(0, &mut room[..old.size]);
                Store::Small(room)
            }
            Some(mut slab) => {
                memory::fill(&mut slab, old.size, |bytes| old.copy_to(0, bytes));
                Store::Slab(slab)
            }
            None => {
                let mut heap = Vec::new();
                heap.try_reserve(wanted).map_err(|_| Code::NoMem)?;
                heap.resize(self.size, 0);
                old.copy_to(0, &mut heap);
                Store::Heap(heap)
            }
        };
        self.store = next;
        self.sealed = false;
        Ok(())
    }
}
