//! The inputs and the outputs of a partition.

use crate::frames::{Ask, Between, Entry, Told};
use crate::log::Record;
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeSet;

/// An input of a partition.
#[derive(Clone, Debug)]
pub enum Event {
    /// A client has sent a request.
    Asked {
        /// The client.
        client: Tid,
        /// The request.
        ask: Ask,
    },
    /// The disk is full, so this request is to be refused.
    Full {
        /// The client.
        client: Tid,
        /// The request's number.
        number: u64,
    },
    /// Another server has sent a message.
    Heard {
        /// The server.
        from: Tid,
        /// The message.
        said: Between,
    },
    /// A watched task has ended.
    Gone {
        /// The task.
        task: Tid,
    },
    /// The answer to [`Output::Put`].
    Put {
        /// The epoch of the entry that was put: the one asked for, or a later one. None if another
        /// server has put the entry of that epoch.
        epoch: Option<i32>,
    },
    /// The machine cannot carry out [`Output::Put`] or [`Output::Look`] now.
    Refused,
    /// The answer to [`Output::Look`]: the last entry, or none if the space has no entry any more.
    Latest {
        /// The look that it answers.
        look: u64,
        /// The epoch and the entry.
        entry: Option<(i32, Entry)>,
    },
    /// The answer to [`Output::Want`]: a server on another host, or none if no further one was
    /// found.
    Helper {
        /// The server.
        server: Option<Tid>,
    },
    /// A host has joined, so a search may find more servers.
    Joined,
    /// The space must move to a server of another host.
    Move {
        /// The server.
        to: Tid,
    },
    /// Hosts are to be left: their servers move their spaces to other hosts.
    Draining {
        /// The hosts.
        hosts: BTreeSet<HostIndex>,
    },
    /// The disk of this server has failed: it cannot write the space any more, or not read it.
    Failed,
    /// The answer to [`Output::Persist`] and [`Output::Rewrite`]: the steps up to this one are on
    /// disk.
    Persisted {
        /// The last step on disk.
        number: u64,
    },
}

/// An output of a partition.
#[derive(Clone, Debug)]
pub enum Output {
    /// A message is to be sent to a client.
    Tell {
        /// The client.
        client: Tid,
        /// The number of the request.
        number: u64,
        /// The answer.
        told: Told,
    },
    /// A message is to be sent to another server.
    Say {
        /// The server.
        to: Tid,
        /// The message.
        what: Between,
    },
    /// A task is to be watched. [`Event::Gone`] is the answer, also for a task that has ended
    /// already.
    Watch {
        /// The task.
        task: Tid,
    },
    /// The entry of an epoch is to be put into the names, if neither that epoch nor a later one has
    /// an entry.
    Put {
        /// The epoch.
        epoch: i32,
        /// The entry to be put.
        entry: Entry,
    },
    /// The last entry is to be looked up in the names.
    Look {
        /// The number of the look, which the answer repeats.
        look: u64,
    },
    /// One more server is needed, on a host that none of these servers is on.
    Want {
        /// The servers of the space.
        besides: Vec<Tid>,
    },
    /// The entries before this epoch can be removed from the names.
    Forget {
        /// The first epoch whose entry is kept; none if all entries are to be removed.
        before: Option<i32>,
    },
    /// A record must be appended to the file; [`Event::Persisted`] is the answer.
    Persist {
        /// The record.
        record: Record,
    },
    /// A new file must be begun with `Partition::checkpoint`; [`Event::Persisted`] is the answer.
    Rewrite,
    /// A shelf is needed for the tuples beyond the limit (`pvm_tuples::partition::spill_to`).
    Shelve,
    /// The files of the space must be removed. Then the deleting clients get their answer: success,
    /// or an error of the disk.
    Erase {
        /// The deleting clients, each with its request's number.
        deleters: Vec<(Tid, u64)>,
        /// True if files of copies may be left.
        is_partial: bool,
    },
    /// The disk has failed, and no other server holds the space: it is what is on that disk.
    Abandon,
    /// This server stops holding the space. `deleted`: the space has no entries any more, either.
    Close {
        /// True if the space was deleted.
        deleted: bool,
        /// True if the space has ended on all servers, so that its files must be removed. Otherwise
        /// these files may be all that is left of it.
        is_over: bool,
        /// The primary, with its term, that waits for the message that the files are gone
        /// ([`Between::Dropped`]).
        tell: Option<(Tid, i32)>,
    },
}
