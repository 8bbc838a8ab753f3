//! Deadlines with keys. The first deadline is found without looking at the others.

use std::collections::{BTreeMap, BTreeSet};

/// Deadlines by key and by time.
#[derive(Debug)]
pub(super) struct Schedule<K> {
    ends: BTreeMap<K, u64>,
    by_time: BTreeSet<(u64, K)>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self { ends: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

impl<K: Copy + Ord> Schedule<K> {
    /// Sets the deadline of a key, in place of an earlier one.
    pub(super) fn set(&mut self, key: K, at_ms: u64) {
        self.end(key);
        self.ends.insert(key, at_ms);
        self.by_time.insert((at_ms, key));
    }

    /// Removes the deadline of a key.
    pub(super) fn end(&mut self, key: K) {
        if let Some(at_ms) = self.ends.remove(&key) {
            self.by_time.remove(&(at_ms, key));
        }
    }

    /// Removes the deadlines of a range of keys.
    pub(super) fn end_range(&mut self, keys: std::ops::RangeInclusive<K>) {
        for key in self.ends.range(keys).map(|(key, _)| *key).collect::<Vec<_>>() {
            self.end(key);
        }
    }

    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.by_time.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn has(&self, key: K) -> bool {
        self.ends.contains_key(&key)
    }

    /// The first deadline.
    pub(super) fn first(&self) -> Option<u64> {
        self.by_time.first().map(|(at_ms, _)| *at_ms)
    }

    /// Takes out a key whose deadline is over; each is returned once.
    pub(super) fn pop_due(&mut self, now_ms: u64) -> Option<K> {
        let (_, key) = *self.by_time.first().filter(|(at_ms, _)| *at_ms <= now_ms)?;
        self.end(key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Do {
        Set(u8, u64),
        End(u8),
        EndRange(u8, u8),
        Pop(u64),
        Clear,
    }

    fn step() -> impl Strategy<Value = Do> {
        prop_oneof![
            8 => (0_u8..12, 0_u64..20).prop_map(|(key, at)| Do::Set(key, at)),
            3 => (0_u8..12).prop_map(Do::End),
            1 => (0_u8..12, 0_u8..4).prop_map(|(from, more)| Do::EndRange(from, from + more)),
            4 => (0_u64..20).prop_map(Do::Pop),
            1 => Just(Do::Clear),
        ]
    }

    proptest! {
        /// The model is a list of pairs that is searched whole for each answer.
        #[test]
        fn a_schedule_is_a_list_that_is_searched_for_its_minimum(
            steps in prop::collection::vec(step(), 1..200),
        ) {
            let (mut schedule, mut list) = (Schedule::default(), Vec::<(u64, u8)>::new());
            for step in steps {
                match step {
                    Do::Set(key, at) => {
                        schedule.set(key, at);
                        list.retain(|(_, other)| *other != key);
                        list.push((at, key));
                    }
                    Do::End(key) => {
                        schedule.end(key);
                        list.retain(|(_, other)| *other != key);
                    }
                    Do::EndRange(from, to) => {
                        schedule.end_range(from..=to);
                        list.retain(|(_, other)| !(from..=to).contains(other));
                    }
                    Do::Pop(now) => {
                        let due = list.iter().copied().min().filter(|(at, _)| *at <= now);
                        prop_assert_eq!(schedule.pop_due(now), due.map(|(_, key)| key));
                        list.retain(|one| Some(*one) != due);
                    }
                    Do::Clear => {
                        schedule.clear();
                        list.clear();
                    }
                }
                prop_assert_eq!(schedule.first(), list.iter().map(|(at, _)| *at).min());
                prop_assert_eq!(schedule.is_empty(), list.is_empty());
                for key in 0..16 {
                    prop_assert_eq!(schedule.has(key), list.iter().any(|(_, one)| *one == key));
                }
            }
        }
    }
}
