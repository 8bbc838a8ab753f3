//! Writes the frames of several hosts' recorders into one trace.

mod account;
mod history;

use crate::error::Error;
use crate::file::Writer;
use crate::tables::{Gap, TaskIndex};
use account::Account;
use history::History;
use pvm_wire::record::frames::{Cells, Frame, TaskFacts};
use pvm_wire::record::{DecodedRecords, Loss, Moment, RECORD_VERSION, Record, Scale, What};
use pvm_wire::{HostIndex, Tid};
use std::collections::HashMap;
use std::io::{Seek, Write};

/// The largest error of a task's begin, which is computed from a later look at its ring.
const BEGAN_ERROR: u64 = 100_000_000;

/// Writes frames of recorders into a trace.
#[derive(Debug)]
pub struct Intake<W> {
    writer: Writer<W>,
    tasks: HashMap<Tid, TaskIndex>,
    /// The histories of tasks that have not ended.
    histories: HashMap<TaskIndex, History>,
    /// The accounts of all tasks: a recorder that was replaced may report an end once more.
    accounts: HashMap<TaskIndex, Account>,
    /// The number of records in the file, and the number of those that are known to be missing.
    records: u64,
    lost: u64,
    /// By host: the time up to which all records of it have arrived.
    told: HashMap<HostIndex, u64>,
    /// By host: the begin of its first recorder.
    began: HashMap<HostIndex, u64>,
}

impl<W: Write + Seek> Intake<W> {
    /// Writes into this trace.
    pub fn new(writer: Writer<W>) -> Self {
        let (tasks, told, began) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (histories, accounts) = (HashMap::new(), HashMap::new());
        Self { writer, tasks, histories, accounts, records: 0, lost: 0, told, began }
    }

    /// The writer of the trace, for facts that do not come from a recorder.
    pub const fn writer(&mut self) -> &mut Writer<W> {
        &mut self.writer
    }

    /// The number of records so far, and the number of those that are known to be missing.
    pub const fn counts(&self) -> (u64, u64) {
        (self.records, self.lost)
    }

    /// Writes a frame of the recorder of `host`. Returns true for its last frame.
    pub fn take(&mut self, host: HostIndex, frame: Frame) -> Result<bool, Error> {
        match frame {
            Frame::Head { version, .. } if version != RECORD_VERSION => {
                let known = RECORD_VERSION;
                return Err(Error::Version { found: version, known });
            }
            Frame::Head { host: facts, .. } => {
                self.began.entry(host).or_insert(facts.began);
                self.writer.host(facts)?;
            }
            Frame::Task { task } => self.task(host, task)?,
            // Names that are repeated have no time and no numbers.
            Frame::Block { tid, from, to, cells, .. } if from == to => {
                if let Some(task) = self.tasks.get(&tid).copied() {
                    self.records_of(task, &Scale::new(from, to), &cells)?;
                }
            }
            Frame::Block { tid, first, from, to, cells } => {
                if let Some(task) = self.tasks.get(&tid).copied() {
                    self.block(host, task, (from, to), (first, &cells))?;
                }
            }
            Frame::Gap { tid, from, to, lost: 0, reason, .. } => {
                let task = self.tasks.get(&tid).copied();
                self.writer.gap(Gap { host: Some(host), task, from, to, lost: 0, reason })?;
            }
            Frame::Gap { tid, first, from, to, lost, reason } => {
                let task = self.tasks.get(&tid).copied();
                let missing = match task {
                    Some(task) => self.account(task).told((first, lost), reason),
                    None => lost,
                };
                self.missing(Gap { host: Some(host), task, from, to, lost: missing, reason })?;
            }
            Frame::Clock { pair } => self.writer.clock(host, pair)?,
            Frame::Ended { tid, at, status, read } => {
                if let Some(task) = self.tasks.get(&tid).copied() {
                    self.histories.remove(&task);
                    let missing = self.account(task).told((read, 0), Loss::Recorder);
                    self.unsent(host, task, at, missing)?;
                    let ended = self.account(task).ended(at, status);
                    self.writer.ended(task, ended)?;
                }
            }
            // This frame is for the comparison of clocks.
            Frame::Shows { .. } => (),
            Frame::End { .. } => return Ok(true),
        }
        Ok(false)
    }

