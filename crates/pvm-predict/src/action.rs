//! The actions of a task, one after the other.

use crate::unit::Time;

/// The number of a task. Tasks are counted from 0 in the order of their source.
pub type TaskNumber = u32;

/// One action of a task. Times are times of the task's own processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The task computes.
    Compute(Time),
    /// The task is in calls of its library that neither send nor receive.
    Call(Time),
    /// The task waits for an event that is not simulated: an answer of its host, or the start of
    /// its process.
    Idle(Time),
    /// The task starts others that wait for their start
    /// ([`Source::is_started`](crate::Source::is_started)).
    Start(Box<[TaskNumber]>),
    /// The task waits until `count` tasks, itself included, have come to a point. The call takes
    /// `time` in addition.
    Meet {
        /// The time in the call without waiting.
        time: Time,
        /// The point: the number of a group. The tasks can meet there again once all have come.
        point: u32,
        /// The number of tasks that meet there.
        count: u32,
    },
    /// The task looks for the message that the next receive takes. If the message is not there,
    /// that receive is put off, because the program would have gone on without it.
    Look,
    /// The task takes the messages of the receives that it has put off.
    CatchUp,
    /// The task's next actions belong to this section of the program; 0 is none.
    Enter(u32),
    /// The task sends bytes to another task. The call takes `time`.
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
    /// The task sends the same bytes to several tasks.
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
    /// The task takes bytes, and waits until they have arrived. The call takes `time` in addition.
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
    /// A receive takes the next bytes of its source, whatever messages they came in; surplus bytes
    /// stay.
    Bytes,
    /// A receive takes the next message of its source with its tag.
    Messages,
    /// A receive takes the message of its source whose number stands in place of a tag.
    Numbers,
}

impl Matching {
    /// The tag that decides; none if bytes are taken.
    pub(crate) const fn tag(self, tag: i32) -> i32 {
        match self {
            Self::Bytes => 0,
            Self::Messages | Self::Numbers => tag,
        }
    }
}
