//! The slots of a sender's segments, in its own books: which are free, and which somebody may read.

use super::holders::{HOLDERS, holders};
use crate::credit::KEPT_BYTES;
use crate::segment::{Mapping, PAGE};
use crate::sync::Ordering;
use pvm_wire::request::SegmentId;
use std::collections::VecDeque;
use std::sync::Arc;

/// Slots of the smallest class.
const SMALLEST: usize = 4096;
/// Slots that were never needed again are given back beyond this many bytes of a class, but for the
/// last few: two tasks that send a message to and fro use two each, as a message is its reader's
/// until that one takes the next one.
const CLASS_KEPT_BYTES: usize = 8 << 20;
const CLASS_KEPT: usize = 2;

/// A slot of a segment, in the owner's books.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) mapping: Arc<Mapping>,
    pub(super) segment: SegmentId,
    pub(super) first_holder: usize,
    pub(super) holders: usize,
    pub(super) offset: usize,
    pub(super) capacity: usize,
    /// Holders noted since the slot was taken.
    pub(super) noted: usize,
    pub(super) alone: bool,
}

impl Slot {
    pub(super) const fn segment_bytes(&self) -> u64 {
        (PAGE + HOLDERS / self.holders * self.capacity) as u64
    }

    /// A place for one more holder: a new one, then one whose reader is done.
    pub(super) fn free_place(&mut self) -> Option<usize> {
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
    pub(super) fn is_unread(&self) -> bool {
        holders(&self.mapping)[self.first_holder..][..self.noted]
            .iter()
            .all(|holder| holder.load(Ordering::Acquire) == 0)
    }
}

/// One size of slots.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) free: Vec<Slot>,
    /// Sent and dropped by the owner; some reader may not be done. In order of their sending.
    pub(super) in_flight: VecDeque<Slot>,
}

#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Bytes of all segments.
    pub(super) opened: u64,
    pub(super) classes: Vec<Class>,
    /// Segments that are needed no more.
    pub(super) surplus: Vec<SegmentId>,
}

/// The class that holds `size` bytes, and its capacity.
pub(super) fn class_of(size: usize) -> Option<(usize, usize)> {
    let mut capacity = SMALLEST;
    for class in 0.. {
        if size <= capacity {
            return Some((class, capacity));
        }
        capacity = capacity.checked_mul(4)?;
    }
    None
}

pub(super) const fn slots_of(capacity: usize) -> usize {
    match capacity {
        SMALLEST => 16,
        0x4000 => 8,
        0x1_0000 => 4,
        0x4_0000 => 2,
        _ => 1,
    }
}

impl Class {
    /// The bytes of free slots that can be given back one by one.
    pub(super) fn idle_bytes(&self) -> usize {
        self.free.iter().filter(|slot| slot.alone).map(|slot| slot.capacity).sum()
    }

    pub(super) fn count_unread(&mut self) -> usize {
        let (free, kept): (Vec<_>, Vec<_>) = self.in_flight.drain(..).partition(Slot::is_unread);
        self.free.extend(free);
        self.in_flight.extend(kept);
        self.in_flight.len()
    }

    /// A slot that nobody reads: the last one given back is in the cache.
    pub(super) fn reuse(&mut self, size: usize) -> Option<Slot> {
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
    pub(super) fn class(&mut self, class: usize) -> &mut Class {
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Class::default);
        }
        &mut self.classes[class]
    }

    /// Slots that have a segment to themselves are as large as was asked for, not as their class.
    pub(super) fn reuse(&mut self, class: usize, size: usize) -> Option<Slot> {
        let mut slot = self.class(class).reuse(size)?;
        slot.noted = 0;
        Some(slot)
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
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
    pub(super) fn bound_idle(&mut self) {
        loop {
            let idle = self.classes.iter().map(Class::idle_bytes).enumerate();
            let all: usize = idle.clone().map(|(_, bytes)| bytes).sum();
            match idle.max_by_key(|(_, bytes)| *bytes) {
                Some((most, _)) if all as u64 > KEPT_BYTES => self.give_up_oldest(most),
                _ => return,
            }
        }
    }

    pub(super) fn give_up_oldest(&mut self, class: usize) {
        let slot = self.class(class).free.remove(0);
        self.opened = self.opened.saturating_sub(slot.segment_bytes());
        self.surplus.push(slot.segment);
    }
}
