//! The replies to a task or a command.

use super::hosts::{HostInfo, HostLoad, HostResult};
use super::names::{GroupInfo, MailboxInfo};
use super::segments::Segment;
use super::tasks::{TaskInfo, Welcome};
use crate::route::{Route, Secret};
use crate::{Blob, Code, HostIndex, Message, Tid, choice, record};

choice! {
    /// An answer.
    pub enum Reply {
        /// Done, nothing to tell.
        1 => Done,
        /// Refused or failed.
        2 => Failed {
            /// The reason.
            code: Code,
        },
        /// To [`super::Request::Hello`] of a task; its inbox and the host's count of awake tasks
        /// come beside it.
        3 => Welcome {
            /// The data that it needs.
            welcome: Welcome,
        },
        /// To [`super::Request::Hello`] of another protocol version, or of a process that may not.
        4 => Refused {
            /// The reason.
            code: Code,
            /// For people.
            reason: String,
        },
        /// A segment; its descriptor comes beside it.
        5 => Segment {
            /// The segment.
            segment: Segment,
        },
        /// Lanes; their descriptors are mapped one by one.
        6 => Lanes {
            /// In order of their places.
            lanes: Vec<Segment>,
        },
        /// The hosts.
        7 => Hosts {
            /// By index.
            hosts: Vec<HostInfo>,
        },
        /// The tasks.
        8 => Tasks {
            /// By id.
            tasks: Vec<TaskInfo>,
        },
        /// To a spawn.
        9 => Spawned {
            /// An id or a code for each.
            outcomes: Vec<i32>,
            /// The folders in which a program that does not exist was searched.
            tried: Vec<Blob>,
        },
        /// Bytes that a task wrote.
        10 => Output {
            /// The task.
            tid: Tid,
            /// The bytes.
            bytes: Blob,
            /// 1 standard output, 2 standard error.
            stream: u8,
        },
        /// A task of [`super::Request::Run`] ended.
        11 => Exited {
            /// The task.
            tid: Tid,
            /// As `waitpid` tells it.
            status: i32,
        },
        /// All tasks of [`super::Request::Run`] are gone, and all that they have spawned.
        12 => Finished,
        /// A number: an index, an instance, a context, a size.
        13 => Number {
            /// The number.
            value: i32,
        },
        /// Hosts added, deleted or drained.
        14 => HostResults {
            /// One for each name.
            results: Vec<HostResult>,
        },
        /// A named message.
        15 => Info {
            /// The contents; the source is the owner.
            message: Message,
            /// Its index.
            index: i32,
        },
        /// Names.
        16 => Mailboxes {
            /// In the order in which the names came to be.
            mailboxes: Vec<MailboxInfo>,
        },
        /// The members of a group by instance; 0 marks a hole.
        17 => Members {
            /// Their ids.
            tids: Vec<Tid>,
            /// True once frozen.
            frozen: bool,
        },
        /// Groups.
        18 => Groups {
            /// Name and size.
            groups: Vec<GroupInfo>,
        },
        /// A clock.
        19 => Clock {
            /// Microseconds since 1970.
            microseconds: i64,
        },
        /// The daemon about itself.
        20 => Status {
            /// The state of the daemon.
            status: DaemonStatus,
        },
        /// To [`super::Request::Hello`] of an operator.
        21 => Ready {
            /// The host's index.
            host: HostIndex,
        },
        /// Tasks of [`super::Request::Run`] have spawned these: they belong to the run, and are
        /// told of by [`Reply::Output`] (unless their output goes elsewhere) and [`Reply::Exited`].
        22 => Joined {
            /// Their ids.
            tids: Vec<Tid>,
        },
        /// A host is up to date if it has applied the commands up to this one.
        90 => Applied {
            /// The number of the command.
            number: u64,
        },
        /// To [`super::Request::Hears`].
        104 => Heard {
            /// There is a link on which something comes.
            heard: bool,
            /// The number of members that the answering host does not hear.
            unheard: u32,
        },
        /// To [`super::Request::Load`].
        43 => Load {
            /// The load of the host.
            load: HostLoad,
        },
        /// To [`super::Request::Upgrade`].
        130 => Upgraded {
            /// The version that ran.
            from: String,
            /// The version that runs now.
            to: String,
            /// The reason why the old program still runs; empty if the new one does.
            failure: String,
        },
        /// To [`super::Request::Token`].
        131 => Token {
            /// Its text.
            token: Secret,
        },
        /// The host of a task of [`super::Request::Run`] is dead: the output of the task ends with
        /// what has come. Its [`Reply::Exited`] follows.
        132 => Cut {
            /// The task.
            tid: Tid,
        },
        /// The asker has given up ([`super::Request::GiveUp`]): the question had no effect, and
        /// will have none.
        133 => Withdrawn,
        /// Unasked (its number is 0): a direct route stands; the socket comes beside it.
        60 => Route {
            /// This end of it.
            route: Route,
        },
        /// To [`super::Request::GetMemory`].
        110 => Memory {
            /// The bytes.
            bytes: Blob,
        },
        /// To [`super::Request::DescribeMemory`].
        111 => Exposed {
            /// Its size.
            bytes: u64,
            /// True if others may write it.
            writable: bool,
        },
        /// To [`super::Request::ChangeMemory`].
        112 => Word {
            /// The word's value before, with zeros above four bytes.
            before: u64,
        },
        /// To [`super::Request::ListRings`].
        150 => Rings {
            /// All of them.
            rings: Vec<super::segments::Ring>,
        },
        /// Unasked (its number is 0): there will be no direct route for now.
        61 => NoRoute {
            /// To which task.
            peer: Tid,
        },
    }
}

record! {
    /// The state of the daemon, as it tells it.
    pub struct DaemonStatus {
        /// NeoPVM's version.
        pub version: String,
        /// This host.
        pub host: HostIndex,
        /// Its name.
        pub name: Blob,
        /// Process id of the parent.
        pub parent_pid: u32,
        /// Process id of the daemon.
        pub daemon_pid: u32,
        /// The address at which other daemons reach it.
        pub address: String,
        /// Peers dropped for bad bytes.
        pub bad_peers: u64,
        /// Times that the daemon was started again.
        pub restarts: u32,
        /// The limits that the kernel sets to the daemon, in words.
        pub guard: String,
        /// The reason why no commands are ordered, in words; empty if there is a leader.
        pub order: String,
    }
}
