//! The messages of daemons inside their encrypted links.
//!
//! Messages between tasks are handed on as they are. What the machines say to each other is
//! numbered per pair of hosts and acknowledged, so that a link that flaps or a daemon that is
//! started again loses, repeats and reorders nothing.

use crate::request::{Reply, Request, SpawnRequest, Target};
use crate::{Blob, HostIndex, Message, Tid, choice, record};

choice! {
    /// A message on a link.
    pub enum PeerMessage {
        /// A message between tasks, handed on by the daemons.
        1 => Forward {
            /// The message; its envelope tells the receiver.
            message: Message,
        },
        /// One machine to the other, in order and once.
        2 => Ordered {
            /// Counts what the sender has said to this host, from 1.
            sequence: u64,
            /// The content.
            said: Said,
        },
        /// Everything up to here has been heard and will not be forgotten.
        3 => Heard {
            /// The last number heard.
            through: u64,
        },
        /// A message of the consensus library to its peer. It may be lost, but stays in sequence.
        70 => Quorum {
            /// Known to that library alone.
            bytes: Blob,
        },
        /// Like `Quorum`, for what is short and overtakes everything else.
        71 => Hasty {
            /// Known to that library alone.
            bytes: Blob,
        },
    }

    /// A message of one machine to another. (1 to 3 were the order of commands through a first
    /// host.)
    pub enum Said {
        /// A request that this host is to answer.
        4 => Ask {
            /// The asking host's number for it; 0 where no answer is wanted.
            ask: u64,
            /// The task that asks, 0 for a command.
            asker: Tid,
            /// The request.
            request: Request,
        },
        /// The answer to [`Said::Ask`] or [`Said::Launch`].
        5 => Answer {
            /// The asking host's number.
            ask: u64,
            /// The answer.
            reply: Reply,
        },
        /// Start tasks here.
        6 => Launch {
            /// The asking host's number; answered with [`Reply::Spawned`].
            ask: u64,
            /// The request; its count is this host's share.
            spawn: SpawnRequest,
            /// The result of `pvm_parent` for them: an id or a code.
            parent: i32,
            /// The command that they are started for, if any.
            operator: Option<Operator>,
            /// True if the first of them gets standard input.
            fed: bool,
        },
        /// Ids of a spawn call, now that all are known: for those of them that live here.
        7 => Siblings {
            /// All of them.
            tids: Vec<Tid>,
        },
        /// Tell when this task is gone.
        8 => Watch {
            /// The asking host's number for it.
            watch: u64,
            /// The task.
            tid: Tid,
        },
        /// No need any more.
        9 => Unwatch {
            /// The number of [`Said::Watch`].
            watch: u64,
            /// The task.
            tid: Tid,
        },
        /// A watched task is gone.
        10 => Gone {
            /// The number of [`Said::Watch`].
            watch: u64,
        },
        /// Like `Gone`, for a task that may have left something in what all hosts agree on: it
        /// counts where the sender's command that ends that has been applied.
        18 => GoneBehind {
            /// The number of [`Said::Watch`].
            watch: u64,
            /// The number of the command among those of the sender, as in [`Said::Put`].
            ticket: u64,
        },
        /// Something about the output of a task, for a task on this host.
        11 => Output {
            /// The task that it is for.
            target: Target,
            /// The task that wrote the output.
            tid: Tid,
            /// The news about it.
            news: OutputNews,
        },
        /// Bytes of a task that was started for a command on this host.
        12 => RunOutput {
            /// The command.
            operator: Operator,
            /// The task.
            tid: Tid,
            /// 1 standard output, 2 standard error.
            stream: u8,
            /// The bytes.
            bytes: Blob,
        },
        /// A task that was started for a command on this host is gone.
        13 => RunExited {
            /// The command.
            operator: Operator,
            /// The task.
            tid: Tid,
            /// As `waitpid` tells it.
            status: i32,
        },
        /// Kill the tasks that have not asked to be spared.
        14 => Reset {
            /// Not this one: it asked for it.
            asker: Tid,
        },
        /// The machine ends.
        15 => Halt,
        /// A task of a command's run on this host spawns: the run is not over before
        /// [`Said::RunSpawned`] has told what came of it.
        16 => RunSpawning {
            /// The command.
            operator: Operator,
        },
        /// Tasks that such a spawn call has started belong to the run, on any host.
        17 => RunSpawned {
            /// The command.
            operator: Operator,
            /// The new tasks.
            tids: Vec<Tid>,
        },
        /// To the leader: the sender has heard nothing of this host for too long.
        19 => Silent {
            /// The host.
            host: HostIndex,
        },
        /// To the leader, which hands it on to `host`: make a link to `with`, which cannot call.
        20 => Meet {
            /// The host that is to call.
            host: HostIndex,
            /// The other host.
            with: HostIndex,
        },
        /// To the leader of a term: please order this command.
        70 => Put {
            /// The term. A host that does not lead in it drops this; the proposer asks the next
            /// leader.
            term: u64,
            /// Counts what the sender has proposed, from 1.
            ticket: u64,
            /// The command.
            command: Command,
        },
        /// To the leader of a term: a request that needs what is up to date, or other tasks.
        71 => AskHome {
            /// The term. A host that does not lead in it drops this; the asker asks the next
            /// leader.
            term: u64,
            /// The asking host's number for it.
            ask: u64,
            /// The task that asks, 0 for a command.
            asker: Tid,
            /// An earlier leader was asked before.
            again: bool,
            /// The last command that the asking host had applied when it asked first.
            since: u64,
            /// The request.
            request: Request,
        },
        /// To the leader of a term: what earlier leaders let go, as far as this host has heard. It
        /// listens to none of them about that any more.
        72 => Report {
            /// The term.
            term: u64,
            /// The releases.
            released: Vec<Released>,
        },
        /// From the leader: those wait no longer.
        73 => Release {
            /// The tasks that wait, and the answer to them.
            released: Released,
        },
        /// From the leader: what earlier leaders let go has been told again where it mattered.
        74 => Reported {
            /// The term.
            term: u64,
        },
        /// A message of [`crate::plug`] for a task of that host, or for its daemon.
        60 => Post {
            /// The task to which it goes.
            to: Tid,
            /// The message.
            message: Message,
        },
        /// A task wants a direct route to one of this host.
        40 => RouteWanted {
            /// The task that wants it.
            from: Tid,
            /// To whom.
            to: Tid,
        },
        /// The answer. If it is yes, the host with the higher place calls the other one.
        41 => RouteAnswer {
            /// The task that wants it.
            from: Tid,
            /// To whom.
            to: Tid,
            /// True if it will be.
            agreed: bool,
        },
        /// The direct route of two tasks broke: what its receiver has not confirmed goes by the
        /// daemons.
        42 => RouteBroken {
            /// The sender, here.
            from: Tid,
            /// The receiver, there.
            to: Tid,
        },
    }

    /// A change of what all hosts agree on, applied by all in the same order. (10 froze a group.)
    pub enum Command {
        /// A host joins.
        1 => AddHost {
            /// The facts that it told of itself.
            facts: HostFacts,
            /// True where one more daemon on a computer of the machine is wanted. Otherwise a
            /// host of a name or on a computer that is in already is refused.
            again: bool,
        },
        /// A host leaves.
        2 => RemoveHost {
            /// The host.
            host: HostIndex,
            /// True if it died, false if it was deleted.
            dead: bool,
        },
        /// `pvm_putinfo`.
        3 => PutInfo {
            /// Name.
            name: Blob,
            /// Flags.
            flags: i32,
            /// Owner.
            owner: Tid,
            /// Contents.
            message: Message,
        },
        /// `pvm_recvinfo` with `PvmMboxReadAndDelete`.
        4 => TakeInfo {
            /// Name.
            name: Blob,
            /// Index.
            index: i32,
            /// Flags.
            flags: i32,
            /// The task that takes it.
            asker: Tid,
        },
        /// `pvm_delinfo`.
        5 => DelInfo {
            /// Name.
            name: Blob,
            /// Index.
            index: i32,
            /// Flags.
            flags: i32,
            /// The task that deletes it.
            asker: Tid,
        },
        /// Delete what a task has put under a name.
        6 => Withdraw {
            /// Name.
            name: Blob,
            /// Owner.
            owner: Tid,
        },
        /// Delete the named messages whose owners are gone.
        7 => ClearNames,
        /// `pvm_joingroup`.
        8 => JoinGroup {
            /// Group.
            group: Blob,
            /// The new member.
            tid: Tid,
        },
        /// `pvm_lvgroup`.
        9 => LeaveGroup {
            /// Group.
            group: Blob,
            /// The member.
            tid: Tid,
        },
        /// A task is gone: its memberships end, its named messages go or lose their owner.
        11 => TaskGone {
            /// The task.
            tid: Tid,
        },
        /// A host is dead: nothing of it counts from here on.
        70 => Fence {
            /// The host.
            host: HostIndex,
            /// The life of the host: the number of the command that let it in.
            incarnation: u64,
        },
        /// All members have called `pvm_freezegroup`.
        71 => Freeze {
            /// Group.
            group: Blob,
            /// The askers to be answered: hosts and their numbers of the request.
            asks: Vec<(HostIndex, u64)>,
        },
        /// A piece of a command that is too long for one place of the order. Pieces of one host
        /// follow one another; the command counts where its last piece stands.
        102 => Piece {
            /// The offset in the command; 0 begins another one.
            offset: u64,
            /// True if it is the last one.
            last: bool,
            /// The bytes.
            bytes: Blob,
        },
        /// A task has left the machine in order: its memberships end.
        100 => TaskLeft {
            /// The task.
            tid: Tid,
        },
        /// A host gets no new tasks from now on, or gets them again.
        12 => DrainHost {
            /// The host.
            host: HostIndex,
            /// True if it is to be drained.
            on: bool,
        },
        /// A host that is still being drained has no tasks left: it leaves.
        13 => Retire {
            /// The host.
            host: HostIndex,
        },
        /// The addresses of a host have changed.
        14 => SetAddresses {
            /// The host.
            host: HostIndex,
            /// `ADDRESS:PORT`, in the order to be tried.
            addresses: Vec<String>,
        },
        /// Lines of a host file for hosts that are not added now.
        15 => KnowHosts {
            /// Its lines.
            lines: Vec<Blob>,
        },
        /// The rules while the machine has two hosts.
        16 => SetRules {
            /// The account of the witness, if that is to change.
            witness: Option<Blob>,
            /// True if a host goes on that hears nothing of the other one; none if that is not to
            /// change.
            survive: Option<bool>,
        },
    }

    /// News about a task's output.
    pub enum OutputNews {
        /// The task was started, its output goes to this receiver.
        1 => Begin {
            /// Its parent as `pvm_parent` would tell.
            parent: i32,
        },
        /// It goes to this receiver from now on.
        2 => Moved {
            /// Its parent as `pvm_parent` would tell.
            parent: i32,
        },
        /// It wrote.
        3 => Bytes {
            /// The bytes of the piece.
            bytes: Blob,
        },
        /// No more comes to this receiver.
        4 => End,
    }
}

