//! The TCP server of the thesis: each station has one, which does one job at a time, in the order
//! of requests.
//!
//! A write takes 300 us of it, and then the time of its packets on the cable. A read takes it until
//! all bytes have arrived; 300 us of that are work if a message begins with the read. An
//! acknowledgement takes the time of its frame.

use crate::action::TaskNumber;
use crate::host::station::Last;
use crate::kernel::Map;
use crate::planted::{self, Bug};
use crate::unit::Time;
use std::collections::VecDeque;

/// The data of a packet, and the headers of TCP and IP in front of it.
pub(crate) const PACKET: u64 = 1460;
pub(crate) const HEADER: u64 = 40;
/// The time of a write in TCP, and of a message: assumption B.
pub(crate) const WORK: Time = Time::microseconds(300);

/// A job for the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Job {
    /// Send a message.
    Write { message: u32, bytes: u64 },
    /// Take bytes of what a station sent.
    Read { from: TaskNumber, bytes: u64 },
    /// Acknowledge a message to its station.
    Acknowledge,
}

/// An input of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// The station asks for a job.
    Asked(Job),
    /// The frame that was offered has crossed the cable.
    Carried,
    /// Bytes of a message of another station have arrived; the message has `size` bytes in all.
    Arrived { from: TaskNumber, message: u32, bytes: u64, size: u64 },
}

/// An output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// Call again at this time.
    Wake(Time),
    /// A write has begun in the server.
    Granted { message: u32 },
    /// The work of a write is done; its packets follow.
    Processed { message: u32 },
    /// A frame for the cable.
    Offer { bytes: u64 },
    /// A packet of a message has crossed the cable.
    Delivered { message: u32, bytes: u64 },
    /// The first bytes for which a read waited have arrived; `worked` tells whether the server has
    /// worked for them.
    Woke { message: u32, worked: bool },
    /// All bytes of a read have arrived.
    Complete(Last),
    /// A whole message was taken.
    Taken { message: u32 },
}

