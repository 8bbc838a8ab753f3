//! Tables whose changes are kept outside.
//!
//! Everything that a machine must know after its daemon was started again lies in a [`Table`] or
//! a [`Slot`]. They note which entries were touched, and the machine puts those out as records
//! with the effects of the same event. A record's key is one byte for the table, then the key of
//! the entry.

use pvm_wire::{Blob, Wire};
use std::collections::{BTreeMap, BTreeSet};

/// A changed record: its key, and its value or none if it is gone.
pub(crate) type Change = (Blob, Option<Blob>);

/// A map with a note of what changed.
#[derive(Debug)]
pub(crate) struct Table<K, V> {
    mark: u8,
    entries: BTreeMap<K, V>,
    touched: BTreeSet<K>,
}

impl<K: Ord + Clone + Wire, V: Wire> Table<K, V> {
    /// An empty table whose keys begin with `mark`.
    pub(crate) const fn new(mark: u8) -> Self {
        Self { mark, entries: BTreeMap::new(), touched: BTreeSet::new() }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// The entry, to be changed: it will be put out.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let value = self.entries.get_mut(key)?;
        self.touched.insert(key.clone());
        Some(value)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.touched.insert(key.clone());
        self.entries.insert(key, value)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let value = self.entries.remove(key)?;
        self.touched.insert(key.clone());
        Some(value)
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        self.touched.extend(std::mem::take(&mut self.entries).into_keys());
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter()
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.keys()
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.values()
    }

    pub(crate) fn range(
        &self,
        range: impl std::ops::RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.range(range)
    }

    /// The keys of the entries that fit, so that the table can be changed while going over them.
    pub(crate) fn keys_where(&self, fits: impl Fn(&K, &V) -> bool) -> Vec<K> {
        self.entries.iter().filter(|(k, v)| fits(k, v)).map(|(k, _)| k.clone()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn key(&self, key: &K) -> Blob {
        record_key(self.mark, key)
    }

    /// Moves the changes since the last call to `out`.
    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        // After each input all tables are asked, and hardly any has changed.
        if self.touched.is_empty() {
            return;
        }
        for key in std::mem::take(&mut self.touched) {
            let value = self.entries.get(&key).map(|value| Blob(value.to_bytes()));
            out.push((self.key(&key), value));
        }
    }

    /// All entries as records.
    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        out.extend(self.entries.iter().map(|(k, v)| (self.key(k), Blob(v.to_bytes()))));
    }

    /// Takes a record of this table back; false if it is of another table or makes no sense.
    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some((key, value)) = read_record(self.mark, key, value) else { return false };
        self.entries.insert(key, value);
        true
    }

    /// Takes a record that came from another host: it is new here and will be put out.
    pub(crate) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        let known = self.restore(key, value);
        if known && let Some(Ok(key)) = key.get(1..).map(K::from_bytes) {
            self.touched.insert(key);
        }
        known
    }
}

/// The key of a record: the table's byte, then the key of the entry.
pub(crate) fn record_key<K: Wire>(mark: u8, key: &K) -> Blob {
    // Most keys are a number or two.
    let mut bytes = Vec::with_capacity(24);
    bytes.push(mark);
    key.encode(&mut bytes);
    Blob(bytes)
}

/// The entry that a record holds; none if the record is of another table or makes no sense.
pub(crate) fn read_record<K: Wire, V: Wire>(mark: u8, key: &[u8], value: &[u8]) -> Option<(K, V)> {
    let key = key.strip_prefix(&[mark])?;
    Some((K::from_bytes(key).ok()?, V::from_bytes(value).ok()?))
}

/// One value with a note of whether it changed.
#[derive(Debug)]
pub(crate) struct Slot<V> {
    mark: u8,
    value: V,
    touched: bool,
}

impl<V: Wire> Slot<V> {
    /// A value whose key is `mark`; it is put out when it has changed.
    pub(crate) const fn new(mark: u8, value: V) -> Self {
        Self { mark, value, touched: false }
    }

    pub(crate) const fn get(&self) -> &V {
        &self.value
    }

    /// The value, to be changed: it will be put out.
    pub(crate) const fn get_mut(&mut self) -> &mut V {
        self.touched = true;
        &mut self.value
    }

    pub(crate) fn set(&mut self, value: V) {
        *self.get_mut() = value;
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        if std::mem::take(&mut self.touched) {
            out.push((Blob(vec![self.mark]), Some(Blob(self.value.to_bytes()))));
        }
    }

    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        out.push((Blob(vec![self.mark]), Blob(self.value.to_bytes())));
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Ok(value) = V::from_bytes(value) else { return false };
        if key != [self.mark] {
            return false;
        }
        self.value = value;
        true
    }

    pub(crate) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        let known = self.restore(key, value);
        self.touched |= known;
        known
    }
}

/// Counts up; never gives a number twice.
impl Slot<u64> {
    pub(crate) const fn next(&mut self) -> u64 {
        let value = self.get_mut();
        *value += 1;
        *value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_from_the_changes_that_it_put_out() {
        let mut table = Table::<u64, Blob>::new(b'x');
        let mut kept = BTreeMap::new();
        let mut changes = Vec::new();
        table.insert(1, "one".into());
        table.insert(2, "two".into());
        table.take_changes(&mut changes);
        table.remove(&1);
        table.get_mut(&2).expect("it is there").0.push(b'!');
        table.take_changes(&mut changes);
        for (key, value) in changes {
            match value {
                Some(value) => kept.insert(key, value),
                None => kept.remove(&key),
            };
        }
        let mut back = Table::<u64, Blob>::new(b'x');
        for (key, value) in kept {
            assert!(back.restore(&key.0, &value.0));
        }
        assert!(back.iter().eq(table.iter()));
        assert!(!back.restore(b"y", b""));
    }
}
