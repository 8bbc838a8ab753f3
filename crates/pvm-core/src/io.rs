//! The inputs and outputs of a [`crate::Machine`].
//!
//! *Events* come from the host's parent process, are numbered by it and are never lost: a daemon
//! that dies is replaced, and the events whose effects the parent has not seen are given to the
//! next one. *News* come from the daemon's own shell: links and starters. Outputs are *effects*
//! that the parent applies, all of an event's or none, and *acts* of the shell.
//!
//! The shell also promises:
//!
//! * All effects of one input reach the parent as one frame *before* the acts of that input are
//!   done. So this host never forgets anything that it has told another host.
//! * Time counts from 1970 and never goes back, also not when the daemon is started again: the
//!   parent reads the wall clock once, and adds the monotonic clock from then on. Deadlines are
//!   kept in records, and `pvm_hostsync` answers with it.
//! * After a start or a restart, [`News::LinkUp`] is told for every link that is up. Before it,
//!   the machine says nothing to that host, but may ask for a link ([`Act::Reach`]).
//! * A link that broke is made again, whoever asks for it.
//! * [`Effect::End`] is the last output. What was to be said before it is still sent.
//! * `Exited` is told for every task that was launched or enrolled, once, when its process has
//!   ended, also if it has left (`pvm_exit`) before.

pub use crate::host_list::HostList;
pub use pvm_wire::peer::HostFacts;
use pvm_wire::peer::PeerMessage;
use pvm_wire::request::{Failure, Reply, Request, Role, Welcome};
use pvm_wire::route::Secret;
use pvm_wire::{Blob, Code, HostIndex, Message, Tid, choice, record};
use std::collections::BTreeSet;

/// A connection to the local socket, numbered by the parent and never used twice.
pub type Connection = u64;

