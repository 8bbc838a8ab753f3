//! A station of the thesis: it reads its lines one by one and waits for the time that each of them
//! takes.

use crate::action::{Action, TaskNumber};
use crate::blame::{Chain, Phase, Told};
use crate::planted::{self, Bug};
use crate::report::StationReport;
use crate::unit::Time;
use std::collections::VecDeque;

/// The time of handing the first 1460 bytes to TCP: chapter 4.2.1.
pub(crate) const HAND_OVER: Time = Time::microseconds(375);

/// An input of a station.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// Its next line; none at the end.
    Line(Option<Action>),
    /// The first bytes for which it waits have arrived, with the chain of causes of their arrival.
    Woke { cause: Chain },
    /// All bytes for which it waits have arrived.
    Complete { cause: Chain, last: Last },
}

/// An output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// Ask again at this time.
    Wake(Time),
    /// Give it its next line.
    Next,
    /// It hands over a message; the call lasts from `began` to `until`.
    Write { to: Box<[TaskNumber]>, bytes: u64, began: Time, until: Time },
    /// It asks for bytes.
    Read { from: TaskNumber, bytes: u64 },
    /// A receive has ended.
    Received(Receive),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    Idle,
    /// It computes, or spends the rest of a write.
    Holding,
    /// It spends the 375 us of handing over.
    HandingOver {
        to: Box<[TaskNumber]>,
        bytes: u64,
        began: Time,
        until: Time,
    },
    Receiving(Receive, Step),
    Over,
}

/// A receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Receive {
    /// The sender of the bytes that it takes.
    pub(crate) from: TaskNumber,
    /// The number of bytes.
    pub(crate) bytes: u64,
    /// When it began.
    pub(crate) began: Time,
    /// The time that it waited before it read.
    pub(crate) waited: Time,
    time: Time,
    /// The message that held the last of its bytes, once all have arrived.
    pub(crate) last: Option<Last>,
}

/// The message that held the last byte of a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Last {
    /// The message: its slot, which later messages use again, and its number.
    pub(crate) message: u32,
    pub(crate) serial: u64,
    /// True if the receive ends at the end of a packet.
    pub(crate) is_end: bool,
    /// True if the receive ends at the end of the message.
    pub(crate) is_whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Nothing has arrived yet.
    Waiting,
    /// It spends the time of reading the bytes that have arrived.
    Reading { until: Time },
    /// It has read these bytes and waits for more.
    WaitingForMore,
}

/// The station.
#[derive(Debug)]
pub(crate) struct Station {
    number: TaskNumber,
    state: State,
    /// The causes of the present wait.
    pub(crate) wait: Option<Told>,
    /// The chain of causes of the present moment.
    pub(crate) chain: Chain,
    pub(crate) report: StationReport,
    out: VecDeque<Output>,
}

impl Station {
    pub(crate) fn new(number: TaskNumber) -> Self {
        Self {
            number,
            state: State::Idle,
            wait: None,
            chain: Chain::default(),
            report: StationReport::default(),
            out: VecDeque::from([Output::Next]),
        }
    }

    /// The present receive.
    pub(crate) const fn receive(&self) -> Option<&Receive> {
        match &self.state {
            State::Receiving(receive, _) => Some(receive),
            _ => None,
        }
    }

    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Line(None) => {
                self.state = State::Over;
                self.report.execution = now;
            }
            Input::Line(Some(action)) => self.act(now, action),
            Input::Woke { cause } => self.woke(now, cause),
            Input::Complete { cause, last } => self.complete(now, cause, last),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        match &mut self.state {
            State::Holding => self.out.push_back(Output::Next),
            State::HandingOver { to, bytes, began, until } => {
                let (to, bytes, began, until) = (std::mem::take(to), *bytes, *began, *until);
                self.state = State::Holding;
                self.out.push_back(Output::Write { to, bytes, began, until });
                self.out.push_back(Output::Wake(until));
            }
            State::Receiving(_, Step::Reading { until }) if *until <= now => self.has_read(now),
            State::Idle | State::Receiving(..) | State::Over => (),
        }
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn act(&mut self, now: Time, action: Action) {
        match action {
            // The model refuses programs that meet or start tasks before they run.
            Action::Start(_)
            | Action::Meet { .. }
            | Action::Enter(_)
            | Action::Look
            | Action::CatchUp => {
                self.out.push_back(Output::Next);
            }
            Action::Call(time) | Action::Idle(time) | Action::Compute(time) => {
                self.report.computing += time;
                self.chain.computing += time;
                self.state = State::Holding;
                self.out.push_back(Output::Wake(now + time));
            }
            Action::Send { time, bytes, to, .. } => self.send(now, time, bytes, [to].into()),
            Action::Multicast { time, bytes, to, .. } => self.send(now, time, bytes, to),
            Action::Receive { time, bytes: 0, .. } => {
                self.report.receiving += time;
                self.chain.split.add(Phase::Host, time);
                self.state = State::Holding;
                self.out.push_back(Output::Wake(now + time));
            }
            Action::Receive { time, bytes, from, .. } => {
                let receive =
                    Receive { from, bytes, began: now, waited: Time::ZERO, time, last: None };
                self.state = State::Receiving(receive, Step::Waiting);
                self.wait = Some(Told::since(now));
                self.out.push_back(Output::Read { from, bytes });
            }
        }
    }

    fn send(&mut self, now: Time, time: Time, bytes: u64, to: Box<[TaskNumber]>) {
        let time = if planted::is(Bug::RestForgotten) { HAND_OVER } else { time };
        let whole = time.max(HAND_OVER);
        self.report.sending += whole;
        self.chain.split.add(Phase::Host, whole);
        self.report.count(self.number, &to, bytes);
        self.state = State::HandingOver { to, bytes, began: now, until: now + whole };
        self.out.push_back(Output::Wake(now + HAND_OVER));
    }

    /// Ends the wait because of a message.
    fn end_wait(&mut self, now: Time, cause: Chain) {
        let Some(mut wait) = self.wait.take() else { return };
        // Time that no message explains is the wait for the station's own server.
        wait.until(Phase::Queue, now);
        if wait.split.total() > Time::ZERO {
            self.chain = cause;
            self.report.blocked.add_all(&wait.split);
        }
    }

    fn woke(&mut self, now: Time, cause: Chain) {
        self.end_wait(now, cause);
        let State::Receiving(receive, step) = &mut self.state else { return };
        let until = now + receive.time;
        receive.waited = now - receive.began;
        *step = Step::Reading { until };
        self.report.receiving += receive.time;
        self.chain.split.add(Phase::Host, receive.time);
        self.out.push_back(Output::Wake(until));
    }

    fn complete(&mut self, now: Time, cause: Chain, last: Last) {
        let State::Receiving(receive, step) = &mut self.state else { return };
        receive.last = Some(last);
        if *step == Step::WaitingForMore {
            self.end_wait(now, cause);
            self.over();
        }
    }

    /// Handles the end of reading the first bytes.
    fn has_read(&mut self, now: Time) {
        let State::Receiving(receive, step) = &mut self.state else { return };
        if receive.last.is_some() {
            return self.over();
        }
        *step = Step::WaitingForMore;
        self.wait = Some(Told::since(now));
    }

    fn over(&mut self) {
        let State::Receiving(receive, _) = self.state else { return };
        self.state = State::Idle;
        self.out.push_back(Output::Received(receive));
        self.out.push_back(Output::Next);
    }
}
