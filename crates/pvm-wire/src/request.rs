//! The requests of tasks and commands to their host, and the replies.
//!
//! One stream socket per task. Every request carries a number and gets one answer with the same
//! number, but for [`Request::Run`], whose answers go on until [`Reply::Finished`]. The host's
//! parent process answers what concerns segments by itself; the rest goes to the machine.
//! Segments arrive as descriptors beside the answer.

mod hosts;
mod names;
mod reply;
mod segments;
mod tasks;

use crate::route::Route;
use crate::{Blob, HostIndex, Layout, Message, Tid, choice};

pub use hosts::{Failure, HostInfo, HostLoad, HostResult, LEAST_LOADED, STAGES};
pub use names::{GroupInfo, MailboxEntry, MailboxInfo, inserted_at, inserted_tag};
pub use reply::{DaemonStatus, Reply};
pub use segments::{ACTIVITY_SEGMENT, Change, Dropped, MEMORY_BYTES_MAX, Ring, Segment, SegmentId};
pub use tasks::{
    ALONE, Inherited, RECORDED, SpawnRequest, Target, TaskInfo, TraceOptions, Welcome,
};

/// In front of a program's name in [`Request::Hello`]: one of the machine's own tools, which is a
/// task and of which programs, resource managers and tracers are not told.
pub const HIDDEN: u8 = 0;

