//! The receiving half: the order of data, and its acknowledgements.

use super::clock::Clock;
use super::segment::{RANGES, Segment};
use crate::planted::{self, Bug};
use crate::platform::Tcp;
use crate::unit::Time;

/// The number of segments that are acknowledged at once at first (Linux: `TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;

/// The half of an end that receives.
#[derive(Debug)]
pub(super) struct Receiving {
    segment: u64,
    delay: Time,
    clock: Clock,
    next: u64,
    /// The ranges that have arrived beyond a gap, in order and apart.
    beyond: Vec<(u64, u64)>,
    /// The bytes up to here are acknowledged.
    told: u64,
    quick: u32,
    /// An acknowledgement is sent at this time, unless a segment goes before.
    due: Option<Time>,
}

impl Receiving {
    pub(super) const fn new(tcp: &Tcp, clock: Clock) -> Self {
        let (segment, delay) = (tcp.segment, tcp.delayed_ack);
        Self {
            segment,
            delay,
            clock,
            next: 0,
            beyond: Vec::new(),
            told: 0,
            quick: QUICK,
            due: None,
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

    /// Handles a segment with data. It is acknowledged at once if it is out of order, fills a hole,
    /// or is the second.
    pub(super) fn arrived(&mut self, now: Time, segment: &Segment) {
        let (begin, end) = (segment.begin, segment.begin + segment.bytes);
        let in_order = begin <= self.next && end > self.next;
        let has_hole = !self.beyond.is_empty();
        if in_order {
            self.next = end;
            self.close();
        } else if begin > self.next {
            self.insert(begin, end);
        }
        let delay = if planted::is(Bug::DelayForgotten) { Time::ZERO } else { self.delay };
        let many = self.next - self.told > self.segment && !planted::is(Bug::AckEverySegmentLate);
        let at_once = !in_order || has_hole || many || self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        let at = if at_once { now } else { self.clock.after(now, delay) };
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Puts the acknowledgements of this half into a segment, so that none waits any more.
    pub(super) fn put(&mut self, segment: &mut Segment) {
        segment.acknowledged = self.next;
        for (place, range) in segment.ranges.iter_mut().zip(self.beyond.iter().rev().take(RANGES)) {
            *place = *range;
        }
        self.told = self.next;
        self.due = None;
        if segment.bytes > 0 {
            // An end that answers sends its acknowledgements together with data.
            self.quick = 0;
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