choice! {
    /// An event that the parent tells.
    pub enum Event {
        /// A process connected whose credentials are good.
        1 => Hello {
            /// The connection.
            connection: Connection,
            /// The request's number.
            id: u32,
            /// Its role.
            role: Role,
            /// Its program name.
            program: Blob,
            /// False if `reset` shall spare it.
            reset: bool,
            /// Its process.
            pid: u32,
            /// The launched task that this process is (or descends from), if it has not enrolled.
            launched: Option<Tid>,
        },
        /// A request over a connection that has said hello.
        2 => Asked {
            /// The connection.
            connection: Connection,
            /// The request's number.
            id: u32,
            /// The request. It is none that the parent answers itself.
            request: Request,
        },
        /// The connection ended.
        3 => Closed {
            /// The connection.
            connection: Connection,
        },
        /// A task was started.
        4 => Launched {
            /// The task.
            tid: Tid,
            /// Its process.
            pid: u32,
        },
        /// A task could not be started.
        5 => LaunchFailed {
            /// The task that was to be.
            tid: Tid,
            /// The reason.
            code: Code,
            /// Paths tried.
            tried: Vec<Blob>,
        },
        /// The process of a task ended (its pidfd says so); its messages are all published.
        6 => Exited {
            /// The task.
            tid: Tid,
            /// As `waitpid` tells it; 0 if it cannot be known (a task that was not launched).
            status: i32,
        },
        /// A launched task wrote.
        7 => Wrote {
            /// The task.
            tid: Tid,
            /// 1 standard output, 2 standard error.
            stream: u8,
            /// The output.
            bytes: Blob,
        },
        /// Both outputs of a launched task are at their end.
        8 => OutputEnded {
            /// The task.
            tid: Tid,
        },
        /// The program of a task that a tasker will start is there.
        9 => Found {
            /// The task.
            tid: Tid,
            /// Absolute path of the program.
            path: Blob,
        },
        /// The outcome of [`Effect::Upgrade`].
        130 => Upgraded {
            /// As it was given.
            mark: Blob,
            /// The version that ran.
            from: String,
            /// The version that runs now.
            to: String,
            /// The reason why the old program still runs; empty if the new one does.
            failure: String,
        },
        /// The answer to [`Effect::Ask`].
        110 => Answered {
            /// The number of the question.
            ticket: u64,
            /// The answer.
            reply: Reply,
        },
    }

    /// An effect that the parent applies. The effects of one event are applied together.
    pub enum Effect {
        /// Answer.
        1 => Reply {
            /// The connection of the asker.
            connection: Connection,
            /// The id of the request.
            id: u32,
            /// The reply.
            reply: Reply,
        },
        /// Answer a hello: make the task's inbox (if it has none yet), watch its process, send
        /// the welcome with the inbox. The parent fills in the doorbell.
        2 => Enrol {
            /// The connection of the task.
            connection: Connection,
            /// The id of the request.
            id: u32,
            /// The task's process.
            pid: u32,
            /// The answer to the task's hello.
            welcome: Welcome,
        },
        /// Make an inbox and start a program; answered by `Launched` or `LaunchFailed`.
        3 => Launch {
            /// The new task.
            launch: Launch,
        },
        /// Send a signal to a task's process.
        4 => Signal {
            /// The task.
            tid: Tid,
            /// The signal.
            signal: i32,
        },
        /// Put a message into the inbox of a local task.
        5 => Deliver {
            /// The task.
            to: Tid,
            /// The message.
            message: Message,
        },
        /// Standard input for a launched task; empty closes it.
        6 => Feed {
            /// The task.
            tid: Tid,
            /// The bytes.
            bytes: Blob,
        },
        /// A line for the log.
        7 => Log {
            /// Without time and host: the parent adds them.
            text: String,
        },
        /// The task is gone from the table: its inbox and doorbell may go; its slabs stay until
        /// their readers are done.
        8 => Forget {
            /// The task.
            tid: Tid,
        },
        /// A record of the machine's state changed.
        9 => Save {
            /// Its key.
            key: Blob,
            /// Its value, or none if it is gone.
            value: Option<Blob>,
        },
        /// A request about a task's segments: the parent, which keeps them, answers with
        /// `Answered`.
        110 => Ask {
            /// To tell the answers apart.
            ticket: u64,
            /// The question.
            request: Request,
        },
        /// The machine ends: kill all tasks, remove all files, go.
        10 => End,
        /// Stop or go on reading the output of this task: too much of it waits for another host.
        /// With [`Tid::NONE`] nothing waits any more, and all tasks are read again.
        11 => Hold {
            /// The task.
            tid: Tid,
            /// True until the next word about it.
            on: bool,
        },
        /// Replace the daemon by another program; answered by `Upgraded`, told to the new one.
        130 => Upgrade {
            /// To be given back.
            mark: Blob,
            /// Absolute path, or empty for the host's own.
            program: Blob,
        },
    }
}

record! {
    /// A start of a task.
    pub struct Launch {
        /// Its id.
        pub tid: Tid,
        /// Absolute path, or a name to look for in `search`.
        pub file: Blob,
        /// Directories, in order; already expanded.
        pub search: Vec<Blob>,
        /// Arguments without the program's name.
        pub args: Vec<Blob>,
        /// `NAME=value` to add (or all there is).
        pub environment: Vec<Blob>,
        /// True where `environment` is all there is.
        pub whole_environment: bool,
        /// Working directory, empty for the default (the user's home).
        pub directory: Blob,
        /// True if standard input will be fed; otherwise it is `/dev/null`.
        pub fed: bool,
        /// True if output and error output are told apart (`pvm run`); otherwise one pipe.
        pub split_output: bool,
        /// True if it leads a group of processes and signals for it go to all of them: what a
        /// person has started with `pvm run` may be a shell that waits for the task.
        pub group: bool,
        /// With `PvmTaskDebug`: the debugger to run it under, else empty.
        pub debugger: Blob,
        /// Not zero where a tasker will start it: the program is only looked for, and answered with
        /// `Found`. The process that says hello with this number is the task.
        pub cookie: u32,
    }
}

