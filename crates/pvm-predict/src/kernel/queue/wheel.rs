//! A wheel of wheels (Varghese and Lauck 1987): events lie in slots, without an order, and move to
//! finer slots as their time comes.

use super::entry::Entry;
use super::heap::Heap;
use crate::unit::Time;

/// The finest slots last 2^18 ps, a quarter of a microsecond: on a busy network of today some
/// events happen meanwhile.
const FINEST: u32 = 18;
/// Each level has 2^6 slots, as many as a word has bits.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (64 - FINEST).div_ceil(BITS) as usize;
/// A slot that has had more events than these gives their memory back.
const KEPT: usize = 64;

/// Events behind the present slot.
#[derive(Debug)]
pub(super) struct Wheel<E> {
    /// The number of the present slot, among the finest ones of all time.
    now: u64,
    len: usize,
    /// By level: the slots that are not empty, as bits.
    used: [u64; LEVELS],
    /// By level and slot. The events of a level have the same slots as `now` at all coarser levels,
    /// and a later one at this level.
    slots: Vec<Vec<Entry<E>>>,
}

/// The number of a finest slot.
const fn slot(at: Time) -> u64 {
    at.0 >> FINEST
}

impl<E: Copy> Wheel<E> {
    pub(super) fn new() -> Self {
        let slots = (0..LEVELS * SLOTS).map(|_| Vec::new()).collect();
        Self { now: 0, len: 0, used: [0; LEVELS], slots }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// True if a time is behind the present slot.
    pub(super) const fn is_ahead(&self, at: Time) -> bool {
        slot(at) > self.now
    }

    /// Makes the slot of a time the present one. The wheel is empty.
    pub(super) const fn turn_to(&mut self, at: Time) {
        debug_assert!(self.len == 0, "its events would be at wrong places");
        self.now = slot(at);
    }

    /// Takes an event that is ahead.
    pub(super) fn push(&mut self, entry: Entry<E>) {
        self.len += 1;
        let at = slot(entry.at);
        let level = (u64::BITS - 1 - (at ^ self.now).leading_zeros()) / BITS;
        let place = (at >> (level * BITS)) as usize % SLOTS;
        self.used[level as usize] |= 1 << place;
        self.slots[level as usize * SLOTS + place].push(entry);
    }

    /// Goes on to the next slot with an event, whose events go to a heap.
    pub(super) fn turn(&mut self, near: &mut Heap<E>) {
        let Some(level) = self.used.iter().position(|used| *used != 0) else { return };
        let place = self.used[level].trailing_zeros() as usize;
        self.used[level] &= self.used[level] - 1;
        let mut events = std::mem::take(&mut self.slots[level * SLOTS + place]);
        self.len -= events.len();
        let first = events.iter().map(|entry| slot(entry.at)).min();
        self.now = first.unwrap_or(self.now);
        for entry in events.drain(..) {
            match self.is_ahead(entry.at) {
                true => self.push(entry),
                false => near.push(entry),
            }
        }
        if events.capacity() <= KEPT {
            self.slots[level * SLOTS + place] = events;
        }
    }
}
