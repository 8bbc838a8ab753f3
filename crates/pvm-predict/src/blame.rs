//! The causes of lost time: each wait is split by the causes that delayed its message, and a chain
//! of causes leads to each moment.

use crate::unit::Time;

/// A cause on which time is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Phase {
    /// The other task had not begun to send.
    Late,
    /// Work of processors: calls, copying, protocols.
    Host,
    /// A queue: other data were served first by a protocol's server, a link or a window.
    Queue,
    /// Transmission: bits were under way.
    Wire,
    /// Collisions and losses, and the repetitions that follow from them.
    Retransmission,
}

/// The number of phases.
const PHASES: usize = 5;

/// Times by phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split([Time; PHASES]);

impl Split {
    /// All phases with their names, in the order of reports.
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

    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, time: Time) {
        self.0[phase as usize] += time;
    }

    /// Subtracts time from a phase.
    pub(crate) fn take(&mut self, phase: Phase, time: Time) {
        self.0[phase as usize] = self.0[phase as usize].since(time);
    }

    /// Adds all times of another split.
    pub fn add_all(&mut self, other: &Self) {
        Self::PHASES.iter().for_each(|(_, phase)| self.add(*phase, other.of(*phase)));
    }

    /// The sum of all phases.
    pub fn total(&self) -> Time {
        self.0.iter().fold(Time::ZERO, |sum, time| sum + *time)
    }

    /// The sum without the phase *late*: the thesis calls this service.
    pub fn service(&self) -> Time {
        self.total() - self.of(Phase::Late)
    }
}

/// A span of time that is split piece by piece, from its begin to its present end.
///
/// Each piece begins where the last one ended, so the pieces sum up to the whole exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Told {
    until: Time,
    /// The pieces so far.
    pub split: Split,
}

impl Told {
    /// An empty span.
    pub const fn since(begin: Time) -> Self {
        Self { until: begin, split: Split([Time::ZERO; PHASES]) }
    }

    /// Adds a piece of this phase from the present end to `end`. A piece that would end earlier
    /// adds nothing.
    pub fn until(&mut self, phase: Phase, end: Time) {
        if end > self.until {
            self.split.add(phase, end - self.until);
            self.until = end;
        }
    }

    /// The present end.
    pub const fn end(&self) -> Time {
        self.until
    }
}

/// The chain of causes behind a moment of a task: the task computed, or it waited for a message
/// whose sender computed, and so on back to the begin of the run. The times of the chain sum up to
/// the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// The time in which tasks computed.
    pub computing: Time,
    /// The time of all other causes.
    pub split: Split,
    /// The number of times that the chain passes from one task to another.
    pub messages: u64,
}

impl Chain {
    /// The whole time.
    pub fn total(&self) -> Time {
        self.computing + self.split.total()
    }

    /// Extends the chain by the causes of a message's delay.
    pub fn follow(mut self, way: &Split) -> Self {
        self.split.add_all(way);
        self.messages += 1;
        self
    }

    /// Extends the chain by a receive. If the receive waited, the new chain is that of the message
    /// that ended the wait; then the receive's own call follows.
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
