//! Spawn calls that are not answered yet, and the tasks that commands have started.

use crate::pending::Asker;
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Operator;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, HostIndex, Tid, record};

record! {
    /// A spawn call, or the share of one that another host has asked for.
    pub struct Batch {
        pub asker: Asker,
        /// The command that runs them, if it is one of this host's.
        pub operator: Option<Operator>,
        pub places: Vec<Place>,
        /// Where a program that was not found was looked for.
        pub tried: Vec<Blob>,
        pub deadline: u64,
    }

    /// One task of a spawn call.
    pub struct Place {
        pub host: HostIndex,
        /// Its id, where this host has given it.
        pub tid: Tid,
        /// An id or a code, once it is known.
        pub outcome: Option<i32>,
    }

    /// The tasks of one `Run` of a command of this host.
    pub struct Run {
        /// False until the command was told which tasks there are.
        pub spawned: bool,
        /// What it is told after that.
        pub early: Vec<Reply>,
        pub left: Vec<Tid>,
    }
}

/// Key of a run: connection and request number.
type RunKey = (u64, u32);

/// Spawn calls and runs.
#[derive(Debug)]
pub(crate) struct Launches {
    batches: Table<u64, Batch>,
    count: Slot<u64>,
    runs: Table<RunKey, Run>,
}

impl Launches {
    pub(crate) const fn new() -> Self {
        Self { batches: Table::new(b'y'), count: Slot::new(b'Y', 0), runs: Table::new(b'z') }
    }

    pub(crate) fn add(&mut self, batch: Batch) -> u64 {
        let number = self.count.next();
        self.batches.insert(number, batch);
        number
    }

    /// The ids that this host gave to its places of a batch, in order.
    pub(crate) fn assign(&mut self, batch: u64, me: HostIndex, tids: &[Tid]) {
        let Some(batch) = self.batches.get_mut(&batch) else { return };
        let own = batch.places.iter_mut().filter(|place| place.host == me);
        own.zip(tids).for_each(|(place, tid)| place.tid = *tid);
    }

    /// What became of one task; the batch, if it was the last.
    pub(crate) fn settle(
        &mut self,
        number: u64,
        tid: Tid,
        outcome: i32,
        tried: Vec<Blob>,
    ) -> Option<Batch> {
        let batch = self.batches.get_mut(&number)?;
        let mut open = batch.places.iter_mut().filter(|place| place.outcome.is_none());
        if let Some(place) = open.find(|place| place.tid == tid && tid != Tid::NONE) {
            place.outcome = Some(outcome);
        }
        batch.try_more(tried);
        self.take_if_complete(number)
    }

    /// What became of the tasks of one host: an outcome for each, or one for all.
    pub(crate) fn settle_host(
        &mut self,
        number: u64,
        host: HostIndex,
        outcomes: &[i32],
        otherwise: Code,
        tried: Vec<Blob>,
    ) -> Option<Batch> {
        let batch = self.batches.get_mut(&number)?;
        let mut outcomes = outcomes.iter().copied();
        for place in batch.places.iter_mut().filter(|p| p.host == host && p.outcome.is_none()) {
            place.outcome = Some(outcomes.next().unwrap_or_else(|| otherwise.number()));
        }
        batch.try_more(tried);
        self.take_if_complete(number)
    }

    fn take_if_complete(&mut self, number: u64) -> Option<Batch> {
        let complete =
            self.batches.get(&number)?.places.iter().all(|place| place.outcome.is_some());
        complete.then(|| self.batches.remove(&number))?
    }

    /// Batches whose time has come, with the hosts that are still to be heard.
    pub(crate) fn overdue(&self, now: u64) -> Vec<(u64, Vec<HostIndex>)> {
        let late = self.batches.iter().filter(|(_, batch)| batch.deadline <= now);
        late.map(|(&number, batch)| {
            let open = batch.places.iter().filter(|place| place.outcome.is_none());
            (number, open.map(|place| place.host).collect())
        })
        .collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.batches.values().map(|batch| batch.deadline).min()
    }

    pub(crate) fn contains(&self, batch: u64) -> bool {
        self.batches.contains(&batch)
    }

    /// A command starts tasks.
    pub(crate) fn start_run(&mut self, operator: &Operator) {
        let run = Run { spawned: false, early: Vec::new(), left: Vec::new() };
        self.runs.insert((operator.connection, operator.id), run);
    }

    /// Its tasks are known now. Returns what it is to be told next, in order.
    pub(crate) fn spawned(&mut self, operator: &Operator, tids: Vec<Tid>) -> Vec<Reply> {
        let key = (operator.connection, operator.id);
        let Some(run) = self.runs.get_mut(&key) else { return Vec::new() };
        run.spawned = true;
        run.left = tids;
        let early = std::mem::take(&mut run.early);
        let mut replies: Vec<_> =
            early.into_iter().flat_map(|reply| self.tell(operator, reply)).collect();
        if self.runs.get(&key).is_some_and(|run| run.left.is_empty()) {
            self.runs.remove(&key);
            replies.push(Reply::Finished);
        }
        replies
    }

    /// Something for the command about its tasks. Returns what it is to be told now.
    pub(crate) fn tell(&mut self, operator: &Operator, reply: Reply) -> Vec<Reply> {
        let key = (operator.connection, operator.id);
        let Some(run) = self.runs.get_mut(&key) else { return Vec::new() };
        if !run.spawned {
            run.early.push(reply);
            return Vec::new();
        }
        if let Reply::Exited { tid, .. } = reply {
            let Some(at) = run.left.iter().position(|&left| left == tid) else {
                return Vec::new();
            };
            run.left.swap_remove(at);
            if run.left.is_empty() {
                self.runs.remove(&key);
                return vec![reply, Reply::Finished];
            }
        }
        vec![reply]
    }

    /// The tasks of a command that still run.
    pub(crate) fn running(&self, connection: u64) -> Vec<Tid> {
        let runs = self.runs.range((connection, 0)..=(connection, u32::MAX));
        runs.flat_map(|(_, run)| run.left.iter().copied()).collect()
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
        self.count.take_changes(out);
        self.runs.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.batches.restore(key, value)
            || self.count.restore(key, value)
            || self.runs.restore(key, value)
    }
}

impl Batch {
    /// The ids of the tasks that were started.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let outcomes = self.places.iter().filter_map(|place| place.outcome);
        outcomes.filter(|&outcome| outcome > 0).map(Tid::from_c_int).collect()
    }

    fn try_more(&mut self, tried: Vec<Blob>) {
        for path in tried {
            if !self.tried.contains(&path) {
                self.tried.push(path);
            }
        }
    }
}
