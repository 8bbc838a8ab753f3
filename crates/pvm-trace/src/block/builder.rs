//! Builds the bytes of a block from records.

use super::manner::{MOVING, Manner};
use crate::levels::{SUMMARY_RECORDS, Summary};
use crate::varint;
use pvm_wire::record::Record;
use std::collections::HashMap;

/// The most records of a block.
pub const BLOCK_RECORDS_MAX: usize = 4096;

/// Collects records of one task.
#[derive(Debug)]
pub struct BlockBuilder {
    task: u32,
    count: usize,
    base: u64,
    end: u64,
    summary: Summary,
    summaries: Vec<Summary>,
    records: Vec<u8>,
    known: Vec<MannerHistory>,
    numbers: HashMap<Manner, usize>,
    last: usize,
}

#[derive(Debug)]
struct MannerHistory {
    manner: Manner,
    result: i32,
    moving: [u64; MOVING],
    /// The manner that followed this one the last time. It is tried first, because programs repeat
    /// themselves.
    next: usize,
}

impl BlockBuilder {
    /// A builder for the task of this number.
    pub fn new(task: u32) -> Self {
        Self {
            task,
            count: 0,
            base: 0,
            end: 0,
            summary: Summary::default(),
            summaries: Vec::new(),
            records: Vec::new(),
            known: Vec::new(),
            numbers: HashMap::new(),
            last: 0,
        }
    }

    /// The number of records so far.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// True if the block is full; call [`BlockBuilder::take`] then.
    pub const fn is_full(&self) -> bool {
        self.count >= BLOCK_RECORDS_MAX
    }

    /// The approximate number of bytes.
    pub const fn size(&self) -> usize {
        self.records.len() + self.summaries.len() * 16
    }

    /// The summary of all its records.
    pub fn summary(&self) -> Summary {
        let mut all = self.summary;
        self.summaries.iter().for_each(|summary| all.add(summary));
        all
    }

    /// Adds a record. A full block takes none, and an end beyond the range of times is cut.
    pub fn push(&mut self, record: &Record) {
        if self.is_full() {
            return;
        }
        let end = record.end();
        if self.count == 0 {
            (self.base, self.end) = (end, end);
        }
        let (manner, moving) = Manner::of(record);
        let number = self.number(manner);
        let out = &mut self.records;
        varint::put_signed(out, end.wrapping_sub(self.end).cast_signed());
        varint::put(out, end - record.begin);
        let known = &mut self.known[number];
        varint::put_signed(out, i64::from(record.result) - i64::from(known.result));
        for (now, then) in moving.iter().zip(&known.moving).take(manner.moving()) {
            varint::put_signed(out, now.wrapping_sub(*then).cast_signed());
        }
        (known.result, known.moving) = (record.result, moving);
        Manner::put_tail(record, out);
        self.end = end;
        self.summary.count(record);
        self.count_one();
    }

    fn count_one(&mut self) {
        self.count += 1;
        if self.count.is_multiple_of(SUMMARY_RECORDS) {
            self.summaries.push(std::mem::take(&mut self.summary));
        }
    }

    /// Writes the number of the manner, and the manner itself if it is new.
    fn number(&mut self, manner: Manner) -> usize {
        let guess = self.known.get(self.last).map_or(0, |last| last.next);
        let number = if self.known.get(guess).is_some_and(|known| known.manner == manner) {
            guess
        } else {
            *self.numbers.entry(manner).or_insert(self.known.len())
        };
        varint::put(&mut self.records, number as u64);
        if number == self.known.len() {
            manner.encode(&mut self.records);
            self.known.push(MannerHistory { manner, result: 0, moving: [0; MOVING], next: 0 });
        }
        self.known[self.last].next = number;
        self.last = number;
        number
    }

    /// Takes the bytes; the builder is empty afterwards.
    pub fn take(&mut self) -> Vec<u8> {
        if !self.count.is_multiple_of(SUMMARY_RECORDS) {
            self.summaries.push(self.summary);
        }
        let mut out = Vec::with_capacity(self.size() + 16 * self.summaries.len() + 24);
        varint::put(&mut out, self.task.into());
        varint::put(&mut out, self.count as u64);
        varint::put(&mut out, self.base);
        self.summaries.iter().for_each(|summary| summary.encode(self.base, &mut out));
        out.extend_from_slice(&self.records);
        self.clear();
        out
    }

    fn clear(&mut self) {
        self.records.clear();
        self.summaries.clear();
        self.known.clear();
        self.numbers.clear();
        (self.count, self.last, self.summary) = (0, 0, Summary::default());
    }
}
