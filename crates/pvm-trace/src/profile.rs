//! The profile of a trace: the time of each function, each pair of tasks, each task.
//!
//! It needs one pass over the trace. The time of a task outside of library calls is computing. A
//! wait for a message is split at the moment when its sender began to send: until then the message
//! was *not yet sent*, afterwards it was *on the way*; the two parts sum exactly to the wait.

mod path;

pub use path::{CriticalPath, Step};

use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::Reader;
use crate::levels::is_call;
use crate::matching::{Matched, Matcher, Span, Unmatched};
use crate::tables::{Tables, TaskIndex};
use path::Edges;
use pvm_wire::record::{DEPTH_MAX, Reason, Record, What};
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// The most pairs of tasks that are distinguished; further pairs are counted together.
const PAIRS_MAX: usize = 1 << 20;
/// The most waits of one call that are distinguished.
const WAITS_MAX: usize = 1024;

/// The profile of a trace.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The first begin.
    pub begin: u64,
    /// The last end.
    pub end: u64,
    /// By the task's number.
    pub tasks: Vec<TaskProfile>,
    /// By the number of the call.
    pub functions: BTreeMap<u16, Function>,
    /// By sender and receiver; tasks that were not recorded have no number.
    pub pairs: BTreeMap<(TaskIndex, Option<TaskIndex>), Traffic>,
    /// The messages that tasks sent to themselves.
    pub own: Traffic,
    /// The counts of messages that do not have both ends in the trace.
    pub unmatched: Unmatched,
    /// The number of messages with both ends.
    pub matched: u64,
    /// The chain of computing and messages that determined the end of the run.
    pub path: CriticalPath,
    /// The number of blocks that could not be read.
    pub damaged: u64,
}

/// The profile of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskProfile {
    /// Its first begin and its last end.
    pub span: Span,
    /// The number of calls that the program made itself.
    pub calls: u64,
    /// The time in calls, waits included.
    pub call_time: u64,
    /// Its waits.
    pub waiting: Waiting,
    /// The messages that it sent, those to itself included.
    pub sent: Traffic,
    /// The messages that it received.
    pub received: Traffic,
}

impl TaskProfile {
    /// The time outside of calls.
    pub const fn computing(&self) -> u64 {
        self.span.length().saturating_sub(self.call_time)
    }
}

/// Times of waiting, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// The wait for a message that its sender had not begun to send.
    pub not_yet_sent: u64,
    /// The wait for a message between that moment and its arrival.
    pub on_the_way: u64,
    /// The wait for other members of a group.
    pub group: u64,
    /// The wait for room, for answers, and for messages that did not come or whose sender is not
    /// known.
    pub other: u64,
}

impl Waiting {
    /// The sum.
    pub const fn total(&self) -> u64 {
        self.not_yet_sent + self.on_the_way + self.group + self.other
    }

    /// Splits a wait for a message at the begin of its send.
    const fn split(&mut self, wait: Span, sent: u64) {
        let sent = if sent < wait.begin {
            wait.begin
        } else if sent > wait.end {
            wait.end
        } else {
            sent
        };
        self.not_yet_sent += sent - wait.begin;
        self.on_the_way += wait.end - sent;
    }
}

/// One function of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// The number of its calls, those by other functions of the library included.
    pub calls: u64,
    /// The time of these calls.
    pub time: u64,
    /// The time of these calls without inner calls and waits.
    pub own: u64,
    /// The time of waits in these calls.
    pub waiting: u64,
    /// The longest call.
    pub longest: u64,
    /// The number of messages that it sent or received.
    pub messages: u64,
    /// The number of bytes that it sent, received, packed or unpacked.
    pub bytes: u64,
}

/// Messages and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// The bytes of their data.
    pub bytes: u64,
}

impl Traffic {
    const fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The efficiency of the tasks: `total = balance x transfer`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Efficiency {
    /// The tasks' mean computing as a share of the run.
    pub total: f64,
    /// The mean as a share of the most that a task computed.
    pub balance: f64,
    /// The most that a task computed as a share of the run.
    pub transfer: f64,
}

impl Profile {
    /// Computes the profile in one pass over a trace.
    pub fn of<R: Read + Seek>(reader: &mut Reader<R>, clocks: &Clocks) -> Result<Self, Error> {
        let mut pass = Pass::new(reader.tables(), clocks);
        for entry in reader.merged(|task, time| clocks.time(task, time)) {
            match entry {
                Ok((task, record)) => pass.record(task, &record),
                Err(Error::Io(error)) => return Err(error.into()),
                Err(_) => pass.profile.damaged += 1,
            }
        }
        Ok(pass.finish())
    }

    /// The length of the run.
    pub const fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// The efficiency; `None` for an empty trace.
    pub fn efficiency(&self) -> Option<Efficiency> {
        let computing = || self.tasks.iter().map(TaskProfile::computing);
        let most = computing().max().filter(|most| *most > 0)? as f64;
        let mean = computing().map(|time| time as f64).sum::<f64>() / self.tasks.len() as f64;
        let run = self.length() as f64;
        Some(Efficiency { total: mean / run, balance: mean / most, transfer: most / run })
    }

    /// The waiting of all tasks.
    pub fn waiting(&self) -> Waiting {
        self.tasks.iter().fold(Waiting::default(), |mut all, task| {
            all.not_yet_sent += task.waiting.not_yet_sent;
            all.on_the_way += task.waiting.on_the_way;
            all.group += task.waiting.group;
            all.other += task.waiting.other;
            all
        })
    }
}

/// The parts that have ended in calls that have not ended, by depth.
#[derive(Clone, Debug, Default)]
struct Inside {
    calls: [u64; DEPTH_MAX as usize + 2],
    waiting: [u64; DEPTH_MAX as usize + 2],
    waits: Vec<Span>,
}

struct Pass<'a> {
    clocks: &'a Clocks,
    matcher: Matcher,
    profile: Profile,
    inside: BTreeMap<(TaskIndex, u16), Inside>,
    edges: Edges,
}

