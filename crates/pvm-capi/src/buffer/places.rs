//! The slots of buffer numbers. A slot stays where it is once it is made, so a number leads to it
//! without a lock.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::slot::Slot;

/// Slots are made in chunks; the first one has this many, each further one twice as many as the one
/// before.
const FIRST: usize = 16;
/// As many as the numbers of a C int need.
const CHUNKS: usize = 28;

/// The slots of numbers from 1 on.
pub(super) struct SlotTable {
    chunks: [AtomicPtr<Slot>; CHUNKS],
}

/// The chunk of a number, and its place there.
#[inline]
fn locate(id: c_int) -> Option<(usize, usize)> {
    let place = usize::try_from(id).ok()?.checked_sub(1)? + FIRST;
    let chunk = (place.ilog2() - FIRST.ilog2()) as usize;
    Some((chunk, place - (FIRST << chunk)))
}

impl SlotTable {
    pub(super) const fn none() -> Self {
        Self { chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS] }
    }

    /// The slot of a number; none if it was never made. That of a number that was not given out is
    /// empty.
    #[inline]
    pub(super) fn at(&self, id: c_int) -> Option<&'static Slot> {
        let (chunk, offset) = locate(id)?;
        // PAIRS WITH: `make`.
        let first = self.chunks.get(chunk)?.load(Ordering::Acquire);
        // SAFETY: null, or a chunk as long as `locate` reckons, which is never freed.
        (!first.is_null()).then(|| unsafe { &*first.add(offset) })
    }

    /// The largest number that there is a slot of.
    pub(super) fn last(&self) -> c_int {
        let made = |chunk: &&AtomicPtr<Slot>| !chunk.load(Ordering::Acquire).is_null();
        let chunks = self.chunks.iter().take_while(made).count();
        c_int::try_from((FIRST << chunks) - FIRST).unwrap_or(c_int::MAX)
    }

    /// The slot of a number, which is made if it is missing. One thread at a time calls this.
    pub(super) fn make(&self, id: c_int) -> Option<&'static Slot> {
        let (chunk, _) = locate(id)?;
        let place = self.chunks.get(chunk)?;
        if place.load(Ordering::Relaxed).is_null() {
            let slots: Box<[Slot]> = (0..FIRST << chunk).map(|_| Slot::new()).collect();
            place.store(Box::leak(slots).as_mut_ptr(), Ordering::Release);
        }
        self.at(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_slot_of_its_own_that_stays() {
        let places = SlotTable::none();
        assert!(places.at(1).is_none(), "nothing is made yet");
        for wrong in [0, -1, c_int::MIN] {
            assert!(places.make(wrong).is_none(), "{wrong}");
        }
        let made: Vec<_> =
            (1..=200).map(|id| ptr::from_ref(places.make(id).expect("room"))).collect();
        for (id, slot) in (1..).zip(&made) {
            assert_eq!(places.at(id).map(ptr::from_ref), Some(*slot), "{id}");
        }
        let mut sorted = made.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), made.len());
        assert_eq!((SlotTable::none().last(), places.last()), (0, 240));
        assert!(places.at(240).is_some() && places.at(241).is_none());
        assert_eq!(locate(16), Some((0, 15)));
        assert_eq!(locate(17), Some((1, 0)));
        assert_eq!(locate(c_int::MAX).map(|(chunk, _)| chunk), Some(CHUNKS - 1));
    }
}
