//! Requests that wait for an answer that this host cannot give at once.
//!
//! A question to another host has a deadline, so that no request waits for ever for a silent host.
//! A request that other *tasks* must fulfil (a barrier, a named message) has none.

use crate::agreed::WAIT_FOR_INFO;
use crate::deadline::{Deadline, Precedence};
use crate::io::Connection;
use crate::records::{Change, Slot, Table};

use pvm_wire::peer::{HostFacts, Operator, Said};
use pvm_wire::request::{HostLoad, HostResult, Reply, Request, SpawnRequest, TaskInfo};
use pvm_wire::{Blob, HostIndex, Tid, choice, record};

choice! {
    /// The receiver of an answer.
    pub enum Asker {
        /// A request on this host's socket.
        1 => Connection {
            connection: Connection,
            id: u32,
        },
        /// Another host, on behalf of a request there.
        2 => Peer {
            host: HostIndex,
            ask: u64,
        },
        /// A spawn call that has asked a host to start its share.
        3 => Share {
            batch: u64,
            host: HostIndex,
        },
        /// A list that is being gathered from all hosts.
        4 => List {
            list: u64,
        },
        /// A manager that has ordered tasks or hosts: the tag of what it is told, the number that
        /// it gave, and how many it wanted.
        80 => Order {
            manager: Tid,
            tag: i32,
            wait: u32,
            count: u32,
        },
        /// No receiver.
        5 => Nobody,
        /// A change of the host table that is to be answered once it is known everywhere.
        7 => Change {
            change: u64,
            /// Its place among the results.
            place: u32,
        },
        /// A host that has been asked whether it knows of a change.
        8 => Settled {
            change: u64,
            host: HostIndex,
        },
        /// A task that joins or leaves a group: to be answered once all hosts show it.
        100 => Joined {
            change: u64,
        },
        /// A host that has been asked whether it shows a change of a group.
        101 => Shown {
            change: u64,
            host: HostIndex,
        },
        /// A host that has been asked whether it hears another.
        102 => Opinion {
            of: HostIndex,
            by: HostIndex,
            round: u64,
        },
        /// A host that was being drained and is added again.
        10 => Kept {
            addition: u64,
            place: u32,
            host: HostIndex,
        },
        /// A host that has been asked how busy it is.
        9 => Load {
            weighing: u64,
            host: HostIndex,
        },
        /// A request that names a host that is not known here: once the leader has said how far the
        /// order is, and that is applied here, the request is looked at again.
        6 => Again {
            request: u64,
        },
    }
}

record! {
    /// A question to another host.
    pub struct Question {
        pub asker: Asker,
        pub host: HostIndex,
        pub deadline: Deadline,
    }

    /// A question to the leader. Every new leader is asked again.
    pub struct HomeAsk {
        pub asker: Asker,
        pub tid: Tid,
        pub deadline: Deadline,
        /// The wanted message, for a read that waits until there is one.
        pub want: Option<Want>,
        pub request: Request,
        /// The last command that had been applied here when it was asked first.
        pub since: u64,
        /// The term whose leader was asked, 0 for none yet.
        pub term: u64,
    }

    /// A proposed command.
    pub struct Proposal {
        pub asker: Asker,
        pub deadline: u64,
        /// The wanted message, for a read that waits until there is one.
        pub want: Option<Want>,
        /// The answer, if it is not the command's own outcome.
        pub reply: Option<Reply>,
    }

    /// The message that a reader waits for (`PvmMboxWaitForInfo`). Without that flag it has given
    /// up meanwhile.
    pub struct Want {
        pub name: Blob,
        pub index: i32,
        pub flags: i32,
        pub tid: Tid,
    }

    /// A reader that waits.
    pub struct Reader {
        pub asker: Asker,
        pub want: Want,
    }

    /// Something to be said to a host that is not known here yet.
    pub struct Late {
        pub host: HostIndex,
        pub deadline: u64,
        pub said: Said,
    }

    /// A request that waits for the host table.
    pub struct HostTableRequest {
        /// The command that must have been applied, 0 while it is not known.
        pub after: u64,
        pub asker: Asker,
        pub tid: Tid,
        pub request: Request,
    }

    /// A task list that is being gathered.
    pub struct List {
        pub asker: Asker,
        pub waiting: u32,
        pub tasks: Vec<TaskInfo>,
    }

    /// A daemon that is being started.
    pub struct Start {
        pub addition: u64,
        /// Its place in the answer.
        pub place: u32,
        pub deadline: u64,
        /// The facts that it has told of itself, if it has.
        pub facts: Option<HostFacts>,
        /// True once it has been proposed: the order of the table is waited for.
        pub proposed: bool,
        /// The line that it was started with; empty for one more on this computer.
        pub line: Blob,
    }

