//! Spawn calls that are not answered yet, and the tasks that commands have started.

use crate::deadline::Deadline;
use crate::pending::Asker;
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Operator;
use pvm_wire::request::{Reply, SpawnRequest};
use pvm_wire::{Blob, Code, HostIndex, Tid, record};
use std::collections::BTreeSet;

record! {
    /// A spawn call, or the share of one that another host has asked for.
    pub struct Batch {
        pub asker: Asker,
        /// The command whose run they belong to: only where the spawn call was made.
        pub operator: Option<Operator>,
        /// True if it was the command itself that asked for them, false if it was a task of its.
        pub direct: bool,
        /// The number of outcomes that are not known yet.
        pub open: u32,
        /// The folders in which a program that does not exist was searched.
        pub tried: Vec<Blob>,
        /// When this host no longer waits for the next one of its own tasks to start.
        pub deadline: Deadline,
    }

    /// One task of a spawn call.
    pub struct SpawnedTask {
        pub host: HostIndex,
        /// An id or a code, once it is known.
        pub outcome: Option<i32>,
    }

    /// The tasks of a batch that this host has not begun to start.
    pub struct Rest {
        pub spawn: SpawnRequest,
        /// As `pvm_parent` tells: an id or a code.
        pub parent: i32,
        pub operator: Option<Operator>,
        /// The host that the spawn call was made on.
        pub origin: HostIndex,
        pub count: u32,
        /// They are begun when this task has started, or has failed to.
        pub behind: Tid,
    }

    /// The tasks of one `Run` of a command of this host, and what they have spawned.
    pub struct Run {
        /// False until the command was told which tasks there are.
        pub spawned: bool,
        /// Replies that are sent to the command after that.
        pub early: Vec<Reply>,
        pub left: Vec<Tid>,
        /// Spawn calls of its tasks that go on, each as the host that it was made on.
        pub spawning: Vec<HostIndex>,
        /// Ends, with their statuses, that were heard before what such a call has started: each
        /// host tells in order, but one host can be faster than another.
        pub ended: Vec<(Tid, i32)>,
    }
}

/// A spawn call and a place in it. A place is a record of its own: what becomes of one task
/// does not put out those of all the others again.
pub(crate) type SpawnedTaskKey = (u64, u32);

/// A spawn call whose outcomes are all known.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) batch: Batch,
    /// An id or a code for each place.
    pub(crate) outcomes: Vec<i32>,
}

/// Key of a run: connection and request number.
type RunKey = (u64, u32);

/// Spawn calls and runs.
#[derive(Debug)]
pub(crate) struct Launches {
    batches: Table<u64, Batch>,
    places: Table<SpawnedTaskKey, SpawnedTask>,
    rests: Table<u64, Rest>,
    count: Slot<u64>,
    runs: Table<RunKey, Run>,
}

impl Launches {
    pub(crate) const fn new() -> Self {
        Self {
            batches: Table::new(b'y'),
            places: Table::new(b'P'),
            rests: Table::new(b'%'),
            count: Slot::new(b'Y', 0),
            runs: Table::new(b'z'),
        }
    }

    /// A spawn call with a place for each of `hosts`; returns its number.
    pub(crate) fn add(&mut self, batch: Batch, hosts: &[HostIndex]) -> u64 {
        let number = self.count.next();
        self.batches.insert(number, batch);
        for (at, &host) in (0..).zip(hosts) {
            self.places.insert((number, at), SpawnedTask { host, outcome: None });
        }
        number
    }

    /// The last tasks of a batch on this host wait until others have started.
    pub(crate) fn put_off(&mut self, number: u64, rest: Rest) {
        self.rests.insert(number, rest);
    }

    /// This task of a batch has started, or has failed to. Returns the tasks that waited for it, if
    /// somebody still waits for them.
    pub(crate) fn take_rest(&mut self, number: u64, tid: Tid) -> Option<Rest> {
        self.rests.get(&number).filter(|rest| rest.behind == tid)?;
        self.rests.remove(&number).filter(|_| self.batches.contains(&number))
    }

    /// The places of a batch on one host that are not settled yet, in order.
    pub(crate) fn open_places(&self, number: u64, host: HostIndex) -> Vec<SpawnedTaskKey> {
        let places = self.places.range((number, 0)..=(number, u32::MAX));
        let open = places.filter(|(_, place)| place.host == host && place.outcome.is_none());
        open.map(|(key, _)| *key).collect()
    }

