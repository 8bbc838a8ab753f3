//! A token ring: FDDI's timed token (ISO 9314-2), with asynchronous frames of one priority.
//!
//! The token passes from station to station. If it reaches a station within the target time after
//! its last visit, the station may send until that time is over, and completes a frame that it has
//! begun. If the token comes later, the station sends nothing, and its timer runs from the moment
//! at which it ran out.

use super::frame::Frame;
use super::port::Output;
use super::waiting::Waiting;
use crate::planted::{self, Bug};
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// Bytes of a token with its preamble.
const TOKEN: u64 = 11;

/// The rules of a ring.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// Its rate.
    pub rate: Rate,
    /// The time from a station to the next one.
    pub latency: Time,
    /// The target time of a rotation of the token (TTRT).
    pub target: Time,
    /// The largest number of bytes that wait at a station.
    pub queue: u64,
}

/// A station.
#[derive(Debug)]
struct Station {
    waiting: Waiting,
    /// The begin of its rotation timer.
    timer: Time,
}

/// The place of the token.
#[derive(Clone, Copy, Debug)]
enum Token {
    /// It will reach a station at this time.
    Comes(usize, Time),
    /// A station holds it, may begin frames before `end`, and sends one until `free`.
    Held { by: usize, end: Time, free: Time },
}

/// The ring.
#[derive(Debug)]
pub struct Fddi {
    rules: Rules,
    stations: Vec<Station>,
    token: Token,
    /// The number of frames that wait at all stations.
    count: usize,
    planned: Time,
    out: VecDeque<Output>,
}

impl Fddi {
    /// A ring on which the token circulates.
    pub fn new(rules: Rules, stations: usize) -> Self {
        let station = |_| Station { waiting: Waiting::default(), timer: Time::ZERO };
        Self {
            rules,
            stations: (0..stations.max(1)).map(station).collect(),
            token: Token::Comes(0, Time::ZERO),
            count: 0,
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    /// Takes a frame of a station for another one.
    pub fn handle(&mut self, now: Time, frame: Frame) {
        self.advance(now);
        if !self.stations[frame.from as usize].waiting.offer(frame, self.rules.queue) {
            return self.out.push_back(Output::Dropped { token: frame.token });
        }
        self.count += 1;
        self.advance(now);
        self.plan(now);
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        self.plan(now);
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The time of a rotation of the token when no station sends.
    fn round(&self) -> Time {
        self.rules.latency.times(self.stations.len() as u64)
    }

    /// Moves the token up to now.
    fn advance(&mut self, now: Time) {
        loop {
            self.skip_rounds(now);
            match self.token {
                Token::Comes(by, at) if self.is_everywhere() => {
                    self.token = Token::Comes(by, at.max(now));
                    return;
                }
                Token::Comes(by, at) if at <= now => self.come(by, at),
                Token::Held { by, end, free } if free <= now => self.go_on(by, end, free),
                _ => return,
            }
        }
    }

    /// A token that no station needs circulates in no time.
    fn is_everywhere(&self) -> bool {
        self.count == 0 && self.round() == Time::ZERO
    }

    /// Skips whole rotations in which no station needs the token, instead of simulating each
    /// station.
    fn skip_rounds(&mut self, now: Time) {
        let (Token::Comes(first, at), round) = (self.token, self.round()) else { return };
        if self.count > 0 || at > now {
            return;
        }
        if round == Time::ZERO {
            // It has been at all stations at this moment, and waits for a frame.
            return self.stations.iter_mut().for_each(|station| station.timer = now);
        }
        let count = now.since(at).0 / round.0;
        if count < 2 {
            return;
        }
        let at = at + round.times(count);
        let stations = self.stations.len();
        for ahead in 0..stations {
            let came = at + self.rules.latency.times(ahead as u64);
            self.stations[(first + ahead) % stations].timer = came.since(round);
        }
        self.token = Token::Comes(first, at);
    }

    /// The token reaches a station.
    fn come(&mut self, by: usize, at: Time) {
        let (station, target) = (&mut self.stations[by], self.rules.target);
        let since = at.since(station.timer);
        let target = if planted::is(Bug::TokenWithoutTimer) { Time::END } else { target };
        if since < target {
            station.timer = at;
            return self.go_on(by, at + (target - since), at);
        }
        station.timer += target;
        if at.since(station.timer) >= target {
            // The timer ran out twice, so the ring makes a new token, and all timers begin again.
            station.timer = at;
        }
        self.token = Token::Comes((by + 1) % self.stations.len(), at + self.rules.latency);
    }

    /// The station that holds the token sends one more frame, or passes the token on.
    fn go_on(&mut self, by: usize, end: Time, free: Time) {
        let stations = self.stations.len();
        let station = &mut self.stations[by];
        let frame = if free < end { station.waiting.pop() } else { None };
        let Some(Frame { token, to, bytes, .. }) = frame else {
            let had = matches!(self.token, Token::Held { .. });
            let passing = if had { self.rules.rate.time_of(TOKEN) } else { Time::ZERO };
            let at = free + passing + self.rules.latency;
            self.token = Token::Comes((by + 1) % stations, at);
            return;
        };
        self.count -= 1;
        let ends = free + self.rules.rate.time_of(bytes);
        let steps = (to as usize + stations - by) % stations;
        let arrives = ends + self.rules.latency.times(steps as u64);
        self.out.push_back(Output::Sent { token, began: free, arrives });
        self.token = Token::Held { by, end, free: ends };
    }

    /// Asks for a wake-up when the token reaches a station that needs it.
    fn plan(&mut self, now: Time) {
        let at = match self.token {
            Token::Held { free, .. } => free,
            Token::Comes(_, _) if self.count == 0 => return,
            Token::Comes(first, at) => {
                let stations = self.stations.len();
                let waiting = |ahead: &usize| &self.stations[(first + ahead) % stations].waiting;
                let wants = |ahead: &usize| waiting(ahead).first().is_some();
                let ahead = (0..stations).find(wants).unwrap_or(0);
                at + self.rules.latency.times(ahead as u64)
            }
        };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }
}
