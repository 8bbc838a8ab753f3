//! The causes of lost time: each wait split by what delayed its message, and the chain of causes
//! behind a moment.

use crate::unit::Time;

/// A cause on which time is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Phase {
    /// The other task had not begun to send.
    Late,
    /// Processors: calls, handing over, protocols.
    Host,
    /// Something else was in front: a protocol's server, a link, a window.
    Queue,
    /// Bits were on their way.
    Wire,
    /// Collisions and losses, and what follows from them.
    Retransmission,
}

/// The number of phases.
const PHASES: usize = 5;

/// Times by phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split([Time; PHASES]);

impl Split {
    /// All phases with their words, in the order of reports.
    pub const PHASES: [(&'static str, Phase); PHASES] = [
        ("late", Phase::Late),
        ("host", Phase::Host),
        ("queue", Phase::Queue),
        ("wire", Phase::Wire),
        ("retransmission", Phase::Retransmission),
    ];

    /// The time of one phase.
    pub const fn of(&self, phase: Phase) -> Time {
        self.0[phase as usize]
    }

    /// More time of a phase.
    pub fn add(&mut self, phase: Phase, time: Time) {
        self.0[phase as usize] += time;
    }

    /// Less time of a phase.
    pub(crate) fn take(&mut self, phase: Phase, time: Time) {
        self.0[phase as usize] = self.0[phase as usize].since(time);
    }

    /// All of another one.
    pub fn add_all(&mut self, other: &Self) {
        Self::PHASES.iter().for_each(|(_, phase)| self.add(*phase, other.of(*phase)));
    }

    /// The sum.
    pub fn total(&self) -> Time {
        self.0.iter().fold(Time::ZERO, |sum, time| sum + *time)
    }

    /// The sum without the other's lateness: what the thesis calls service.
    pub fn service(&self) -> Time {
        self.total() - self.of(Phase::Late)
    }
}

/// A span of time that is told off piece by piece, from its begin to where it has come.
///
/// Each piece begins where the last one ended, so the pieces sum up to the whole exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Told {
    until: Time,
    /// The pieces so far.
    pub split: Split,
}

impl Told {
    /// Nothing yet.
    pub const fn since(begin: Time) -> Self {
        Self { until: begin, split: Split([Time::ZERO; PHASES]) }
    }

    /// Up to `end` it was this; what was told before stays.
    pub fn until(&mut self, phase: Phase, end: Time) {
        if end > self.until {
            self.split.add(phase, end - self.until);
            self.until = end;
        }
    }

    /// Up to where it is told.
    pub const fn end(&self) -> Time {
        self.until
    }
}

/// The chain of causes behind a moment of a task: it computed, or it waited for a message whose
/// sender computed ... back to the begin of the run. Its times sum up to the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// Tasks computed.
    pub computing: Time,
    /// Everything else.
    pub split: Split,
    /// The number of times that the chain goes over to another task.
    pub messages: u64,
}

impl Chain {
    /// All of it.
    pub fn total(&self) -> Time {
        self.computing + self.split.total()
    }

    /// Goes on behind a message.
    pub fn follow(mut self, way: &Split) -> Self {
        self.split.add_all(way);
        self.messages += 1;
        self
    }

    /// Goes on behind a receive: behind what ended its wait if it waited, and behind its call.
    pub(crate) fn receive(&mut self, cause: Self, wait: &Split, call: Time) {
        if wait.total() > Time::ZERO {
            *self = cause;
        }
        self.split.add(Phase::Host, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_twice_counts_once_and_the_sum_is_the_whole() {
        let mut told = Told::since(Time(10));
        told.until(Phase::Late, Time(4));
        told.until(Phase::Late, Time(15));
        told.until(Phase::Host, Time(12));
        told.until(Phase::Wire, Time(40));
        assert_eq!(told.split.of(Phase::Late), Time(5));
        assert_eq!(told.split.of(Phase::Host), Time::ZERO);
        assert_eq!(told.split.total(), Time(30));
        assert_eq!(told.split.service(), Time(25));
    }
}
