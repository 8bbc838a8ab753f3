//! All records in the order of their ends, with one block of each task in memory.

use super::index::BlockEntry;
use super::reader::{Reader, damaged};
use crate::block::Block;
use crate::error::Error;
use crate::tables::TaskIndex;
use pvm_wire::record::Record;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{Read, Seek};

/// An iterator over all records. After an error it goes on with the next block of that task.
///
/// The order is that of the ends, except where threads of one task have noted records out of order.
#[derive(Debug)]
pub struct Merged<'a, R, F> {
    reader: &'a mut Reader<R>,
    time: F,
    lanes: Vec<Lane>,
    next: Vec<Option<Record>>,
    heap: BinaryHeap<Reverse<(u64, TaskIndex)>>,
    failed: Option<Error>,
}

impl<R: Read + Seek> Reader<R> {
    /// All records of all tasks in the order of their ends, with times converted by `time`.
    pub fn merged<F: Fn(TaskIndex, u64) -> u64>(&mut self, time: F) -> Merged<'_, R, F> {
        let lanes = lanes(self);
        Merged::new(self, lanes, time)
    }

    /// The records of the blocks that touch a window of converted time; other blocks are not read.
    pub fn merged_in<F: Fn(TaskIndex, u64) -> u64>(
        &mut self,
        (from, to): (u64, u64),
        time: F,
    ) -> Merged<'_, R, F> {
        let mut lanes = lanes(self);
        for (lane, task) in lanes.iter_mut().zip(0..) {
            lane.places.retain(|place| {
                time(task, place.summary.first) <= to && time(task, place.summary.last) >= from
            });
        }
        Merged::new(self, lanes, time)
    }
}

impl<'a, R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Merged<'a, R, F> {
    fn new(reader: &'a mut Reader<R>, lanes: Vec<Lane>, time: F) -> Self {
        let heap = BinaryHeap::with_capacity(lanes.len());
        let next = vec![None; lanes.len()];
        let mut merged = Self { reader, time, lanes, next, heap, failed: None };
        (0..merged.lanes.len()).for_each(|task| merged.advance(task as TaskIndex));
        merged
    }

    /// Finds a task's next record. The first error is kept until it is returned.
    fn advance(&mut self, task: TaskIndex) {
        let lane = &mut self.lanes[task as usize];
        self.next[task as usize] = loop {
            match lane.next_record(self.reader) {
                Some(Ok(record)) => {
                    self.heap.push(Reverse(((self.time)(task, record.end()), task)));
                    break Some(record);
                }
                Some(Err(error)) => drop(self.failed.get_or_insert(error)),
                None => break None,
            }
        };
    }
}

/// The records of one task in their order, with one block in memory.
#[derive(Debug, Default)]
pub struct Lane {
    places: VecDeque<BlockEntry>,
    bytes: Vec<u8>,
    block: Option<(Block, u64)>,
}

/// A lane for each task, for reading the tasks independently.
pub fn lanes<R: Read + Seek>(reader: &Reader<R>) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = (0..reader.tables().tasks.len()).map(|_| Lane::default()).collect();
    for place in reader.places() {
        lanes[place.task as usize].places.push_back(*place);
    }
    lanes
}

impl Lane {
    /// The next record; after an error the first one of the next block. `reader` must be the reader
    /// of [`lanes`].
    pub fn next_record<R: Read + Seek>(
        &mut self,
        reader: &mut Reader<R>,
    ) -> Option<Result<Record, Error>> {
        loop {
            if let Some((block, at)) = &mut self.block {
                match block.read_next(&self.bytes) {
                    Ok(Some(record)) => return Some(Ok(record)),
                    Ok(None) => self.block = None,
                    Err(fault) => {
                        let at = *at;
                        self.block = None;
                        return Some(Err(damaged(at, "a block", fault)));
                    }
                }
                continue;
            }
            let place = self.places.pop_front()?;
            let read = reader.read_block_into(&place, &mut self.bytes);
            let begun = read.and_then(|()| {
                Block::new(&self.bytes).map_err(|fault| damaged(place.at, "a block", fault))
            });
            match begun {
                Ok(block) => self.block = Some((block, place.at)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Iterator for Merged<'_, R, F> {
    type Item = Result<(TaskIndex, Record), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let Reverse((_, task)) = self.heap.pop()?;
        let record = self.next[task as usize].take()?;
        self.advance(task);
        Some(Ok((task, record)))
    }
}
