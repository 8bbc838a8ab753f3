//! The messages between clients and servers of a space. Each message holds one frame;
//! [`crate::carried`] describes its bytes.

pub use crate::ops::Full;
use crate::ops::{Input, Op, Outcome, Reason};
use crate::snapshot::Snapshot;
use crate::tuple::Tuple;
use pvm_wire::{Blob, Tid, choice, record};
use std::num::NonZeroU64;

/// The context of all these messages, which hold raw bytes.
pub const CONTEXT: i32 = 0x7ec0_70b1;
/// The tag of messages to a server. An answer has the low 30 bits of its request's number as its
/// tag.
pub const TO_SERVER: i32 = 0x4000_0000;
/// The tag of messages between servers.
pub const BETWEEN: i32 = 0x4000_0003;
/// The tag of notices that a task has ended.
pub const GONE: i32 = 0x4000_0001;
/// The tag of the notice that a host has joined.
pub const JOINED: i32 = 0x4000_0002;
/// The tag of the answer to a request.
pub const fn answer_tag(number: u64) -> i32 {
    (number & 0x3fff_ffff) as i32
}

choice! {
    /// A message from a client to a server.
    pub enum Ask {
        /// Carries out an operation in a space. `number` and `settled`: see [`Input::Asked`].
        1 => Do { /// The space.
            space: u64, /// The request's number.
            number: u64, /// As in [`Input::Asked`].
            settled: u64, /// The operation.
            op: Op },
        /// See [`Input::Cancelled`].
        2 => Cancel { /// The space.
            space: u64, /// The request's number.
            number: u64 },
        /// Makes a new space.
        3 => Create { /// Repeated by the answer.
            number: u64, /// The name of the space.
            name: Blob, /// Its options.
            options: Options, /// True if the space ends with this client.
            owned: bool, /// The directory for its files; empty for a space in memory only.
            directory: Blob },
        /// Deletes a space.
        4 => Delete { /// Repeated by the answer.
            number: u64, /// The space.
            space: u64 },
        /// Asks for the content of a space, and for its waiting clients.
        5 => Look { /// Repeated by the answer.
            number: u64, /// The space.
            space: u64, /// The most tuples in the answer.
            tuples: u64 },
        /// See [`Input::Withdrawn`].
        6 => Withdraw { /// The space.
            space: u64, /// The request's number.
            number: u64 },
        /// Asks for one page of all tuples by age, the claimed ones included.
        7 => Page { /// Repeated by the answer.
            number: u64, /// The space.
            space: u64, /// The number of the tuple before the page; none for the first page.
            behind: Option<NonZeroU64> },
        /// See [`Input::Settled`]. This has no answer.
        8 => Settle { /// The space.
            space: u64, /// The number behind the settled requests.
            number: u64, /// The open ones among the requests below.
            open: Vec<u64> },
    }

    /// A message from a server to a client.
    pub enum Told {
        /// The outcome of a request.
        1 => Answer { /// The request.
            number: u64, /// The outcome.
            outcome: Outcome },
        /// The server does not hold this space, or holds it no longer. The client looks up the
        /// servers in the machine's names.
        2 => Elsewhere { /// The request.
            number: u64 },
        /// The content of the space.
        3 => Seen { /// The request.
            number: u64, /// The content.
            seen: Seen },
        /// The space has been made.
        4 => Created { /// The request.
            number: u64, /// The number of the space.
            space: u64, /// A note for the client, in words.
            note: Blob },
        /// A request that is not an operation was refused.
        5 => Refused { /// The request.
            number: u64, /// The reason.
            reason: Reason, /// Details of the reason, in words.
            text: Blob },
    }
}

choice! {
    /// A message between two servers of a space. The *term* of a primary is the epoch in which it
    /// became the primary.
    pub enum Between {
        /// The primary sends the next step.
        1 => Step { /// The space.
            space: u64, /// The sender's term.
            term: i32, /// The number of the step; the first is 1.
            number: u64, /// The time, in milliseconds of the primary's clock.
            at_ms: u64, /// The input.
            input: Input },
        /// The primary sends the state behind the step `number`: the receiver begins a copy with
        /// it.
        2 => Begin { /// The name of the space.
            name: Blob, /// The sender's term.
            term: i32, /// The entry in the machine's names.
            entry: Entry, /// The last step.
            number: u64, /// The state of the space.
            snapshot: Snapshot },
        /// A copy confirms that it has applied all steps up to this one.
        3 => Ack { /// The space.
            space: u64, /// The primary's term.
            term: i32, /// The last step.
            number: u64 },
        /// A copy answers a primary of an earlier term: it follows a later primary.
        4 => Later { /// The space.
            space: u64 },
        /// The primary tells a copy to drop the space and its file.
        5 => Drop { /// The space.
            space: u64, /// The sender's term.
            term: i32 },
        /// The answer to `Drop`.
        6 => Dropped { /// The space.
            space: u64, /// The primary's term.
            term: i32, /// True if no file is left.
            is_gone: bool },
        /// The primary tells a named copy to become the next primary.
        7 => Yield { /// The space.
            space: u64, /// The sender's term.
            term: i32 },
        /// To the other servers that the entry names: the sender's disk has failed, so it holds the
        /// space no longer.
        8 => Failed { /// The space.
            space: u64, /// The term of the primary that it was, or followed.
            term: i32 },
    }
}