/// The server.
#[derive(Debug, Default)]
pub(crate) struct Server {
    jobs: VecDeque<Job>,
    step: Step,
    /// Data that have arrived and were not taken.
    inbox: Map<TaskNumber, VecDeque<Parcel>>,
    out: VecDeque<Output>,
    /// The time of work: the column TCP of appendix A.
    pub(crate) worked: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Step {
    #[default]
    Free,
    /// The server works for a write.
    Processing {
        message: u32,
        bytes: u64,
        until: Time,
    },
    /// The server sends packets: `left` bytes remain, and `flying` bytes are on the cable.
    Sending {
        message: u32,
        left: u64,
        flying: u64,
    },
    /// A read waits in the server.
    Waiting(Read),
    /// The server works for a read.
    Receiving {
        read: Read,
        until: Time,
    },
    Acknowledging,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Read {
    from: TaskNumber,
    left: u64,
    woke: bool,
}

#[derive(Clone, Copy, Debug)]
struct Parcel {
    message: u32,
    size: u64,
    arrived: u64,
    taken: u64,
}

impl Parcel {
    /// True if no packet of the message is partly taken.
    const fn is_between_packets(&self) -> bool {
        self.taken == self.size || self.taken.is_multiple_of(PACKET)
    }
}

impl Server {
    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Asked(job) => {
                self.jobs.push_back(job);
                self.serve(now);
            }
            Input::Carried => self.carried(now),
            Input::Arrived { from, message, bytes, size } => {
                self.arrive(from, message, bytes, size);
                if let Step::Waiting(read) = self.step
                    && read.from == from
                {
                    self.take(now, read);
                }
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        match self.step {
            Step::Processing { message, bytes, until } if until <= now => {
                self.out.push_back(Output::Processed { message });
                self.offer(message, bytes);
            }
            Step::Receiving { read, until } if until <= now => {
                self.wake(read, true);
                self.take(now, Read { woke: true, ..read });
            }
            _ => (),
        }
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The message whose packet is on the cable.
    pub(crate) const fn sends(&self) -> Option<u32> {
        match self.step {
            Step::Sending { message, .. } => Some(message),
            _ => None,
        }
    }

    /// The number of bytes that the waiting read lacks.
    pub(crate) const fn lacks(&self) -> Option<u64> {
        match self.step {
            Step::Waiting(read) => Some(read.left),
            _ => None,
        }
    }

    /// The number of bytes of a station that wait here.
    pub(crate) fn there(&self, from: TaskNumber) -> u64 {
        let parcels = self.inbox.get(&from);
        parcels.map_or(0, |all| all.iter().map(|parcel| parcel.arrived - parcel.taken).sum())
    }

    /// Adds a message of the station to itself, which arrives as soon as it is handed over.
    pub(crate) fn arrive(&mut self, from: TaskNumber, message: u32, bytes: u64, size: u64) {
        let parcels = self.inbox.entry(from).or_default();
        match parcels.back_mut() {
            Some(last) if last.message == message && last.arrived < size => last.arrived += bytes,
            _ => parcels.push_back(Parcel { message, size, arrived: bytes, taken: 0 }),
        }
    }

    /// Takes such bytes without the server. Returns the message that held the last of them.
    pub(crate) fn take_own(&mut self, from: TaskNumber, bytes: u64) -> Option<Last> {
        let mut left = bytes;
        let mut last = None;
        while left > 0 {
            last = Some(self.take_some(from, &mut left)?);
        }
        last
    }

    /// Begins the next job, if the last one is done.
    fn serve(&mut self, now: Time) {
        while self.step == Step::Free {
            match self.jobs.pop_front() {
                None => return,
                Some(Job::Write { message, bytes }) => {
                    self.out.push_back(Output::Granted { message });
                    let until = self.work(now);
                    self.step = Step::Processing { message, bytes, until };
                }
                Some(Job::Read { from, bytes }) => {
                    self.take(now, Read { from, left: bytes, woke: false });
                }
                Some(Job::Acknowledge) => {
                    self.step = Step::Acknowledging;
                    self.out.push_back(Output::Offer { bytes: HEADER });
                }
            }
        }
    }

    fn work(&mut self, now: Time) -> Time {
        self.worked += WORK;
        self.out.push_back(Output::Wake(now + WORK));
        now + WORK
    }

    fn offer(&mut self, message: u32, bytes: u64) {
        let flying = bytes.min(PACKET);
        self.step = Step::Sending { message, left: bytes - flying, flying };
        self.out.push_back(Output::Offer { bytes: flying + HEADER });
        if planted::is(Bug::ServerTimePerPacket) {
            self.worked += WORK;
        }
    }

    fn carried(&mut self, now: Time) {
        match self.step {
            Step::Sending { message, left, flying } => {
                self.out.push_back(Output::Delivered { message, bytes: flying });
                if left > 0 {
                    return self.offer(message, left);
                }
            }
            Step::Acknowledging => (),
            _ => return,
        }
        self.step = Step::Free;
        self.serve(now);
    }

    /// Continues a read: it takes the bytes that have arrived, and has ended then or waits.
    fn take(&mut self, now: Time, mut read: Read) {
        let first = self.inbox.get(&read.from).and_then(|parcels| parcels.front()).copied();
        if !read.woke {
            match first.filter(|first| first.arrived > first.taken) {
                None => return self.step = Step::Waiting(read),
                Some(first) if first.is_between_packets() => {
                    let until = self.work(now);
                    return self.step = Step::Receiving { read, until };
                }
                Some(_) => self.wake(read, false),
            }
            read.woke = true;
        }
        while read.left > 0 {
            let Some(last) = self.take_some(read.from, &mut read.left) else {
                return self.step = Step::Waiting(read);
            };
            if read.left == 0 {
                self.out.push_back(Output::Complete(last));
            }
        }
        self.step = Step::Free;
        self.serve(now);
    }

    fn wake(&mut self, read: Read, worked: bool) {
        if let Some(first) = self.inbox.get(&read.from).and_then(|parcels| parcels.front()) {
            self.out.push_back(Output::Woke { message: first.message, worked });
        }
    }

    /// Takes bytes of the first parcel; none if it has none.
    fn take_some(&mut self, from: TaskNumber, left: &mut u64) -> Option<Last> {
        let parcels = self.inbox.get_mut(&from)?;
        let first = parcels.front_mut()?;
        let some = (first.arrived - first.taken).min(*left);
        if some == 0 {
            return None;
        }
        *left -= some;
        first.taken += some;
        let message = first.message;
        let is_whole = first.taken == first.size || planted::is(Bug::StubLost);
        let is_end = first.is_between_packets();
        let last = Last { message, serial: 0, is_end, is_whole };
        if is_whole {
            parcels.pop_front();
            self.out.push_back(Output::Taken { message });
        }
        Some(last)
    }
}
