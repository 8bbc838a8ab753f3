//! One end of a connection of network cards that read and write memory by themselves.
//!
//! A short message is sent at once. For a longer one the sender registers its memory and asks; the
//! receiver registers its own memory and answers; then the message is sent. The messages of a
//! connection follow one another. The network loses nothing, so there are no acknowledgements and
//! no repetitions.

use super::tcp::{Input, Output, Segment};
use crate::planted::{self, Bug};
use crate::platform::Rdma;
use crate::unit::Time;
use std::collections::VecDeque;

/// The most bytes that a card has in its host's own queue.
const QUEUED_MAX: u64 = 64 << 10;

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    rules: Rdma,
    /// The lengths of messages; the first one is being sent.
    messages: VecDeque<u64>,
    step: Step,
    /// The first byte that was not sent.
    next: u64,
    queued: u64,
    /// The times at which the receiver answers.
    answers: VecDeque<Time>,
    here: u64,
    planned: Time,
    out: VecDeque<Output>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Step {
    #[default]
    Idle,
    /// The card, or the kernel, works until this time; then it asks the receiver, or sends.
    Works { until: Time, asks: bool },
    /// The receiver was asked and has not answered.
    Asked,
    /// This many bytes are still to be sent.
    Sends(u64),
}

/// The meanings of a packet without data.
const ASKS: u64 = 1;
const ANSWERS: u64 = 2;

impl End {
    pub(crate) const fn new(rules: Rdma) -> Self {
        Self {
            rules,
            messages: VecDeque::new(),
            step: Step::Idle,
            next: 0,
            queued: 0,
            answers: VecDeque::new(),
            here: 0,
            planned: Time::END,
            out: VecDeque::new(),
        }
    }

    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Written(bytes) => self.messages.push_back(bytes),
            Input::Left(bytes) => self.queued = self.queued.saturating_sub(bytes),
            Input::Read | Input::Writes(_) => (),
            Input::Arrived(Segment { bytes: 0, acknowledged: ASKS, begin, .. }) => {
                self.answers.push_back(now + self.registration(begin));
            }
            Input::Arrived(Segment { bytes: 0, .. }) => {
                if let (Step::Asked, Some(bytes)) = (self.step, self.messages.front()) {
                    self.step = Step::Sends(*bytes);
                }
            }
            Input::Arrived(segment) => {
                self.here += segment.bytes;
                self.out.push_back(Output::Here(self.here));
            }
        }
        self.go_on(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.go_on(now);
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// True while something has not left the host.
    pub(crate) fn is_behind(&self) -> bool {
        self.queued > 0 || !self.messages.is_empty()
    }

    /// The time in which memory is registered.
    fn registration(&self, bytes: u64) -> Time {
        if planted::is(Bug::RegistrationForgotten) {
            return Time::ZERO;
        }
        self.rules.registration + Time(bytes.saturating_mul(self.rules.byte))
    }

    fn go_on(&mut self, now: Time) {
        while let Some(at) = self.answers.front().copied().filter(|at| *at <= now) {
            self.answers.pop_front();
            self.tell(at, ANSWERS, 0);
        }
        while self.step(now) {}
        let works = match self.step {
            Step::Works { until, .. } => Some(until),
            _ => None,
        };
        let Some(at) = works.into_iter().chain(self.answers.front().copied()).min() else { return };
        if at < self.planned || self.planned <= now {
            self.planned = at;
            self.out.push_back(Output::Wake(at));
        }
    }

    /// Takes the next step of the first message, if it can be taken now.
    fn step(&mut self, now: Time) -> bool {
        let Some(bytes) = self.messages.front().copied() else { return false };
        let next = match self.step {
            Step::Idle => {
                let asks = bytes > self.rules.eager && !planted::is(Bug::RendezvousForgotten);
                let registers = if asks { self.registration(bytes) } else { Time::ZERO };
                let post =
                    if planted::is(Bug::PostForgotten) { Time::ZERO } else { self.rules.post };
                Step::Works { until: now + post + registers, asks }
            }
            Step::Works { until, .. } if until > now => return false,
            Step::Works { asks: true, .. } => {
                self.tell(now, ASKS, bytes);
                Step::Asked
            }
            Step::Works { .. } => Step::Sends(bytes),
            Step::Asked => return false,
            Step::Sends(0) => {
                self.messages.pop_front();
                Step::Idle
            }
            Step::Sends(_) if self.queued >= QUEUED_MAX => return false,
            Step::Sends(left) => Step::Sends(left - self.send(now, left)),
        };
        self.step = next;
        true
    }

    /// Sends one packet and returns its bytes.
    fn send(&mut self, now: Time, left: u64) -> u64 {
        let (begin, bytes) = (self.next, left.min(self.rules.segment));
        let (header, first_sent, sent) = (self.rules.header, now, now);
        let packet = Segment { begin, bytes, header, first_sent, sent, ..Segment::default() };
        self.out.push_back(Output::Send(packet));
        self.next += bytes;
        self.queued += bytes;
        bytes
    }

    fn tell(&mut self, now: Time, what: u64, bytes: u64) {
        let (header, sent) = (self.rules.header, now);
        let told = Segment { begin: bytes, acknowledged: what, header, sent, ..Segment::default() };
        self.out.push_back(Output::Send(told));
    }
}