    /// Handles a stream that ended without its last frame, at this time of the host: the records
    /// since its last frame are missing.
    pub fn broken(&mut self, host: HostIndex, at: u64) -> Result<(), Error> {
        let from = self.told.get(&host).map_or(at, |told| at.min(*told));
        let (to, lost, reason) = (at, 0, Loss::Link);
        self.writer.gap(Gap { host: Some(host), task: None, from, to, lost, reason })
    }

    /// Completes the trace.
    pub fn finish(self) -> Result<W, Error> {
        self.writer.finish()
    }

    /// Adds a task. A recorder that was replaced, or that gets another request, repeats its tasks,
    /// also those that have ended. A tid that comes again belongs to another process.
    ///
    /// A task that began after the recording is recorded from its first record on, whichever
    /// recorder reports it first.
    fn task(&mut self, host: HostIndex, task: TaskFacts) -> Result<(), Error> {
        let known = self
            .tasks
            .get(&task.tid)
            .and_then(|known| self.writer.tables().tasks.get(*known as usize));
        let is_other =
            |known: &crate::Task| known.ended.is_some() && known.facts.process != task.process;
        if known.is_none_or(is_other) {
            let (tid, began) = (task.tid, task.began);
            let is_named = !task.program.0.is_empty();
            let index = self.writer.task(task)?;
            self.tasks.insert(tid, index);
            let is_later = |recording: &u64| recording.saturating_add(BEGAN_ERROR) < began;
            // The begin of a task without a program was not read.
            if is_named && self.began.get(&host).is_some_and(is_later) {
                self.accounts.insert(index, Account::from_the_first_record(began));
            }
        }
        Ok(())
    }

    fn account(&mut self, task: TaskIndex) -> &mut Account {
        self.accounts.entry(task).or_default()
    }

    /// Adds a gap, if it has records.
    fn missing(&mut self, gap: Gap) -> Result<(), Error> {
        if gap.lost == 0 {
            return Ok(());
        }
        self.lost = self.lost.saturating_add(gap.lost);
        self.writer.gap(gap)
    }

    /// Adds a gap for records of a task that were noted before this time and that no recorder has
    /// sent.
    fn unsent(
        &mut self,
        host: HostIndex,
        task: TaskIndex,
        to: u64,
        lost: u64,
    ) -> Result<(), Error> {
        let from = self.account(task).at.min(to);
        let (host, task, reason) = (Some(host), Some(task), Loss::Recorder);
        self.missing(Gap { host, task, from, to, lost, reason })
    }

    /// Writes the records of a ring between two looks at it; the first one has this number.
    fn block(
        &mut self,
        host: HostIndex,
        task: TaskIndex,
        (from, to): (Moment, Moment),
        (first, cells): (u64, &Cells),
    ) -> Result<(), Error> {
        self.histories.entry(task).or_default().add(from, to);
        // The recorder has read every ring since its last look at this one.
        let told = self.told.entry(host).or_default();
        *told = from.nanoseconds.max(*told);
        let came = self.records_of(task, &Scale::new(from, to), cells)?;
        self.records = self.records.saturating_add(came.records);
        let count = came.records + came.names + came.damaged;
        let missing = self.account(task).came((first, count), came.records);
        self.unsent(host, task, from.nanoseconds, missing)?;
        self.account(task).at = to.nanoseconds;
        self.account(task).damaged(came.damaged);
        let (at, reason) = (came.last, Loss::Damaged);
        let (host, task, lost) = (Some(host), Some(task), came.damaged);
        self.missing(Gap { host, task, from: at, to: at, lost, reason })
    }

    /// Writes records of a task.
    fn records_of(&mut self, task: TaskIndex, scale: &Scale, cells: &Cells) -> Result<Came, Error> {
        let history = self.histories.entry(task).or_default();
        let mut came = Came::default();
        for record in DecodedRecords::new(&cells.0) {
            let Ok(record) = record else {
                came.damaged += 1;
                continue;
            };
            let is_in_tables = matches!(record.what, What::Name { .. } | What::Gap { .. });
            *(if is_in_tables { &mut came.names } else { &mut came.records }) += 1;
            let [begin, end] =
                [record.begin, record.end()].map(|ticks| history.nanoseconds(ticks, scale));
            came.last = end;
            let told = Record { begin, length: end.saturating_sub(begin), ..record };
            self.writer.record(task, &told)?;
        }
        Ok(came)
    }
}

/// The content of a block.
#[derive(Default)]
struct Came {
    records: u64,
    /// The number of names and the like, which are not records of a file.
    names: u64,
    /// The number of damaged records.
    damaged: u64,
    /// The end of the last one.
    last: u64,
}
