//! The sending half: segments under way, segments that count as lost, and the times at which they
//! are sent again.

mod flying;
mod losses;
mod pace;
mod room;

use self::flying::{Flying, News, State};
use self::room::Room;
use super::clock::Clock;
use super::congestion::Window;
use super::offer::{Offer, SEGMENT_MEMORY, offered};
use super::sample::Sample;
use super::segment::Segment;
use crate::planted::{self, Bug};
use crate::platform::Tcp;
use crate::unit::Time;
use pvm_wire::congestion::UnderWay;
use std::collections::VecDeque;
use std::time::Duration;

/// The half of an end that sends.
#[derive(Debug)]
pub(super) struct Sending {
    tcp: Tcp,
    clock: Clock,
    window: Window,
    /// The first byte without an acknowledgement, the first that was not sent, and the end of the
    /// written bytes.
    first: u64,
    next: u64,
    end: u64,
    room: Room,
    /// The end of the receiver's window.
    edge: u64,
    flying: VecDeque<Flying>,
    /// The number of segments on the network, and of those that are lost.
    under_way: usize,
    lost: usize,
    /// The byte up to which all must be acknowledged before a further loss counts as a new one.
    recovery: Option<u64>,
    delivered: f64,
    delivered_at: Time,
    /// Set while the sender had nothing more to send: until this much is delivered, rates describe
    /// the sender, not the network.
    app_limited: Option<f64>,
    was_limited: bool,
    /// The time at which the segment was sent that was delivered last.
    first_sent: Time,
    rtt: Option<(Time, Time)>,
    /// The shortest round trip.
    shortest: Time,
    /// The time at which the latest segment that has arrived was sent, and its first byte.
    newest: (Time, u64),
    backoff: u32,
    /// Too many timeouts came in a row.
    pub(super) gives_up: bool,
    timer: Option<Time>,
    probed: bool,
    /// The time before which the pace lets nothing go.
    pace: Time,
    /// The memory of own segments that went into the host's queue, and that has left it; and their
    /// number.
    handed: u64,
    gone: u64,
    segments: u64,
    /// True after a write, whose last segment waits, if it is not full, while others are in the
    /// queue.
    corks: bool,
    /// True while a probe of the end sends a segment whatever the window is.
    forced: bool,
    /// The number of segments left of the present train.
    train: u64,
    last_sent: Time,
    /// The first byte of the last write to an idle connection, and the time until the
    /// acknowledgement of its segment is handled, at the least.
    alone: (u64, Time),
    pub(super) resent: u64,
}

impl Sending {
    /// `base` is the round trip time that the connection's set-up has measured.
    pub(super) fn new(tcp: &Tcp, base: Time, clock: Clock) -> Self {
        Self {
            tcp: *tcp,
            clock,
            window: Window::new(tcp, base),
            first: 0,
            next: 0,
            end: 0,
            room: Room::new(tcp),
            edge: Offer::new(tcp).bytes(),
            flying: VecDeque::new(),
            under_way: 0,
            lost: 0,
            recovery: None,
            delivered: 0.0,
            delivered_at: Time::ZERO,
            app_limited: None,
            was_limited: false,
            first_sent: Time::ZERO,
            rtt: Some((base, Time(base.0 / 2))),
            shortest: base,
            newest: (Time::ZERO, 0),
            backoff: 0,
            gives_up: false,
            timer: None,
            probed: false,
            pace: Time::ZERO,
            handed: 0,
            gone: 0,
            segments: 0,
            corks: false,
            forced: false,
            train: 0,
            last_sent: Time::ZERO,
            alone: (0, Time::ZERO),
            resent: 0,
        }
    }

    /// Takes bytes to be sent. A connection that was idle begins again.
    pub(super) fn write(&mut self, now: Time, bytes: u64) {
        let idle = now.since(self.last_sent);
        if self.flying.is_empty() && self.next == self.end && self.tcp.idle_restart {
            let timeout = self.timeout();
            if idle > timeout && self.last_sent > Time::ZERO {
                self.window.was_idle(idle, timeout);
            }
        }
        self.note_limit();
        self.end += bytes;
        self.room.written(self.end - self.first);
        self.corks = !planted::is(Bug::CorkForgotten);
    }

    /// A longer write begins. Linux puts aside what comes while a program writes.
    pub(super) const fn hears_after(&mut self, time: Time) {
        if self.first == self.end {
            self.alone = (self.end, time);
        }
    }

