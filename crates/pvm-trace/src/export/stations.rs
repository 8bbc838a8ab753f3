//! A task as a sequence of actions: computing, sends, receives. Exports use it whose forms hold no
//! more.

use crate::error::Error;
use crate::file::{Lane, Reader, lanes};
use crate::tables::{Tables, TaskIndex};
use pvm_wire::Tid;
use pvm_wire::record::{Record, Transfer, What};
use std::io::{Read, Seek};

/// One action of a task. Times are nanoseconds.
#[derive(Debug)]
pub(super) enum Action<'a> {
    /// The time between sends and receives.
    Compute(u64),
    /// A message to one receiver, or to several at once.
    Send {
        /// The time in the call.
        time: u64,
        /// The message to the first of them.
        message: Transfer,
        /// The receivers, each with the message's number in its pair.
        to: &'a [(TaskIndex, u64)],
        /// The begin of the call.
        begin: u64,
    },
    /// A message was received.
    Receive {
        /// The time in the call without waits.
        time: u64,
        /// The waits.
        waited: u64,
        /// The message.
        message: Transfer,
        /// The sender.
        from: TaskIndex,
        /// The begin of the call.
        begin: u64,
    },
    /// A group call that is not made of messages.
    Group {
        /// The call.
        call: u16,
        /// Members that a barrier waits for.
        members: u64,
    },
}

/// Messages and calls that such an export leaves out or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Untold {
    /// Messages to or from tasks that were not recorded.
    pub messages: u64,
    /// Messages of which the trace has one end only.
    pub halves: u64,
    /// Calls of groups.
    pub groups: u64,
    /// Receives that took the first message of any sender: they are written with that sender.
    pub any_source: u64,
    /// Looks that found no message.
    pub polls: u64,
}

/// Reads all tasks, one after the other.
pub(super) fn stations<R: Read + Seek>(
    reader: &mut Reader<R>,
    mut each: impl FnMut(TaskIndex, Option<&Action<'_>>) -> Result<(), Error>,
) -> Result<Untold, Error> {
    let tables = reader.tables().clone();
    let mut untold = Untold::default();
    let all: Vec<Lane> = lanes(reader);
    for (mut lane, task) in all.into_iter().zip(0..) {
        let mut row = Row::new(&tables, task);
        while let Some(record) = lane.next_record(reader) {
            row.record(&record?, &mut untold, &mut each)?;
        }
        each(task, None)?;
    }
    Ok(untold)
}

/// The state of one task.
struct Row<'a> {
    tables: &'a Tables,
    task: TaskIndex,
    sends: Vec<(Transfer, TaskIndex)>,
    received: Vec<(Transfer, TaskIndex)>,
    waited: u64,
    /// The end of the last send or receive.
    end: u64,
}

impl<'a> Row<'a> {
    fn new(tables: &'a Tables, task: TaskIndex) -> Self {
        let began = tables.tasks.get(task as usize).map_or(0, |task| task.facts.began);
        let (sends, received) = (Vec::new(), Vec::new());
        Self { tables, task, sends, received, waited: 0, end: began }
    }

    fn record(
        &mut self,
        record: &Record,
        untold: &mut Untold,
        each: &mut impl FnMut(TaskIndex, Option<&Action<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let peer = |tid: Tid| self.tables.task_at(tid, record.end());
        match &record.what {
            What::Send { message, .. } => match peer(message.peer) {
                Some(peer) => self.sends.push((*message, peer)),
                None => untold.messages += 1,
            },
            What::Receive { message, any_source, .. } => {
                untold.any_source += u64::from(*any_source);
                match peer(message.peer) {
                    Some(peer) => self.received.push((*message, peer)),
                    None => untold.messages += 1,
                }
            }
            What::Poll { .. } => untold.polls += 1,
            What::Wait { .. } => self.waited += record.length,
            _ => (),
        }
        if record.part || record.depth > 0 {
            return Ok(());
        }
        self.whole(record, each)?;
        if let What::Group { members, count, .. } = record.what {
            // A task may come before others have joined, so the count that it asks for decides.
            let members = if count == 0 { u64::from(members) } else { count };
            self.compute(record.begin, each)?;
            self.end = record.end();
            untold.groups += 1;
            each(self.task, Some(&Action::Group { call: record.call, members }))?;
        }
        self.waited = 0;
        Ok(())
    }

    /// Handles the end of a call that the program made itself.
    fn whole(
        &mut self,
        record: &Record,
        each: &mut impl FnMut(TaskIndex, Option<&Action<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let count = (self.sends.len() + self.received.len()) as u64;
        if count == 0 {
            return Ok(());
        }
        self.compute(record.begin, each)?;
        self.end = record.end();
        let begin = record.begin;
        let received = std::mem::take(&mut self.received);
        let sends = std::mem::take(&mut self.sends);
        let own = record.length.saturating_sub(self.waited);
        let parts = received.len() as u64 + u64::from(!sends.is_empty());
        for (message, from) in received {
            let (time, waited) = (own / parts, std::mem::take(&mut self.waited));
            each(self.task, Some(&Action::Receive { time, waited, message, from, begin }))?;
        }
        if let Some((message, _)) = sends.first() {
            let to: Vec<_> = sends.iter().map(|(message, to)| (*to, message.number)).collect();
            let (time, message) = (own / parts, *message);
            each(self.task, Some(&Action::Send { time, message, to: &to, begin }))?;
        }
        Ok(())
    }

    fn compute(
        &self,
        until: u64,
        each: &mut impl FnMut(TaskIndex, Option<&Action<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match until.saturating_sub(self.end) {
            0 => Ok(()),
            time => each(self.task, Some(&Action::Compute(time))),
        }
    }
}

/// The bytes of PVM's header in front of a message's data.
pub(super) const HEADER: u64 = 32;

/// The bytes of a message with PVM's header, as the thesis counts them.
pub(super) const fn with_header(message: &Transfer) -> u64 {
    message.bytes.saturating_add(HEADER)
}
