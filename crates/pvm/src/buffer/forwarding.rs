//! A received message that is kept, and sent on from where it lies.

use super::{Buffer, Data, Store};
use crate::source;
use crate::sys::memory;
use pvm_wire::{Bytes as _, Code};

impl Buffer {
    /// Moves a received message into a slab of this task's, which takes one copy. False if the
    /// message has no slab, or no slab is to be had.
    ///
    /// # Errors
    /// [`Code::NoData`] if its sender died before it was whole.
    pub fn own(&mut self) -> Result<bool, Code> {
        let Store::Received(view) = &self.store else { return Ok(false) };
        let Some(mut slab) = source::slab(self.size) else { return Ok(false) };
        memory::fill(&mut slab, self.size, |bytes| view.read(0, bytes));
        if view.is_broken() {
            return Err(Code::NoData);
        }
        (self.store, self.sealed) = (Store::Slab(slab), false);
        Ok(true)
    }

    /// Copies data without regard to what was unpacked before.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn read_at(&self, offset: usize, out: &mut [u8]) {
        Data { store: &self.store, size: self.size }.copy_to(offset, out);
    }

    /// Replaces bytes of the data, which lie in a slab of this task's. False if there are fewer,
    /// they lie elsewhere, or a receiver still holds them: nothing is changed then.
    pub fn rewrite(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let is_inside = offset.checked_add(bytes.len()).is_some_and(|end| end <= self.size);
        match &self.store {
            Store::Slab(slab) if is_inside && slab.is_unread() => {
                slab.write(offset, bytes);
                true
            }
            _ => false,
        }
    }
}
