//! The interface of a network for a run: it takes messages in pieces, and tells of arrivals.

use super::inbox::{Arrived, Message, Transfer};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::report::Report;
use crate::unit::Time;
use std::fmt::Debug;

/// A network between hosts, as one small machine.
pub(in crate::model) trait Network {
    /// The transfer of a message over it.
    type Transfer: Transfer;
    /// An event of which it wants to be reminded.
    type Planned: Copy + Debug;

    /// The length of a message of `bytes` bytes on the network.
    fn length(&self, bytes: u64) -> u64;

    /// The round trip time of an empty message.
    fn there_and_back(&self) -> Time;

    /// A task hands over a message for a task of another host, of which `left` bytes are to be
    /// handed over still. Returns how many it took. If that is not all, it says later that there is
    /// room.
    fn offer(
        &mut self,
        now: Time,
        pair: (TaskNumber, TaskNumber),
        message: Message,
        left: u64,
    ) -> Result<u64, Error>;

    /// True while messages are under way that were handed over.
    fn is_busy(&self) -> bool {
        false
    }

    /// The time in which a task encrypts, or decrypts, a message.
    fn cipher(&self, _bytes: u64) -> Time {
        Time::ZERO
    }

    /// A task has handed a message over, by whatever way.
    fn sent(&mut self, _from: TaskNumber, _to: TaskNumber) {}

    /// A task looks for messages, and finds no more if it waits.
    fn looks(&mut self, _now: Time, _task: TaskNumber, _waits: bool) {}

    /// Handles an event that was planned for now.
    fn handle_timeout(&mut self, now: Time, planned: Self::Planned);

    /// The next output, until there is none left.
    fn poll_output(&mut self) -> Option<Output<Self::Planned, Self::Transfer>>;

    /// At the end of a run: what it has counted.
    fn report(&self, report: &mut Report);
}

/// An output of a network.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) enum Output<P, W> {
    /// Call `handle_timeout` at this time with this.
    At(Time, P),
    /// Call `handle_timeout` likewise. The run is over when only such events are left and the
    /// network is not busy.
    Idle(Time, P),
    /// A task that has more to hand over can do so.
    Room(TaskNumber),
    /// A message is there.
    Arrived { to: TaskNumber, from: TaskNumber, arrived: Arrived<W> },
    /// All that came for a task at this moment is there.
    Look { to: TaskNumber, from: TaskNumber },
}
