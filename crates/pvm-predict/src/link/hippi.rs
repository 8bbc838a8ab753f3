//! A crossbar that connects a source with a destination for each packet: HIPPI (ANSI X3.183).
//!
//! A source asks for the destination of its first packet. If the destination is free, both are busy
//! for the time of a connection and of the packet. Otherwise the source waits, and all its later
//! packets wait behind the first one. A destination serves its sources in the order of their
//! requests.

use super::frame::Frame;
use super::port::Output;
use super::waiting::Waiting;
use crate::planted::{self, Bug};
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// The bytes of a word, and of the data of a burst.
const WORD: u64 = 4;
const BURST: u64 = 256 * WORD;
/// Behind each burst follow its check word and one clock without data.
const BEHIND_BURST: u64 = 2 * WORD;

/// The rules of a crossbar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The rate of each link.
    pub rate: Rate,
    /// The time from a source through the crossbar to its destination.
    pub latency: Time,
    /// The time of making a connection.
    pub setup: Time,
    /// The largest number of bytes that wait at a source.
    pub queue: u64,
}

/// The bytes of a packet in bursts of words.
pub const fn length(bytes: u64) -> u64 {
    let words = bytes.div_ceil(WORD).saturating_mul(WORD);
    words.saturating_add(words.div_ceil(BURST).saturating_mul(BEHIND_BURST))
}

/// The crossbar.
#[derive(Debug)]
pub struct Hippi {
    rules: Rules,
    sources: Vec<Source>,
    destinations: Vec<Destination>,
    /// Connections in the order of their ends.
    open: std::collections::BTreeSet<(Time, u32, u32)>,
    planned: Time,
    out: VecDeque<Output>,
}

#[derive(Clone, Debug, Default)]
struct Source {
    waiting: Waiting,
    /// True while it sends or waits for a destination.
    is_taken: bool,
}

#[derive(Clone, Debug, Default)]
struct Destination {
    is_busy: bool,
    /// The sources that wait for it.
    queue: VecDeque<u32>,
}

impl Hippi {
    /// A crossbar without connections.
    pub fn new(rules: Rules, hosts: usize) -> Self {
        Self {
            rules,
            sources: vec![Source::default(); hosts],
            destinations: vec![Destination::default(); hosts],
            open: std::collections::BTreeSet::new(),
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    /// Takes a packet of a host for another one.
    pub fn handle(&mut self, now: Time, frame: Frame) {
        self.advance(now);
        if !self.sources[frame.from as usize].waiting.offer(frame, self.rules.queue) {
            return self.out.push_back(Output::Dropped { token: frame.token });
        }
        self.ask(now, frame.from);
        self.plan(now);
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        self.plan(now);
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Ends the connections whose packets have been sent.
    fn advance(&mut self, now: Time) {
        while let Some((at, from, to)) = self.open.first().copied().filter(|(at, ..)| *at <= now) {
            self.open.pop_first();
            self.sources[from as usize].is_taken = false;
            let destination = &mut self.destinations[to as usize];
            destination.is_busy = false;
            if let Some(next) = destination.queue.pop_front() {
                self.connect(at, next, to);
            }
            self.ask(at, from);
        }
    }

    /// A source that is free asks for the destination of its first packet.
    fn ask(&mut self, now: Time, from: u32) {
        let source = &mut self.sources[from as usize];
        let Some(to) = source.waiting.first().map(|frame| frame.to) else { return };
        if source.is_taken {
            return;
        }
        source.is_taken = true;
        let destination = &mut self.destinations[to as usize];
        if destination.is_busy && !planted::is(Bug::BusyIgnored) {
            destination.queue.push_back(from);
        } else {
            self.connect(now, from, to);
        }
    }

    fn connect(&mut self, now: Time, from: u32, to: u32) {
        let source = &mut self.sources[from as usize];
        let Some(Frame { token, bytes, .. }) = source.waiting.pop() else { return };
        self.destinations[to as usize].is_busy = true;
        let began = now + self.rules.setup;
        let ends = began + self.rules.rate.time_of(bytes);
        self.open.insert((ends, from, to));
        let arrives = ends + self.rules.latency;
        self.out.push_back(Output::Sent { token, began, arrives });
    }

    fn plan(&mut self, now: Time) {
        let Some((at, ..)) = self.open.first().copied() else { return };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }
}