    /// Notes, before more is written, whether the program and not the network was the bound of the
    /// rate: nothing waited here or in the host's queue, and the window had room.
    fn note_limit(&mut self) {
        let waits = self.end - self.next >= self.tcp.segment || self.handed > self.gone;
        if !waits && self.quota() > 0 {
            self.app_limited = Some(self.delivered + self.under_way as f64);
        }
    }

    /// The number of further bytes that fit into the buffer.
    pub(super) fn room(&self) -> u64 {
        self.room.left(self.end - self.first)
    }

    /// Bytes were acknowledged, and what may be sent was. True if a writer can go on.
    pub(super) fn freed(&mut self) -> bool {
        let window = Some(self.window.segments as u64).filter(|_| self.quota() > 0);
        self.room.freed(self.end - self.first, window)
    }

    pub(super) fn under_way(&self) -> UnderWay {
        UnderWay {
            bytes: self.end - self.first,
            sent: !self.flying.is_empty(),
            confirmed: self.first,
            least: self.shortest.duration(),
            // Programs read at once, so the receiver has room but for the begin.
            without_room: Duration::ZERO,
        }
    }

    pub(super) const fn left(&mut self, bytes: u64, segments: u64) {
        self.gone += bytes + segments * SEGMENT_MEMORY;
        self.corks = false;
    }

    /// The time at which something is due. The pace does not delay what could have gone by now.
    pub(super) fn poll_timeout(&self, now: Time) -> Option<Time> {
        let waits_for_pace = self.has_more() && self.may_fly() && self.window.pacing().is_some();
        let pace = Some(self.pace).filter(|pace| waits_for_pace && *pace > now);
        [self.timer, pace].into_iter().flatten().min()
    }

    /// The time of the next timeout.
    pub(super) const fn timer(&self) -> Option<Time> {
        self.timer
    }

    /// True if something waits for which the window has room.
    pub(super) fn could_go_on(&self) -> bool {
        self.has_more() && self.quota() > 0
    }

    const fn has_more(&self) -> bool {
        self.next < self.end || self.lost > 0
    }

    fn may_fly(&self) -> bool {
        self.quota() > 0 && !self.is_held_back()
    }

    /// The number of segments that the window permits.
    fn quota(&self) -> u64 {
        if self.forced {
            return 1;
        }
        (self.window.segments.max(1.0) as u64).saturating_sub(self.under_way as u64)
    }