/// News that the shell tells on its own account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// A link to this host is up; both ends know each other's keys.
    LinkUp {
        /// The host.
        host: HostIndex,
    },
    /// The link to this host broke.
    LinkDown {
        /// The host.
        host: HostIndex,
    },
    /// The link to this host was closed by agreement, because it was not used for a while.
    LinkRests {
        /// The host.
        host: HostIndex,
    },
    /// A link to this host was wanted ([`Act::Reach`]), and it does not answer at its addresses: it
    /// may be where only it can call.
    Unreached {
        /// The host.
        host: HostIndex,
    },
    /// A host said something.
    Said {
        /// The host that sent it.
        host: HostIndex,
        /// The message.
        message: PeerMessage,
    },
    /// A daemon that [`Act::StartHost`] asked for is there, and has told its facts.
    HostReady {
        /// The number of the start.
        ticket: u64,
        /// The facts.
        facts: HostFacts,
    },
    /// A daemon could not be started.
    HostFailed {
        /// The number of the start.
        ticket: u64,
        /// The reason.
        code: Code,
        /// For people: what failed, where, what to do.
        failure: Failure,
    },
    /// The request of [`Act::Flush`] is done.
    Flushed,
    /// Other daemons reach this host at these addresses from now on, in the order to be tried.
    Addresses {
        /// `ADDRESS:PORT` each.
        addresses: Vec<String>,
    },
    /// The answer to [`Act::Invite`].
    Invited {
        /// The number of the start.
        ticket: u64,
        /// The host on which the command is to run: `[user@]host`. `[user@]host`.
        login: Blob,
        /// The start options of the host file line (`so=`).
        options: Blob,
        /// A line for a shell there, which starts the daemon. It answers with one line.
        command: Blob,
        /// The name of this machine among those of the user (`PVM_VMID`).
        vmid: Blob,
    },
    /// The answer to [`Act::Drain`]: all messages of the task to that host have arrived.
    Drained {
        /// The task.
        tid: Tid,
        /// The host.
        host: HostIndex,
    },
    /// The answer to [`Act::Token`].
    Token {
        /// As it was given.
        mark: Blob,
        /// The token's text.
        token: Secret,
    },
    /// A route that [`Act::Route`] asked for could not be made.
    NoRoute {
        /// The task here.
        local: Tid,
        /// The task there.
        peer: Tid,
    },
    /// The process to which the machine is bound has ended: the machine ends.
    Unbound,
    /// A peer sent bytes that are none of ours and was dropped.
    BadPeer,
    /// A suspicion: no link to a host, and no sign of life, within the bound. It is told again if
    /// a link has come up since. What follows is decided by the order of commands.
    HostDead {
        /// The host.
        host: HostIndex,
    },
    /// Evidence: no daemon of this host's life acts any more, and none will. Its daemon has said
    /// that it ends; or its connection is refused and its computer (by ssh, or by the parent there)
    /// says that no parent of this machine runs on it.
    HostGone {
        /// The host.
        host: HostIndex,
    },
    /// A host that was called says that this one is no member any more.
    Fenced {
        /// The [`crate::Machine::era`] of that host.
        era: u64,
    },
    /// The answer to [`Act::AskWitness`].
    Witnessed {
        /// The witness that answers.
        witness: Blob,
        /// The number of the pair of hosts.
        pair: u64,
        /// True if this host has the lock.
        granted: bool,
    },
}

/// A group as its members see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupState {
    /// By instance; [`Tid::NONE`] marks a hole.
    pub members: Vec<Tid>,
    /// True once frozen.
    pub frozen: bool,
    /// True once a member of a frozen group has gone: no barrier of it can be met again.
    pub defunct: bool,
    /// Members that died and whose places no other task has taken.
    pub lost: u32,
}

/// The gravest way in which members have left since the group was shown last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Departure {
    /// No member has gone.
    None,
    /// One has left the group.
    Left,
    /// One is no task any more: a barrier that needs it is not met.
    Gone,
}