    /// Notes the outcome of one task. Returns the whole, if it was the last.
    pub(crate) fn settle(
        &mut self,
        key: SpawnedTaskKey,
        outcome: i32,
        tried: Vec<Blob>,
    ) -> Option<Finished> {
        let batch = self.batches.get_mut(&key.0)?;
        batch.try_more(tried);
        let place = self.places.get_mut(&key).filter(|place| place.outcome.is_none())?;
        place.outcome = Some(outcome);
        batch.open -= 1;
        self.take_if_complete(key.0)
    }

    /// Notes the outcomes of the tasks of one host: one for each, or one for all.
    pub(crate) fn settle_host(
        &mut self,
        number: u64,
        host: HostIndex,
        outcomes: &[i32],
        otherwise: Code,
        tried: Vec<Blob>,
    ) -> Option<Finished> {
        self.batches.get_mut(&number)?.try_more(tried);
        let mut outcomes = outcomes.iter().copied();
        for key in self.open_places(number, host) {
            let outcome = outcomes.next().unwrap_or_else(|| otherwise.number());
            if let Some(finished) = self.settle(key, outcome, Vec::new()) {
                return Some(finished);
            }
        }
        self.take_if_complete(number)
    }

    fn take_if_complete(&mut self, number: u64) -> Option<Finished> {
        if self.batches.get(&number)?.open > 0 {
            return None;
        }
        let batch = self.batches.remove(&number)?;
        self.rests.remove(&number);
        let keys: Vec<_> =
            self.places.range((number, 0)..=(number, u32::MAX)).map(|(key, _)| *key).collect();
        let places = keys.iter().filter_map(|key| self.places.remove(key));
        let outcomes = places.filter_map(|place| place.outcome).collect();
        Some(Finished { batch, outcomes })
    }

    /// A spawn call that is given up: what is not started yet has failed. None if there is no such
    /// call; that of a command goes on, which gives up by going.
    pub(crate) fn give_up(&mut self, asker: &Asker, otherwise: Code) -> Option<Finished> {
        let is_it = |_: &u64, batch: &Batch| batch.asker == *asker && !batch.direct;
        let number = *self.batches.keys_where(is_it).first()?;
        let places = self.places.range((number, 0)..=(number, u32::MAX));
        let open = places.filter(|(_, place)| place.outcome.is_none()).map(|(key, _)| *key);
        let open: Vec<_> = open.collect();
        open.into_iter().find_map(|key| self.settle(key, otherwise.number(), Vec::new()))
    }

    /// The wait for the next task of a batch ends at another moment.
    pub(crate) fn set_deadline(&mut self, number: u64, deadline: Deadline) {
        if let Some(batch) = self.batches.get_mut(&number) {
            batch.deadline = deadline;
        }
    }

    /// Batches of which no task has started for too long. They have no deadline from now on.
    pub(crate) fn take_overdue(&mut self, now: u64) -> Vec<u64> {
        let overdue = self.batches.keys_where(|_, batch| batch.deadline.is_over(now));
        overdue.iter().for_each(|number| self.set_deadline(*number, Deadline::Unset));
        overdue
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.batches.values().filter_map(|batch| batch.deadline.moment()).min()
    }