    /// A change of the host table: it is answered once all members know of it.
    pub struct HostChange {
        pub asker: Asker,
        pub results: Vec<HostResult>,
        /// Proposals of which the outcome is not known.
        pub open: u32,
        /// Members that have not said that they know of it.
        pub waiting: Vec<HostIndex>,
        /// Hosts that it has let in: what became of them is waited for.
        pub new: Vec<HostIndex>,
        /// True once only those are waited for.
        pub joining: bool,
        /// Unset while proposals are open.
        pub deadline: Deadline,
    }

    /// A change of a group that is to be shown by all hosts before it is answered.
    pub struct GroupChange {
        pub asker: Asker,
        pub reply: Reply,
        /// Hosts that may not show it yet.
        pub waiting: Vec<HostIndex>,
        /// Unset until it is ordered.
        pub deadline: Deadline,
    }

    /// A host that wants to know when a command's changes of groups are shown here.
    pub struct Onlooker {
        pub asker: Asker,
        pub number: u64,
    }

    /// A member that wants to know when the host table here has reached `epoch`.
    pub struct Awaiting {
        pub asker: Asker,
        pub epoch: u64,
    }

    /// A spawn call that waits until the hosts have told how busy they are.
    pub struct Weighing {
        pub start: SpawnStart,
        pub spawn: SpawnRequest,
        pub loads: Vec<HostLoad>,
        /// The number of hosts that have not answered.
        pub open: u32,
    }

    /// The asker of a spawn call, and on whose behalf it starts tasks.
    pub struct SpawnStart {
        pub asker: Asker,
        /// As `pvm_parent` shall tell: an id or a code.
        pub parent: i32,
        /// The command whose run the tasks will belong to.
        pub operator: Option<Operator>,
        /// True if it is the command itself that asks for them.
        pub direct: bool,
    }

    /// A request to add hosts.
    pub struct Addition {
        pub asker: Asker,
        /// The outcome of each line; none while it is not known.
        pub results: Vec<Option<HostResult>>,
        /// Until when a daemon that is ready waits for daemons named before it.
        pub precedence: Precedence,
        /// The hosts that it has let in.
        pub new: Vec<HostIndex>,
    }
}

impl Want {
    /// False once the reader has given up.
    pub(crate) const fn waits(&self) -> bool {
        self.flags & WAIT_FOR_INFO != 0
    }
}

/// All requests that wait on this host.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) questions: Table<u64, Question>,
    pub(crate) proposals: Table<u64, Proposal>,
    pub(crate) readers: Table<u64, Reader>,
    pub(crate) home_asks: Table<u64, HomeAsk>,
    pub(crate) late: Table<u64, Late>,
    pub(crate) held: Table<u64, HostTableRequest>,
    pub(crate) lists: Table<u64, List>,
    pub(crate) starts: Table<u64, Start>,
    pub(crate) additions: Table<u64, Addition>,
    pub(crate) changes: Table<u64, HostChange>,
    pub(crate) awaiting: Table<u64, Awaiting>,
    pub(crate) group_changes: Table<u64, GroupChange>,
    pub(crate) onlookers: Table<u64, Onlooker>,
    pub(crate) weighings: Table<u64, Weighing>,
    count: Slot<u64>,
}

impl Pending {
    pub(crate) const fn new() -> Self {
        Self {
            questions: Table::new(b'a'),
            proposals: Table::new(b'b'),
            readers: Table::new(b'i'),
            home_asks: Table::new(b'Z'),
            late: Table::new(b'X'),
            held: Table::new(b'u'),
            lists: Table::new(b'l'),
            starts: Table::new(b's'),
            additions: Table::new(b'd'),
            changes: Table::new(b'L'),
            awaiting: Table::new(b'M'),
            group_changes: Table::new(b'['),
            onlookers: Table::new(b']'),
            weighings: Table::new(b'I'),
            count: Slot::new(b'A', 0),
        }
    }

    /// A number for something that waits.
    pub(crate) const fn number(&mut self) -> u64 {
        self.count.next()
    }

