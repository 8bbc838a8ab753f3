//! One end of a connection between two daemons of PVM 3: datagrams of 4080 bytes over UDP,
//! header included, acknowledged one by one.
//!
//! IP divides a datagram into packets. The other end acknowledges the datagram when it has all of
//! them. A datagram without an acknowledgement is sent again, after a timeout that doubles each
//! time.

use super::tcp::{Input, Output, Segment};
use crate::planted::{self, Bug};
use crate::platform::{Datagrams, IP, UDP};
use crate::unit::Time;
use std::collections::{BTreeMap, VecDeque};

/// The most doublings of a timeout.
const DOUBLINGS_MAX: u32 = 10;

/// Tries after which a datagram is given up, and with it the other daemon.
const TRIES_MAX: u32 = 15;

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    rules: Datagrams,
    /// Datagrams that wait for the window, each from its first byte to its end.
    waiting: VecDeque<(u64, u64)>,
    /// By first byte: datagrams without an acknowledgement.
    open: BTreeMap<u64, Open>,
    written: u64,
    /// By first byte: the received parts of datagrams that are not complete, or not in order.
    parts: BTreeMap<u64, Part>,
    here: u64,
    pub(crate) resent: u64,
    planned: Time,
    out: VecDeque<Output>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    end: u64,
    first_sent: Time,
    due: Time,
    tries: u32,
}

#[derive(Clone, Debug)]
struct Part {
    end: u64,
    /// The first bytes of the packets that arrived.
    came: Vec<u64>,
    bytes: u64,
}

impl End {
    pub(crate) const fn new(rules: Datagrams) -> Self {
        Self {
            rules,
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            written: 0,
            parts: BTreeMap::new(),
            here: 0,
            resent: 0,
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Written(bytes) => self.write(bytes),
            Input::Left(_) | Input::Read | Input::Writes(_) => (),
            Input::Arrived(segment) if segment.bytes == 0 => {
                if self.open.remove(&segment.begin).is_some() {
                    self.out.push_back(Output::Room);
                }
            }
            Input::Arrived(segment) => self.arrived(now, &segment),
        }
        self.go_on(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        let late = self.open.iter().filter(|(_, open)| open.due <= now).map(|(begin, _)| *begin);
        for begin in late.collect::<Vec<_>>() {
            if self.open.get(&begin).is_some_and(|open| open.tries > TRIES_MAX) {
                return self.out.push_back(Output::GaveUp);
            }
            self.resent += 1;
            self.send(now, begin);
        }
        self.go_on(now);
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The number of bytes that a daemon may hand over: one datagram may wait beside those in the
    /// window.
    pub(crate) fn room(&self) -> u64 {
        if self.waiting.is_empty() { self.rules.fragment } else { 0 }
    }

    fn write(&mut self, bytes: u64) {
        let end = self.written + bytes;
        while self.written < end {
            let begin = self.written;
            self.written = end.min(begin + self.rules.fragment);
            self.waiting.push_back((begin, self.written));
        }
    }

    /// Sends the datagrams that the window allows, and asks for the first timeout.
    fn go_on(&mut self, now: Time) {
        let window = if planted::is(Bug::WindowForgotten) { u64::MAX } else { self.rules.window };
        while (self.open.len() as u64) < window {
            let Some((begin, end)) = self.waiting.pop_front() else { break };
            self.open.insert(begin, Open { end, first_sent: now, due: now, tries: 0 });
            self.send(now, begin);
        }
        let Some(at) = self.open.values().map(|open| open.due).min() else { return };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }

    /// Sends all packets of a datagram.
    fn send(&mut self, now: Time, begin: u64) {
        let Some(open) = self.open.get_mut(&begin) else { return };
        open.due = now + self.rules.timeout.times(1 << open.tries.min(DOUBLINGS_MAX));
        open.tries += 1;
        let Open { end, first_sent, .. } = *open;
        let (mut at, mut header) = (begin, UDP + self.rules.header);
        while at < end {
            let bytes = (end - at).min(self.rules.packet.saturating_sub(header).max(1));
            self.out.push_back(Output::Send(Segment {
                begin: at,
                bytes,
                header: IP + header,
                first_sent,
                sent: now,
                ranges: [(begin, end), (0, 0), (0, 0)],
                ..Segment::default()
            }));
            (at, header) = (at + bytes, 0);
        }
    }

    /// Handles a packet of a datagram.
    fn arrived(&mut self, now: Time, segment: &Segment) {
        let (begin, end) = segment.ranges[0];
        if begin >= self.here {
            let new = || Part { end, came: Vec::new(), bytes: 0 };
            let part = self.parts.entry(begin).or_insert_with(new);
            if !part.came.contains(&segment.begin) {
                part.came.push(segment.begin);
                part.bytes += segment.bytes;
            }
            if part.bytes < end - begin {
                return;
            }
        } else if segment.begin + segment.bytes < end {
            return;
        }
        self.acknowledge(now, begin);
        let before = self.here;
        while let Some(part) = self.parts.first_entry() {
            let is_next =
                *part.key() == self.here && part.get().bytes == part.get().end - self.here;
            if !is_next {
                break;
            }
            self.here = part.remove().end;
        }
        if self.here > before {
            self.out.push_back(Output::Here(self.here));
        }
    }

    fn acknowledge(&mut self, now: Time, begin: u64) {
        let header = IP + UDP + self.rules.header;
        let segment = Segment { begin, header, sent: now, first_sent: now, ..Segment::default() };
        self.out.push_back(Output::Send(segment));
    }
}
