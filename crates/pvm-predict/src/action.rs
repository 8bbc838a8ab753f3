//! The actions of a task, one after the other.

use crate::unit::Time;

/// Tasks are counted from 0 in the order of their source.
pub type TaskNumber = u32;

/// One thing that a task does. Times are times of the task's own processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// It computes.
    Compute(Time),
    /// It is in calls of its library that neither send nor receive.
    Call(Time),
    /// It waits for what is not simulated: an answer of its host, the start of its process.
    Idle(Time),
    /// It starts tasks that have waited for that
    /// ([`Source::is_started`](crate::Source::is_started)).
    Start(Box<[TaskNumber]>),
    /// It waits until `count` tasks have come to a point, itself included. The call takes `time`
    /// beside that.
    Meet {
        /// The time in the call without waiting.
        time: Time,
        /// The point: a group's number. It can be met again once all have come. It can be met again
        /// once all have come.
        point: u32,
        /// The number of tasks that meet there.
        count: u32,
    },
    /// It looks for a message, which the receive behind this takes: if it is not there, that
    /// receive is put off, as the program would have gone on without it.
    Look,
    /// It takes what it has put off.
    CatchUp,
    /// Its actions from now on belong to this section of the program; 0 is none.
    Enter(u32),
    /// It sends bytes to a task. The call takes `time`.
    Send {
        /// The time in the call.
        time: Time,
        /// The number of bytes.
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
        /// The number of bytes for each receiver.
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
        /// The number of bytes; if messages are matched, the length of the message.
        bytes: u64,
        /// The sender.
        from: TaskNumber,
        /// The message's tag.
        tag: i32,
    },
}

/// The rule by which a receive takes messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matching {
    /// The next bytes of its source, however they were sent; what is over stays.
    Bytes,
    /// The next message of its source with its tag.
    Messages,
    /// The message of its source whose number stands in place of a tag.
    Numbers,
}

impl Matching {
    /// The tag that decides: none where bytes are taken.
    pub(crate) const fn tag(self, tag: i32) -> i32 {
        match self {
            Self::Bytes => 0,
            Self::Messages | Self::Numbers => tag,
        }
    }
}
