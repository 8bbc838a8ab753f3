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
mod view;

pub use view::{Descriptor, SlabView};

use crate::credit::KEPT_BYTES;
use crate::segment::{Mapping, PAGE};
use crate::stream;
use crate::sync::Ordering;
use holders::{HOLDERS, holders};
use pvm_wire::request::SegmentId;
use pvm_wire::{Code, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Slots of the smallest class.
const SMALLEST: usize = 4096;
/// Slots that were never needed again are given back beyond this many bytes of a class, but for the
/// last few: two tasks that send a message to and fro use two each, as a message is its reader's
/// until that one takes the next one.
const CLASS_KEPT_BYTES: usize = 8 << 20;
const CLASS_KEPT: usize = 2;

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

/// A slot of a segment, in the owner's books.
#[derive(Clone, Debug)]
struct Slot {
    mapping: Arc<Mapping>,
    segment: SegmentId,
    first_holder: usize,
    holders: usize,
    offset: usize,
    capacity: usize,
    /// Holders noted since the slot was taken.
    noted: usize,
    alone: bool,
}

impl Slot {
    const fn segment_bytes(&self) -> u64 {
        (PAGE + HOLDERS / self.holders * self.capacity) as u64
    }

    /// A place for one more holder: a new one, then one whose reader is done.
    fn free_place(&mut self) -> Option<usize> {
        if self.noted < self.holders {
            return Some(self.noted);
        }
        if self.is_unread() {
            self.noted = 0;
            return Some(0);
        }
        // PAIRS WITH: `SlabView::drop`.
        let own = &holders(&self.mapping)[self.first_holder..][..self.holders];
        own.iter().position(|holder| holder.load(Ordering::Acquire) == 0)
    }

    /// PAIRS WITH: `SlabView::drop`.
    fn is_unread(&self) -> bool {
        holders(&self.mapping)[self.first_holder..][..self.noted]
            .iter()
            .all(|holder| holder.load(Ordering::Acquire) == 0)
    }
}

/// One size of slots.
#[derive(Debug, Default)]
struct Class {
    free: Vec<Slot>,
    /// Sent and dropped by the owner; some reader may not be done. In order of their sending.
    in_flight: VecDeque<Slot>,
}

/// All slabs of one sender.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    /// Bytes of all segments.
    opened: u64,
    classes: Vec<Class>,
    /// Segments that are needed no more.
    surplus: Vec<SegmentId>,
}

/// A slab that its owner fills and sends.
#[derive(Debug)]
pub struct Slab {
    slot: Option<Slot>,
    pool: Pool,
    fixed: bool,
}

/// The class that holds `size` bytes, and its capacity.
fn class_of(size: usize) -> Option<(usize, usize)> {
    let mut capacity = SMALLEST;
    for class in 0.. {
        if size <= capacity {
            return Some((class, capacity));
        }
        capacity = capacity.checked_mul(4)?;
    }
    None
}

