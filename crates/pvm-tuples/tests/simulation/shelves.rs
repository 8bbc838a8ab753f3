//! A shelf in memory, whose disk can be full.

use pvm_tuples::shelf::{Extent, Shelf};
use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    static IS_FULL: Cell<bool> = const { Cell::new(false) };
}

/// Whether no shelf of this thread has room from now on.
pub(crate) fn set_full(is_full: bool) {
    IS_FULL.set(is_full);
}

/// Tuples by where they lie.
#[derive(Default, Debug)]
pub(crate) struct MemoryShelf {
    all: BTreeMap<u64, Vec<u8>>,
    end: u64,
}

impl Shelf for MemoryShelf {
    fn reserve(&mut self, _: u64) -> bool {
        !IS_FULL.get()
    }

    fn put(&mut self, bytes: &[u8]) -> Option<Extent> {
        let place = Extent { file: 0, offset: self.end, bytes: bytes.len() as u64 };
        self.end += 1;
        self.all.insert(place.offset, bytes.to_vec());
        Some(place)
    }

    fn get(&self, place: Extent) -> Option<Vec<u8>> {
        self.all.get(&place.offset).cloned()
    }

    fn free(&mut self, place: Extent) {
        assert!(self.all.remove(&place.offset).is_some(), "{place:?} was free");
    }
}
