//! The receives of a task that wait, without a thread each.

use pvm::Pattern;
use pvm_wire::{Envelope, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The wish of a pattern, as a key.
type Key = (i32, Option<Tid>, Option<i32>);

const fn key(pattern: &Pattern) -> Key {
    (pattern.context, pattern.source, pattern.tag)
}

#[derive(Debug)]
struct Receive {
    id: u32,
    key: Key,
    end: Option<Instant>,
}

/// Receives that wait, found by what a message is: each gets the first message that fits, the
/// longest waiting one first.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// In the order in which they were asked.
    receives: BTreeMap<u64, Receive>,
    next: u64,
    by_id: BTreeMap<u32, u64>,
    by_key: BTreeMap<Key, BTreeSet<u64>>,
    ends: BTreeSet<(Instant, u64)>,
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.receives.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.receives.len()
    }

    /// When the first of them is over.
    pub(crate) fn first_end(&self) -> Option<Instant> {
        self.ends.first().map(|(end, _)| *end)
    }

    /// One more waits, until `end` or for ever.
    pub(crate) fn add(&mut self, id: u32, pattern: &Pattern, end: Option<Instant>) {
        let place = self.next;
        self.next += 1;
        let key = key(pattern);
        self.by_id.insert(id, place);
        self.by_key.entry(key).or_default().insert(place);
        if let Some(end) = end {
            self.ends.insert((end, place));
        }
        self.receives.insert(place, Receive { id, key, end });
    }

    /// The receive to which a message belongs: its number and its place.
    pub(crate) fn find(&self, envelope: &Envelope) -> Option<(u32, u64)> {
        let (context, source, tag) = (envelope.context, Some(envelope.src), Some(envelope.tag));
        let keys = [
            (context, None, None),
            (context, source, None),
            (context, None, tag),
            (context, source, tag),
        ];
        let first = keys.iter().filter_map(|key| self.by_key.get(key)?.first()).min().copied()?;
        self.receives.get(&first).map(|receive| (receive.id, first))
    }

    /// The one at a place waits no longer.
    pub(crate) fn is_served(&mut self, place: u64) {
        self.remove(place);
    }

    /// One that waits no longer; false if it did not wait.
    pub(crate) fn give_up(&mut self, id: u32) -> bool {
        let place = self.by_id.get(&id).copied();
        place.is_some_and(|place| self.remove(place).is_some())
    }

    /// One whose time is over; it waits no longer.
    pub(crate) fn over(&mut self, now: Instant) -> Option<u32> {
        let (_, place) = self.ends.first().copied().filter(|(end, _)| *end <= now)?;
        self.remove(place)
    }

    /// Takes out all of them, so that none waits any longer.
    pub(crate) fn all(&mut self) -> Vec<u32> {
        std::mem::take(self).receives.into_values().map(|receive| receive.id).collect()
    }

    fn remove(&mut self, place: u64) -> Option<u32> {
        let Receive { id, key, end } = self.receives.remove(&place)?;
        self.by_id.remove(&id);
        if let Some(places) = self.by_key.get_mut(&key) {
            places.remove(&place);
            if places.is_empty() {
                self.by_key.remove(&key);
            }
        }
        if let Some(end) = end {
            self.ends.remove(&(end, place));
        }
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::{Address, Context, Tag};
    use std::time::Duration;

    const ANY: Pattern = Pattern { context: 0, source: None, tag: None };

    fn message(source: u32, tag: i32) -> Envelope {
        Envelope::new(Tid(source), Address::new(Tid(9), Tag(tag), Context::FIRST))
    }

    fn take(waiting: &mut Waiting, envelope: &Envelope) -> Option<u32> {
        let (id, place) = waiting.find(envelope)?;
        waiting.is_served(place);
        Some(id)
    }

    #[test]
    fn the_longest_waiting_one_that_fits_gets_the_message() {
        let mut waiting = Waiting::default();
        waiting.add(1, &Pattern { tag: Some(7), ..ANY }, None);
        waiting.add(2, &Pattern { source: Some(Tid(5)), ..ANY }, None);
        waiting.add(3, &ANY, None);
        waiting.add(4, &Pattern { context: 1, ..ANY }, None);
        waiting.add(5, &Pattern { source: Some(Tid(5)), tag: Some(7), ..ANY }, None);
        let order: Vec<_> = (0..5).map(|_| take(&mut waiting, &message(5, 7))).collect();
        assert_eq!(order, [Some(1), Some(2), Some(3), Some(5), None]);
        assert_eq!((waiting.len(), waiting.all()), (1, vec![4]));
        assert!(waiting.is_empty() && waiting.by_key.is_empty() && waiting.by_id.is_empty());
    }

    #[test]
    fn one_that_is_given_up_or_over_gets_nothing() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        let mut waiting = Waiting::default();
        waiting.add(1, &ANY, None);
        waiting.add(2, &ANY, Some(later));
        waiting.add(3, &ANY, Some(now));
        assert_eq!(waiting.first_end(), Some(now));
        assert!(waiting.give_up(1) && !waiting.give_up(1));
        assert_eq!((waiting.over(now), waiting.over(now)), (Some(3), None));
        assert_eq!(take(&mut waiting, &message(1, 1)), Some(2));
        assert_eq!(waiting.first_end(), None);
    }
}
