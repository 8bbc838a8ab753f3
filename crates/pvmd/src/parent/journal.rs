//! The data that survives a daemon: the events whose effects have not come, and the records that it
//! saved.

use pvm_core::io::Event;
use pvm_wire::{Blob, Wire as _};
use std::collections::{BTreeMap, VecDeque};

/// Above this no further output or request is read until the daemon has caught up.
const UNANSWERED_BYTES_MAX: usize = 16 << 20;
/// Records that are told together; a single one may be larger.
const PORTION_BYTES_MAX: usize = 1 << 20;

/// The parent's memory for its daemon.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    unanswered: VecDeque<Entry>,
    bytes: usize,
    last: u32,
    records: BTreeMap<Blob, Blob>,
}

#[derive(Debug)]
struct Entry {
    number: u32,
    size: usize,
    event: Event,
}

impl Journal {
    /// Notes an event and gives it its number, never 0.
    pub(crate) fn add(&mut self, event: Event) -> (u32, &Event) {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let size = event.to_bytes().len();
        self.bytes += size;
        self.unanswered.push_back(Entry { number: self.last, size, event });
        let entry = self.unanswered.back().expect("just added");
        (entry.number, &entry.event)
    }

    /// The effects of this event have come. False if they came before.
    pub(crate) fn answered(&mut self, number: u32) -> bool {
        let found = self.unanswered.iter().position(|entry| entry.number == number);
        let entry = found.and_then(|at| self.unanswered.remove(at));
        self.bytes -= entry.as_ref().map_or(0, |entry| entry.size);
        entry.is_some()
    }

    /// The event that is next, if none is under way it is none.
    pub(crate) fn oldest(&self) -> Option<u32> {
        self.unanswered.front().map(|entry| entry.number)
    }

    /// Takes an event out that will not be answered.
    pub(crate) fn drop_event(&mut self, number: u32) -> Option<Event> {
        let at = self.unanswered.iter().position(|entry| entry.number == number)?;
        let entry = self.unanswered.remove(at)?;
        self.bytes -= entry.size;
        Some(entry.event)
    }

    /// The events to be told again, in their order.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (u32, &Event)> {
        self.unanswered.iter().map(|entry| (entry.number, &entry.event))
    }

    /// True if the daemon lags too far behind to read more for it.
    pub(crate) const fn full(&self) -> bool {
        self.bytes > UNANSWERED_BYTES_MAX
    }

    /// Notes what a daemon saved.
    pub(crate) fn save(&mut self, key: Blob, value: Option<Blob>) {
        match value {
            Some(value) => self.records.insert(key, value),
            None => self.records.remove(&key),
        };
    }

    /// All that was saved, in portions that fit frames.
    pub(crate) fn records(&self) -> Vec<Vec<(Blob, Blob)>> {
        let mut portions = Vec::new();
        let (mut portion, mut size) = (Vec::new(), 0);
        for (key, value) in &self.records {
            let bytes = key.0.len() + value.0.len();
            if size + bytes > PORTION_BYTES_MAX && !portion.is_empty() {
                portions.push(std::mem::take(&mut portion));
                size = 0;
            }
            size += bytes;
            portion.push((key.clone(), value.clone()));
        }
        portions.push(portion);
        portions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(journal: &Journal) -> Vec<u32> {
        journal.unanswered().map(|(number, _)| number).collect()
    }

    #[test]
    fn an_event_is_kept_until_its_effects_come_once() {
        let mut journal = Journal::default();
        for connection in 0..3 {
            journal.add(Event::Closed { connection });
        }
        assert!(journal.answered(2));
        assert!(!journal.answered(2));
        assert_eq!(numbers(&journal), [1, 3]);
        assert!(journal.answered(1) && journal.answered(3));
        assert_eq!(journal.bytes, 0);
    }

    #[test]
    fn no_event_has_number_0() {
        let mut journal = Journal { last: u32::MAX - 1, ..Journal::default() };
        journal.add(Event::Closed { connection: 1 });
        journal.add(Event::Closed { connection: 2 });
        assert_eq!(numbers(&journal), [u32::MAX, 1]);
    }

    #[test]
    fn records_are_replaced_and_removed() {
        let mut journal = Journal::default();
        journal.save("a".into(), Some("1".into()));
        journal.save("b".into(), Some("2".into()));
        journal.save("a".into(), Some("3".into()));
        journal.save("b".into(), None);
        assert_eq!(journal.records(), [[("a".into(), "3".into())]]);
        journal.save("c".into(), Some(Blob(vec![0; PORTION_BYTES_MAX])));
        assert_eq!(journal.records().len(), 2);
    }
}
