//! The packets that are under way.

use crate::action::TaskNumber;
use crate::blame::{Phase, Told};
use crate::model::run::inbox::Transfer;
use crate::transport::tcp::{RANGES, Segment};
use crate::unit::Time;

/// The causes that delayed a packet, in order: on its first link, between, on its last link.
const PHASES: [[Phase; 6]; 2] = [
    [Phase::Queue, Phase::Wire, Phase::Queue, Phase::Wire, Phase::Queue, Phase::Wire],
    [Phase::Queue, Phase::Retransmission, Phase::Wire, Phase::Wire, Phase::Wire, Phase::Wire],
];

/// No end's number, and no task's.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// A packet on its way.
///
/// Hundreds of thousands of packets wait in queues at one time, and each event needs another one.
/// So this fills two cache lines, and what few packets have is kept apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Travelling {
    /// The host that it comes from, and the one that it is for.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The end that it comes from, and the one that it is for; [`UNKNOWN`] if that belongs to
    /// another part, and has not been heard of.
    pub(super) sender: u32,
    pub(super) receiver: u32,
    /// The tasks of these ends, or [`UNKNOWN`] if they are daemons'.
    tasks: (TaskNumber, TaskNumber),
    /// Its node, and the number of links that it has crossed.
    pub(super) node: u32,
    pub(super) hops: u16,
    /// The bytes of its data, and those in front of them.
    pub(super) data: u32,
    header: u16,
    window: u16,
    echo: u32,
    /// Its place among the ranges, or [`UNKNOWN`].
    ranges: u32,
    is_shared: bool,
    /// True if it occupies its host's memory until it has arrived, because both hosts are
    /// namespaces of one computer.
    pub(super) is_kept: bool,
    begin: u64,
    first_sent: Time,
    sent: Time,
    acknowledged: u64,
    times: [Time; 6],
}

/// Its place among all packets under way.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot(Travelling);

const _: () = assert!(size_of::<Slot>() == 128);

/// The ranges of an acknowledgement.
type Ranges = [(u64, u64); RANGES];

/// No ranges.
const NONE: Ranges = [(0, 0); RANGES];

/// A packet with all that belongs to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) now: Travelling,
    ranges: Ranges,
    /// The time at which a daemon had forwarded its message.
    until: Time,
}

/// The ends of a connection, the sender's first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) hosts: (u32, u32),
    pub(super) numbers: (u32, u32),
    pub(super) tasks: Option<(TaskNumber, TaskNumber)>,
}

impl Packet {
    /// With a segment, from one end to the other one.
    pub(super) fn new(ends: Ends, segment: Segment) -> Self {
        let Ends { hosts: (from, to), numbers: (sender, receiver), tasks } = ends;
        let Segment { begin, bytes, header, first_sent, sent, echo, window, .. } = segment;
        let Segment { acknowledged, ranges, .. } = segment;
        debug_assert!(bytes <= u64::from(u32::MAX) && header <= 0xffff, "platforms bound both");
        let now = Travelling {
            from,
            to,
            sender,
            receiver,
            tasks: tasks.unwrap_or((UNKNOWN, UNKNOWN)),
            node: from,
            data: bytes as u32,
            header: header as u16,
            window,
            echo,
            ranges: UNKNOWN,
            begin,
            first_sent,
            sent,
            acknowledged,
            ..Travelling::default()
        };
        Self { now, ranges, until: Time::ZERO }
    }

    /// Its segment.
    pub(super) fn segment(&self) -> Segment {
        let Travelling { begin, first_sent, sent, acknowledged, data, header, .. } = self.now;
        let Travelling { window, echo, .. } = self.now;
        let (bytes, header, ranges) = (u64::from(data), u64::from(header), self.ranges);
        Segment { begin, bytes, header, first_sent, sent, echo, window, acknowledged, ranges }
    }

    /// The tasks of its ends, if they are not daemons'.
    pub(super) fn tasks(&self) -> Option<(TaskNumber, TaskNumber)> {
        Some(self.now.tasks).filter(|(from, _)| *from != UNKNOWN)
    }

    /// The packet, with the time at which a daemon had forwarded its message.
    pub(super) const fn until(self, until: Time) -> Self {
        Self { until, ..self }
    }

    /// It begins on a cable for all, or on links; and it is kept in its host's memory or not.
    pub(super) const fn begins(&mut self, is_shared: bool, is_kept: bool) {
        (self.now.is_shared, self.now.is_kept) = (is_shared, is_kept);
    }
}

impl Travelling {
    /// Its bytes with the headers of TCP and IP.
    pub(super) const fn bytes(&self) -> u64 {
        self.data as u64 + self.header as u64
    }

    /// It has crossed one more link, on which it began at `began`, and can be forwarded at `at`.
    pub(super) fn cross(&mut self, began: Time, at: Time) {
        let [_, _, queued, reached, ..] = self.times;
        self.times = match self.hops {
            0 => [began, at, at, at, at, at],
            // The waits at all nodes between come first, then the time on the links between them.
            _ if self.node != self.to => {
                let queued = queued + began.since(reached);
                [self.times[0], self.times[1], queued, at, at, at]
            }
            _ => [self.times[0], self.times[1], queued, reached, began, at],
        };
        self.hops = self.hops.saturating_add(1);
    }

    /// It has crossed the cable of all hosts, after it was first tried at `tried`.
    pub(super) const fn carried(&mut self, tried: Time, began: Time, ended: Time) {
        self.times = [tried, began, ended, ended, ended, ended];
    }
}

impl Transfer for Packet {
    /// Adds the causes of the packet's delay; it was the last one of its message.
    fn tell(&self, told: &mut Told) {
        let Travelling { first_sent, sent, is_shared, times, .. } = self.now;
        told.until(Phase::Queue, first_sent);
        told.until(Phase::Retransmission, sent);
        let phases = PHASES[usize::from(is_shared)];
        phases.iter().zip(times).for_each(|(phase, time)| told.until(*phase, time));
        told.until(Phase::Host, self.until);
    }
}

/// All packets under way, by number.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    all: Vec<Slot>,
    free: Vec<u32>,
    /// The ranges of those packets that have some, and free places there.
    ranges: Vec<Ranges>,
    free_ranges: Vec<u32>,
}

impl Fleet {
    /// Finds a number for a packet.
    pub(super) fn keep(&mut self, packet: &Packet) -> u32 {
        let mut now = packet.now;
        if packet.ranges != NONE {
            now.ranges = put(&mut self.ranges, &mut self.free_ranges, packet.ranges);
        }
        put(&mut self.all, &mut self.free, Slot(now))
    }

    pub(super) fn at(&mut self, number: u32) -> &mut Travelling {
        &mut self.all[number as usize].0
    }

    /// Takes a packet: its number is free.
    pub(super) fn take(&mut self, number: u32) -> Packet {
        self.free.push(number);
        let Slot(mut now) = self.all[number as usize];
        let mut ranges = NONE;
        if now.ranges != UNKNOWN {
            self.free_ranges.push(now.ranges);
            ranges = self.ranges[now.ranges as usize];
            now.ranges = UNKNOWN;
        }
        Packet { now, ranges, until: Time::ZERO }
    }
}

/// Puts something into a free place of a list, or behind its end.
fn put<T>(all: &mut Vec<T>, free: &mut Vec<u32>, one: T) -> u32 {
    let number = free.pop().unwrap_or(all.len() as u32);
    match all.get_mut(number as usize) {
        Some(place) => *place = one,
        None => all.push(one),
    }
    number
}
