//! One direction of a cable: a queue with a bound, and behind it a rate or a token bucket.
//!
//! The bucket works as Linux' tbf: a frame that finds enough tokens passes at once, whatever its
//! length, and uses up tokens of its length; other frames wait in their order. Tokens grow with the
//! rate, up to the burst. The timer that wakes the first waiting frame may go off late, and if the
//! bucket is full meanwhile, the tokens of the rest of that time are lost.

use crate::kernel::Dice;
use crate::planted::{self, Bug};
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// The properties of one direction of a cable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// Its rate.
    pub rate: Rate,
    /// The time from one end to the other.
    pub latency: Time,
    /// The most bytes that wait.
    pub queue: u64,
    /// The burst in bytes, if there is a token bucket.
    pub burst: Option<u64>,
    /// The mean time by which the bucket's timer goes off late: from half of it to one and a half.
    pub late: Time,
}

/// An output of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A frame has left the queue: its first bit went at `began`, and its last one arrives at
    /// `arrives`.
    Sent {
        /// The frame.
        token: u32,
        /// The time at which it left the queue.
        began: Time,
        /// The time at which it has arrived completely.
        arrives: Time,
    },
    /// A frame was lost because the queue was full.
    Dropped {
        /// The frame.
        token: u32,
    },
    /// The port asks for a wake-up.
    Wake(Time),
}

/// One direction of a cable.
#[derive(Debug)]
pub struct Port {
    rules: Rules,
    frames: VecDeque<(u32, u64)>,
    waiting: u64,
    /// Without a bucket: the time at which the last frame will have left.
    free: Time,
    /// With a bucket: the tokens, as time at the rate, and the time of their last count.
    tokens: Time,
    counted: Time,
    is_asleep: bool,
    /// Random numbers for the timer.
    dice: Dice,
    out: VecDeque<Output>,
}

impl Port {
    /// An idle port with a full bucket. The seed and the number of the port decide how late its
    /// timer is each time.
    pub fn new(rules: Rules, seed: u64, number: u32) -> Self {
        Self {
            rules,
            frames: VecDeque::new(),
            waiting: 0,
            free: Time::ZERO,
            tokens: rules.burst.map_or(Time::ZERO, |burst| rules.rate.time_of(burst)),
            counted: Time::ZERO,
            is_asleep: false,
            dice: Dice::new(seed, (1 << 33) + u64::from(number)),
            out: VecDeque::new(),
        }
    }

    /// Takes a frame of `bytes` bytes.
    pub fn handle(&mut self, now: Time, token: u32, bytes: u64) {
        let most = if planted::is(Bug::QueueWithoutBound) { u64::MAX } else { self.rules.queue };
        let too_long = self.rules.burst.is_some_and(|burst| bytes > burst);
        if self.waiting.saturating_add(bytes) > most || too_long {
            return self.out.push_back(Output::Dropped { token });
        }
        self.frames.push_back((token, bytes));
        self.waiting += bytes;
        if !self.is_asleep {
            self.serve(now);
        }
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.is_asleep = false;
        self.serve(now);
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn serve(&mut self, now: Time) {
        while let Some((token, bytes)) = self.frames.front().copied() {
            let ready = match self.rules.burst {
                None => self.free,
                Some(burst) => self.bucket(now, bytes, burst),
            };
            if ready > now {
                self.is_asleep = true;
                let wake = ready + self.lateness();
                return self.out.push_back(Output::Wake(wake));
            }
            self.frames.pop_front();
            self.waiting -= bytes;
            let length = match self.rules.burst {
                // A frame that the bucket lets pass takes no time.
                Some(_) => Time::ZERO,
                None => self.rules.rate.time_of(bytes),
            };
            self.free = now + length;
            let arrives = self.free + self.rules.latency;
            self.out.push_back(Output::Sent { token, began: now, arrives });
        }
    }

    /// The time by which the timer goes off late this time.
    const fn lateness(&mut self) -> Time {
        match self.rules.late.0 {
            0 => Time::ZERO,
            late => Time(late / 2 + self.dice.below(late)),
        }
    }

    /// The time at which a frame may pass. If that is now, its tokens are used up.
    fn bucket(&mut self, now: Time, bytes: u64, burst: u64) -> Time {
        let most = self.rules.rate.time_of(burst);
        let grown = self.tokens + now.since(self.counted);
        let most = if planted::is(Bug::BucketWithoutBottom) { Time::END } else { most };
        let have = grown.min(most);
        let need = self.rules.rate.time_of(bytes);
        if have < need {
            return now + (need - have);
        }
        self.tokens = have - need;
        self.counted = now;
        now
    }
}
