//! All records in the order of their ends, with one block of each task in memory.

use super::index::Place;
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
/// The order is that of the ends within what a task's own threads have noted out of order.
#[derive(Debug)]
pub struct Merged<'a, R, F> {
    reader: &'a mut Reader<R>,
    time: F,
    lanes: Vec<Lane>,
    heap: BinaryHeap<Reverse<(u64, TaskIndex)>>,
    failed: Option<Error>,
}

#[derive(Debug, Default)]
struct Lane {
    places: VecDeque<Place>,
    bytes: Vec<u8>,
    block: Option<(Block, u64)>,
    next: Option<Record>,
}

impl<R: Read + Seek> Reader<R> {
    /// All records of all tasks in the order of their ends, as `time` tells them.
    pub fn merged<F: Fn(TaskIndex, u64) -> u64>(&mut self, time: F) -> Merged<'_, R, F> {
        Merged::new(self, time)
    }
}

impl<'a, R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Merged<'a, R, F> {
    fn new(reader: &'a mut Reader<R>, time: F) -> Self {
        let mut lanes: Vec<Lane> =
            (0..reader.tables().tasks.len()).map(|_| Lane::default()).collect();
        for place in reader.places() {
            lanes[place.task as usize].places.push_back(*place);
        }
        let heap = BinaryHeap::with_capacity(lanes.len());
        let mut merged = Self { reader, time, lanes, heap, failed: None };
        (0..merged.lanes.len()).for_each(|task| merged.advance(task as TaskIndex));
        merged
    }

    /// Finds a task's next record; the first error is kept until it is told.
    fn advance(&mut self, task: TaskIndex) {
        let lane = &mut self.lanes[task as usize];
        lane.next = None;
        loop {
            match lane.read_next(self.reader) {
                Ok(true) => (),
                Ok(false) => return,
                Err(error) => {
                    lane.block = None;
                    self.failed.get_or_insert(error);
                }
            }
            if let Some(record) = &lane.next {
                self.heap.push(Reverse(((self.time)(task, record.end()), task)));
                return;
            }
        }
    }
}

impl Lane {
    /// A step towards the next record: false if there is none.
    fn read_next<R: Read + Seek>(&mut self, reader: &mut Reader<R>) -> Result<bool, Error> {
        if let Some((block, at)) = &mut self.block {
            let read = block.read_next(&self.bytes);
            self.next = read.map_err(|fault| damaged(*at, "a block", fault))?;
            if self.next.is_none() {
                self.block = None;
            }
            return Ok(true);
        }
        let Some(place) = self.places.pop_front() else { return Ok(false) };
        self.bytes = reader.read_block(&place)?;
        let block = Block::new(&self.bytes);
        self.block = Some((block.map_err(|fault| damaged(place.at, "a block", fault))?, place.at));
        Ok(true)
    }
}

impl<R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Iterator for Merged<'_, R, F> {
    type Item = Result<(TaskIndex, Record), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let Reverse((_, task)) = self.heap.pop()?;
        let record = self.lanes[task as usize].next.take()?;
        self.advance(task);
        Some(Ok((task, record)))
    }
}
