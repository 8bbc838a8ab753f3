//! The log: entries after a starting point that every member has.

use crate::frame::{Entry, What};
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::{Wire, record};
use std::collections::{BTreeMap, BTreeSet};

record! {
    /// The starting point of the log: the last entry that was truncated.
    pub struct Start {
        pub number: u64,
        pub term: u64,
        /// The voters at that entry.
        pub voters: Vec<Member>,
    }
}

/// A voter that is to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removal {
    pub(crate) member: Member,
    /// The place of the entry that takes out its vote.
    pub(crate) number: u64,
}

/// The log of one member.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) start: Start,
    entries: BTreeMap<u64, Entry>,
    /// Bytes of all entries.
    bytes: usize,
    /// The places of entries that change the voters.
    changes: BTreeSet<u64>,
    touched: BTreeSet<u64>,
    start_touched: bool,
}

/// Keys of the records.
const ENTRY: u8 = b'e';
const START: u8 = b's';

impl Log {
    pub(crate) const fn new() -> Self {
        Self {
            start: Start { number: 0, term: 0, voters: Vec::new() },
            entries: BTreeMap::new(),
            bytes: 0,
            changes: BTreeSet::new(),
            touched: BTreeSet::new(),
            start_touched: false,
        }
    }

    /// Begins anew behind this place.
    pub(crate) fn begin(&mut self, start: Start) {
        self.touched.extend(self.entries.keys());
        self.entries.clear();
        self.bytes = 0;
        self.changes.clear();
        self.start = start;
        self.start_touched = true;
    }

    pub(crate) fn last(&self) -> u64 {
        self.entries.last_key_value().map_or(self.start.number, |(&number, _)| number)
    }

    /// The term at a place, if it is known.
    pub(crate) fn term(&self, number: u64) -> Option<u64> {
        if number == self.start.number {
            return Some(self.start.term);
        }
        self.entries.get(&number).map(|entry| entry.term)
    }

    pub(crate) fn last_term(&self) -> u64 {
        self.term(self.last()).unwrap_or(0)
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(&number)
    }

    pub(crate) fn push(&mut self, entry: Entry) -> u64 {
        let number = self.last() + 1;
        self.insert(number, entry);
        self.touched.insert(number);
        number
    }

    fn insert(&mut self, number: u64, entry: Entry) {
        if matches!(entry.what, What::Voters { .. }) {
            self.changes.insert(number);
        }
        self.bytes += entry.size();
        if let Some(before) = self.entries.insert(number, entry) {
            self.bytes -= before.size();
        }
    }

    /// Bytes of all entries.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops everything from `number` on.
    pub(crate) fn drop_from(&mut self, number: u64) {
        let gone = self.entries.split_off(&number);
        self.bytes -= gone.values().map(Entry::size).sum::<usize>();
        self.changes.split_off(&number);
        self.touched.extend(gone.into_keys());
    }

    /// Cuts off everything up to `number`.
    pub(crate) fn cut(&mut self, number: u64) {
        let Some(term) = self.term(number).filter(|_| number > self.start.number) else { return };
        let voters = self.voters_at(number).to_vec();
        let rest = self.entries.split_off(&(number + 1));
        let gone = std::mem::replace(&mut self.entries, rest);
        self.bytes -= gone.values().map(Entry::size).sum::<usize>();
        self.changes = self.changes.split_off(&(number + 1));
        self.touched.extend(gone.into_keys());
        self.start = Start { number, term, voters };
        self.start_touched = true;
    }

    /// Up to where entries are more than these bytes at the end of the log.
    pub(crate) fn behind(&self, bytes: usize) -> u64 {
        let mut kept = 0;
        let far = self.entries.iter().rev().find(|(_, entry)| {
            kept += entry.size();
            kept > bytes
        });
        far.map_or(self.start.number, |(&number, _)| number)
    }

    /// Up to `count` entries after `before`, of at most `bytes` bytes or one entry, and their
    /// bytes.
    pub(crate) fn after(&self, before: u64, count: usize, bytes: usize) -> (Vec<Entry>, usize) {
        let mut size = 0;
        let mut taken = Vec::new();
        for (_, entry) in self.entries.range(before + 1..).take(count) {
            if size + entry.size() > bytes && !taken.is_empty() {
                break;
            }
            size += entry.size();
            taken.push(entry.clone());
        }
        (taken, size)
    }

    /// The voters at a place.
    pub(crate) fn voters_at(&self, number: u64) -> &[Member] {
        let change = self.changes.range(..=number).next_back();
        match change.and_then(|number| self.entries.get(number)).map(|entry| &entry.what) {
            Some(What::Voters { voters }) => voters,
            _ => &self.start.voters,
        }
    }

    /// The place of the last change of voters, if the log still has it.
    pub(crate) fn last_change(&self) -> Option<u64> {
        self.changes.last().copied()
    }

    /// The removal of a voter that is not committed, if this member has put it into the log as the
    /// leader of the term `led`.
    pub(crate) fn removal(&self, commit: u64, led: Option<u64>) -> Option<Removal> {
        let number = self.last_change().filter(|number| *number > commit)?;
        let (before, after) = (self.voters_at(number - 1), self.voters_at(number));
        let member = *before.iter().find(|voter| !after.contains(voter))?;
        let mine = led.is_some() && self.term(number) == led;
        // Of two voters one cannot be left as long as the other one is needed.
        (mine && after.len() > before.len() / 2).then_some(Removal { member, number })
    }

    /// Takes that removal back, and all that is behind it: see `parting`.
    pub(crate) fn take_back_removal(&mut self, commit: u64, led: Option<u64>) {
        let removal = self.removal(commit, led).filter(|_| !planted::is(Bug::RemovalKept));
        if let Some(Removal { number, .. }) = removal {
            self.drop_from(number);
        }
    }

    /// The records that changed since the last call.
    pub(crate) fn take_changes(&mut self) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let mut out = Vec::new();
        for number in std::mem::take(&mut self.touched) {
            let mut key = vec![ENTRY];
            number.encode(&mut key);
            out.push((key, self.entries.get(&number).map(Wire::to_bytes)));
        }
        if std::mem::take(&mut self.start_touched) {
            out.push((vec![START], Some(self.start.to_bytes())));
        }
        out
    }

    /// Takes a record back.
    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        match key.split_first() {
            Some((&START, [])) => Start::from_bytes(value).map(|start| self.start = start).is_ok(),
            Some((&ENTRY, number)) => {
                let (Ok(number), Ok(entry)) = (u64::from_bytes(number), Entry::from_bytes(value))
                else {
                    return false;
                };
                self.insert(number, entry);
                true
            }
            _ => false,
        }
    }
}
