//! The state of a task at depth `line`.
//!
//! A million tasks are most of the memory of a run, so a task keeps what this depth can change, and
//! a report is made of it at the end: nothing is sent again here, and no transport works beside the
//! task.

use crate::action::TaskNumber;
use crate::blame::{Chain, Phase, Split, Told};
use crate::report::{StationReport, Traffic};
use crate::unit::Time;

/// A task.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    /// Its time; once it is over, the time of its end.
    pub(super) now: Time,
    /// The time at which its output is free for the next message.
    pub(super) door: Time,
    pub(super) chain: Causes,
    pub(super) computing: Time,
    pub(super) calls: Time,
    sending: Time,
    receiving: Time,
    pub(super) blocked: Brief,
    pub(super) net: Time,
    sent: Traffic,
    received: Traffic,
    /// The receive for which it waits, if it does.
    pub(super) wants: Asked,
    pub(super) state: State,
    rare: Option<Box<Rare>>,
}

// A million tasks of this size are most of the memory of depth `line`.
const _: () = assert!(size_of::<Task>() <= 208);

/// The state that few tasks need.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// The messages to itself.
    own: Traffic,
    /// A receive that has taken some of its bytes and waits for the others.
    partly: Option<Receive>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    /// The task was not started, if another task is to start it.
    #[default]
    New,
    Begun,
    /// It waits for the message that it wants.
    Waits,
    /// A message that it wants was sent, and it has not gone on yet.
    Woken,
    /// The task has ended.
    Over,
}

/// A receive as its task asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) from: TaskNumber,
    pub(super) tag: i32,
    pub(super) bytes: u64,
    pub(super) time: Time,
}

/// A receive and what it has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    pub(super) wanted: Asked,
    /// The missing bytes.
    pub(super) left: u64,
    pub(super) wait: Told,
    /// The chain of causes of the last byte so far.
    pub(super) cause: Chain,
    pub(super) message: Option<u64>,
}

/// A split without [`Phase::Retransmission`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brief([Time; 4]);

impl Brief {
    pub(super) fn add(&mut self, phase: Phase, time: Time) {
        self.0[phase as usize] += time;
    }

    pub(super) fn add_all(&mut self, other: &Split) {
        for (_, phase) in Split::PHASES.into_iter().take(self.0.len()) {
            self.add(phase, other.of(phase));
        }
    }
}

impl From<Brief> for Split {
    fn from(brief: Brief) -> Self {
        let mut split = Self::default();
        let phases = Self::PHASES.into_iter().zip(brief.0);
        phases.for_each(|((_, phase), time)| split.add(phase, time));
        split
    }
}

impl From<Split> for Brief {
    fn from(split: Split) -> Self {
        debug_assert!(split.of(Phase::Retransmission) == Time::ZERO, "nothing is sent again");
        let mut brief = Self::default();
        brief.add_all(&split);
        brief
    }
}

/// A chain of causes without [`Phase::Retransmission`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Causes {
    pub(super) computing: Time,
    pub(super) split: Brief,
    messages: u64,
}

impl From<Causes> for Chain {
    fn from(causes: Causes) -> Self {
        let Causes { computing, split, messages } = causes;
        Self { computing, split: split.into(), messages }
    }
}

impl From<Chain> for Causes {
    fn from(chain: Chain) -> Self {
        let Chain { computing, split, messages } = chain;
        Self { computing, split: split.into(), messages }
    }
}

impl Task {
    /// The receive for which it waits, and the bytes that this lacks.
    pub(super) fn waits(&self) -> Option<(Asked, u64)> {
        let partly = self.rare.as_ref().and_then(|rare| rare.partly.as_ref());
        let left = partly.map_or(self.wants.bytes, |receive| receive.left);
        (self.state == State::Waits).then_some((self.wants, left))
    }

    /// Waits for the missing bytes of a receive.
    pub(super) fn wait(&mut self, receive: Receive) {
        (self.state, self.wants) = (State::Waits, receive.wanted);
        if receive.left < receive.wanted.bytes || receive.message.is_some() {
            self.rare.get_or_insert_default().partly = Some(receive);
        }
    }

    /// A receive that begins, or the one that it has begun.
    pub(super) fn receive(&mut self, wanted: Asked) -> Receive {
        let partly = self.rare.as_mut().and_then(|rare| rare.partly.take());
        partly.unwrap_or_else(|| Receive {
            wanted,
            left: wanted.bytes,
            wait: Told::since(self.now),
            cause: self.chain.into(),
            message: None,
        })
    }

    /// A receive ends after this wait, whose call took `call`. Returns the time of its begin.
    pub(super) fn received(&mut self, number: TaskNumber, receive: &Receive, call: Time) -> Time {
        let Receive { wanted, wait, cause, .. } = receive;
        let mut chain = Chain::from(self.chain);
        chain.receive(*cause, &wait.split, call);
        self.chain = chain.into();
        self.blocked.add_all(&wait.split);
        self.receiving += call;
        if wanted.from != number {
            self.received.add(wanted.bytes);
        }
        let began = self.now;
        self.now = began + wait.split.total() + call;
        began
    }

    /// It is in a call that sends.
    pub(super) fn sends(&mut self, time: Time) {
        self.now += time;
        self.chain.split.add(Phase::Host, time);
        self.sending += time;
    }

    /// Counts a message to another task, or to itself.
    pub(super) fn count(&mut self, bytes: u64, is_own: bool) {
        match is_own {
            true => self.rare.get_or_insert_default().own.add(bytes),
            false => self.sent.add(bytes),
        }
    }
}

impl From<Task> for StationReport {
    fn from(task: Task) -> Self {
        let Task { computing, calls, sending, receiving, net, sent, received, .. } = task;
        Self {
            execution: task.now,
            computing,
            calls,
            sending,
            receiving,
            blocked: task.blocked.into(),
            net,
            transport: Time::ZERO,
            sent,
            received,
            own: task.rare.map_or_else(Traffic::default, |rare| rare.own),
        }
    }
}
