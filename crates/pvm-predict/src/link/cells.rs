//! One output of an ATM switch: packets arrive as cells of 53 bytes, and leave cell by cell.
//!
//! The cells of several packets arrive interleaved and leave in the order of their arrival, so
//! packets share the output. A cell that finds the queue full is lost, and its packet with it; the
//! packet's other cells are sent nevertheless (Romanow and Floyd, 1995).

use super::port::{Output, Rules};
use crate::planted::{self, Bug};
use crate::unit::Time;
use std::collections::VecDeque;

/// The bytes of a cell, and of the data in it.
pub const CELL: u64 = 53;
const DATA: u64 = 48;
/// The bytes that are added to a packet: AAL5 ends it with 8, and LLC and SNAP begin it with 8.
const ADDED: u64 = 16;

/// The bytes of all cells of a packet.
pub fn length(bytes: u64) -> u64 {
    let added = if planted::is(Bug::TrailerForgotten) { 0 } else { ADDED };
    bytes.saturating_add(added).div_ceil(DATA).saturating_mul(CELL)
}

/// A packet whose cells are arriving.
#[derive(Clone, Copy, Debug)]
struct Stream {
    token: u32,
    /// The number of cells that have not arrived, and the arrival of the next one.
    left: u64,
    next: Time,
    began: Option<Time>,
    /// True if one of its cells was lost.
    is_spoiled: bool,
}

/// One output of a switch.
#[derive(Debug)]
pub struct Cells {
    cell: Time,
    latency: Time,
    /// The longest wait of a cell: the time of a full queue.
    queue: Time,
    /// Packets in the order of their first cells.
    streams: Vec<Stream>,
    /// The time at which the last cell so far will have left.
    free: Time,
    planned: Time,
    out: VecDeque<Output>,
}

impl Cells {
    /// An idle output.
    pub fn new(rules: Rules) -> Self {
        Self {
            cell: rules.rate.time_of(CELL),
            latency: rules.latency,
            queue: rules.rate.time_of(rules.queue),
            streams: Vec::new(),
            free: Time::ZERO,
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    /// The first cell of a packet with `bytes` bytes of cells has arrived; the others follow at the
    /// rate of the output.
    pub fn handle(&mut self, now: Time, token: u32, bytes: u64) {
        self.advance(now);
        let left = (bytes / CELL).max(1);
        self.streams.push(Stream { token, left, next: now, began: None, is_spoiled: false });
        self.advance(now);
        self.plan();
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        self.plan();
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Handles the cells that have arrived by now, the earliest first.
    fn advance(&mut self, now: Time) {
        loop {
            let next = (0..self.streams.len()).min_by_key(|place| self.streams[*place].next);
            let Some(place) = next.filter(|place| self.streams[*place].next <= now) else { return };
            self.take(place);
            if self.streams[place].left == 0 {
                let Stream { token, began, is_spoiled, .. } = self.streams.remove(place);
                let (began, arrives) = (began.unwrap_or(self.free), self.free + self.latency);
                self.out.push_back(match is_spoiled {
                    true => Output::Dropped { token },
                    false => Output::Sent { token, began, arrives },
                });
            }
        }
    }

    /// Handles the arrival of a packet's next cell.
    fn take(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        let starts = self.free.max(stream.next);
        if starts.since(stream.next) > self.queue {
            stream.is_spoiled = true;
        } else {
            stream.began = stream.began.or(Some(starts));
            self.free = starts + self.cell;
        }
        stream.left -= 1;
        stream.next += self.cell;
    }

    /// Asks for a wake-up when the last cell of a packet arrives.
    fn plan(&mut self) {
        let last = |stream: &Stream| stream.next + self.cell.times(stream.left - 1);
        let Some(at) = self.streams.iter().map(last).min() else {
            self.planned = Time::END;
            return;
        };
        if at != self.planned {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }
}
