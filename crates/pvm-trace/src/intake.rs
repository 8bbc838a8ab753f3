//! Writes the frames of several hosts' recorders into one trace.

mod history;

use crate::error::Error;
use crate::file::Writer;
use crate::tables::{Ended, Gap, TaskIndex};
use history::History;
use pvm_wire::record::frames::Frame;
use pvm_wire::record::{DecodedRecords, Loss, RECORD_VERSION, Record, Scale};
use pvm_wire::{HostIndex, Tid};
use std::collections::HashMap;
use std::io::{Seek, Write};

/// Takes frames of recorders into a trace.
#[derive(Debug)]
pub struct Intake<W> {
    writer: Writer<W>,
    tasks: HashMap<Tid, TaskIndex>,
    /// Of tasks that have not ended.
    histories: HashMap<TaskIndex, History>,
    /// Up to when each host has told all that was noted there.
    told: HashMap<HostIndex, u64>,
}

impl<W: Write + Seek> Intake<W> {
    /// Into this trace.
    pub fn new(writer: Writer<W>) -> Self {
        Self { writer, tasks: HashMap::new(), histories: HashMap::new(), told: HashMap::new() }
    }

    /// The trace, for what does not come from a recorder.
    pub const fn writer(&mut self) -> &mut Writer<W> {
        &mut self.writer
    }

    /// A frame of the recorder of `host`. True for its last one.
    pub fn take(&mut self, host: HostIndex, frame: Frame) -> Result<bool, Error> {
        match frame {
            Frame::Head { version, .. } if version != RECORD_VERSION => {
                let known = RECORD_VERSION;
                return Err(Error::Version { found: version, known });
            }
            Frame::Head { host: facts, .. } => self.writer.host(facts)?,
            Frame::Task { task } => {
                // A recorder that was replaced, or is asked once more, tells of its tasks again,
                // also of ended ones. An id that comes again belongs to another process.
                let known = self
                    .tasks
                    .get(&task.tid)
                    .and_then(|known| self.writer.tables().tasks.get(*known as usize));
                let is_other = |known: &crate::Task| {
                    known.ended.is_some() && known.facts.process != task.process
                };
                if known.is_none_or(is_other) {
                    let tid = task.tid;
                    let index = self.writer.task(task)?;
                    self.tasks.insert(tid, index);
                }
            }
            Frame::Block { tid, from, to, cells } => {
                if let Some(task) = self.tasks.get(&tid) {
                    // Names that are told again have no time.
                    if from != to {
                        self.histories.entry(*task).or_default().add(from, to);
                        // The recorder has read every ring since it looked at this one before.
                        let told = self.told.entry(host).or_default();
                        *told = from.nanoseconds.max(*told);
                    }
                }
                self.block(host, tid, &Scale::new(from, to), &cells.0)?;
            }
            Frame::Gap { tid, from, to, lost, reason } => {
                let task = self.tasks.get(&tid).copied();
                self.writer.gap(Gap { host: Some(host), task, from, to, lost, reason })?;
            }
            Frame::Clock { pair } => self.writer.clock(host, pair)?,
            Frame::Ended { tid, at, status, counts } => {
                if let Some(task) = self.tasks.get(&tid) {
                    self.histories.remove(task);
                    self.writer.ended(*task, Ended::from((at, status, counts)))?;
                }
            }
            // For those who compare clocks.
            Frame::Shows { .. } => (),
            Frame::End { .. } => return Ok(true),
        }
        Ok(false)
    }

    /// A stream that ended without its last frame, which is known at this time of the host: what it
    /// has noted since it was heard last is missing.
    pub fn broken(&mut self, host: HostIndex, at: u64) -> Result<(), Error> {
        let from = self.told.get(&host).map_or(at, |told| at.min(*told));
        let (to, lost, reason) = (at, 0, Loss::Link);
        self.writer.gap(Gap { host: Some(host), task: None, from, to, lost, reason })
    }

    /// Completes the trace.
    pub fn finish(self) -> Result<W, Error> {
        self.writer.finish()
    }

    /// Cells as they lay in a ring; what makes no sense among them is one gap.
    fn block(
        &mut self,
        host: HostIndex,
        tid: Tid,
        scale: &Scale,
        cells: &[pvm_wire::record::Cell],
    ) -> Result<(), Error> {
        let Some(task) = self.tasks.get(&tid).copied() else { return Ok(()) };
        let history = self.histories.entry(task).or_default();
        let mut damaged = 0;
        let mut last = 0;
        for record in DecodedRecords::new(cells) {
            let Ok(record) = record else {
                damaged += 1;
                continue;
            };
            let [begin, end] =
                [record.begin, record.end()].map(|ticks| history.nanoseconds(ticks, scale));
            last = end;
            let told = Record { begin, length: end.saturating_sub(begin), ..record };
            self.writer.record(task, &told)?;
        }
        if damaged > 0 {
            let (host, task, reason) = (Some(host), Some(task), Loss::Damaged);
            self.writer.gap(Gap { host, task, from: last, to: last, lost: damaged, reason })?;
        }
        Ok(())
    }
}
