//! A cable that all stations share: CSMA/CD as in IEEE 802.3, at any rate.
//!
//! A station with a frame waits until the cable has been silent for a gap, then sends. A station
//! that begins before the first bits of another station have reached it collides with it. Both jam,
//! draw a number of slots below 2^n (n is the number of collisions of this frame, 10 at most), and
//! try again; after 16 attempts the frame is given up.

use crate::kernel::Dice;
use crate::planted::{self, Bug};
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// The rules of a cable. Lengths in bits are times at its rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// Its rate.
    pub rate: Rate,
    /// The gap between two frames.
    pub gap: u64,
    /// The unit of backoff.
    pub slot: u64,
    /// The jam that a station sends when it has seen a collision.
    pub jam: u64,
    /// The preamble of each frame.
    pub preamble: u64,
    /// The bytes of the shortest frame without its preamble; shorter frames are padded.
    pub shortest: u64,
    /// The bytes of a frame beside its packet.
    pub header: u64,
    /// The time from one station to any other one.
    pub propagation: Time,
    /// The number of attempts after which a frame is given up.
    pub attempts: Option<u32>,
}

impl Rules {
    /// IEEE 802.3 with 5 us between any two stations: a cable of a kilometre.
    pub const fn ethernet(rate: Rate) -> Self {
        Self {
            rate,
            gap: 96,
            slot: 512,
            jam: 32,
            preamble: 64,
            shortest: 64,
            header: 18,
            propagation: Time::microseconds(5),
            attempts: Some(16),
        }
    }

    /// The time of a frame with a packet of this size, its preamble included.
    pub fn frame(&self, bytes: u64) -> Time {
        let shortest = if planted::is(Bug::ShortFrames) { 0 } else { self.shortest };
        let bytes = bytes.saturating_add(self.header).max(shortest);
        self.rate.time_of(bytes) + self.rate.time_of_bits(self.preamble)
    }

    fn gap(&self) -> Time {
        let gap = if planted::is(Bug::GapForgotten) { 0 } else { self.gap };
        self.rate.time_of_bits(gap)
    }

    fn slot(&self) -> Time {
        let factor = if planted::is(Bug::SlotTooLong) { 2 } else { 1 };
        self.rate.time_of_bits(self.slot * factor)
    }

    fn jam(&self) -> Time {
        self.rate.time_of_bits(self.jam)
    }
}

/// The number of collisions of a frame after which its backoff does not grow any more.
const DOUBLINGS_MAX: u32 = 10;

/// An output of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A frame has reached all stations.
    Carried(Carried),
    /// A frame was given up.
    Dropped {
        /// The station that gave up.
        port: usize,
        /// The frame.
        token: u64,
    },
    /// The cable asks for a wake-up.
    Wake(Time),
}

/// The transmission of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The station that sent it.
    pub port: usize,
    /// The token of the frame.
    pub token: u64,
    /// The time at which its station first sent a bit of it.
    pub tried: Time,
    /// The begin of the attempt that succeeded.
    pub began: Time,
    /// The time at which its last bit had arrived everywhere.
    pub ended: Time,
}

/// The shared cable.
#[derive(Debug)]
pub struct Csma {
    rules: Rules,
    ports: Vec<Port>,
    medium: Medium,
    dice: Dice,
    collisions: u64,
    /// The last wake-up that was asked for.
    planned: Time,
    out: VecDeque<Output>,
}

/// The state of a station for the cable.
#[derive(Clone, Debug, Default)]
struct Port {
    frames: VecDeque<Frame>,
    state: State,
    attempts: u32,
    tried: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    token: u64,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// It has nothing to send.
    #[default]
    Idle,
    /// It waits for silence.
    Deferring,
    /// It sends, or collides.
    Sending,
    /// It has collided and waits.
    Backoff(Time),
}

#[derive(Clone, Debug)]
enum Medium {
    Free {
        since: Time,
    },
    /// One station sends, or several collide.
    Busy {
        senders: Vec<usize>,
        began: Time,
        until: Time,
    },
}

