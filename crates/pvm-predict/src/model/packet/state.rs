//! What a task does at the moment, and what an end of a connection is for.

use super::inbox::{Message, Receive};
use super::looks::Looks;
use super::send::Send;
use crate::action::TaskNumber;
use crate::blame::Chain;
use crate::report::StationReport;
use crate::transport::tcp::End;
use crate::unit::Time;
use std::collections::VecDeque;

/// A task.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) state: State,
    /// Since when it wants the processor, and for how long.
    pub(super) busy: (Time, Time),
    pub(super) chain: Chain,
    pub(super) report: StationReport,
    pub(super) looks: Looks,
}

#[derive(Debug, Default)]
pub(super) enum State {
    /// It waits for being started.
    New,
    /// It wants its next action.
    #[default]
    Ready,
    /// It waits for other tasks at a point.
    Meeting,
    /// It hands over what its send is about, once the call's time is over.
    Sending(Box<Send>),
    /// It waits for room for the rest.
    Writing(Box<Send>, Time),
    Receiving(Box<Receive>),
    Over,
}

/// One end of a connection, and what it is for.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) end: End,
    pub(super) own: TaskNumber,
    pub(super) other: TaskNumber,
    /// The other end's number.
    pub(super) peer: u32,
    /// Bytes that were written so far, and messages that have not arrived at the other end.
    pub(super) written: u64,
    pub(super) open: VecDeque<Message>,
}