    /// True where no spawn call and no run of a command goes on.
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.runs.is_empty()
    }

    pub(crate) fn contains(&self, batch: u64) -> bool {
        self.batches.contains(&batch)
    }

    /// A command starts tasks.
    pub(crate) fn start_run(&mut self, operator: &Operator) {
        let (early, left, spawning, ended) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let run = Run { spawned: false, early, left, spawning, ended };
        self.runs.insert((operator.connection, operator.id), run);
    }

    /// Its tasks are known now. Returns what it is to be told next, in order.
    pub(crate) fn spawned(&mut self, operator: &Operator, tids: Vec<Tid>) -> Vec<Reply> {
        let key = (operator.connection, operator.id);
        let Some(run) = self.runs.get_mut(&key) else { return Vec::new() };
        run.spawned = true;
        run.left.extend(tids);
        let early = std::mem::take(&mut run.early);
        let mut replies: Vec<_> =
            early.into_iter().flat_map(|reply| self.tell(operator, reply)).collect();
        replies.extend(self.finish_run(key));
        replies
    }

    /// A task of the run spawns.
    pub(crate) fn spawning(&mut self, operator: &Operator, host: HostIndex) {
        if let Some(run) = self.runs.get_mut(&(operator.connection, operator.id)) {
            run.spawning.push(host);
        }
    }

    /// Notes the outcome of such a spawn call. Returns the replies to the command, in sequence;
    /// none if the run is over.
    pub(crate) fn joined(
        &mut self,
        operator: &Operator,
        host: HostIndex,
        tids: &[Tid],
    ) -> Option<Vec<Reply>> {
        let key = (operator.connection, operator.id);
        let run = self.runs.get_mut(&key)?;
        let known: BTreeSet<Tid> = run.left.iter().copied().collect();
        let new: Vec<Tid> = tids.iter().copied().filter(|tid| !known.contains(tid)).collect();
        let ended: Vec<_> = run.ended.extract_if(.., |(tid, _)| new.contains(tid)).collect();
        run.left.extend(&new);
        if let Some(at) = run.spawning.iter().position(|&spawner| spawner == host) {
            run.spawning.swap_remove(at);
        }
        if run.spawning.is_empty() {
            run.ended.clear();
        }
        let joined = (!new.is_empty()).then_some(Reply::Joined { tids: new });
        let exits = ended.into_iter().map(|(tid, status)| Reply::Exited { tid, status });
        let news: Vec<_> = joined.into_iter().chain(exits).collect();
        let mut replies: Vec<_> =
            news.into_iter().flat_map(|reply| self.tell(operator, reply)).collect();
        replies.extend(self.finish_run(key));
        Some(replies)
    }

    /// A host is gone, and with it the tasks that were spawning there. Returns the runs that are
    /// over thereby.
    pub(crate) fn spawners_gone(&mut self, host: HostIndex) -> Vec<RunKey> {
        let keys = self.runs.keys_where(|_, run| run.spawning.contains(&host));
        for key in &keys {
            if let Some(run) = self.runs.get_mut(key) {
                run.spawning.retain(|&spawner| spawner != host);
            }
        }
        keys.into_iter().filter(|&key| self.finish_run(key).is_some()).collect()
    }

    /// The last thing to tell a command, once it is due.
    fn finish_run(&mut self, key: RunKey) -> Option<Reply> {
        self.runs.get(&key).filter(|run| run.is_over())?;
        self.runs.remove(&key);
        Some(Reply::Finished)
    }

    /// Something for the command about its tasks. Returns what it is to be told now.
    pub(crate) fn tell(&mut self, operator: &Operator, reply: Reply) -> Vec<Reply> {
        let key = (operator.connection, operator.id);
        let Some(run) = self.runs.get_mut(&key) else { return Vec::new() };
        if !run.spawned {
            run.early.push(reply);
            return Vec::new();
        }
        if let Reply::Exited { tid, status } = reply {
            let Some(at) = run.left.iter().position(|&left| left == tid) else {
                if !run.spawning.is_empty() {
                    run.ended.push((tid, status));
                }
                return Vec::new();
            };
            run.left.swap_remove(at);
        }
        [reply].into_iter().chain(self.finish_run(key)).collect()
    }

    /// The tasks of a command that still run, with the tasks that these have spawned.
    pub(crate) fn running(&self, connection: u64) -> Vec<Tid> {
        let runs = self.runs.range((connection, 0)..=(connection, u32::MAX));
        runs.flat_map(|(_, run)| run.left.iter().copied()).collect()
    }

    /// The tasks of a run will never be.
    pub(crate) fn forget_run(&mut self, operator: &Operator) {
        self.runs.remove(&(operator.connection, operator.id));
    }

    /// The command is gone.
    pub(crate) fn forget_runs(&mut self, connection: u64) {
        for key in self.runs.keys_where(|key, _| key.0 == connection) {
            self.runs.remove(&key);
        }
    }

    /// Runs with tasks on a host, with these tasks.
    pub(crate) fn running_on(&self, host: HostIndex) -> Vec<(RunKey, Tid)> {
        let tids = self.runs.iter().flat_map(|(&key, run)| run.left.iter().map(move |&t| (key, t)));
        tids.filter(|(_, tid)| tid.host() == host).collect()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.batches.take_changes(out);
        self.places.take_changes(out);
        self.rests.take_changes(out);
        self.count.take_changes(out);
        self.runs.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.batches.restore(key, value)
            || self.places.restore(key, value)
            || self.rests.restore(key, value)
            || self.count.restore(key, value)
            || self.runs.restore(key, value)
    }
}

impl Finished {
    /// The ids of the tasks that were started.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let started = self.outcomes.iter().filter(|&&outcome| outcome > 0);
        started.map(|&outcome| Tid::from_c_int(outcome)).collect()
    }
}

impl Run {
    const fn is_over(&self) -> bool {
        self.spawned && self.left.is_empty() && self.spawning.is_empty()
    }
}

impl Batch {
    fn try_more(&mut self, tried: Vec<Blob>) {
        for path in tried {
            if !self.tried.contains(&path) {
                self.tried.push(path);
            }
        }
    }
}
