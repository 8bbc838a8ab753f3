//! Memory of a sender's that holds the data of larger messages until every receiver is done.
//!
//! ```text
//! segment:  0       512 holders (u32 each): the receivers that still read, 0 where none
//!           2048    16 lines: how far slots are written that are read meanwhile (see `stream`)
//!           4096    the data of slot 0, slot 1, ...
//! ```
//! A slab is one slot with its share of the holders. The sender notes a receiver before it
//! publishes the descriptor; the receiver strikes itself out when it is done; for a receiver
//! that died the keeper does it. A name can be struck out by the keeper where a count could not
//! be repaired.

pub(crate) mod holders;
mod slots;
mod view;

pub use view::{Descriptor, SlabView};

use crate::segment::{Mapping, PAGE};
use crate::stream;
use crate::sync::Ordering;
use holders::{HOLDERS, holders};
use pvm_wire::request::SegmentId;
use pvm_wire::{Code, Tid};
use slots::{Slot, Slots, class_of, slots_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A note of a reader that the owner itself takes back.
#[derive(Debug)]
pub(crate) struct Hold {
    mapping: Arc<Mapping>,
    holder: usize,
}

impl Drop for Hold {
    fn drop(&mut self) {
        holders(&self.mapping)[self.holder].store(0, Ordering::Release);
    }
}

/// All slabs of one sender.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<Slots>>);

/// A slab that its owner fills and sends.
#[derive(Debug)]
pub struct Slab {
    slot: Option<Slot>,
    pool: Pool,
    fixed: bool,
}

impl Pool {
    /// No slabs yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slab of at least `size` bytes; `open` makes a segment of the bytes that it is given, if no
    /// slab is free.
    ///
    /// # Errors
    /// Whatever `open` answers, [`Code::NoMem`] for absurd sizes.
    pub fn take(
        &self,
        size: usize,
        open: impl FnOnce(usize) -> Result<(SegmentId, Arc<Mapping>), Code>,
    ) -> Result<Slab, Code> {
        let (class, capacity) = class_of(size).ok_or(Code::NoMem)?;
        if let Some(slot) = self.slots().reuse(class, size) {
            return Ok(Slab { slot: Some(slot), pool: self.clone(), fixed: false });
        }
        // Above the classes that share a segment, no more memory than is asked for.
        let slots = slots_of(capacity);
        let bytes = if slots == 1 { size.next_multiple_of(PAGE) } else { capacity };
        let (segment, mapping) = open(PAGE + slots * bytes)?;
        let mut all = (0..slots).map(|i| Slot {
            mapping: mapping.clone(),
            segment,
            first_holder: i * (HOLDERS / slots),
            holders: HOLDERS / slots,
            offset: PAGE + i * bytes,
            capacity: bytes,
            noted: 0,
            alone: slots == 1,
        });
        let first = all.next();
        let mut slots_of_all = self.slots();
        slots_of_all.opened += (PAGE + slots * bytes) as u64;
        slots_of_all.class(class).free.extend(all);
        drop(slots_of_all);
        Ok(Slab { slot: first, pool: self.clone(), fixed: false })
    }

    /// Segments that can be given back to the keeper.
    pub fn surplus(&self) -> Vec<SegmentId> {
        std::mem::take(&mut self.slots().surplus)
    }

    /// Bytes of all its segments.
    pub(crate) fn opened(&self) -> u64 {
        self.slots().opened
    }

    /// Bytes that each receiver has not read yet.
    pub(crate) fn unread(&self) -> BTreeMap<Tid, usize> {
        let slots = self.slots();
        let mut unread = BTreeMap::new();
        for slot in slots.classes.iter().flat_map(|class| &class.in_flight) {
            for holder in &holders(&slot.mapping)[slot.first_holder..][..slot.noted] {
                let name = holder.load(Ordering::Acquire);
                if name != 0 {
                    *unread.entry(Tid(name)).or_default() += slot.capacity;
                }
            }
        }
        unread
    }

    /// Takes out segments of which nothing is used, so that about `keep` bytes remain; smaller
    /// slots are kept before larger ones.
    pub(crate) fn shrink(&self, keep: u64) -> Vec<SegmentId> {
        let mut slots = self.slots();
        let mut given = std::mem::take(&mut slots.surplus);
        let Slots { opened, classes, .. } = &mut *slots;
        for class in classes.iter_mut().rev() {
            class.count_unread();
            if *opened <= keep {
                continue;
            }
            // Segments all of whose slots are free.
            let mut free: BTreeMap<SegmentId, (usize, &Slot)> = BTreeMap::new();
            for slot in &class.free {
                free.entry(slot.segment).or_insert((0, slot)).0 += 1;
            }
            let mut gone = BTreeSet::new();
            for (segment, (count, slot)) in free {
                if count * slot.holders == HOLDERS && *opened > keep {
                    *opened = opened.saturating_sub(slot.segment_bytes());
                    gone.insert(segment);
                }
            }
            class.free.retain(|slot| !gone.contains(&slot.segment));
            given.extend(gone);
        }
        given
    }

    /// The number of slabs that their owner has dropped and that some reader still holds.
    pub fn in_flight(&self) -> usize {
        let mut slots = self.slots();
        slots.classes.iter_mut().map(|class| class.count_unread()).sum()
    }
}

impl Slab {
    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("only taken by drop")
    }

    /// The number of bytes that fit.
    pub fn capacity(&self) -> usize {
        self.slot().capacity
    }

    /// Copies in.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let slot = self.slot();
        assert!(offset.checked_add(bytes.len()).is_some_and(|end| end <= slot.capacity));
        slot.mapping.write(slot.offset + offset, bytes);
    }

    /// Copies out.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let slot = self.slot();
        assert!(offset.checked_add(out.len()).is_some_and(|end| end <= slot.capacity));
        slot.mapping.read(slot.offset + offset, out);
    }

    /// The address of the bytes from `offset` on. Readers may look: never form a reference.
    pub fn address(&self, offset: usize, length: usize) -> *mut u8 {
        let slot = self.slot();
        assert!(offset.checked_add(length).is_some_and(|end| end <= slot.capacity));
        slot.mapping.at(slot.offset + offset, length)
    }

    /// True if it was sent to nobody, or all readers are done.
    pub fn is_unread(&self) -> bool {
        self.slot().is_unread()
    }

    /// The program has its address: it is not to be replaced by a copy.
    pub const fn fix(&mut self) {
        self.fixed = true;
    }

    /// True if the program has its address.
    pub const fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Notes a receiver. None if as many read as the slab's share of holders allows: send a copy.
    pub fn hold_for(&mut self, receiver: Tid) -> Option<Descriptor> {
        let slot = self.slot.as_mut().expect("only taken by drop");
        let place = slot.free_place()?;
        slot.noted = slot.noted.max(place + 1);
        let holder = slot.first_holder + place;
        holders(&slot.mapping)[holder].store(receiver.0, Ordering::Release);
        Some(Descriptor {
            segment: slot.segment,
            holder: holder as u32,
            offset: slot.offset as u64,
        })
    }

    /// The note that made this descriptor, to be taken back by dropping it.
    pub(crate) fn hold(&self, descriptor: Descriptor) -> Hold {
        Hold { mapping: self.slot().mapping.clone(), holder: descriptor.holder as usize }
    }

    /// The receiver may read while this is written: nothing is there yet. Tells the slot's number.
    pub(crate) fn begin_stream(&self) -> u32 {
        self.fill_stream(0);
        let slot = self.slot();
        (slot.first_holder / slot.holders) as u32
    }

    /// The first `bytes` bytes are written.
    pub fn fill_stream(&self, bytes: usize) {
        let slot = self.slot();
        if let Some(words) = stream::words(&slot.mapping, slot.first_holder / slot.holders) {
            words.publish(bytes as u64);
        }
    }

    /// Takes back the note: the receiver is gone.
    pub fn release(&self, descriptor: Descriptor) {
        holders(&self.slot().mapping)[descriptor.holder as usize].store(0, Ordering::Release);
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.pool.slots().give_back(slot);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