/// An act of the shell.
#[expect(clippy::large_enum_variant, reason = "an act is made once and consumed at once")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Say this over the link. The machine asks for it only while the link is up, and again
    /// when the link comes back, until the other side has heard it.
    Say {
        /// To whom.
        host: HostIndex,
        /// The message.
        message: PeerMessage,
    },
    /// To these hosts a link is to stand at all times. A link to another host may be closed when it
    /// was not used for a while.
    Near {
        /// The hosts to which links are to stand.
        hosts: BTreeSet<HostIndex>,
    },
    /// There is something to say to a host without a link: make one.
    Reach {
        /// The host.
        host: HostIndex,
    },
    /// Start a daemon: on this computer, or at a name with the options of a host file.
    StartHost {
        /// To tell the answers apart.
        ticket: u64,
        /// The host file line; empty for another daemon on this computer.
        line: Blob,
    },
    /// A hoster will start a daemon: what is it to run, and where? Answered with
    /// [`News::Invited`] or [`News::HostFailed`].
    Invite {
        /// To tell the answers apart.
        ticket: u64,
        /// The host file line.
        line: Blob,
    },
    /// The line with which a daemon has answered the hoster that started it.
    HosterSaid {
        /// The number of the start.
        ticket: u64,
        /// The line.
        answer: Blob,
    },
    /// A daemon that was started is part of the machine now: let it in and tell it its name.
    Admit {
        /// The number of the start.
        ticket: u64,
        /// Its place.
        host: HostIndex,
    },
    /// Try to get a lock of this number at a witness: of all that ever ask for it only one host
    /// gets it, and gets it again whenever it asks. Answered with [`News::Witnessed`]; with nothing
    /// while the witness cannot be reached, and then tried again.
    AskWitness {
        /// The account of the witness, as for ssh.
        witness: Blob,
        /// The number.
        pair: u64,
    },
    /// A daemon that was started is not wanted: it is told so or left alone, and its key is
    /// forgotten.
    Dismiss {
        /// Its key, as its facts told it.
        key: Blob,
    },
    /// This host is about to leave. [`News::Flushed`] is to be told when everything that tasks
    /// of this host have sent to tasks of others is safe there.
    Flush,
    /// A task is gone: tell when every message that it sent to this host lies in its receiver's
    /// inbox there. Asked for again after a restart.
    Drain {
        /// The task.
        tid: Tid,
        /// The host.
        host: HostIndex,
    },
    /// Make a direct route. The host with the higher place calls; the other one waits for it.
    Route {
        /// The task here.
        local: Tid,
        /// The task there.
        peer: Tid,
    },
    /// Messages of a task here that the receiver of a direct route has not confirmed go by the
    /// link.
    ReleaseRoute {
        /// The task here.
        from: Tid,
        /// The receiver.
        to: Tid,
    },
    /// A group changed: the tasks of this host are to see it before they see anything that follows
    /// from it.
    Group {
        /// Its name.
        name: Blob,
        /// Its state now; none if it is no more.
        group: Option<GroupState>,
        /// The way in which a task has ceased to be a member, if one has.
        departure: Departure,
    },
    /// Make a token with which one host may join. Answered with [`News::Token`] at once, and with
    /// [`News::HostReady`] when it has been used, or with [`News::HostFailed`].
    Token {
        /// To tell the answers apart.
        ticket: u64,
        /// To be given back with the token.
        mark: Blob,
        /// The number of seconds for which the token is valid.
        seconds: u32,
    },
    /// A host has spoken in another one's name: its link is dropped.
    Distrust {
        /// The host.
        host: HostIndex,
    },
    /// The host table changed: the members, with their addresses and keys.
    Hosts {
        /// All hosts, this one included.
        hosts: HostList,
        /// The only host that has come or gone since the list before; none where others may have.
        only: Option<HostIndex>,
    },
}

/// Anything that goes in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// From the parent.
    Event(Event),
    /// From the shell.
    News(News),
}

/// Anything that comes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// For the parent.
    Effect(Effect),
    /// For the shell.
    Act(Act),
}
