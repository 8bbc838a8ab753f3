//! The faults of a trace, a platform or a run, and their places.

use crate::action::{Matching, TaskNumber};
use std::fmt;

/// The reason why there is no prediction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A trace of ours is damaged, or the file is no trace.
    #[error(transparent)]
    Trace(#[from] pvm_trace::Error),
    /// A line of a text cannot be understood.
    #[error("task {task}, line {line}: {what}")]
    Line {
        /// The task of the line; in a file for several tasks, the number in the line.
        task: TaskNumber,
        /// The line of its file, from 1 on.
        line: u64,
        /// The fault.
        what: String,
    },
    /// A line of a platform file cannot be understood.
    #[error("line {line} of the platform: {what}")]
    Platform {
        /// The line, from 1 on.
        line: u64,
        /// The fault.
        what: String,
    },
    /// The request does not fit the trace or the platform.
    #[error("{0}")]
    Unfit(String),
    /// No task can go on.
    #[error("{0}")]
    Standstill(Standstill),
    /// An input needs more memory than the limit.
    #[error("task {task}: {what} has more than {limit} that nobody takes")]
    TooMany {
        /// The task.
        task: TaskNumber,
        /// The kind of thing that exceeds the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The run is longer than 64 bits of picoseconds.
    #[error(
        "the run would take more than 200 days of simulated time: see the trace's computing times"
    )]
    Endless,
    /// Nothing gets through between two hosts.
    #[error(
        "nothing that host {from} sends to host {to} is acknowledged, so a real connection would \
         be given up: see loss, queue, latency and rate of the platform, or --depth flow"
    )]
    GaveUp {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
    },
    /// The caller has ended the run.
    #[error("stopped after {0} actions")]
    Stopped(u64),
}

/// A task that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The task.
    pub task: TaskNumber,
    /// The thing that it waits for.
    pub what: Awaited,
}

/// The thing that a task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A message, or bytes.
    Message {
        /// The sender.
        from: TaskNumber,
        /// The label by which the receive chooses among the sender's messages.
        label: Label,
        /// The number of bytes that the receive needs.
        bytes: u64,
        /// The number of bytes that have arrived.
        there: u64,
    },
    /// More tasks at a point.
    Meeting {
        /// The point.
        point: u32,
        /// The number of tasks that have come.
        there: u32,
        /// The number of tasks that must come.
        count: u32,
    },
}

/// The label by which a receive chooses among the messages of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// The next message.
    Next,
    /// The next message with this tag.
    Tag(i32),
    /// The message of this number in the trace's count for the two tasks.
    Number(i32),
}

impl Matching {
    /// The label of a receive with this tag.
    pub(crate) const fn label(self, tag: i32) -> Label {
        match self {
            Self::Bytes => Label::Next,
            Self::Messages => Label::Tag(tag),
            Self::Numbers => Label::Number(tag),
        }
    }
}

/// A standstill: tasks wait and nothing is under way. It names each waiting task and its wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standstill {
    /// The number of waiting tasks.
    pub count: u64,
    /// The first waiting tasks.
    pub first: Vec<Waiting>,
}

/// The most tasks of a standstill that an error names.
pub(crate) const WAITING_TOLD: usize = 8;

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standstill: {} tasks wait, and no message is under way", self.count)?;
        for waiting in &self.first {
            write!(f, "\n  task {} waits {}", waiting.task, waiting.what)?;
        }
        Ok(())
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Message { from, label, bytes, there } => {
                write!(f, "for task {from}")?;
                match label {
                    Label::Next => (),
                    Label::Tag(tag) => write!(f, ", tag {tag}")?,
                    Label::Number(number) => write!(f, ", message {number}")?,
                }
                write!(f, ": {there} of {bytes} bytes have come")
            }
            Self::Meeting { point, there, count } => {
                write!(f, "at the barrier of group {point}: {there} of {count} tasks have come")
            }
        }
    }
}
