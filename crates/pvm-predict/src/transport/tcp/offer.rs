//! The receive window: the bytes that the other end may send beyond those that have arrived.
//!
//! Linux begins with a small window. It makes the window so large that a sender may double its rate
//! in each round trip: whenever a program has read more in one round trip than in any before, the
//! window becomes twice that, and more by the growth (`tcp_moderate_rcvbuf`). Programs are taken to
//! read at once. A buffer of a fixed size (`SO_RCVBUF`) has one window.

use super::segment::Segment;
use crate::planted::{self, Bug};
use crate::platform::{Buffer, Tcp};
use crate::unit::Time;

/// The memory that each segment takes beside its data (Linux: `sk_buff`, its head and
/// `skb_shared_info`).
pub(super) const SEGMENT_MEMORY: u64 = 832;
/// The memory of a new connection (`tcp_rmem[1]`).
const FIRST_MEMORY: u64 = 131_072;
/// The first window, before there is a segment from which the share of data in memory is known.
const FIRST_WINDOW: u64 = 65_535;
/// The windows of segments count such units (the window scale of a buffer that may grow to several
/// megabytes).
const UNIT: u64 = 1_024;

/// The window of one end.
#[derive(Debug)]
pub(super) struct Offer {
    segment: u64,
    /// None for a window that never changes.
    grows: Option<Growth>,
    window: u64,
}

/// The measures that the window follows.
#[derive(Debug)]
struct Growth {
    /// The window that the buffer has room for, and the largest one that it may get.
    goal: u64,
    most: u64,
    /// The most bytes that were read in a round trip.
    space: u64,
    /// The time at which the present round trip began, and the bytes that had been read then.
    began: (Time, u64),
    rtt: Option<Time>,
    /// The stamp of the other end's last segment; one stamp is one sample.
    stamp: u32,
    /// When all bytes up to this one are there, a whole window has come since that time.
    full: Option<(u64, Time)>,
}

impl Offer {
    pub(super) fn new(tcp: &Tcp) -> Self {
        let segment = tcp.segment;
        match tcp.receive_buffer {
            Buffer::Fixed(window) => Self { segment, grows: None, window },
            Buffer::Grows(most) => {
                let window = (FIRST_WINDOW / segment).max(2) * segment;
                let goal = window_of(segment, FIRST_MEMORY).max(window);
                let growth = Growth {
                    goal,
                    most: window_of(segment, most).max(goal),
                    space: tcp.initial_window * segment,
                    began: (Time::ZERO, 0),
                    rtt: None,
                    stamp: 0,
                    full: None,
                };
                Self { segment, grows: Some(growth), window }
            }
        }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.window
    }

    /// The window, in units.
    pub(super) fn units(&self) -> u16 {
        u16::try_from(self.window.div_ceil(UNIT)).unwrap_or(u16::MAX)
    }

    /// Handles a segment with data; `next` is the first byte that has not arrived, and `beyond` the
    /// number of bytes between it and the last one that has.
    pub(super) fn arrived(&mut self, now: Time, segment: &Segment, (next, beyond): (u64, u64)) {
        let Some(growth) = &mut self.grows else { return };
        growth.measure(now, segment, (next, self.window), self.segment);
        growth.read(now, next, beyond);
        if !planted::is(Bug::WindowFixed) {
            self.window = (self.window + 2 * self.segment).min(growth.goal).max(self.window);
        }
    }
}

impl Growth {
    /// Measures the round trip: by the stamp that a full segment brings back, and by the time that
    /// a whole window takes, which is never shorter.
    fn measure(&mut self, now: Time, segment: &Segment, (next, window): (u64, u64), full: u64) {
        if segment.echo != self.stamp {
            self.stamp = segment.echo;
            let took = stamp(now).wrapping_sub(segment.echo);
            if segment.bytes >= full && took > 0 {
                let took = Time::microseconds(1_000).times(u64::from(took));
                self.rtt = Some(match self.rtt {
                    Some(rtt) if rtt < took => rtt + Time((took - rtt).0 / 8),
                    _ => took,
                });
            }
        }
        match self.full {
            Some((until, _)) if next < until => return,
            Some((_, since)) => {
                let took = now.since(since);
                self.rtt = Some(self.rtt.map_or(took, |rtt| rtt.min(took)));
            }
            None => (),
        }
        self.full = Some((next + window, now));
    }

