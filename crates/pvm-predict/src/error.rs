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
    /// A trace of ours is no trace, or damaged.
    #[error(transparent)]
    Trace(#[from] pvm_trace::Error),
    /// A line of a text makes no sense.
    #[error("task {task}, line {line}: {what}")]
    Line {
        /// The task whose line it is; in a file for several tasks, the number that stands in it.
        task: TaskNumber,
        /// The line of its file, from 1 on.
        line: u64,
        /// The fault.
        what: String,
    },
    /// Something in a platform file makes no sense.
    #[error("line {line} of the platform: {what}")]
    Platform {
        /// The line, from 1 on.
        line: u64,
        /// The fault there.
        what: String,
    },
    /// The request does not fit the trace or the platform.
    #[error("{0}")]
    Unfit(String),
    /// No task can go on.
    #[error("{0}")]
    Standstill(Standstill),
    /// More than is held in memory.
    #[error("task {task}: {what} has more than {limit} that nobody takes")]
    TooMany {
        /// At which task.
        task: TaskNumber,
        /// The thing of which there is too much.
        what: &'static str,
        /// The limit of what is held.
        limit: usize,
    },
    /// The run is longer than 64 bits of picoseconds.
    #[error(
        "the run would take more than 200 days of simulated time: see the trace's computing times"
    )]
    Endless,
    /// The caller has had enough.
    #[error("stopped after {0} actions")]
    Stopped(u64),
}

/// A task that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The task.
    pub task: TaskNumber,
    /// For what.
    pub what: Awaited,
}

/// The cause of a task's wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A message, or bytes.
    Message {
        /// The sender.
        from: TaskNumber,
        /// The message among those of the sender.
        label: Label,
        /// The number of bytes that it wants.
        bytes: u64,
        /// The number of bytes that have come.
        there: u64,
    },
    /// Enough tasks at a point.
    Meeting {
        /// The point.
        point: u32,
        /// The number of tasks that are there.
        there: u32,
        /// The number of tasks that are to be there.
        count: u32,
    },
}

/// The wanted message among those of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// The next one.
    Next,
    /// The next one with this tag.
    Tag(i32),
    /// The one of this number, as the trace counts those of two tasks.
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

/// Tasks wait and nothing is under way: each waiting task, and the task for which it waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standstill {
    /// The number of tasks that wait.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Waiting>,
}

/// The number of tasks of a standstill that an error names.
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
