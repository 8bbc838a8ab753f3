//! Finds the send and the receive of each message, by its number among those of its pair of tasks.

use crate::error::Error;
use crate::file::Reader;
use crate::tables::{Tables, TaskIndex};
use pvm_wire::Tid;
use pvm_wire::record::{Record, Transfer, What};
use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};

/// The most halves that wait for their other half; beyond, they are given up and counted.
const OPEN_MAX: usize = 4 << 20;

/// A time span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Its begin.
    pub begin: u64,
    /// Its end.
    pub end: u64,
}

impl Span {
    /// The length of the span.
    pub const fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// A message with both its ends. Times are corrected ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matched {
    /// The sender.
    pub from: TaskIndex,
    /// The receiver.
    pub to: TaskIndex,
    /// Its number in the pair.
    pub number: u64,
    /// Bytes of its data.
    pub bytes: u64,
    /// Its tag.
    pub tag: i32,
    /// The call that sent it, or the part of a call.
    pub sent: Span,
    /// The call that took it.
    pub received: Span,
    /// The waits in that call.
    pub waits: Vec<Span>,
}

/// Counts of messages of which the trace has one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unmatched {
    /// Sent, and not received in the trace.
    pub sends: u64,
    /// Received, and not sent in the trace.
    pub receives: u64,
    /// Messages without a number, or of a task that was not recorded.
    pub apart: u64,
    /// Messages that were given up because there were too many.
    pub given_up: u64,
}

#[derive(Debug)]
struct Half {
    is_send: bool,
    span: Span,
    waits: Vec<Span>,
}

/// Finds the other half of each message, whichever half comes first.
#[derive(Debug)]
pub struct Matcher {
    tasks: HashMap<Tid, Vec<(u64, TaskIndex)>>,
    open: HashMap<Name, Half>,
    unmatched: Unmatched,
    /// The waits of receives whose other half is missing.
    lost: HashMap<TaskIndex, u64>,
}

impl Matcher {
    /// For the tasks of a trace.
    pub fn new(tables: &Tables) -> Self {
        let mut tasks: HashMap<_, Vec<_>> = HashMap::new();
        for (task, index) in tables.tasks.iter().zip(0..) {
            tasks.entry(task.facts.tid).or_default().push((task.facts.began, index));
        }
        Self { tasks, open: HashMap::new(), unmatched: Unmatched::default(), lost: HashMap::new() }
    }

    /// The task that had a tid at a time: the last one that had begun by then.
    pub fn task(&self, tid: Tid, at: u64) -> Option<TaskIndex> {
        let all = self.tasks.get(&tid)?;
        let begun = all.iter().rev().find(|(began, _)| *began <= at);
        begun.or_else(|| all.first()).map(|(_, index)| *index)
    }

    /// Takes a record of a task, with its corrected span, and the waits in its call for a receive.
    pub fn record(
        &mut self,
        task: TaskIndex,
        record: &Record,
        span: Span,
        waits: impl FnOnce() -> Vec<Span>,
    ) -> Option<Matched> {
        match &record.what {
            What::Send { message, .. } => {
                let half = Half { is_send: true, span, waits: Vec::new() };
                self.half(task, message, half)
            }
            What::Receive { message, .. } => {
                let half = Half { is_send: false, span, waits: waits() };
                self.half(task, message, half)
            }
            _ => None,
        }
    }

    fn half(&mut self, task: TaskIndex, message: &Transfer, half: Half) -> Option<Matched> {
        let peer = self.task(message.peer, half.span.end).filter(|_| message.number != 0);
        let Some(peer) = peer else {
            self.unmatched.apart += 1;
            self.lose(task, &half);
            return None;
        };
        let (from, to) = if half.is_send { (task, peer) } else { (peer, task) };
        let key = (from, to, message.number);
        let Some(other) = self.open.remove(&key) else {
            self.keep(key, half);
            return None;
        };
        if other.is_send == half.is_send {
            // The number is used twice: the tid was used again, or the trace is damaged.
            self.give_up(to, &other);
            self.keep(key, half);
            return None;
        }
        let (sent, received) = if half.is_send { (half, other) } else { (other, half) };
        Some(Matched {
            from,
            to,
            number: message.number,
            bytes: message.bytes,
            tag: message.tag,
            sent: sent.span,
            received: received.span,
            waits: received.waits,
        })
    }

    fn keep(&mut self, key: Name, half: Half) {
        if self.open.len() >= OPEN_MAX {
            self.unmatched.given_up += 1;
            self.lose(key.1, &half);
        } else {
            self.open.insert(key, half);
        }
    }

    fn give_up(&mut self, to: TaskIndex, half: &Half) {
        if half.is_send {
            self.unmatched.sends += 1;
        } else {
            self.unmatched.receives += 1;
        }
        self.lose(to, half);
    }

    fn lose(&mut self, task: TaskIndex, half: &Half) {
        let waited: u64 = half.waits.iter().map(Span::length).sum();
        if waited > 0 {
            *self.lost.entry(task).or_default() += waited;
        }
    }

    /// Returns, after all records, the counts of messages with one end only, and by task the time
    /// that it waited for such messages.
    pub fn finish(mut self) -> (Unmatched, Vec<(TaskIndex, u64)>) {
        for ((_, to, _), half) in std::mem::take(&mut self.open) {
            self.give_up(to, &half);
        }
        (self.unmatched, self.lost.into_iter().collect())
    }
}

/// A message: its sender, its receiver, and its number in this pair.
pub type Name = (TaskIndex, TaskIndex, u64);

/// The messages of which a trace has one end only; a complete trace has few. `each` gets all
/// records; damaged blocks are left out.
pub fn halves<R: Read + Seek>(
    reader: &mut Reader<R>,
    mut each: impl FnMut(TaskIndex, &Record),
) -> HashSet<Name> {
    let mut matcher = Matcher::new(reader.tables());
    for entry in reader.merged(|_, time| time) {
        let Ok((task, record)) = entry else { continue };
        each(task, &record);
        matcher.record(task, &record, Span { begin: record.begin, end: record.end() }, Vec::new);
    }
    matcher.open.into_keys().collect()
}

/// Calls `each` for all messages of a trace that have both ends, with times converted by `time`.
pub fn messages<R: Read + Seek>(
    reader: &mut Reader<R>,
    time: impl Fn(TaskIndex, u64) -> u64,
    mut each: impl FnMut(&Matched),
) -> Result<Unmatched, Error> {
    let mut matcher = Matcher::new(reader.tables());
    for entry in reader.merged(&time) {
        // A damaged block loses only its own messages.
        let Ok((task, record)) = entry else { continue };
        let span = Span { begin: time(task, record.begin), end: time(task, record.end()) };
        if let Some(message) = matcher.record(task, &record, span, Vec::new) {
            each(&message);
        }
    }
    Ok(matcher.finish().0)
}
