//! The changes that a command has made, for the parts of the host that depend on them.

use crate::io::{Departure, GroupState};
use pvm_wire::{Blob, Code, HostIndex, Tid};

/// A question to the leader: the host that asks, and its number of the question.
pub(crate) type Ask = (HostIndex, u64);

/// The state of a group after a departure, for tasks that wait in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Left {
    /// The number of members.
    pub(crate) size: usize,
    /// No barrier can be met any more: the group has ended, or was frozen.
    pub(crate) defunct: bool,
    /// A member has died and no other task has taken its place.
    pub(crate) lost: bool,
}

/// One change. A command's facts come in the order in which they are to be acted on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fact {
    /// A host is in.
    HostIn {
        /// Its place.
        host: HostIndex,
    },
    /// A host was not let in.
    HostRefused {
        /// By its key the daemon is known that was to be this host.
        key: Blob,
        /// The reason.
        code: Code,
    },
    /// A host is out, and all that its tasks had named and joined is gone.
    HostOut {
        /// The host.
        host: HostIndex,
        /// Its name.
        name: String,
        /// The manner in which the host left.
        exit: Exit,
    },
    /// All other hosts have left before this one could.
    LastStays,
    /// A host gets no new tasks from now on, or gets them again.
    Draining {
        /// The host.
        host: HostIndex,
        /// True where it gets none.
        on: bool,
        /// False where that was so already.
        changed: bool,
    },
    /// The facts of a host have changed.
    HostChanged,
    /// The rules for two hosts may have changed.
    RulesChanged,
    /// A task is a member of a group no more.
    Departed {
        /// The name of the group.
        group: Blob,
        /// The task.
        tid: Tid,
        /// False where it has left this group alone, and lives on.
        gone: bool,
        /// The state of the group after that.
        left: Left,
    },
    /// A group was to be frozen.
    Frozen {
        /// The name of the group.
        group: Blob,
        /// The questions that wanted it.
        asks: Vec<Ask>,
        /// The number of members, or the reason why the group is not frozen.
        size: Result<i32, Code>,
    },
    /// A task is gone.
    TaskGone {
        /// The task.
        tid: Tid,
    },
    /// A group is this from now on: told once for each command, behind all else.
    Group {
        /// Its name.
        name: Blob,
        /// None where it has ended.
        group: Option<GroupState>,
        /// The manner in which members have left.
        departure: Departure,
    },
}

/// The manner in which a host has left the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// It was silent.
    Died,
    /// A request deleted it.
    Deleted,
    /// It was drained and had nothing left to do.
    Left,
}
