//! Begins and ends of all records in the order of time, nested like the calls.
//!
//! A task notes a call at its end, so after the parts of the call. The timeline keeps the calls of
//! one level until the call around them has been read, and returns them from the outside to the
//! inside.

use super::merged::{Lane, lanes};
use super::reader::Reader;
use crate::error::Error;
use crate::tables::TaskIndex;
use pvm_wire::record::{Record, What, calls};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io::{Read, Seek};
use std::rc::Rc;

/// The most records within one call that are kept back; further ones are returned as they come.
const HELD_MAX: usize = 4096;

/// The edge of a record: its begin, its end, or both at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// The begin.
    Begin,
    /// The end.
    End,
    /// The only moment of a record without length.
    Point,
}

/// A moment of a record.
#[derive(Clone, Debug)]
pub struct Happening {
    /// The task.
    pub task: TaskIndex,
    /// The time, converted by the given clocks.
    pub time: u64,
    /// The edge.
    pub edge: Edge,
    /// The record with the times of the host's clock.
    pub record: Rc<Record>,
}

/// An iterator over all happenings, in the order of time. Threads of one task that overlap are each
/// in order by themselves.
#[derive(Debug)]
pub struct Timeline<'a, R, F> {
    reader: &'a mut Reader<R>,
    time: F,
    lanes: Vec<TaskQueue>,
    heap: BinaryHeap<Reverse<(u64, TaskIndex)>>,
    failed: Option<Error>,
}

#[derive(Debug, Default)]
struct TaskQueue {
    lane: Lane,
    /// The kept records by thread.
    records: BTreeMap<u16, Vec<Rc<Record>>>,
    ready: VecDeque<Happening>,
    /// The end of the last record of each thread that was returned. Records that overlap by an
    /// error of their clock follow one another.
    told: BTreeMap<u16, u64>,
    is_over: bool,
}

impl<R: Read + Seek> Reader<R> {
    /// The begins and ends of all records in the order of time, with times converted by `time`.
    pub fn timeline<F: Fn(TaskIndex, u64) -> u64>(&mut self, time: F) -> Timeline<'_, R, F> {
        Timeline::new(self, time)
    }
}

impl<'a, R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Timeline<'a, R, F> {
    fn new(reader: &'a mut Reader<R>, time: F) -> Self {
        let lanes: Vec<_> = lanes(reader)
            .into_iter()
            .map(|lane| TaskQueue { lane, ..TaskQueue::default() })
            .collect();
        let heap = BinaryHeap::with_capacity(lanes.len());
        let mut timeline = Self { reader, time, lanes, heap, failed: None };
        (0..timeline.lanes.len()).for_each(|task| timeline.advance(task as TaskIndex));
        timeline
    }

    fn advance(&mut self, task: TaskIndex) {
        let held = &mut self.lanes[task as usize];
        while held.ready.is_empty() && !held.is_over {
            match held.lane.next_record(self.reader) {
                Some(Ok(record)) => held.hold(task, record, &self.time),
                Some(Err(error)) => drop(self.failed.get_or_insert(error)),
                None => {
                    held.is_over = true;
                    for records in std::mem::take(&mut held.records).into_values() {
                        held.tell(task, records, &self.time);
                    }
                }
            }
        }
        if let Some(next) = held.ready.front() {
            self.heap.push(Reverse((next.time, task)));
        }
    }
}

/// True for a record with a begin and an end, even at one moment.
const fn is_span(record: &Record) -> bool {
    match record.what {
        What::Call { .. }
        | What::Wait { .. }
        | What::Send { .. }
        | What::Receive { .. }
        | What::Poll { .. }
        | What::Copy { .. }
        | What::Chunk { .. }
        | What::Group { .. }
        | What::Spawn { .. } => record.part || record.call != calls::NONE,
        _ => false,
    }
}

impl TaskQueue {
    fn hold<F: Fn(TaskIndex, u64) -> u64>(&mut self, task: TaskIndex, record: Record, time: &F) {
        let is_whole = record.depth == 0 && !record.part;
        let held = self.records.entry(record.thread).or_default();
        held.push(Rc::new(record));
        if is_whole || held.len() >= HELD_MAX {
            let records = std::mem::take(held);
            self.tell(task, records, time);
        }
    }

    /// Returns the records in a thread's call, each after the records around it.
    fn tell<F: Fn(TaskIndex, u64) -> u64>(
        &mut self,
        task: TaskIndex,
        mut records: Vec<Rc<Record>>,
        time: &F,
    ) {
        // The sort keeps the order of equal times: a record that came later is around those that
        // came before.
        records.reverse();
        records.sort_by_key(|record| record.begin);
        let mut open: Vec<(u64, Rc<Record>)> = Vec::new();
        for record in records {
            let begin = time(task, record.begin);
            while let Some((end, record)) = open.pop_if(|(end, _)| *end <= begin) {
                self.push(task, end, Edge::End, record);
            }
            if is_span(&record) {
                // A record ends at the latest with the record around it.
                let end = time(task, record.end());
                let end = open.last().map_or(end, |(around, _)| end.min(*around));
                self.push(task, begin, Edge::Begin, record.clone());
                open.push((end, record));
            } else {
                self.push(task, begin, Edge::Point, record);
            }
        }
        while let Some((end, record)) = open.pop() {
            self.push(task, end, Edge::End, record);
        }
    }

    fn push(&mut self, task: TaskIndex, time: u64, edge: Edge, record: Rc<Record>) {
        let told = self.told.entry(record.thread).or_default();
        let time = time.max(*told);
        *told = time;
        self.ready.push_back(Happening { task, time, edge, record });
    }
}

impl<R: Read + Seek, F: Fn(TaskIndex, u64) -> u64> Iterator for Timeline<'_, R, F> {
    type Item = Result<Happening, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let Reverse((_, task)) = self.heap.pop()?;
        let happening = self.lanes[task as usize].ready.pop_front()?;
        self.advance(task);
        Some(Ok(happening))
    }
}