impl Csma {
    /// A silent cable with `ports` stations.
    pub fn new(rules: Rules, ports: usize, seed: u64) -> Self {
        // The cable counts as silent since before the begin, so the first frame needs no gap.
        Self {
            rules,
            ports: vec![Port::default(); ports],
            medium: Medium::Free { since: Time::ZERO },
            dice: Dice::new(seed, 1),
            collisions: 0,
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    /// The number of times that frames have collided.
    pub const fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Takes a packet of a station; it follows the station's earlier packets.
    pub fn handle(&mut self, now: Time, port: usize, token: u64, bytes: u64) {
        self.settle(now);
        let own = &mut self.ports[port];
        own.frames.push_back(Frame { token, bytes });
        if own.state == State::Idle {
            self.contend(port, now);
        }
        self.plan(now);
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.settle(now);
        self.plan(now);
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Handles all events up to now in the order of their times.
    fn settle(&mut self, now: Time) {
        while let Some(due) = self.deadline().filter(|due| *due <= now) {
            match &self.medium {
                Medium::Busy { until, .. } if *until <= due => self.end(due),
                Medium::Busy { .. } => self.expire(due),
                Medium::Free { .. } => self.begin(due),
            }
        }
    }

    /// The time of the next event without an input.
    fn deadline(&self) -> Option<Time> {
        let backoff = self.ports.iter().filter_map(|port| match port.state {
            State::Backoff(until) => Some(until),
            _ => None,
        });
        let backoff = backoff.min();
        match &self.medium {
            Medium::Busy { until, .. } => {
                Some(backoff.map_or(*until, |backoff| backoff.min(*until)))
            }
            Medium::Free { since } => {
                let free = *since + self.rules.gap();
                let waits = self.ports.iter().any(|port| port.state == State::Deferring);
                let backoff = backoff.map(|backoff| backoff.max(free));
                if waits { Some(free) } else { backoff }
            }
        }
    }

    fn plan(&mut self, now: Time) {
        let Some(at) = self.deadline() else { return };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }

    /// A station begins to try its first frame.
    fn contend(&mut self, port: usize, now: Time) {
        let free = match &self.medium {
            Medium::Free { since } => now >= *since + self.rules.gap(),
            Medium::Busy { began, .. } => now < *began + self.rules.propagation,
        };
        self.ports[port].state = State::Deferring;
        if free || (matches!(self.medium, Medium::Free { .. }) && now == Time::ZERO) {
            self.send(&[port], now);
        }
    }

    /// The cable is silent: all stations that wait for it begin.
    fn begin(&mut self, now: Time) {
        let ready: Vec<usize> = (0..self.ports.len())
            .filter(|port| match self.ports[*port].state {
                State::Deferring => true,
                State::Backoff(until) => until <= now,
                _ => false,
            })
            .collect();
        self.send(&ready, now);
    }

    /// Ends the backoffs that run out while others send.
    fn expire(&mut self, now: Time) {
        for port in 0..self.ports.len() {
            if matches!(self.ports[port].state, State::Backoff(until) if until <= now) {
                self.contend(port, now);
            }
        }
    }

    /// Lets stations begin at one time.
    fn send(&mut self, ports: &[usize], now: Time) {
        for port in ports {
            let port = &mut self.ports[*port];
            port.state = State::Sending;
            port.tried.get_or_insert(now);
        }
        let (mut senders, began) =
            match std::mem::replace(&mut self.medium, Medium::Free { since: now }) {
                Medium::Busy { senders, began, .. } => (senders, began),
                Medium::Free { .. } => (Vec::new(), now),
            };
        senders.extend_from_slice(ports);
        let until = match senders.as_slice() {
            [one] => {
                let frame = self.ports[*one].frames.front().expect("a sender has a frame");
                now + self.rules.frame(frame.bytes)
            }
            _ => self.collided(began, now),
        };
        self.medium = Medium::Busy { senders, began, until };
    }

    /// The end of a collision: the last bit of the jam of the station that began last has passed.
    fn collided(&self, began: Time, now: Time) -> Time {
        if planted::is(Bug::JamForgotten) {
            return now;
        }
        let seen = now + self.rules.propagation;
        let sent = began + self.rules.rate.time_of_bits(self.rules.preamble);
        seen.max(sent) + self.rules.jam()
    }

    /// Ends the transmission, or the collision, of these stations.
    fn end(&mut self, now: Time) {
        let medium = std::mem::replace(&mut self.medium, Medium::Free { since: now });
        let Medium::Busy { senders, began, .. } = medium else { return };
        if let [port] = *senders.as_slice() {
            return self.carried(port, began, now);
        }
        self.collisions += 1;
        senders.iter().for_each(|port| self.back_off(*port, now));
    }

    fn carried(&mut self, port: usize, began: Time, now: Time) {
        let own = &mut self.ports[port];
        let frame = own.frames.pop_front().expect("it was sent");
        let tried = own.tried.take().unwrap_or(began);
        own.attempts = 0;
        own.state = if own.frames.is_empty() { State::Idle } else { State::Deferring };
        let ended = now + self.rules.propagation;
        let token = frame.token;
        self.out.push_back(Output::Carried(Carried { port, token, tried, began, ended }));
    }

    fn back_off(&mut self, port: usize, now: Time) {
        let slot = self.rules.slot();
        let own = &mut self.ports[port];
        own.attempts += 1;
        if self.rules.attempts.is_some_and(|most| own.attempts >= most) {
            let frame = own.frames.pop_front().expect("it was sent");
            own.attempts = 0;
            own.tried = None;
            own.state = if own.frames.is_empty() { State::Idle } else { State::Deferring };
            self.out.push_back(Output::Dropped { port, token: frame.token });
            return;
        }
        let doublings = if planted::is(Bug::BackoffFlat) { 1 } else { own.attempts };
        let slots = self.dice.below(1 << doublings.min(DOUBLINGS_MAX));
        own.state = State::Backoff(now + slot.times(slots));
    }
}
