//! The inputs of a partition, and what it wants done.

use crate::frames::{Ask, Between, Entry, Told};
use crate::log::Record;
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeSet;

/// An input of a partition.
#[derive(Clone, Debug)]
pub enum Event {
    /// A client says something.
    Asked {
        /// The client.
        client: Tid,
        /// The request.
        ask: Ask,
    },
    /// The disk is full: this request of a client is refused.
    Full {
        /// The client.
        client: Tid,
        /// The request's number.
        number: u64,
    },
    /// Another server says something.
    Heard {
        /// The server.
        from: Tid,
        /// The message.
        said: Between,
    },
    /// A task that was watched has ended.
    Gone {
        /// The task.
        task: Tid,
    },
    /// The answer to [`Output::Put`].
    Put {
        /// The epoch in which the entry was put: that which was asked for, or a later one. None if
        /// another server has put one.
        epoch: Option<i32>,
    },
    /// Another answer to [`Output::Put`] or [`Output::Look`]: the machine cannot do it now.
    Refused,
    /// The answer to [`Output::Look`]: the last entry; none if the space has none any more.
    Latest {
        /// The look that it answers.
        look: u64,
        /// Its epoch and what it says.
        entry: Option<(i32, Entry)>,
    },
    /// An answer to [`Output::Want`]: another server, on another host; none if there is no more.
    Helper {
        /// The server.
        server: Option<Tid>,
    },
    /// A host has joined: more servers may be found.
    Joined,
    /// The space is to move to a server of another host.
    Move {
        /// The server.
        to: Tid,
    },
    /// These hosts are to be left: their servers move what they hold to others.
    Draining {
        /// All of them.
        hosts: BTreeSet<HostIndex>,
    },
    /// To [`Output::Persist`] and [`Output::Rewrite`]: the steps up to this one are on disk.
    Persisted {
        /// The last of them.
        number: u64,
    },
}

/// An output of a partition.
#[derive(Clone, Debug)]
pub enum Output {
    /// To be sent to a client.
    Tell {
        /// The client.
        client: Tid,
        /// The number of the request.
        number: u64,
        /// The answer.
        told: Told,
    },
    /// To be sent to another server.
    Say {
        /// The server.
        to: Tid,
        /// The message.
        what: Between,
    },
    /// To be watched: [`Event::Gone`] is the answer, also if it has ended already.
    Watch {
        /// The task.
        task: Tid,
    },
    /// The entry of an epoch is to be put, if neither that epoch nor a later one has one.
    Put {
        /// The epoch.
        epoch: i32,
        /// The entry to be put.
        entry: Entry,
    },
    /// The last entry is to be looked up.
    Look {
        /// For the answer.
        look: u64,
    },
    /// One more server is wanted, which is none of these and not on their hosts.
    Want {
        /// The servers that there are.
        besides: Vec<Tid>,
    },
    /// Entries before this epoch are not needed any more.
    Forget {
        /// The first that is; none if all are to go.
        before: Option<i32>,
    },
    /// A record is to be written behind the others, for [`Event::Persisted`].
    Persist {
        /// The record.
        record: Record,
    },
    /// A new file is to be begun with `Partition::checkpoint`, for [`Event::Persisted`].
    Rewrite,
    /// A shelf is wanted for the tuples beyond the limit (`pvm_tuples::partition::spill_to`).
    Shelve,
    /// The files of the space go. Then its deleters are told: that it is done, or that the disk
    /// fails.
    Erase {
        /// Each with the number of its request.
        deleters: Vec<(Tid, u64)>,
        /// Files of copies may be left.
        is_partial: bool,
    },
    /// The space is held here no longer. `deleted`: it has no entries any more, either.
    Close {
        /// It was deleted.
        deleted: bool,
        /// It is over, here and everywhere: what is on disk goes, too. Otherwise it may be all that
        /// is left.
        is_over: bool,
        /// The primary that is to be told whether the files are gone ([`Between::Dropped`]), and
        /// its term.
        tell: Option<(Tid, i32)>,
    },
}
