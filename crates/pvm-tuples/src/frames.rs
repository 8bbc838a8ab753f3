//! The messages between clients and servers of a space: each message has one frame
//! ([`crate::carried`] says how).

pub use crate::ops::Full;
use crate::ops::{Input, Op, Outcome, Reason};
use crate::snapshot::Snapshot;
use crate::tuple::Tuple;
use pvm_wire::{Blob, Tid, choice, record};

/// In this context both say it, in messages of raw bytes.
pub const CONTEXT: i32 = 0x7ec0_70b1;
/// The tag of what is said to a server. An answer has the low 30 bits of its request's number as
/// tag.
pub const TO_SERVER: i32 = 0x4000_0000;
/// The tag of what servers say to one another.
pub const BETWEEN: i32 = 0x4000_0003;
/// The tag of notices that a task has ended.
pub const GONE: i32 = 0x4000_0001;
/// The tag of the notice that a host has joined.
pub const JOINED: i32 = 0x4000_0002;
/// The tag of the answer to this request.
pub const fn answer_tag(number: u64) -> i32 {
    (number & 0x3fff_ffff) as i32
}

choice! {
    /// From a client to a server.
    pub enum Ask {
        /// Something is to be done in a space. `number` and `settled`: see [`Input::Asked`].
        1 => Do { /// The space.
            space: u64, /// The request's number.
            number: u64, /// See there.
            settled: u64, /// What.
            op: Op },
        /// See [`Input::Cancelled`].
        2 => Cancel { /// The space.
            space: u64, /// Which request.
            number: u64 },
        /// A new space is to be made.
        3 => Create { /// For the answer.
            number: u64, /// Its name.
            name: Blob, /// What it is like.
            options: Options, /// The space ends with the asker.
            owned: bool, /// Where it is kept on disk; empty if it is in memory only.
            directory: Blob },
        /// A space is to be deleted.
        4 => Delete { /// For the answer.
            number: u64, /// The space.
            space: u64 },
        /// The content of a space, and the waiting clients.
        5 => Look { /// For the answer.
            number: u64, /// The space.
            space: u64, /// At most so many tuples.
            tuples: u64 },
        /// See [`Input::Withdrawn`].
        6 => Withdraw { /// The space.
            space: u64, /// Which request.
            number: u64 },
        /// A part of all tuples, the claimed ones too, by age.
        7 => Page { /// For the answer.
            number: u64, /// The space.
            space: u64, /// Behind the tuple with this number.
            behind: u64 },
    }

    /// From a server to a client.
    pub enum Told {
        /// The outcome of a request.
        1 => Answer { /// Which.
            number: u64, /// What.
            outcome: Outcome },
        /// The server does not hold this space (any more): look up its servers in the machine's
        /// names.
        2 => Elsewhere { /// The request.
            number: u64 },
        /// The content of the space.
        3 => Seen { /// The request.
            number: u64, /// What.
            seen: Seen },
        /// The space stands.
        4 => Created { /// The request.
            number: u64, /// Its number.
            space: u64, /// What whoever makes it should know, in words.
            note: Blob },
        /// A request for something besides tuples was not done.
        5 => Refused { /// The request.
            number: u64, /// Why.
            reason: Reason, /// What there is to say beside that, in words.
            text: Blob },
    }
}

choice! {
    /// From a server of a space to another one. The *term* of a primary is the epoch in which it
    /// became that.
    pub enum Between {
        /// From the primary: apply this next.
        1 => Step { /// The space.
            space: u64, /// The sender's term.
            term: i32, /// Its number; the first one is 1.
            number: u64, /// When, in milliseconds of the primary's clock.
            at_ms: u64, /// What.
            input: Input },
        /// From the primary: hold this space, as it is behind the step `number`.
        2 => Begin { /// Its name.
            name: Blob, /// The sender's term.
            term: i32, /// What stands in the machine's names.
            entry: Entry, /// The last step.
            number: u64, /// The space.
            snapshot: Snapshot },
        /// To the primary: all steps up to this one have been applied.
        3 => Ack { /// The space.
            space: u64, /// The primary's term.
            term: i32, /// The last step.
            number: u64 },
        /// To a primary that may be none any more: another one has said something.
        4 => Later { /// The space.
            space: u64 },
        /// From the primary: hold this space no longer, and keep no file of it.
        5 => Drop { /// The space.
            space: u64, /// The sender's term.
            term: i32 },
        /// The answer to it.
        6 => Dropped { /// The space.
            space: u64, /// The primary's term.
            term: i32, /// No file is left.
            is_gone: bool },
        /// From the primary to a copy that is named: be the next primary.
        7 => Yield { /// The space.
            space: u64, /// The sender's term.
            term: i32 },
    }
}

