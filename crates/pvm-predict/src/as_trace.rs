//! Writes a simulated run as a trace of ours, so that every view of traces shows it.

use crate::action::{Matching, TaskNumber};
use crate::error::Error;
use crate::kernel::Map;
use crate::program::Source;
use crate::report::{Event, Watcher};
use crate::unit::Time;
use pvm_trace::{Reason, Record, RouteKind, TaskFacts, Transfer, What, Writer, calls};
use std::collections::VecDeque;
use std::io::{Seek, Write};

/// The writer of the trace.
#[derive(Debug)]
pub struct AsTrace<'a, W> {
    writer: &'a mut Writer<W>,
    /// True if a receive takes bytes in their order.
    in_order: bool,
    /// The messages of each pair of tasks that were not taken.
    open: Map<(TaskNumber, TaskNumber), VecDeque<Open>>,
    counts: Map<(TaskNumber, TaskNumber), u64>,
}

/// A message that was not taken.
#[derive(Clone, Copy, Debug)]
struct Open {
    message: u64,
    /// The message's number among the messages of the pair.
    number: u64,
    bytes: u64,
}

impl<'a, W: Write + Seek> AsTrace<'a, W> {
    /// Writes the table of tasks. Each task is the first one of a host of its own.
    pub fn begin(writer: &'a mut Writer<W>, source: &dyn Source) -> Result<Self, Error> {
        let tasks = source.tasks();
        let in_order = source.matching() == Matching::Bytes;
        if tasks >= HOSTS_MAX {
            let what = format!("a trace has less than {HOSTS_MAX} hosts, and these are {tasks}");
            return Err(Error::Unfit(what));
        }
        for number in 0..tasks {
            let program = format!("predicted.{number}").into();
            let parent = pvm_trace::Tid(0);
            writer.task(TaskFacts { tid: tid(number), parent, process: 0, program, began: 0 })?;
        }
        Ok(Self { writer, in_order, open: Map::default(), counts: Map::default() })
    }

    fn sent(
        &mut self,
        (task, message, bytes): (TaskNumber, u64, u64),
        to: &[TaskNumber],
        (began, ended): (Time, Time),
    ) -> Result<(), Error> {
        let (begin, length) = span(began, ended);
        let call = if to.len() > 1 { calls::MCAST } else { calls::SEND };
        let part = call == calls::MCAST;
        for to in to {
            let count = self.counts.entry((task, *to)).or_default();
            *count += 1;
            let open = Open { message, number: *count, bytes };
            self.open.entry((task, *to)).or_default().push_back(open);
            let message = transfer(*to, *count, bytes);
            let what = What::Send { message, wire: bytes, pieces: 1 };
            let depth = u8::from(part);
            let record = Record { what, part, depth, ..Record::call(call, begin, length) };
            self.writer.record(task, &record)?;
        }
        if part {
            self.writer.record(task, &Record::call(call, begin, length))?;
        }
        Ok(())
    }

    /// Takes a message out. If bytes are taken in order, the messages before it are taken with it.
    fn take(&mut self, from: TaskNumber, to: TaskNumber, message: u64) -> Option<Open> {
        let open = self.open.get_mut(&(from, to))?;
        let place = open.iter().position(|open| open.message == message)?;
        if self.in_order {
            open.drain(..place);
            return open.pop_front();
        }
        open.remove(place)
    }

    fn received(
        &mut self,
        (task, message, from): (TaskNumber, Option<u64>, TaskNumber),
        waited: Time,
        (began, ended): (Time, Time),
    ) -> Result<(), Error> {
        let (begin, length) = span(began, ended);
        if waited > Time::ZERO {
            let what = What::Wait { reason: Reason::Message, processor: None };
            let (_, wait) = span(began, began + waited);
            let call = Record::call(calls::RECV, begin, wait);
            self.writer.record(task, &Record { what, part: true, depth: 1, ..call })?;
        }
        let known = message.and_then(|message| self.take(from, task, message));
        let what = known.map_or(What::Call { bytes: 0 }, |open| What::Receive {
            message: transfer(from, open.number, open.bytes),
            any_source: false,
            any_tag: false,
        });
        self.writer.record(task, &Record { what, ..Record::call(calls::RECV, begin, length) })?;
        Ok(())
    }
}

impl<W: Write + Seek + Send> Watcher for AsTrace<'_, W> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Sent { task, message, to, bytes, began, ended } => {
                self.sent((task, message, bytes), to, (began, ended))
            }
            Event::Received { task, message, from, began, waited, ended } => {
                self.received((task, message, from), waited, (began, ended))
            }
        }
    }

    fn goes_on(&mut self, _: u64) -> bool {
        true
    }
}

/// The most hosts: a task id has 12 bits for the host.
const HOSTS_MAX: TaskNumber = 4095;

const fn tid(task: TaskNumber) -> pvm_trace::Tid {
    pvm_trace::Tid((task + 1) << 18 | 1)
}

/// Begin and length in nanoseconds. Both ends are rounded, so that consecutive spans stay
/// consecutive.
const fn span(began: Time, ended: Time) -> (u64, u64) {
    let begin = began.to_nanoseconds();
    (begin, ended.to_nanoseconds().saturating_sub(begin))
}

const fn transfer(peer: TaskNumber, number: u64, bytes: u64) -> Transfer {
    Transfer {
        peer: tid(peer),
        tag: 0,
        context: 0,
        number,
        bytes,
        encoding: pvm_trace::Encoding::Default,
        route: RouteKind::Direct,
        hops: 0,
    }
}
