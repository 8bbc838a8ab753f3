//! The receiving half: the order of data, and its acknowledgements.

use super::clock::Clock;
use super::manner::Manner;
use super::offer::{Offer, stamp};
use super::segment::{RANGES, Segment};
use crate::planted::{self, Bug};
use crate::platform::Tcp;
use crate::unit::Time;

/// The half of an end that receives.
#[derive(Debug)]
pub(super) struct Receiving {
    segment: u64,
    delay: Time,
    /// The time until a program that waits has read what comes, and whether it waits.
    wake: Time,
    reads: bool,
    clock: Clock,
    next: u64,
    /// The ranges that have arrived beyond a gap, in order and apart.
    beyond: Vec<(u64, u64)>,
    /// The bytes up to here are acknowledged.
    told: u64,
    manner: Manner,
    /// The stamp of the other end's last segment that was not out of order.
    echo: u32,
    offer: Offer,
    /// An acknowledgement is sent at this time, unless a segment goes before.
    due: Option<Time>,
    /// True if it waits for data that it could go with.
    in_vain: bool,
}

impl Receiving {
    pub(super) fn new(tcp: &Tcp, clock: Clock) -> Self {
        let (segment, delay) = (tcp.segment, tcp.delayed_ack);
        Self {
            segment,
            delay,
            wake: tcp.wake,
            reads: true,
            clock,
            next: 0,
            beyond: Vec::new(),
            told: 0,
            manner: Manner::new(delay),
            echo: 0,
            offer: Offer::new(tcp),
            due: None,
            in_vain: false,
        }
    }

    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    pub(super) const fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// The program waits for data and reads them when they come, or it does something else.
    pub(super) const fn reads(&mut self, reads: bool) {
        self.reads = reads;
    }

    /// True if an acknowledgement waits until the program reads.
    pub(super) const fn waits_for_reader(&self) -> bool {
        self.due.is_some() && !self.reads && self.manner.is_prompt_when_read()
    }

    /// The program has read all that is there.
    pub(super) const fn read(&mut self, now: Time) {
        if self.due.is_some() && self.manner.is_prompt_when_read() {
            (self.due, self.in_vain) = (Some(now), false);
        }
    }

    /// An acknowledgement is due; perhaps it has waited in vain for data that it could go with.
    pub(super) const fn waited(&mut self) {
        if self.in_vain {
            self.manner.waited();
        }
    }

    /// Notes when a segment was sent, with or without data (RFC 7323).
    pub(super) const fn heard(&mut self, segment: &Segment) {
        if segment.begin <= self.told {
            self.echo = stamp(segment.sent);
        }
    }

    /// Handles a segment with data. It is acknowledged at once if it is out of order, fills a hole,
    /// or is the second.
    pub(super) fn arrived(&mut self, now: Time, segment: &Segment, timeout: Time) {
        let (begin, end) = (segment.begin, segment.begin + segment.bytes);
        let in_order = begin <= self.next && end > self.next;
        let has_hole = !self.beyond.is_empty();
        if in_order {
            self.next = end;
            self.close();
        } else if begin > self.next {
            self.insert(begin, end);
        }
        self.manner.arrived(now, segment.bytes < self.segment, timeout);
        let last = self.beyond.last().map_or(self.next, |(_, end)| *end);
        self.offer.arrived(now, segment, (self.next, last - self.next));
        let delay = if planted::is(Bug::DelayForgotten) { Time::ZERO } else { self.delay };
        let many = self.next - self.told > self.segment && !planted::is(Bug::AckEverySegmentLate);
        let at_once = !in_order || has_hole || many || self.manner.is_prompt();
        let at = if at_once {
            now
        } else if self.reads && self.manner.is_prompt_when_read() {
            now + self.wake
        } else {
            self.clock.after(now, delay)
        };
        if self.due.is_none_or(|due| at < due) {
            self.due = Some(at);
            self.in_vain = at > now + self.wake;
        }
    }

    /// Puts the acknowledgements of this half into a segment, so that none waits any more.
    pub(super) fn put(&mut self, segment: &mut Segment) {
        segment.acknowledged = self.next;
        (segment.echo, segment.window) = (self.echo, self.offer.units());
        for (place, range) in segment.ranges.iter_mut().zip(self.beyond.iter().rev().take(RANGES)) {
            *place = *range;
        }
        self.told = self.next;
        self.manner.acknowledged(self.due.take().is_some());
        if segment.bytes > 0 {
            self.manner.sent(segment.sent);
        }
    }

    fn insert(&mut self, begin: u64, end: u64) {
        let place = self.beyond.partition_point(|(other, _)| *other < begin);
        self.beyond.insert(place, (begin, end));
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(self.beyond.len());
        for (begin, end) in self.beyond.drain(..) {
            match joined.last_mut().filter(|last| begin <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((begin, end)),
            }
        }
        self.beyond = joined;
    }

    fn close(&mut self) {
        let touching = |next: u64, (begin, _): &(u64, u64)| *begin <= next;
        while let Some(first) = self.beyond.first().copied().filter(|one| touching(self.next, one))
        {
            self.next = self.next.max(first.1);
            self.beyond.remove(0);
        }
    }
}