    /// The earliest deadline.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let questions = self.questions.values().filter_map(|q| q.deadline.moment());
        let asks = self.home_asks.values().filter_map(|a| a.deadline.moment());
        let late = self.late.values().map(|l| l.deadline);
        let proposals = self.proposals.values().map(|p| p.deadline);
        let starts = self.starts.values().map(|s| s.deadline);
        let changes = self.changes.values().filter_map(|c| c.deadline.moment());
        let groups = self.group_changes.values().filter_map(|c| c.deadline.moment());
        let turns = self.additions.values().filter_map(|a| a.precedence.moment());
        let all = questions.chain(asks).chain(late).chain(proposals);
        all.chain(starts).chain(changes).chain(groups).chain(turns).min()
    }

    /// The proposals whose time has come, each with the number by which this host knows it: their
    /// askers are to be told.
    pub(crate) fn take_overdue_proposals(&mut self, now: u64) -> Vec<(u64, Asker)> {
        let overdue = self.proposals.keys_where(|_, p| p.deadline <= now);
        let take = |key| Some((key, self.proposals.remove(&key)?.asker));
        overdue.into_iter().filter_map(take).collect()
    }

    pub(crate) fn take_overdue(&mut self, now: u64) -> Vec<Asker> {
        let mut askers = Vec::new();
        for key in self.questions.keys_where(|_, q| q.deadline.is_over(now)) {
            askers.extend(self.questions.remove(&key).map(|q| q.asker));
        }
        for key in self.home_asks.keys_where(|_, a| a.deadline.is_over(now)) {
            askers.extend(self.home_asks.remove(&key).map(|a| a.asker));
        }
        askers
    }

    /// The questions to a host that will not answer any more.
    pub(crate) fn take_asked(&mut self, host: HostIndex) -> Vec<Asker> {
        let keys = self.questions.keys_where(|_, q| q.host == host);
        keys.iter().filter_map(|key| self.questions.remove(key)).map(|q| q.asker).collect()
    }

    /// A member is gone that may have waited for changes of the host table.
    pub(crate) fn forget_awaiting(&mut self, gone: HostIndex) {
        let is_gone = |asker: &Asker| matches!(asker, Asker::Peer { host, .. } if *host == gone);
        for key in self.awaiting.keys_where(|_, awaiting| is_gone(&awaiting.asker)) {
            self.awaiting.remove(&key);
        }
        for key in self.onlookers.keys_where(|_, onlooker| is_gone(&onlooker.asker)) {
            self.onlookers.remove(&key);
        }
    }

    /// A task is gone, and with it what it waited for.
    pub(crate) fn forget_reader(&mut self, tid: Tid) {
        for key in self.readers.keys_where(|_, reader| reader.want.tid == tid) {
            self.readers.remove(&key);
        }
        for key in
            self.home_asks.keys_where(|_, ask| ask.tid == tid && ask.deadline == Deadline::Unset)
        {
            self.home_asks.remove(&key);
        }
    }

    /// A connection has ended, and with it what was waited for on it.
    pub(crate) fn forget_connection(&mut self, closed: Connection) {
        let is_closed = |asker: &Asker| match asker {
            Asker::Connection { connection, .. } => *connection == closed,
            _ => false,
        };
        for key in self.readers.keys_where(|_, reader| is_closed(&reader.asker)) {
            self.readers.remove(&key);
        }
    }

    /// The readers that wait for something under this name.
    pub(crate) fn take_readers(&mut self, name: &Blob) -> Vec<Reader> {
        let keys = self.readers.keys_where(|_, reader| reader.want.name == *name);
        keys.iter().filter_map(|key| self.readers.remove(key)).collect()
    }

    /// The names that readers wait for.
    pub(crate) fn names_wanted(&self) -> Vec<Blob> {
        let mut names: Vec<_> = self.readers.values().map(|r| r.want.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The messages that waited until a host was known, in sequence.
    pub(crate) fn take_late(&mut self, fits: impl Fn(&Late) -> bool) -> Vec<Late> {
        let keys = self.late.keys_where(|_, late| fits(late));
        keys.iter().filter_map(|key| self.late.remove(key)).collect()
    }

    /// One more part of a list has come; the list, if it is complete now.
    pub(crate) fn list_part(&mut self, number: u64, reply: Reply) -> Option<List> {
        let list = self.lists.get_mut(&number)?;
        if let Reply::Tasks { mut tasks } = reply {
            list.tasks.append(&mut tasks);
        }
        list.waiting -= 1;
        if list.waiting > 0 {
            return None;
        }
        let mut list = self.lists.remove(&number)?;
        list.tasks.sort_by_key(|task| task.tid);
        Some(list)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.questions.take_changes(out);
        self.proposals.take_changes(out);
        self.readers.take_changes(out);
        self.home_asks.take_changes(out);
        self.late.take_changes(out);
        self.held.take_changes(out);
        self.lists.take_changes(out);
        self.starts.take_changes(out);
        self.additions.take_changes(out);
        self.changes.take_changes(out);
        self.awaiting.take_changes(out);
        self.group_changes.take_changes(out);
        self.onlookers.take_changes(out);
        self.weighings.take_changes(out);
        self.count.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.questions.restore(key, value)
            || self.proposals.restore(key, value)
            || self.readers.restore(key, value)
            || self.home_asks.restore(key, value)
            || self.late.restore(key, value)
            || self.held.restore(key, value)
            || self.lists.restore(key, value)
            || self.starts.restore(key, value)
            || self.additions.restore(key, value)
            || self.changes.restore(key, value)
            || self.awaiting.restore(key, value)
            || self.group_changes.restore(key, value)
            || self.onlookers.restore(key, value)
            || self.weighings.restore(key, value)
            || self.count.restore(key, value)
    }
}
