//! A map that finds at once what it found last: a task mostly talks to the same one again.

use std::collections::BTreeMap;

/// The map.
#[derive(Clone, Debug)]
pub struct Recent<K, V> {
    entries: Vec<(K, V)>,
    places: BTreeMap<K, usize>,
    last: usize,
    /// The place at which [`Recent::weed`] goes on.
    hand: usize,
}

impl<K: Ord + Copy, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy, V> Recent<K, V> {
    /// An empty one.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), places: BTreeMap::new(), last: 0, hand: 0 }
    }

    #[inline]
    fn place(&self, key: K) -> Option<usize> {
        if self.entries.get(self.last).is_some_and(|(found, _)| *found == key) {
            return Some(self.last);
        }
        self.places.get(&key).copied()
    }

    /// The value, to be read.
    #[inline]
    pub fn get(&self, key: K) -> Option<&V> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    /// The value, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let place = self.place(key)?;
        self.last = place;
        Some(&mut self.entries[place].1)
    }

    /// The value, to be changed, of a key that is most likely the one that was found last.
    #[inline]
    pub fn again(&mut self, key: K) -> Option<&mut V> {
        // Twice, as the compiler does not see that only one of the two borrows goes on.
        let is_last = matches!(self.entries.get(self.last), Some((found, _)) if *found == key);
        if is_last {
            return self.entries.get_mut(self.last).map(|(_, value)| value);
        }
        self.other(key)
    }

    /// The value, to be changed, of the key that was found last; none of any other.
    #[inline]
    pub fn last(&mut self, key: K) -> Option<&mut V> {
        match self.entries.get_mut(self.last) {
            Some((found, value)) if *found == key => Some(value),
            _ => None,
        }
    }

    #[inline(never)]
    fn other(&mut self, key: K) -> Option<&mut V> {
        self.get_mut(key)
    }

    /// The value of a key, or of a key that is new.
    #[inline]
    pub fn or_insert(&mut self, key: K, value: V) -> &mut V {
        match self.place(key) {
            Some(place) => {
                self.last = place;
                &mut self.entries[place].1
            }
            None => self.insert(key, value),
        }
    }

    /// Puts a value under a key, in place of another one if there is one.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> &mut V {
        let place = match self.place(key) {
            Some(place) => {
                self.entries[place].1 = value;
                place
            }
            None => {
                let place = self.entries.len();
                self.entries.push((key, value));
                self.places.insert(key, place);
                place
            }
        };
        self.last = place;
        &mut self.entries[place].1
    }

    /// All of it, to be changed, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (*key, value))
    }

    /// Looks at the next few values, all in turn, and takes out those of no more use. Called with
    /// each value that is put in, it keeps the map from growing with what has ever been there, and
    /// costs the same each time.
    pub fn weed(&mut self, looks: usize, is_over: impl Fn(&V) -> bool) {
        for _ in 0..looks.min(self.entries.len()) {
            self.hand = if self.hand < self.entries.len() { self.hand } else { 0 };
            let Some((key, value)) = self.entries.get(self.hand) else { return };
            if is_over(value) {
                // Another value takes its place: the hand stays.
                let key = *key;
                self.remove(key);
            } else {
                self.hand += 1;
            }
        }
    }

    /// The number of entries.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let place = self.places.remove(&key)?;
        let (_, value) = self.entries.swap_remove(place);
        if let Some((moved, _)) = self.entries.get(place) {
            self.places.insert(*moved, place);
        }
        Some(value)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn weeding_reaches_all_values_and_takes_only_those_that_are_over() {
        let mut recent = Recent::new();
        for key in 0..1000 {
            recent.weed(4, |value| value % 10 != 0);
            recent.insert(key, key);
            assert!(recent.get(key) == Some(&key), "the one that was put in last is there");
            assert!(recent.len() < 100 + 50, "{}", recent.len());
        }
        (0..1000).step_by(10).for_each(|key| assert_eq!(recent.get(key), Some(&key)));
        recent.weed(1000, |_| true);
        assert!(recent.is_empty());
    }

    #[test]
    fn it_agrees_with_a_plain_map() {
        let (mut recent, mut plain) = (Recent::new(), BTreeMap::new());
        let mut state = 1u64;
        for step in 0..if cfg!(miri) { 500 } else { 20_000 } {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (state >> 33) % 40;
            match (state >> 40) % 4 {
                0 => assert_eq!(recent.remove(key), plain.remove(&key)),
                1 => {
                    recent.insert(key, step);
                    plain.insert(key, step);
                }
                2 => assert_eq!(recent.get_mut(key), plain.get_mut(&key)),
                3 if step % 2 == 0 => {
                    assert_eq!(recent.again(key), plain.get_mut(&key));
                    assert_eq!(recent.last(key), plain.get_mut(&key));
                }
                _ => assert_eq!(recent.get(key), plain.get(&key)),
            }
        }
    }
}
