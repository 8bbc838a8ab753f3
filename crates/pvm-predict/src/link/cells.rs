//! One way out of an ATM switch: packets come in as cells of 53 bytes, and go on cell by cell.
//!
//! The cells of several packets come at the same time and leave in the order in which they came, so
//! packets share the way. A cell that finds the queue full is lost, and its packet with it; the
//! packet's other cells cross all the same (Romanow and Floyd, 1995).

use super::port::{Output, Rules};
use crate::planted::{self, Bug};
use crate::unit::Time;
use std::collections::VecDeque;

/// Bytes of a cell, and the data in it.
pub const CELL: u64 = 53;
const DATA: u64 = 48;
/// AAL5 ends a packet with 8 bytes; LLC and SNAP begin it with as many.
const ADDED: u64 = 16;

/// The bytes of all cells of a packet.
pub fn length(bytes: u64) -> u64 {
    let added = if planted::is(Bug::TrailerForgotten) { 0 } else { ADDED };
    bytes.saturating_add(added).div_ceil(DATA).saturating_mul(CELL)
}

/// A packet whose cells come.
#[derive(Clone, Copy, Debug)]
struct Stream {
    token: u32,
    /// Cells that have not come, and when the next one comes.
    left: u64,
    next: Time,
    began: Option<Time>,
    /// One of its cells was lost.
    is_spoiled: bool,
}

/// One way out of a switch.
#[derive(Debug)]
pub struct Cells {
    cell: Time,
    latency: Time,
    /// The longest time for which a cell waits: a full queue.
    queue: Time,
    /// Packets in the order in which they began to come.
    streams: Vec<Stream>,
    /// When the last cell that has come will have left.
    free: Time,
    planned: Time,
    out: VecDeque<Output>,
}

impl Cells {
    /// An idle one.
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

    /// The first cell of a packet of `bytes` bytes of cells is here; others follow it at the rate
    /// of the way.
    pub fn handle(&mut self, now: Time, token: u32, bytes: u64) {
        self.advance(now);
        let left = (bytes / CELL).max(1);
        self.streams.push(Stream { token, left, next: now, began: None, is_spoiled: false });
        self.advance(now);
        self.plan();
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        self.plan();
    }

    /// The next event, if one has happened.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Takes the cells that have come up to now, the earliest first.
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

    /// A cell of a packet comes.
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

    /// Asks for the moment at which the last cell of a packet comes.
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
