//! The index of tuples and waiters of one space: by signature, then by the hashes of the first two
//! fields.

use crate::hash::{Map, mix};
use crate::ids::Ids;
use crate::marks::Marks;

/// The numbers of tuples, or of waiters, by the key of the search.
#[derive(Default, Debug)]
pub(crate) struct Index(Map<Ids>);

/// A key of the index, made of a signature and the keys of two fields.
fn place(signature: u64, keys: [Option<u64>; 2]) -> u64 {
    keys.iter().fold(signature, |hash, key| match key {
        Some(key) => mix(mix(hash, 1), *key),
        None => mix(hash, 2),
    })
}

/// The keys of the waiters that a tuple may serve: one for each form of a template's first two
/// fields.
fn places_of_waiters(marks: Marks) -> impl Iterator<Item = u64> {
    let Marks { signature, keys: [first, second] } = marks;
    let paired = second.is_some().then_some([[first, second], [None, second]]);
    let alone = [[first, None], [None, None]];
    paired.into_iter().flatten().chain(alone).map(move |keys| place(signature, keys))
}

/// The keys of a tuple. There is none for a formal followed by a value: few templates have this
/// form, and each key costs memory.
fn places_of_tuple(marks: Marks) -> impl Iterator<Item = u64> {
    let Marks { signature, keys: [first, second] } = marks;
    let paired = second.is_some().then_some([first, second]);
    paired.into_iter().chain([[first, None], [None, None]]).map(move |keys| place(signature, keys))
}

/// The key with which a template searches.
fn place_for_template(Marks { signature, keys: [first, second] }: Marks) -> u64 {
    place(signature, [first, first.and(second)])
}

impl Index {
    fn put(&mut self, place: u64, id: u64) {
        self.0.entry(place).or_default().insert(id);
    }

    fn take(&mut self, place: u64, id: u64) {
        if let Some(ids) = self.0.get_mut(&place) {
            ids.remove(id);
            if ids.is_empty() {
                self.0.remove(&place);
            }
        }
    }

    /// Adds a tuple, or removes it.
    pub(crate) fn put_tuple(&mut self, marks: Marks, id: u64) {
        places_of_tuple(marks).for_each(|place| self.put(place, id));
    }

    pub(crate) fn take_tuple(&mut self, marks: Marks, id: u64) {
        places_of_tuple(marks).for_each(|place| self.take(place, id));
    }

    /// Tuples that may fit a template, the oldest first.
    pub(crate) fn for_template(&self, marks: Marks) -> impl Iterator<Item = u64> {
        self.0.get(&place_for_template(marks)).into_iter().flat_map(Ids::iter)
    }

    /// Adds a waiter with its template.
    pub(crate) fn put_waiter(&mut self, marks: Marks, id: u64) {
        self.put(place(marks.signature, marks.keys), id);
    }

    pub(crate) fn take_waiter(&mut self, marks: Marks, id: u64) {
        self.take(place(marks.signature, marks.keys), id);
    }

    /// The waiters whose template this tuple may fit, in the order in which they came.
    pub(crate) fn for_tuple(&self, marks: Marks) -> impl Iterator<Item = u64> {
        // Most of the time there are no waiters.
        let places = (!self.0.is_empty()).then(|| places_of_waiters(marks));
        let mut queues: Vec<_> = places
            .into_iter()
            .flatten()
            .filter_map(|place| self.0.get(&place))
            .map(|ids| ids.iter().peekable())
            .collect();
        std::iter::from_fn(move || {
            let next = queues
                .iter_mut()
                .enumerate()
                .filter_map(|(number, queue)| queue.peek().map(|id| (*id, number)))
                .min()?;
            queues[next.1].next()
        })
    }
}