record! {
    /// Tasks that waited for one another, and wait no longer. Every host that one of them is on is
    /// told the whole list, and keeps it until all have heard it.
    pub struct Released {
        /// The leader's term.
        pub term: u64,
        /// Counts what was let go in this term.
        pub number: u64,
        /// Up to this number all hosts have heard everything.
        pub settled: u64,
        /// The askers: hosts and their numbers of the request.
        pub asks: Vec<(HostIndex, u64)>,
        /// The reply to them.
        pub reply: Reply,
    }

    /// A command that started tasks with [`Request::Run`], somewhere in the machine.
    pub struct Operator {
        /// Its host.
        pub host: HostIndex,
        /// Its connection there.
        pub connection: u64,
        /// The number of its request.
        pub id: u32,
    }

    /// The facts that a daemon tells of itself when it joins.
    #[derive(Default)]
    pub struct HostFacts {
        /// The name that it goes by (made unique by the machine: NAME, NAME.2 ...).
        pub name: Blob,
        /// Architecture name, such as `LINUX64`.
        pub arch: Blob,
        /// PVM's signature of the data layout (x86-64: 0x408c41).
        pub signature: i32,
        /// Cores.
        pub cores: u32,
        /// Speed from the host file (`sp=`). 0 where nothing is said, until the machine lets the
        /// host in.
        pub speed: i32,
        /// The daemon's measurement of its computer: operations in a millisecond, or 0 for none.
        pub measured: u32,
        /// The addresses at which other daemons reach it, `ADDRESS:PORT`, in the order in which
        /// they try.
        pub addresses: Vec<String>,
        /// Fingerprint of its key (SHA-256 of the certificate's public key).
        pub key: Blob,
        /// The folders in which the host looks for programs (`ep=`).
        pub search: Vec<Blob>,
        /// The folder in which its tasks start (`wd=`), empty for the user's home.
        pub directory: Blob,
        /// The program that runs tasks under a debugger there (`bx=`), empty for the one of the
        /// installation.
        pub debugger: Blob,
        /// NeoPVM's version.
        pub version: String,
        /// Tells computers apart, whatever names they are reached by: equal for all daemons on
        /// one. Empty where it is not known.
        pub computer: Blob,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    #[test]
    fn what_machines_say_survives_the_way_there_and_back() {
        let command = Command::JoinGroup { group: "g".into(), tid: Tid(0x40001) };
        let put = Said::Put { term: 7, ticket: 3, command };
        let message = PeerMessage::Ordered { sequence: 1, said: put };
        assert_eq!(PeerMessage::from_bytes(&message.to_bytes()), Ok(message));
    }
}