impl Ask {
    /// The number of the request, which the answer repeats.
    pub const fn number(&self) -> u64 {
        match self {
            Self::Do { number, .. }
            | Self::Cancel { number, .. }
            | Self::Create { number, .. }
            | Self::Delete { number, .. }
            | Self::Look { number, .. }
            | Self::Withdraw { number, .. }
            | Self::Page { number, .. }
            | Self::Settle { number, .. } => *number,
        }
    }

    /// The space of the request; none for a space that is to be made.
    pub const fn space(&self) -> Option<u64> {
        match self {
            Self::Do { space, .. }
            | Self::Cancel { space, .. }
            | Self::Delete { space, .. }
            | Self::Look { space, .. }
            | Self::Withdraw { space, .. }
            | Self::Page { space, .. }
            | Self::Settle { space, .. } => Some(*space),
            Self::Create { .. } => None,
        }
    }
}

impl Told {
    /// The request that the message answers.
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
    /// The space of the message.
    pub const fn space(&self) -> u64 {
        match self {
            Self::Step { space, .. }
            | Self::Ack { space, .. }
            | Self::Later { space }
            | Self::Drop { space, .. }
            | Self::Dropped { space, .. }
            | Self::Yield { space, .. }
            | Self::Failed { space, .. } => *space,
            Self::Begin { entry, .. } => entry.space,
        }
    }
}

record! {
    /// The options of a space.
    #[derive(Copy)]
    pub struct Options {
        /// The number of copies on other hosts.
        pub copies: u8,
        /// The most bytes that all tuples together may have.
        pub limit_bytes: u64,
        /// The effect of a put that finds no room.
        pub when_full: Full,
        /// A durable space may answer this many milliseconds before the disk has the step. A loss
        /// of power then loses the steps that were answered last. With 0 the answer waits for the
        /// disk.
        pub loss_ms: u32,
    }

    /// An entry of the machine's names, which lists the servers of a space.
    pub struct Entry {
        /// The number of the space; no other space has or had it.
        pub space: u64,
        /// The primary.
        pub primary: Tid,
        /// The copies: servers that have every step that was answered.
        pub copies: Vec<Tid>,
        /// The options of the space.
        pub options: Options,
        /// The task with which the space ends; [`Tid::NONE`] for none.
        pub owner: Tid,
        /// True if the space was deleted.
        pub deleted: bool,
        /// The directory in which each server keeps the space on disk; empty for a space in memory
        /// only.
        pub directory: Blob,
        /// The number of times that the space was made again from its files.
        pub generation: u64,
    }

    /// A client that waits.
    pub struct Waiter {
        /// The client.
        pub client: Tid,
        /// The template that it waits for; for a put, the tuple to be put.
        pub template: Tuple,
        /// The operation: `rd`, `in`, `claim` or `out`.
        pub operation: String,
        /// The time that it has waited, in milliseconds.
        pub waited_ms: u64,
        /// Tuples of the space that differ from the template only in types or in the number of
        /// fields.
        pub near: Vec<Tuple>,
    }

    /// A tuple that is claimed.
    pub struct Claimed {
        /// The client that holds the claim.
        pub client: Tid,
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that the tuple has come back from earlier claims.
        pub tries: u32,
        /// The age of the claim, in milliseconds.
        pub held_ms: u64,
    }

    /// The content of a space.
    pub struct Seen {
        /// The number of tuples.
        pub tuples: u64,
        /// Their bytes, claimed tuples included.
        pub bytes: u64,
        /// The bytes of tuples that are in files of the server.
        pub spilled: u64,
        /// The oldest tuples; in an answer for a page, the tuples of the page.
        pub oldest: Vec<Tuple>,
        /// The number of the last tuple of a page; none behind the last page.
        pub last: Option<NonZeroU64>,
        /// The waiting clients, in the order in which they came.
        pub waiting: Vec<Waiter>,
        /// The claimed tuples.
        pub claimed: Vec<Claimed>,
    }
}
