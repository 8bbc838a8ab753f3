//! Sums of many records: the levels of detail of a trace.
//!
//! A block has a sum for each [`SUMMARY_RECORDS`] of its records, the index has one for each block,
//! and a reader adds these up further. They add up exactly: each level sums to the records.

use crate::error::Fault;
use crate::varint::{self, Input};
use pvm_wire::record::{Record, What};

/// The number of records in one summary of a block. The last summary of a block has the rest.
pub(crate) const SUMMARY_RECORDS: usize = 64;

/// Sums over some records of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The earliest begin.
    pub first: u64,
    /// The latest end.
    pub last: u64,
    /// The number of records.
    pub records: u64,
    /// The number of calls that the program made itself.
    pub calls: u64,
    /// The time of these calls in nanoseconds. A call counts in the summary in which it ended.
    pub call_time: u64,
    /// The time in these calls spent waiting.
    pub wait_time: u64,
    /// The number of sent messages, one for each receiver.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The number of received messages.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            first: u64::MAX,
            last: 0,
            records: 0,
            calls: 0,
            call_time: 0,
            wait_time: 0,
            sent: 0,
            sent_bytes: 0,
            received: 0,
            received_bytes: 0,
        }
    }
}

impl Summary {
    /// Adds a record.
    pub fn count(&mut self, record: &Record) {
        self.first = self.first.min(record.begin);
        self.last = self.last.max(record.end());
        self.records += 1;
        if is_call(record) && record.depth == 0 {
            self.calls += 1;
            self.call_time = self.call_time.wrapping_add(record.length);
        }
        match &record.what {
            What::Wait { .. } => self.wait_time = self.wait_time.wrapping_add(record.length),
            What::Send { message, .. } => {
                self.sent += 1;
                self.sent_bytes = self.sent_bytes.wrapping_add(message.bytes);
            }
            What::Receive { message, .. } => {
                self.received += 1;
                self.received_bytes = self.received_bytes.wrapping_add(message.bytes);
            }
            _ => (),
        }
    }

    /// Adds another summary.
    pub fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        for (sum, more) in self.sums_mut().into_iter().zip(other.sums()) {
            *sum = sum.wrapping_add(more);
        }
    }

    const fn sums(&self) -> [u64; 8] {
        [
            self.records,
            self.calls,
            self.call_time,
            self.wait_time,
            self.sent,
            self.sent_bytes,
            self.received,
            self.received_bytes,
        ]
    }

    const fn sums_mut(&mut self) -> [&mut u64; 8] {
        [
            &mut self.records,
            &mut self.calls,
            &mut self.call_time,
            &mut self.wait_time,
            &mut self.sent,
            &mut self.sent_bytes,
            &mut self.received,
            &mut self.received_bytes,
        ]
    }

    /// Appends the summary to bytes, with times relative to `base`.
    pub(crate) fn encode(&self, base: u64, out: &mut Vec<u8>) {
        varint::put_signed(out, self.first.wrapping_sub(base).cast_signed());
        varint::put(out, self.last.wrapping_sub(self.first));
        self.sums().into_iter().for_each(|sum| varint::put(out, sum));
    }

    pub(crate) fn decode(base: u64, input: &mut Input<'_>) -> Result<Self, Fault> {
        let first = base.wrapping_add(input.signed()?.cast_unsigned());
        let last = first.wrapping_add(input.number()?);
        let mut summary = Self { first, last, ..Self::default() };
        for sum in summary.sums_mut() {
            *sum = input.number()?;
        }
        Ok(summary)
    }
}

/// True for a call; false for a part of a call, or a record between calls.
pub(crate) const fn is_call(record: &Record) -> bool {
    !record.part && record.call != pvm_wire::record::calls::NONE
}