impl<'a> Pass<'a> {
    fn new(tables: &Tables, clocks: &'a Clocks) -> Self {
        let tasks = vec![TaskProfile::default(); tables.tasks.len()];
        Self {
            clocks,
            matcher: Matcher::new(tables),
            profile: Profile { tasks, ..Profile::default() },
            inside: BTreeMap::new(),
            edges: Edges::new(tables, clocks),
        }
    }

    fn record(&mut self, task: TaskIndex, record: &Record) {
        let time = |raw| self.clocks.time(task, raw);
        let span = Span { begin: time(record.begin), end: time(record.end()) };
        let Some(row) = self.profile.tasks.get_mut(task as usize) else { return };
        if row.span == Span::default() {
            row.span = span;
        }
        row.span.begin = row.span.begin.min(span.begin);
        row.span.end = row.span.end.max(span.end);
        let inside = self.inside.entry((task, record.thread)).or_default();
        match &record.what {
            What::Wait { reason, .. } => wait(row, inside, (record, span), *reason),
            What::Send { message, .. } => {
                row.sent.add(message.bytes);
                let peer = self.matcher.task(message.peer, span.end);
                traffic(&mut self.profile, task, peer).add(message.bytes);
            }
            What::Receive { message, .. } => {
                let row = &mut self.profile.tasks[task as usize];
                row.received.add(message.bytes);
            }
            _ => (),
        }
        let inside = self.inside.entry((task, record.thread)).or_default();
        let waits = || std::mem::take(&mut inside.waits);
        if let Some(message) = self.matcher.record(task, record, span, waits) {
            self.matched(&message);
        }
        if is_call(record) {
            self.call(task, record, span);
        }
    }

    fn matched(&mut self, message: &Matched) {
        self.profile.matched += 1;
        let row = &mut self.profile.tasks[message.to as usize];
        message.waits.iter().for_each(|wait| row.waiting.split(*wait, message.sent.begin));
        if let Some(wait) = message.waits.last() {
            self.edges.add(message, *wait);
        }
    }

    fn call(&mut self, task: TaskIndex, record: &Record, span: Span) {
        let depth = usize::from(record.depth.min(DEPTH_MAX));
        let inside = self.inside.entry((task, record.thread)).or_default();
        let nested = std::mem::take(&mut inside.calls[depth + 1]);
        let waiting = std::mem::take(&mut inside.waiting[depth + 1]);
        inside.calls[depth] += span.length();
        inside.waiting[depth] += waiting;
        let length = span.length();
        let function = self.profile.functions.entry(record.call).or_default();
        function.calls += 1;
        function.time += length;
        function.own += length.saturating_sub(nested).saturating_sub(waiting);
        function.waiting += waiting;
        function.longest = function.longest.max(length);
        let (messages, bytes) = carried(&record.what);
        function.messages += messages;
        function.bytes = function.bytes.saturating_add(bytes);
        if depth == 0 {
            let left = std::mem::take(&mut inside.waits);
            inside.calls[0] = 0;
            inside.waiting[0] = 0;
            let row = &mut self.profile.tasks[task as usize];
            row.calls += 1;
            row.call_time += length;
            // The waits of a call that received no message.
            row.waiting.other += left.iter().map(Span::length).sum::<u64>();
        }
    }

    fn finish(mut self) -> Profile {
        let all = self.profile.tasks.iter().filter(|task| task.span != Span::default());
        self.profile.begin = all.clone().map(|task| task.span.begin).min().unwrap_or(0);
        self.profile.end = all.map(|task| task.span.end).max().unwrap_or(0);
        let mut others = Vec::new();
        for ((task, _), inside) in std::mem::take(&mut self.inside) {
            others.extend(inside.waits.iter().map(|wait| (task, wait.length())));
        }
        let (unmatched, waits) = self.matcher.finish();
        others.extend(waits);
        for (task, length) in others {
            self.profile.tasks[task as usize].waiting.other += length;
        }
        self.profile.unmatched = unmatched;
        let spans: Vec<_> = self.profile.tasks.iter().map(|task| task.span).collect();
        self.profile.path = self.edges.path(&spans);
        self.profile
    }
}

fn wait(row: &mut TaskProfile, inside: &mut Inside, told: (&Record, Span), reason: Reason) {
    let (record, span) = told;
    inside.waiting[usize::from(record.depth.min(DEPTH_MAX))] += span.length();
    match reason {
        // The wait is kept until it is known for which message it was.
        Reason::Message if inside.waits.len() < WAITS_MAX => inside.waits.push(span),
        Reason::Group => row.waiting.group += span.length(),
        _ => row.waiting.other += span.length(),
    }
}

fn traffic(profile: &mut Profile, from: TaskIndex, to: Option<TaskIndex>) -> &mut Traffic {
    if to == Some(from) {
        return &mut profile.own;
    }
    let full = profile.pairs.len() >= PAIRS_MAX && !profile.pairs.contains_key(&(from, to));
    profile.pairs.entry((from, if full { None } else { to })).or_default()
}

const fn carried(what: &What) -> (u64, u64) {
    match what {
        What::Send { message, .. } | What::Receive { message, .. } => (1, message.bytes),
        What::Call { bytes } => (0, *bytes),
        _ => (0, 0),
    }
}
