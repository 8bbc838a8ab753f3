//! The state of a task.

use super::inbox::Receive;
use super::looks::Looks;
use super::send::Send;
use crate::blame::Chain;
use crate::report::StationReport;
use crate::unit::Time;

/// A task.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) state: State,
    /// The time since which it needs the processor, and for how long.
    pub(super) busy: (Time, Time),
    pub(super) chain: Chain,
    pub(super) report: StationReport,
    pub(super) looks: Looks,
}

#[derive(Debug, Default)]
pub(super) enum State {
    /// It waits for its start.
    New,
    /// It wants its next action.
    #[default]
    Ready,
    /// It waits for other tasks at a point.
    Meeting,
    /// It hands over its messages once the time of the call is over.
    Sending(Box<Send>),
    /// It waits for room.
    Writing(Box<Send>, Time),
    Receiving(Box<Receive>),
    Over,
}