impl Ask {
    /// The request that is to be answered.
    pub const fn number(&self) -> u64 {
        match self {
            Self::Do { number, .. }
            | Self::Cancel { number, .. }
            | Self::Create { number, .. }
            | Self::Delete { number, .. }
            | Self::Look { number, .. }
            | Self::Withdraw { number, .. }
            | Self::Page { number, .. } => *number,
        }
    }

    /// The space that it is about; none for one that is to be made.
    pub const fn space(&self) -> Option<u64> {
        match self {
            Self::Do { space, .. }
            | Self::Cancel { space, .. }
            | Self::Delete { space, .. }
            | Self::Look { space, .. }
            | Self::Withdraw { space, .. }
            | Self::Page { space, .. } => Some(*space),
            Self::Create { .. } => None,
        }
    }
}

impl Told {
    /// The request that it is about.
    pub const fn number(&self) -> u64 {
        match self {
            Self::Answer { number, .. }
            | Self::Elsewhere { number }
            | Self::Seen { number, .. }
            | Self::Created { number, .. }
            | Self::Refused { number, .. } => *number,
        }
    }
}

impl Between {
    /// The space that it is about.
    pub const fn space(&self) -> u64 {
        match self {
            Self::Step { space, .. }
            | Self::Ack { space, .. }
            | Self::Later { space }
            | Self::Drop { space, .. }
            | Self::Dropped { space, .. }
            | Self::Yield { space, .. } => *space,
            Self::Begin { entry, .. } => entry.space,
        }
    }
}

record! {
    /// The options of a space.
    #[derive(Copy)]
    pub struct Options {
        /// Copies on other hosts.
        pub copies: u8,
        /// Bytes of all tuples.
        pub limit_bytes: u64,
        /// The effect of a put where there is no room.
        pub when_full: Full,
        /// A durable space answers so many milliseconds before the disk has it, at the most: a loss
        /// of power takes what was answered last. 0: it answers when the disk has it.
        pub loss_ms: u32,
    }

    /// An entry of the machine's names: the servers of a space.
    pub struct Entry {
        /// The number of the space, which no other one has or had.
        pub space: u64,
        /// The server that answers for it.
        pub primary: Tid,
        /// The servers that have all that was answered.
        pub copies: Vec<Tid>,
        /// Its options.
        pub options: Options,
        /// The task with which it ends; [`Tid::NONE`] for none.
        pub owner: Tid,
        /// It was deleted.
        pub deleted: bool,
        /// The directory in which each of its servers keeps it on disk; empty if it is in memory
        /// only.
        pub directory: Blob,
        /// The number of times that it was made again of what was on disk.
        pub generation: u64,
    }

    /// A client that waits.
    pub struct Waiter {
        /// The client.
        pub client: Tid,
        /// For what; for a put, what is to be put.
        pub template: Tuple,
        /// `rd`, `in`, `claim` or `out`.
        pub operation: String,
        /// For how long, in milliseconds.
        pub waited_ms: u64,
        /// Tuples that are there and differ only in types or in the number of fields.
        pub near: Vec<Tuple>,
    }

    /// A tuple that is claimed.
    pub struct Claimed {
        /// By whom.
        pub client: Tid,
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that it came back before.
        pub tries: u32,
        /// For how long it has been claimed, in milliseconds.
        pub held_ms: u64,
    }

    /// The content of a space.
    pub struct Seen {
        /// The number of tuples.
        pub tuples: u64,
        /// Their bytes, with the claimed ones.
        pub bytes: u64,
        /// The bytes of those that lie in files of the server.
        pub spilled: u64,
        /// The oldest ones; of a page those that are in it.
        pub oldest: Vec<Tuple>,
        /// The number of the last one of a page; 0 if there are no more.
        pub last: u64,
        /// The waiting clients, in sequence.
        pub waiting: Vec<Waiter>,
        /// The claimed tuples.
        pub claimed: Vec<Claimed>,
    }
}
