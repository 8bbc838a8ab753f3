//! What a task does, one thing after the other.

use crate::unit::Time;

/// Tasks are counted from 0 in the order of their source.
pub type TaskNumber = u32;

/// One thing that a task does. Times are those that the task's own processor needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// It computes.
    Compute(Time),
    /// It sends bytes to a task. The call takes `time`.
    Send {
        /// The time in the call.
        time: Time,
        /// How much is sent.
        bytes: u64,
        /// The receiver.
        to: TaskNumber,
        /// The message's tag.
        tag: i32,
    },
    /// It sends the same bytes to several tasks.
    Multicast {
        /// The time in the call.
        time: Time,
        /// How much is sent to each.
        bytes: u64,
        /// The receivers.
        to: Box<[TaskNumber]>,
        /// The message's tag.
        tag: i32,
    },
    /// It takes bytes, and waits until they are there. The call takes `time` beside that.
    Receive {
        /// The time in the call without waiting.
        time: Time,
        /// How many bytes are taken; where messages are matched, how many the message had.
        bytes: u64,
        /// The sender.
        from: TaskNumber,
        /// The message's tag.
        tag: i32,
    },
}

/// What a receive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matching {
    /// The next bytes of its source, however they were sent; what is over stays.
    Bytes,
    /// The next message of its source with its tag.
    Messages,
}

impl Matching {
    /// The tag that decides: none where bytes are taken.
    pub(crate) const fn tag(self, tag: i32) -> i32 {
        match self {
            Self::Bytes => 0,
            Self::Messages => tag,
        }
    }
}
