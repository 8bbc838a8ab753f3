//! TCP: one end of a connection, segment by segment, as in Linux.
//!
//! An end sends the bytes that are written to it ([`sending`]) as far as congestion control
//! ([`congestion`]) permits, and acknowledges those that arrive ([`receiving`]). Connections exist
//! from the begin; none is set up or closed.

mod bbr;
mod clock;
mod congestion;
mod manner;
mod offer;
mod receiving;
mod sample;
mod segment;
mod sending;

pub(crate) use self::clock::Clock;
pub(crate) use self::segment::{RANGES, Segment};

use self::receiving::Receiving;
use self::sending::Sending;
use crate::platform::Tcp;
use crate::unit::Time;
use pvm_wire::congestion::UnderWay;
use std::collections::VecDeque;

/// An input of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// The program begins a longer write. If its first segment goes alone, its acknowledgement is
    /// handled after this time at the earliest.
    Writes(Time),
    /// Bytes to be sent were written.
    Written(u64),
    /// A segment has arrived.
    Arrived(Segment),
    /// The program has read all that is there.
    Read,
    /// A segment has left this host's own queue, so another one may go there.
    Left(u64),
}

/// An output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// A segment goes to the network.
    Send(Segment),
    /// All bytes below this one have arrived.
    Here(u64),
    /// There is more room than before.
    Room,
    /// Call again at this time.
    Wake(Time),
    /// Nothing was acknowledged for so long that the connection is given up.
    GaveUp,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End {
    sending: Sending,
    receiving: Receiving,
    /// The bytes in front of each segment's data.
    header: u64,
    /// The last wake-up that was asked for.
    planned: Time,
    /// True if bytes were acknowledged, and nobody has been told of the room.
    freed: bool,
    out: VecDeque<Output>,
}

impl End {
    /// `base` is the round trip time of an idle network.
    pub(crate) fn new(tcp: &Tcp, base: Time, clock: Clock) -> Self {
        Self {
            sending: Sending::new(tcp, base, clock),
            receiving: Receiving::new(tcp, clock),
            header: tcp.header,
            planned: Time::END,
            freed: false,
            out: VecDeque::new(),
        }
    }

    /// Lends it a queue for its outputs, if it has none. An end has outputs for moments only, and
    /// there are many ends: their queues would be the memory that is used least.
    pub(crate) fn lend(&mut self, spare: &mut Vec<VecDeque<Output>>) {
        if self.out.capacity() == 0 {
            self.out = spare.pop().unwrap_or_default();
        }
    }

    /// Takes the queue back, if it is empty.
    pub(crate) fn give_back(&mut self, spare: &mut Vec<VecDeque<Output>>) {
        if self.out.is_empty() && self.out.capacity() > 0 {
            spare.push(std::mem::take(&mut self.out));
        }
    }

    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Writes(time) => self.sending.hears_after(time),
            Input::Written(bytes) => self.sending.write(now, bytes),
            Input::Left(bytes) => self.sending.left(bytes, 1),
            Input::Read => {
                self.receiving.read(now);
                if self.receiving.is_due(now) {
                    self.acknowledge(now);
                }
            }
            Input::Arrived(segment) => self.arrived(now, &segment),
        }
        self.go_on(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.sending.handle_timeout(now);
        if self.sending.gives_up {
            return self.out.push_back(Output::GaveUp);
        }
        if self.receiving.is_due(now) {
            self.receiving.waited();
            self.acknowledge(now);
        }
        self.go_on(now);
    }

    /// The time before which it does nothing when a segment leaves the host's queue, because
    /// nothing waits that could go: such news may wait for the next input.
    pub(crate) fn is_deaf_until(&self) -> Time {
        if self.sending.could_go_on() {
            return Time::ZERO;
        }
        let due = self.sending.timer().or_else(|| self.receiving.poll_timeout());
        due.map_or(Time::END, |_| self.planned)
    }

    /// So many segments with so many bytes have left the host's queue while it was deaf.
    pub(crate) const fn left(&mut self, bytes: u64, segments: u64) {
        self.sending.left(bytes, segments);
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The number of further bytes that a write may hand over.
    pub(crate) fn room(&self) -> u64 {
        self.sending.room()
    }

    /// The program waits for data and reads them when they come, or it does something else.
    pub(crate) const fn reads(&mut self, reads: bool) {
        self.receiving.reads(reads);
    }

    /// True if an acknowledgement waits until the program reads.
    pub(crate) const fn waits_for_reader(&self) -> bool {
        self.receiving.waits_for_reader()
    }

    /// The bytes that were written and not acknowledged.
    pub(crate) fn under_way(&self) -> UnderWay {
        self.sending.under_way()
    }

    /// The number of segments that were sent again.
    pub(crate) const fn resent(&self) -> u64 {
        self.sending.resent
    }

    fn arrived(&mut self, now: Time, segment: &Segment) {
        self.receiving.heard(segment);
        self.freed |= self.sending.acknowledged(now, segment);
        if segment.bytes > 0 {
            let before = self.receiving.next();
            self.receiving.arrived(now, segment, self.sending.timeout());
            if self.receiving.next() > before {
                self.out.push_back(Output::Here(self.receiving.next()));
            }
            if self.receiving.is_due(now) {
                self.acknowledge(now);
            }
        }
    }

    fn acknowledge(&mut self, now: Time) {
        let mut segment = Segment { sent: now, header: self.header, ..Segment::default() };
        self.receiving.put(&mut segment);
        self.out.push_back(Output::Send(segment));
    }

    /// Sends the segments that may be sent, and asks for a wake-up.
    fn go_on(&mut self, now: Time) {
        while let Some(mut segment) = self.sending.poll_segment(now) {
            segment.header = self.header;
            self.receiving.put(&mut segment);
            self.out.push_back(Output::Send(segment));
        }
        if std::mem::take(&mut self.freed) && self.sending.freed() {
            self.out.push_back(Output::Room);
        }
        let due = [self.sending.poll_timeout(now), self.receiving.poll_timeout()];
        let Some(at) = due.into_iter().flatten().min() else { return };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }
}