    /// All bytes below `next` are read. After a round trip the buffer grows, if these were more
    /// than ever.
    fn read(&mut self, now: Time, next: u64, beyond: u64) {
        let (since, before) = self.began;
        if self.rtt.is_none_or(|rtt| now.since(since) < rtt) {
            return;
        }
        self.began = (now, next);
        let read = next - before;
        if read <= self.space {
            return;
        }
        let twice = 2 * u128::from(read);
        let growth = twice * u128::from(read - self.space) / u128::from(self.space);
        let window = twice + 2 * growth + u128::from(beyond);
        self.space = read;
        self.goal = self.goal.max(u64::try_from(window).unwrap_or(u64::MAX).min(self.most));
    }
}

/// The bytes of data in segments that fill so much memory.
const fn window_of(segment: u64, memory: u64) -> u64 {
    (memory as u128 * segment as u128 / (segment + SEGMENT_MEMORY) as u128) as u64
}

/// The window that a segment offers.
pub(super) fn offered(tcp: &Tcp, segment: &Segment) -> u64 {
    match tcp.receive_buffer {
        Buffer::Fixed(window) => window,
        Buffer::Grows(_) => u64::from(segment.window) * UNIT,
    }
}

/// The stamp of a moment: it counts milliseconds, and begins anew after 49 days.
pub(super) const fn stamp(at: Time) -> u32 {
    (at.0 / Time::microseconds(1_000).0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many bytes are read a round trip later.
    fn read(offer: &mut Offer, now: u64, next: u64) {
        let segment = Segment { bytes: 1448, echo: 1, ..Segment::default() };
        offer.arrived(Time::microseconds(now), &segment, (next, 0));
    }

    /// The values that a kernel of Linux 6.18 told (TCP_INFO, SO_MEMINFO): a first window of 65160
    /// B and 2896 more for each segment, up to 82944; most bytes in a round trip 18824, 31856 and
    /// 47784, and buffers of 240083 and 302042 B behind the second and the third.
    #[test]
    fn a_window_grows_as_the_kernel_makes_it() {
        let tcp = Tcp { receive_buffer: Buffer::Grows(6 << 20), ..Tcp::default() };
        let mut offer = Offer::new(&tcp);
        assert_eq!(offer.bytes(), 65_160);
        read(&mut offer, 14_000, 1448);
        assert_eq!(offer.bytes(), 65_160 + 2_896);
        let (mut now, mut next) = (14_000, 1448);
        let mut goals = Vec::new();
        for bytes in [18_824, 31_856, 47_784] {
            (now, next) = (now + 100_000, next + bytes);
            read(&mut offer, now, next);
            goals.push(offer.grows.as_ref().map_or(0, |growth| growth.goal));
        }
        let close = |goal: u64, buffer: u64| goal.abs_diff(window_of(1448, buffer)) < 1_448;
        assert!(close(goals[0], 131_072), "{goals:?}");
        assert!(close(goals[1], 240_083), "{goals:?}");
        assert!(close(goals[2], 302_042), "{goals:?}");
    }

    #[test]
    fn a_buffer_of_a_fixed_size_has_one_window() {
        let tcp = Tcp { receive_buffer: Buffer::Fixed(50_000), ..Tcp::default() };
        let mut offer = Offer::new(&tcp);
        read(&mut offer, 14_000, 1448);
        read(&mut offer, 999_000, 1 << 20);
        assert_eq!(offer.bytes(), 50_000);
    }
}
