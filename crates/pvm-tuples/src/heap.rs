//! The free tuples of a store: in memory, or, for lack of memory, on a [`Shelf`].

use crate::hash::Map;
use crate::planted::{self, Bug};
use crate::shelf::{Extent, Shelf};
use crate::snapshot::Kept;
use crate::tuple::Tuple;
use std::borrow::Cow;
use std::cell::Cell;

/// The cost of a tuple beside its bytes: its entries in the tables of the store.
const TUPLE_COST: u64 = 128;

/// The bytes that a tuple counts against the limit.
pub(crate) fn cost(tuple: &Tuple) -> u64 {
    tuple.size() as u64 + TUPLE_COST
}

#[derive(Debug)]
enum Stored {
    Here(Kept),
    Away { place: Extent, tries: u32 },
}

/// Tuples by their numbers.
#[derive(Default, Debug)]
pub(crate) struct Heap {
    all: Map<Stored>,
    /// The cost of the tuples in memory.
    here: u64,
    /// The bytes of the tuples on the shelf.
    away: u64,
    /// The shelf, and the cost of the tuples for which memory has room.
    shelf: Option<(Box<dyn Shelf>, u64)>,
    /// True once a tuple could not be read from the shelf.
    has_failed: Cell<bool>,
}

impl Heap {
    /// From now on tuples beyond this cost go to a shelf.
    pub(crate) fn spill_to(&mut self, shelf: Box<dyn Shelf>, room: u64) {
        self.shelf = Some((shelf, room));
        let mut ids: Vec<u64> = self.ids().collect();
        // The oldest stay in memory, because they are asked for first.
        ids.sort_unstable();
        while self.here > room
            && let Some(id) = ids.pop()
        {
            match self.all.remove(&id) {
                Some(Stored::Here(kept)) => {
                    self.here -= cost(&kept.tuple);
                    self.insert(id, kept);
                }
                Some(away) => drop(self.all.insert(id, away)),
                None => {}
            }
        }
    }

    /// True if there is a shelf.
    pub(crate) const fn has_shelf(&self) -> bool {
        self.shelf.is_some()
    }

    /// Reserves room for tuples of this cost; false if there is none.
    pub(crate) fn reserve(&mut self, needed: u64) -> bool {
        match &mut self.shelf {
            Some((shelf, room)) if self.here + needed > *room => shelf.reserve(needed),
            _ => true,
        }
    }

    pub(crate) fn insert(&mut self, id: u64, kept: Kept) {
        let lying = self.placed(kept);
        self.all.insert(id, lying);
    }

    fn placed(&mut self, kept: Kept) -> Stored {
        let needed = cost(&kept.tuple);
        if let Some((shelf, room)) = &mut self.shelf
            && self.here + needed > *room
            && let Some(place) = shelf.put(kept.tuple.encoded())
        {
            self.away += place.bytes;
            return Stored::Away { place, tries: kept.tries };
        }
        self.here += needed;
        Stored::Here(kept)
    }

    /// Removes a tuple.
    pub(crate) fn remove(&mut self, id: u64) {
        match self.all.remove(&id) {
            Some(Stored::Here(kept)) => self.here -= cost(&kept.tuple),
            Some(Stored::Away { place, .. }) => {
                self.away -= place.bytes;
                if let Some((shelf, _)) = &mut self.shelf {
                    shelf.free(place);
                }
            }
            None => {}
        }
    }

    pub(crate) fn get(&self, id: u64) -> Option<Cow<'_, Kept>> {
        self.read(self.all.get(&id)?)
    }

    fn read<'a>(&self, lying: &'a Stored) -> Option<Cow<'a, Kept>> {
        let (place, tries) = match lying {
            Stored::Here(kept) => return Some(Cow::Borrowed(kept)),
            Stored::Away { place, tries } => (*place, *tries),
        };
        let bytes = self.shelf.as_ref().and_then(|(shelf, _)| shelf.get(place));
        let tuple = bytes.and_then(|bytes| Tuple::behind(bytes, 0).ok());
        self.has_failed.set(self.has_failed.get() || tuple.is_none());
        tuple.map(|tuple| Cow::Owned(Kept { tuple, tries }))
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The numbers of all tuples, in no order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.all.keys().copied()
    }

    /// All tuples by age.
    pub(crate) fn in_order(&self) -> Vec<(u64, Kept)> {
        let mut ids: Vec<u64> = self.ids().collect();
        ids.sort_unstable();
        let is_told = |id: &u64| {
            !planted::is(Bug::ForgetsTheShelf) || matches!(self.all[id], Stored::Here(_))
        };
        let told = ids.into_iter().filter(is_told);
        told.filter_map(|id| Some((id, self.get(id)?.into_owned()))).collect()
    }

    /// The bytes on the shelf.
    pub(crate) const fn away(&self) -> u64 {
        self.away
    }

    /// True once a tuple on the shelf could not be read.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.get()
    }
}