const fn slots_of(capacity: usize) -> usize {
    match capacity {
        SMALLEST => 16,
        0x4000 => 8,
        0x1_0000 => 4,
        0x4_0000 => 2,
        _ => 1,
    }
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

impl Class {
    /// The bytes of free slots that can be given back one by one.
    fn idle_bytes(&self) -> usize {
        self.free.iter().filter(|slot| slot.alone).map(|slot| slot.capacity).sum()
    }

    fn count_unread(&mut self) -> usize {
        let (free, kept): (Vec<_>, Vec<_>) = self.in_flight.drain(..).partition(Slot::is_unread);
        self.free.extend(free);
        self.in_flight.extend(kept);
        self.in_flight.len()
    }

    /// A slot that nobody reads: the last one given back is in the cache.
    fn reuse(&mut self, size: usize) -> Option<Slot> {
        if let Some(at) = self.free.iter().rposition(|slot| slot.capacity >= size) {
            return Some(self.free.swap_remove(at));
        }
        let last = self.in_flight.len();
        // The newest if the receiver is quick, else the oldest: not all, which would cost more
        // the longer the queue is.
        let candidates = (0..last.min(4)).chain(last.saturating_sub(2).max(4)..last);
        let found = candidates.into_iter().find(|&i| {
            self.in_flight.get(i).is_some_and(|slot| slot.capacity >= size && slot.is_unread())
        })?;
        self.in_flight.remove(found)
    }
}

impl Slots {
    fn class(&mut self, class: usize) -> &mut Class {
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Class::default);
        }
        &mut self.classes[class]
    }

    /// Slots that have a segment to themselves are as large as was asked for, not as their class.
    fn reuse(&mut self, class: usize, size: usize) -> Option<Slot> {
        let mut slot = self.class(class).reuse(size)?;
        slot.noted = 0;
        Some(slot)
    }

    fn give_back(&mut self, slot: Slot) {
        let Some((index, capacity)) = class_of(slot.capacity) else { return };
        let class = self.class(index);
        if !slot.is_unread() {
            return class.in_flight.push_back(slot);
        }
        let is_alone = slot.alone;
        let has_enough =
            class.free.len() >= CLASS_KEPT && class.idle_bytes() + capacity > CLASS_KEPT_BYTES;
        class.free.push(slot);
        if is_alone && has_enough {
            self.give_up_oldest(index);
        }
        if is_alone {
            self.bound_idle();
        }
    }

    /// All classes together keep no more than a sender may: the class with the most gives back.
    fn bound_idle(&mut self) {
        loop {
            let idle = self.classes.iter().map(Class::idle_bytes).enumerate();
            let all: usize = idle.clone().map(|(_, bytes)| bytes).sum();
            match idle.max_by_key(|(_, bytes)| *bytes) {
                Some((most, _)) if all as u64 > KEPT_BYTES => self.give_up_oldest(most),
                _ => return,
            }
        }
    }

    fn give_up_oldest(&mut self, class: usize) {
        let slot = self.class(class).free.remove(0);
        self.opened = self.opened.saturating_sub(slot.segment_bytes());
        self.surplus.push(slot.segment);
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
mod tests {
    use super::holders::strike_out;
    use super::*;

    fn open(bytes: usize) -> Result<(SegmentId, Arc<Mapping>), Code> {
        Ok((7, Arc::new(Mapping::of_a_test(bytes).map_err(|_| Code::NoMem)?)))
    }

    #[test]
    fn a_slab_is_used_again_only_when_its_readers_are_done() {
        let pool = Pool::new();
        let me = Tid(0x40002);
        let mut slab = pool.take(100_000, open).expect("memory");
        slab.write(5, b"data");
        let descriptor = slab.hold_for(me).expect("room");
        let mapping = slab.slot().mapping.clone();
        let offset = slab.slot().offset;
        let view = SlabView::new(mapping.clone(), me, descriptor, 9).expect("inside");
        drop(slab);
        assert_eq!(pool.in_flight(), 1);
        let mut out = [0; 4];
        view.read(5, &mut out);
        assert_eq!(&out, b"data");
        drop(view);
        assert_eq!(pool.in_flight(), 0);
        let again = pool.take(100_000, |_| panic!("a slot is free")).expect("memory");
        assert_eq!(again.slot().offset % 4096, offset % 4096);
    }

    #[test]
    fn a_slab_that_is_read_each_time_can_be_sent_for_ever_and_stays_where_it_is() {
        let pool = Pool::new();
        let mut slab = pool.take(100_000, open).expect("memory");
        let (mapping, address) = (slab.slot().mapping.clone(), slab.address(0, 1));
        let mut unread = Vec::new();
        for round in 0..5 * HOLDERS {
            let descriptor = slab.hold_for(Tid(0x40002)).expect("earlier ones are read");
            let view = SlabView::new(mapping.clone(), Tid(0x40002), descriptor, 9).expect("inside");
            // A few readers are slow, and places between those of the others stay taken.
            if round % 500 == 7 {
                unread.push(view);
            } else {
                drop(view);
            }
            assert_eq!(slab.address(0, 1), address);
            assert_eq!(slab.is_unread(), unread.is_empty(), "{round}");
        }
        let more = (unread.len()..slab.slot().holders).map(|_| slab.hold_for(Tid(0x40003)));
        assert!(more.collect::<Vec<_>>().iter().all(Option::is_some));
        assert_eq!(slab.hold_for(Tid(0x40003)), None, "so many read");
        let struck = unread.pop().map(drop);
        assert!(struck.is_some() && slab.hold_for(Tid(0x40003)).is_some());
        assert_eq!(slab.hold_for(Tid(0x40003)), None);
    }

    #[test]
    fn a_large_slot_is_not_given_to_a_larger_message_of_its_class() {
        let pool = Pool::new();
        drop(pool.take(2_000_000, open).expect("memory"));
        assert!(pool.take(3_000_000, open).expect("memory").capacity() >= 3_000_000);
        assert!(pool.take(1_500_000, |_| panic!("one is free")).is_ok());
    }

    #[test]
    fn two_large_slots_of_a_message_that_goes_to_and_fro_are_not_made_anew() {
        let pool = Pool::new();
        let take = || pool.take(8_000_000, open).expect("memory");
        let (one, other) = (take(), take());
        drop((one, other));
        let free = || pool.take(8_000_000, |_| panic!("two are free")).expect("memory");
        drop((free(), free()));
        assert_eq!(pool.surplus(), []);
        let (first, second, third) = (take(), take(), take());
        drop((first, second, third));
        assert_eq!(pool.surplus().len(), 1, "a third one is not kept");
    }

    #[test]
    fn what_is_kept_of_all_sizes_is_bounded() {
        let pool = Pool::new();
        for size in [1_000_000, 3_000_000, 12_000_000, 30_000_000, 40_000_000] {
            drop((pool.take(size, open).expect("memory"), pool.take(size, open).expect("memory")));
            assert!(pool.opened() <= KEPT_BYTES + (1 << 20), "{} of {size}", pool.opened());
        }
        assert!(pool.opened() >= 8_000_000, "the small ones are kept");
    }

    #[test]
    fn a_dead_reader_is_struck_out() {
        let pool = Pool::new();
        let mut slab = pool.take(10, open).expect("memory");
        let mapping = slab.slot().mapping.clone();
        slab.hold_for(Tid(1)).expect("room");
        slab.hold_for(Tid(2)).expect("room");
        assert!(!strike_out(&mapping, Some(Tid(1))));
        assert!(!slab.is_unread());
        strike_out(&mapping, Some(Tid(2)));
        assert!(strike_out(&mapping, None) && slab.is_unread());
    }

    #[test]
    fn descriptors_that_lie_name_nothing() {
        let (_, mapping) = open(3 * PAGE).expect("memory");
        let good = Descriptor { segment: 7, holder: 0, offset: PAGE as u64 };
        assert_eq!(Descriptor::from_slice(&good.to_array()), Some(good));
        let view = |d, size| SlabView::new(mapping.clone(), Tid(1), d, size).is_some();
        assert!(view(good, 2 * PAGE as u64));
        assert!(!view(good, 2 * PAGE as u64 + 1) && !view(good, u64::MAX));
        assert!(!view(Descriptor { offset: 0, ..good }, 1));
        assert!(!view(Descriptor { offset: u64::MAX, ..good }, 1));
        assert!(!view(Descriptor { holder: HOLDERS as u32, ..good }, 1));
    }
}
