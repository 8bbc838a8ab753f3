//! Our own traces, as `pvm run --trace` and `pvm trace record` write them.
//!
//! A first pass finds what the trace lacks ([`Survey`]); a second one reads each task as a stream,
//! a block at a time. Messages are matched by their numbers in the trace, so every receive takes
//! the message that it took in the recorded run. Waits for messages, groups and room are left out,
//! because the simulation makes them anew.

mod row;
mod stretch;
mod survey;

pub use self::survey::{Lacks, Survey};

use self::row::Row;
use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::unit::Time;
use pvm_trace::{Lane, Reader, Task, lanes};
use std::io::{Read, Seek};
use std::sync::Arc;

/// The options for reading a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish {
    /// True to use the times of the processor's clock where the trace has them: without the time in
    /// which other tasks of the computer had the processor.
    pub by_processor: bool,
    /// True to subtract the cost of the probes.
    pub without_probes: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self { by_processor: true, without_probes: true }
    }
}

/// The tasks of a trace.
#[derive(Debug)]
pub struct Recorded<R> {
    reader: Reader<R>,
    lanes: Vec<Lane>,
    rows: Vec<Row>,
    survey: Arc<Survey>,
}

impl<R: Read + Seek> Recorded<R> {
    /// The source of an open trace, with the results of the first pass over it.
    pub fn new(reader: Reader<R>, survey: &Arc<Survey>, wish: Wish) -> Result<Self, Error> {
        if reader.tables().tasks.is_empty() {
            return Err(Error::Unfit("the trace has no tasks".to_owned()));
        }
        let tables = reader.tables();
        let cost = |task: &Task| {
            let host = tables.host(task.facts.tid.host());
            host.map_or(0, |host| host.probe_cost_ps)
        };
        let rows = tables.tasks.iter().zip(0..).map(|(task, number)| {
            let probe = Time(if wish.without_probes { cost(task) } else { 0 });
            Row::new(number, survey.start_of(tables, number), probe, wish.by_processor)
        });
        let rows = rows.collect();
        let survey = Arc::clone(survey);
        Ok(Self { lanes: lanes(&reader), rows, survey, reader })
    }
}

impl<R: Read + Seek + Send> Source for Recorded<R> {
    fn tasks(&self) -> TaskNumber {
        self.rows.len() as TaskNumber
    }

    fn matching(&self) -> Matching {
        Matching::Numbers
    }

    fn is_started(&self, task: TaskNumber) -> bool {
        self.survey.is_started(task)
    }

    fn section(&self, number: u32) -> Option<&str> {
        self.survey.section(number)
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        let row = &mut self.rows[task as usize];
        loop {
            if let Some(action) = row.next_action() {
                return Ok(Some(action));
            }
            if row.is_over() {
                return Ok(None);
            }
            match self.lanes[task as usize].next_record(&mut self.reader) {
                Some(record) => row.record(&record?, &self.survey)?,
                None => row.end(self.reader.tables().tasks[task as usize].ended.as_ref()),
            }
        }
    }
}

#[cfg(test)]
mod tests;