    /// The next segment that may go now.
    pub(super) fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if !self.may_fly() {
            self.train = 0;
            self.was_limited |= self.has_more() && self.quota() == 0;
            return None;
        }
        if self.window.pacing().is_some() && now < self.pace {
            return None;
        }
        let is_lost = |one: &Flying| one.state == State::Lost;
        let place = if self.lost > 0 { self.flying.iter().position(is_lost) } else { None };
        let segment = match place {
            Some(place) => Some(self.again(now, place)),
            None => self.fresh(now),
        }?;
        self.train = match self.train {
            0 => self.next_train().saturating_sub(1),
            left => left - 1,
        };
        self.under_way += 1;
        self.segments += 1;
        self.last_sent = now;
        if let Some(rate) = self.window.pacing() {
            self.pace = self.paced(now, rate.time_of(segment.bytes));
        }
        if place.is_none() || self.timer.is_none() {
            let oldest = self.flying.front().map_or(now, |first| first.sent);
            self.arm(now, oldest);
        }
        Some(segment)
    }

    fn again(&mut self, now: Time, place: usize) -> Segment {
        let (delivered, delivered_at) = (self.delivered, self.delivered_at);
        self.lost -= 1;
        let one = &mut self.flying[place];
        self.handed += memory(u64::from(one.bytes));
        (one.sent, one.again, one.state, one.handed) = (now, true, State::Flying, self.handed);
        (one.delivered, one.delivered_at) = (delivered, delivered_at);
        one.first_delivered = self.first_sent;
        self.resent += 1;
        let (begin, bytes, first_sent) = (one.begin, u64::from(one.bytes), one.first_sent);
        Segment { begin, bytes, first_sent, sent: now, ..Segment::default() }
    }

    fn fresh(&mut self, now: Time) -> Option<Segment> {
        let bytes = (self.end - self.next).min(self.tcp.segment);
        let waits = self.tcp.nagle && bytes < self.tcp.segment && !self.flying.is_empty();
        let nagle = waits && !planted::is(Bug::NagleOff);
        if bytes == 0 || self.next + bytes > self.edge || nagle || self.is_corked(bytes) {
            return None;
        }
        if self.flying.is_empty() {
            (self.delivered_at, self.first_sent) = (now, now);
            if self.app_limited.is_some() {
                self.window.begins(now);
            }
        }
        let begin = self.next;
        self.next += bytes;
        self.handed += memory(bytes);
        self.forced = false;
        let (delivered, delivered_at) = (self.delivered, self.delivered_at);
        let (first_sent, sent, handed) = (now, now, self.handed);
        let (app_limited, first_delivered) = (self.app_limited.is_some(), self.first_sent);
        let (again, state) = (false, State::Flying);
        self.flying.push_back(Flying {
            begin,
            bytes: bytes as u32,
            first_sent,
            sent,
            handed,
            delivered,
            delivered_at,
            first_delivered,
            app_limited,
            again,
            state,
        });
        Some(Segment { begin, bytes, first_sent, sent, ..Segment::default() })
    }

    /// True if a segment that is not full waits for the program's next bytes, because others of the
    /// connection wait in the queue (Linux: `tcp_autocorking`).
    fn is_corked(&self, bytes: u64) -> bool {
        let waits = self.handed - self.gone;
        self.corks && bytes < self.tcp.segment && !self.flying.is_empty() && waits > memory(bytes)
    }

    /// Handles a segment of the other end. True if there is more room than before.
    pub(super) fn acknowledged(&mut self, now: Time, segment: &Segment) -> bool {
        self.corks = false;
        let under_way = self.under_way as f64;
        let mut news = News::default();
        let freed = segment.acknowledged > self.first;
        self.first = self.first.max(segment.acknowledged);
        self.edge = self.edge.max(segment.acknowledged + offered(&self.tcp, segment));
        while let Some(one) = self.flying.front().copied() {
            if one.end() > self.first {
                break;
            }
            self.flying.pop_front();
            self.came(&one, &mut news);
        }
        for (begin, end) in segment.ranges.into_iter().filter(|(begin, end)| begin < end) {
            for place in 0..self.flying.len() {
                let one = &mut self.flying[place];
                let inside = one.begin >= begin && one.end() <= end;
                if inside && one.state != State::Beyond {
                    let before = *one;
                    one.state = State::Beyond;
                    self.came(&before, &mut news);
                }
            }
        }
        if news.delivered == 0.0 {
            return freed;
        }
        self.delivered_at = now;
        self.heard(now, &news, under_way);
        self.find_losses();
        if self.recovery.is_some_and(|end| self.first >= end) {
            self.recovery = None;
        }
        if freed {
            (self.backoff, self.probed) = (0, false);
        }
        self.arm(now, now);
        freed
    }

    /// Handles a segment that has arrived.
    fn came(&mut self, one: &Flying, news: &mut News) {
        match one.state {
            State::Flying => self.under_way -= 1,
            State::Beyond => return,
            State::Lost => self.lost -= 1,
        }
        self.newest = self.newest.max((one.sent, one.begin));
        self.delivered += 1.0;
        news.delivered += 1.0;
        if news.last.is_none_or(|last| one.sent >= last.sent) {
            news.last = Some(*one);
        }
    }

    fn heard(&mut self, now: Time, news: &News, under_way: f64) {
        let Some(last) = news.last else { return };
        let least = if last.begin == self.alone.0 { self.alone.1 } else { Time::ZERO };
        let rtt = (!last.again).then(|| now.since(last.sent).max(least));
        if let Some(sample) = rtt {
            self.shortest = self.shortest.min(sample);
            self.rtt = Some(match self.rtt {
                None => (sample, Time(sample.0 / 2)),
                Some((mean, spread)) => {
                    let apart = Time(mean.0.abs_diff(sample.0));
                    (Time((mean.0 * 7 + sample.0) / 8), Time((spread.0 * 3 + apart.0) / 4))
                }
            });
        }
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        // The rate of the network is the slower of two: that of sending and that of
        // acknowledgements.
        let sent = last.sent.since(last.first_delivered);
        let took = now.since(last.delivered_at).max(sent).max(least);
        self.first_sent = last.sent;
        let rate = (took >= self.shortest).then_some((self.delivered - last.delivered, took));
        let sample = Sample {
            delivered: news.delivered,
            rtt,
            rate,
            before: last.delivered,
            app_limited: last.app_limited,
            under_way,
            was_limited: std::mem::take(&mut self.was_limited),
            total: self.delivered,
        };
        if self.recovery.is_none() || self.window.pacing().is_some() {
            self.window.acknowledged(now, &sample);
        }
    }
}

/// The memory of the host that a segment takes.
const fn memory(bytes: u64) -> u64 {
    bytes + SEGMENT_MEMORY
}