choice! {
    /// The role of a connecting process.
    pub enum Role {
        /// A task: gets an id and an inbox.
        1 => Task,
        /// A command: it asks, but is no task's peer.
        2 => Operator,
        /// A task that cannot share memory: a proxy on the host does it for the task (see
        /// [`crate::proxy`]).
        3 => Remote,
    }

    /// The credit that a send lacks.
    pub enum Lack {
        /// The receiver has as many unread messages as it may have.
        1 => Lane,
        /// The sender has as much unread memory as it may have, and does not spill.
        2 => Own,
        /// The host's memory or disk is used up by the messages of several.
        3 => Host,
    }

    /// A request.
    pub enum Request {
        /// The first request: the role and program of the asker.
        1 => Hello {
            /// [`crate::PROTOCOL_VERSION`] of the asker.
            version: u16,
            /// Its role.
            role: Role,
            /// Its program name, for `ps` and logs; with [`HIDDEN`] in front the task is not
            /// listed.
            program: Blob,
            /// False for a console or a tool that `reset` shall spare.
            reset: bool,
            /// `PVMEPID` of its environment, by which a tasker's child is known; 0 for none.
            cookie: u32,
            /// Its memory's: a task shares memory with others, so its order of bytes must be the
            /// host's.
            layout: Layout,
        },
        /// A lane into the inbox of a task on this host: a ring of `cells` that the asker alone
        /// fills. Asked again for the same task, the new lane continues the old one. A lane to
        /// another host (its id) lies in the inbox of this host's daemon.
        2 => OpenLane {
            /// The receiver, or another host.
            to: Tid,
            /// Its size.
            cells: u32,
        },
        /// A segment for outgoing data.
        3 => OpenSlab {
            /// Its size.
            bytes: u64,
        },
        /// A segment that a descriptor in a message names.
        4 => MapSegment {
            /// The segment.
            id: SegmentId,
        },
        /// The asker's lanes that were opened after the `after`-th.
        5 => ListLanes {
            /// The number of openings that the asker knows of (the inbox counts them).
            after: u32,
        },
        /// The asker needs this segment no more.
        6 => DropSegment {
            /// The segment.
            id: SegmentId,
        },
        /// `pvm_exit`: the connection stays, the task is gone.
        10 => Leave,
        /// `pvm_config`.
        11 => Config,
        /// `pvm_tasks`; 0 for all hosts.
        12 => Tasks {
            /// A host, a task, or 0.
            place: Tid,
        },
        /// `pvm_spawn`.
        13 => Spawn {
            /// The program and the place.
            spawn: SpawnRequest,
        },
        /// `pvm run`: spawn, then [`Reply::Output`], [`Reply::Exited`] until all are gone; so are
        /// [`Reply::Joined`] ones, what those tasks have spawned.
        14 => Run {
            /// The program and the place.
            spawn: SpawnRequest,
        },
        /// Standard input for a task started by this operator; empty means end of file.
        15 => Feed {
            /// The task.
            tid: Tid,
            /// The bytes.
            bytes: Blob,
        },
        /// `pvm_kill`, `pvm_sendsig`.
        16 => Signal {
            /// The task.
            tid: Tid,
            /// The signal.
            signal: i32,
        },
        /// `pvm_pstat`.
        17 => TaskStatus {
            /// The task.
            tid: Tid,
        },
        /// `pvm_mstat`.
        18 => HostStatus {
            /// The host, "." for this one.
            name: Blob,
        },
        /// `pvm_addhosts`: each with its options as in a host file.
        19 => AddHosts {
            /// The lines.
            hosts: Vec<Blob>,
        },
        /// `pvm_delhosts`.
        20 => DelHosts {
            /// Their names.
            hosts: Vec<Blob>,
        },
        /// Daemons on this same computer, linked as any others (`pvm up --local`).
        21 => AddLocal {
            /// The number of daemons.
            count: u32,
        },
        /// `pvm_notify`.
        22 => Notify {
            /// `PvmTaskExit` 1, `PvmHostDelete` 2, `PvmHostAdd` 3, `PvmRouteAdd` 4,
            /// `PvmRouteDelete` 5.
            kind: i32,
            /// True to take it back.
            cancel: bool,
            /// Context of the notices.
            context: i32,
            /// Tag of the notices.
            tag: i32,
            /// For `PvmHostAdd`: how many; -1 for ever.
            count: i32,
            /// Tasks or hosts to watch.
            tids: Vec<Tid>,
        },
        /// `pvm_putinfo`.
        23 => PutInfo {
            /// Name.
            name: Blob,
            /// `PvmMboxPersistent` ...
            flags: i32,
            /// The contents. The tag is not kept; one below 0 says that this is an entry of
            /// `pvm_insert`, and at which index ([`inserted_at`]).
            message: Message,
        },
        /// `pvm_recvinfo`.
        24 => RecvInfo {
            /// Name.
            name: Blob,
            /// Index.
            index: i32,
            /// `PvmMboxReadAndDelete`, `PvmMboxFirstAvail` ...
            flags: i32,
            /// With `PvmMboxWaitForInfo`: wait until it is there.
            context: i32,
        },
        /// `pvm_delinfo`.
        25 => DelInfo {
            /// Name.
            name: Blob,
            /// Index.
            index: i32,
            /// Flags.
            flags: i32,
        },
        /// `pvm_getmboxinfo`; `*` matches any text.
        26 => MailboxInfo {
            /// Pattern.
            pattern: Blob,
        },
        /// `pvm_joingroup`.
        27 => JoinGroup {
            /// Group.
            group: Blob,
        },
        /// `pvm_lvgroup`.
        28 => LeaveGroup {
            /// Group.
            group: Blob,
        },
        /// The members, by instance: `pvm_gettid`, `pvm_getinst`, `pvm_gsize`, collectives.
        29 => GroupMembers {
            /// Group.
            group: Blob,
        },
        /// `pvm_barrier`.
        30 => Barrier {
            /// Group.
            group: Blob,
            /// Members to wait for; -1 for all.
            count: i32,
        },
        /// `pvm_freezegroup`.
        31 => FreezeGroup {
            /// Group.
            group: Blob,
            /// Size; -1 for its size now.
            size: i32,
        },
        /// All groups, for `pvm_gsdump` and the console.
        32 => Groups,
        /// `pvm_newcontext`.
        33 => NewContext,
        /// `pvm_freecontext`.
        34 => FreeContext {
            /// The context.
            context: i32,
        },
        /// `pvm_hostsync`: the clock of a host.
        35 => HostClock {
            /// The host.
            host: Tid,
        },
        /// `PvmSelfOutputTid` ...: the asker's own output goes there from now on.
        36 => SetOutput {
            /// The destination of the output.
            output: Target,
        },
        /// `pvm_reg_hoster`, `pvm_reg_tasker`, `pvm_reg_rm`, `pvm_reg_tracer`.
        37 => Register {
            /// 1 resource manager, 2 hoster, 3 tasker, 4 tracer.
            service: i32,
            /// For a tracer: what it asks of tasks.
            trace: Option<TraceOptions>,
            /// False to end it.
            on: bool,
        },
        /// The console's `reset`: kill the tasks that have not asked to be spared, clear names.
        38 => Reset {
            /// Kill tasks.
            kill: bool,
        },
        /// `PvmNoReset`.
        39 => SetReset {
            /// True if `reset` may kill the asker.
            reset: bool,
        },
        /// `pvm_halt`.
        40 => Halt,
        /// `PvmTraceTid` ... of the asker itself changed, or of another task. A task that has
        /// enrolled goes on as it was told then; what it spawns from now on has the new options,
        /// until it sets its own.
        41 => SetTrace {
            /// The task.
            tid: Tid,
            /// To what.
            trace: TraceOptions,
        },
        /// `pvm_reg_tracer`: the options for tasks that enrol from now on and have no other tracer.
        /// Their output goes there, too.
        47 => RegisterTracer {
            /// The destination and the events; the context within is not used.
            given: Inherited,
        },
        /// The state of the daemon itself: version, pids, address, counters.
        42 => DaemonStatus,
        /// `pvm del --drain`: no new task is placed on these hosts, and each leaves the machine
        /// when its last task has gone. Adding the host again takes it back.
        43 => DrainHosts {
            /// Their names.
            hosts: Vec<Blob>,
        },
        /// Lines of a host file for hosts that are not added now: `&` lines and, under the name
        /// `*`, the options of hosts that no line names. They count when such a host is added.
        44 => KnowHosts {
            /// The lines, as [`crate::hostfile::HostLine::to_line`] writes them.
            lines: Vec<Blob>,
        },
        /// The load of this host.
        45 => Load,
        /// Between hosts: to be answered once the host table has had this many changes here.
        46 => Settled {
            /// The number of changes.
            epoch: u64,
        },
        /// The daemon of a host is to be replaced by another program while its tasks go on.
        130 => Upgrade {
            /// The host, "." for this one.
            host: Blob,
            /// Absolute path there; empty for the program that the host was started from, as it
            /// lies there now.
            program: Blob,
        },
        /// A token with which one host may join that cannot be started through ssh.
        131 => Token {
            /// The number of seconds for which the token is valid.
            seconds: u32,
        },
        /// An earlier question of this connection has no waiter any more. That question is answered
        /// at once: with its outcome if it has one or is being ordered, or with
        /// [`Reply::Withdrawn`]. One that is answered already is left as it is. Between hosts: the
        /// question of this number to the leader.
        132 => GiveUp {
            /// Its number.
            question: u32,
        },
        /// A message for a daemon, or with a tag of [`crate::plug`]: the daemons carry it. As with
        /// every message the sender is not told whether any task wanted it.
        80 => Post {
            /// A daemon ([`Tid::NOTICE_SOURCE`]: the one of this host) or a task.
            to: Tid,
            /// The message.
            message: Message,
        },
        /// A file of this many bytes for messages that find no credit in memory, and a segment with
        /// the places where their readers note themselves; the segment comes beside the answer.
        120 => OpenSpill {
            /// Bytes of the file.
            bytes: u64,
        },
        /// The file that belongs to such a segment: to be written by its owner, read by others.
        121 => MapSpill {
            /// The segment.
            id: SegmentId,
        },
        /// The asker's send waits for credit, and has just tried again in vain. Answered with
        /// [`crate::Code::OutOfRes`] when all tasks that could give it any wait in a send as well.
        122 => Blocked {
            /// The receivers of the message.
            to: Vec<Tid>,
            /// The credit that the send lacks.
            lack: Lack,
        },
        /// The asker waits no more.
        123 => Unblocked,
        /// A direct route to a task of another host, please. Answered at once; what comes of it
        /// is told later by an unasked [`Reply::Route`] or [`Reply::NoRoute`].
        60 => OpenRoute {
            /// The other task.
            to: Tid,
        },
        /// `PvmRoute`: whether others may have direct routes to the asker.
        61 => SetRoute {
            /// False with `PvmDontRoute`.
            allowed: bool,
        },
        /// The inbox of a task of this host, to wake it.
        100 => MapInbox {
            /// The task.
            of: Tid,
        },
        /// The roster of a group, if it has members on this host.
        101 => MapGroup {
            /// The name of the group.
            group: Blob,
        },
        /// From a daemon to its parent: a roster for a group, or the one that it has.
        102 => OpenGroup {
            /// The name of the group.
            group: Blob,
        },
        /// Between hosts: to be answered once what the command of this number did to groups is
        /// shown to the tasks there.
        103 => Shown {
            /// The command.
            number: u64,
        },
        /// Between hosts, from the leader: whether that host hears this one.
        104 => Hears {
            /// The host.
            host: HostIndex,
        },
        /// From a daemon to its parent: hand this, and the socket beside it, to a task.
        62 => GiveRoute {
            /// The task.
            to: Tid,
            /// Its end of the route.
            route: Route,
        },
        /// From a daemon to its parent: these are the members. Every direct route to another host
        /// is ended before the answer comes.
        64 => FenceRoutes {
            /// All hosts of the machine.
            members: Vec<HostIndex>,
        },
        /// The direct route to a task broke: its host is to send by the daemons what the asker
        /// has not confirmed.
        63 => RouteBroken {
            /// The other task.
            peer: Tid,
        },
        /// A segment for the asker's trace ring; asked again, the same.
        110 => OpenRecorder,
        /// The trace ring of a task of this host, to be read.
        111 => MapRecorder {
            /// The task.
            tid: Tid,
        },
        /// Switches the probe points of a task: 1 all on, 0 all off.
        112 => SetProbes {
            /// The task.
            tid: Tid,
            /// The word that its probe points look at.
            mask: u32,
        },
        /// The trace rings of the host, those of tasks that are gone included.
        150 => ListRings,
        /// One of them, to be read.
        151 => MapRing {
            /// Its segment.
            id: SegmentId,
        },
        /// It was read to its end, and its task is gone.
        152 => DropRing {
            /// Its segment.
            id: SegmentId,
        },
        /// A host is to have a recorder, which is a task; answered with its id, or 0 while it
        /// starts.
        153 => Recorder {
            /// The host.
            host: Tid,
            /// All tasks of the host are recorded, those to come included.
            all: bool,
        },
        /// Memory that other tasks may read and write without the asker's taking part.
        113 => Expose {
            /// The asker's own name for it.
            number: u32,
            /// Its size.
            bytes: u64,
        },
        /// Memory is not exposed any more.
        114 => Withdraw {
            /// The asker's own name for it.
            number: u32,
        },
        /// Exposed memory of a task of this host.
        115 => MapExposed {
            /// The task that exposes the memory.
            owner: Tid,
            /// The owner's name for it.
            number: u32,
        },
        /// Bytes of exposed memory of a task of another host.
        116 => GetMemory {
            /// The task that exposes the memory.
            owner: Tid,
            /// The owner's name for it.
            number: u32,
            /// The offset of the first byte.
            offset: u64,
            /// The number of bytes, at most [`MEMORY_BYTES_MAX`].
            bytes: u32,
        },
        /// Writes into exposed memory of a task of another host.
        117 => PutMemory {
            /// The task that exposes the memory.
            owner: Tid,
            /// The owner's name for it.
            number: u32,
            /// The offset of the first byte.
            offset: u64,
            /// The bytes, at most [`MEMORY_BYTES_MAX`].
            bytes: Blob,
        },
        /// The size of exposed memory, and whether others may write it.
        118 => DescribeMemory {
            /// The task that exposes the memory.
            owner: Tid,
            /// The owner's name for it.
            number: u32,
        },
        /// Changes a word of exposed memory of a task of another host.
        119 => ChangeMemory {
            /// The task that exposes the memory.
            owner: Tid,
            /// The owner's name for it.
            number: u32,
            /// The offset of the word.
            offset: u64,
            /// The change.
            change: Change,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    #[test]
    fn requests_and_replies_survive_the_way_there_and_back() {
        let request = Request::Notify {
            kind: 1,
            cancel: false,
            context: 0,
            tag: 9,
            count: 0,
            tids: vec![Tid(0x40001)],
        };
        assert_eq!(Request::from_bytes(&request.to_bytes()), Ok(request));
        let reply = Reply::Spawned { outcomes: vec![-7], tried: vec!["/bin".into()] };
        assert_eq!(Reply::from_bytes(&reply.to_bytes()), Ok(reply));
    }
}
