//! The interface between a run and a network: the network takes messages in pieces, and reports
//! arrivals.

use super::inbox::{Arrived, Message, Transfer};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::report::Report;
use crate::unit::Time;
use std::fmt::Debug;

/// A network between hosts, as one small machine.
pub(in crate::model) trait Network {
    /// The transfer of a message over the network.
    type Transfer: Transfer;
    /// An event of which it wants to be reminded.
    type Planned: Copy + Debug + Send;
    /// News for the network of another part of the run.
    type Mail: Debug + Send;

    /// The earliest effect of such news.
    fn due(mail: &Self::Mail) -> Time;

    /// News of another part's network: it plans what follows, and does nothing yet.
    fn deliver(&mut self, mail: Self::Mail) -> Result<(), Error>;

    /// Takes the news for the networks of other parts, each with its part.
    fn mail(&mut self) -> impl Iterator<Item = (u32, Self::Mail)>;

    /// The length of a message of `bytes` bytes on the network.
    fn length(&self, bytes: u64) -> u64;

    /// The round trip time of an empty message.
    fn there_and_back(&self) -> Time;

    /// A task hands over a message for a task of another host, of which `left` bytes remain.
    /// Returns the number of bytes that the network took. If that is not all of them,
    /// [`Output::Room`] follows later.
    fn offer(
        &mut self,
        now: Time,
        pair: (TaskNumber, TaskNumber),
        message: Message,
        left: u64,
    ) -> Result<u64, Error>;

    /// True while messages that were handed over are under way.
    fn is_busy(&self) -> bool {
        false
    }

    /// True if something is sent again and again, as long as the run lasts.
    fn has_beats(&self) -> bool {
        false
    }

    /// The time in which a task encrypts or decrypts a message.
    fn cipher(&self, _bytes: u64) -> Time {
        Time::ZERO
    }

    /// A task has handed over a message, to a task of any host.
    fn sent(&mut self, _from: TaskNumber, _to: TaskNumber) {}

    /// A task looks for messages; if it waits, it has found no more.
    fn looks(&mut self, _now: Time, _task: TaskNumber, _waits: bool) {}

    /// Handles an event that was planned for now.
    fn handle_timeout(&mut self, now: Time, planned: Self::Planned);

    /// The next output, until there is none left.
    fn poll_output(&mut self) -> Option<Output<Self::Planned, Self::Transfer>>;

    /// Adds the counts of the network to the report of the run.
    fn report(&self, report: &mut Report);
}

/// An output of a network.
#[derive(Debug)]
pub(in crate::model) enum Output<P, W> {
    /// Call `handle_timeout` at this time with this.
    At(Time, P),
    /// Call `handle_timeout` likewise. The run is over when only such events are left and the
    /// network is not busy.
    Idle(Time, P),
    /// A task can hand over more.
    Room(TaskNumber),
    /// A message has arrived.
    Arrived { to: TaskNumber, from: TaskNumber, arrived: Box<Arrived<W>> },
    /// All messages that reach a task at this moment have been reported.
    Look { to: TaskNumber, from: TaskNumber },
    /// The connection between two hosts gets nothing through.
    GaveUp { from: u32, to: u32 },
}
