//! The result of a simulated run: the columns of the thesis' appendix A, and their parts.

use crate::action::TaskNumber;
use crate::blame::{Chain, Split};
use crate::sections::Section;
use crate::unit::Time;

/// The result for one station, or task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StationReport {
    /// The time from the begin of the run to its end.
    pub execution: Time,
    /// The time in which it computed.
    pub computing: Time,
    /// The time in calls that neither send nor receive.
    pub calls: Time,
    /// The time in sends.
    pub sending: Time,
    /// The time in receives without their waits.
    pub receiving: Time,
    /// The time in which it was blocked, by cause.
    pub blocked: Split,
    /// The time of its packets on links, including their waits for links.
    pub net: Time,
    /// The time in which its processor worked for the transport, beside the task.
    pub transport: Time,
    /// The messages that it sent to others.
    pub sent: Traffic,
    /// The messages that it took from others.
    pub received: Traffic,
    /// The messages that it sent to itself.
    pub own: Traffic,
}

/// Messages and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// The number of their bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Counts one more message.
    pub const fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl StationReport {
    /// Counts a message to each of these tasks.
    pub(crate) fn count(&mut self, number: TaskNumber, to: &[TaskNumber], bytes: u64) {
        for to in to {
            let traffic = if *to == number { &mut self.own } else { &mut self.sent };
            traffic.add(bytes);
        }
    }

    /// Counts a receive with this wait, whose call took `call`. `bytes` is none for a message of
    /// the task to itself.
    pub(crate) fn receive(&mut self, wait: &Split, call: Time, bytes: Option<u64>) {
        self.blocked.add_all(wait);
        self.receiving += call;
        bytes.into_iter().for_each(|bytes| self.received.add(bytes));
    }

    /// The sum of all times, which is the execution time.
    pub fn total(&self) -> Time {
        self.computing + self.calls + self.sending + self.receiving + self.blocked.total()
    }
}

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The end of the last task.
    pub time: Time,
    /// Each task, in the order of the source.
    pub stations: Vec<StationReport>,
    /// The number of collisions of frames, if the network has collisions.
    pub collisions: Option<u64>,
    /// The number of lost frames: given up, or dropped by a full queue.
    pub lost: u64,
    /// The number of segments that were sent again.
    pub resent: u64,
    /// The chain of causes of the end of the last task.
    pub path: Chain,
    /// The task that ended last.
    pub last: TaskNumber,
    /// The sections that the program names.
    pub sections: Vec<Section>,
    /// The number of actions of tasks.
    pub actions: u64,
    /// The number of simulated events of the network: a packet leaves a link or arrives, a flow
    /// gets another share, a timer expires. It is 0 at depth `line`.
    pub events: u64,
    /// The number of receives behind a look whose messages had not arrived.
    pub put_off: u64,
}

impl Report {
    /// The messages that were sent to other tasks.
    pub fn sent(&self) -> Traffic {
        self.stations.iter().fold(Traffic::default(), |sum, station| Traffic {
            messages: sum.messages + station.sent.messages,
            bytes: sum.bytes.saturating_add(station.sent.bytes),
        })
    }

    /// Completes the report after the last task has ended.
    pub(crate) fn finish(&mut self, chains: impl Iterator<Item = Chain>) {
        for ((station, number), chain) in self.stations.iter().zip(0..).zip(chains) {
            if station.execution > self.time || number == 0 {
                (self.time, self.last, self.path) = (station.execution, number, chain);
            }
        }
    }
}

/// An event of a run, for watchers that record it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// A send has ended.
    Sent {
        /// The sender.
        task: TaskNumber,
        /// The message's number among all messages of the run.
        message: u64,
        /// Its receivers.
        to: &'a [TaskNumber],
        /// Its size.
        bytes: u64,
        /// The begin of the call.
        began: Time,
        /// Its end.
        ended: Time,
    },
    /// A receive has ended.
    Received {
        /// The receiver.
        task: TaskNumber,
        /// The message whose last byte it took, if there is one.
        message: Option<u64>,
        /// The sender.
        from: TaskNumber,
        /// The begin of the call.
        began: Time,
        /// The time for which it waited, from its begin on.
        waited: Time,
        /// Its end.
        ended: Time,
    },
}

/// The number of actions after which the watcher is asked whether the run goes on.
pub(crate) const ASKED_EVERY: u64 = 1 << 12;

/// An observer of the events of a run. Several threads take turns to call it.
pub trait Watcher: Send {
    /// Something has happened.
    fn event(&mut self, event: Event<'_>) -> Result<(), crate::error::Error>;

    /// Called at intervals with the number of actions so far; false ends the run.
    fn goes_on(&mut self, actions: u64) -> bool;
}

/// A watcher that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn event(&mut self, _: Event<'_>) -> Result<(), crate::error::Error> {
        Ok(())
    }

    fn goes_on(&mut self, _: u64) -> bool {
        true
    }
}
