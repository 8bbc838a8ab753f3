//! The critical path: it goes backwards from the last end, over each message for which a task
//! waited.

use crate::clocks::Clocks;
use crate::matching::{Matched, Span};
use crate::tables::{Tables, TaskIndex};
use std::collections::BTreeMap;

/// The most messages that ended waits in memory; beyond, the earlier half is forgotten.
const EDGES_MAX: usize = 1 << 23;
/// The most steps that are listed.
const STEPS_MAX: usize = 10_000;

/// The chain that determined the end of the run. Its times sum to `end - begin`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CriticalPath {
    /// The begin of the path.
    pub begin: u64,
    /// The end of the path, which is the end of the last task.
    pub end: u64,
    /// The running time of each task on it.
    pub running: BTreeMap<TaskIndex, u64>,
    /// The time of the messages on it.
    pub on_the_way: u64,
    /// The number of messages on it.
    pub messages: u64,
    /// Its last steps, the last one first; at most 10000.
    pub steps: Vec<Step>,
    /// True if the part before `begin` was forgotten.
    pub is_cut: bool,
}

/// A step of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The task that ran; for a message its sender.
    pub task: TaskIndex,
    /// The task that waited for the message, if this is a message.
    pub to: Option<TaskIndex>,
    /// The time span.
    pub span: Span,
}

/// A wait that ended with a message.
#[derive(Clone, Copy, Debug)]
struct Edge {
    end: u64,
    sent: u64,
    from: TaskIndex,
}

/// The messages that ended waits.
#[derive(Debug)]
pub(super) struct Edges {
    by_task: Vec<Vec<Edge>>,
    count: usize,
    is_cut: bool,
    parents: Vec<Option<(TaskIndex, u64)>>,
}

impl Edges {
    pub(super) fn new(tables: &Tables, clocks: &Clocks) -> Self {
        let parent = |(task, index): (&crate::tables::Task, TaskIndex)| {
            let parent = tables.task_at(task.facts.parent, task.facts.began)?;
            (parent != index).then(|| (parent, clocks.time(index, task.facts.began)))
        };
        Self {
            by_task: vec![Vec::new(); tables.tasks.len()],
            count: 0,
            is_cut: false,
            parents: tables.tasks.iter().zip(0..).map(parent).collect(),
        }
    }

    pub(super) fn add(&mut self, message: &Matched, wait: Span) {
        if message.sent.begin >= wait.end || message.sent.begin < wait.begin {
            return;
        }
        if self.count >= EDGES_MAX {
            self.is_cut = true;
            self.by_task.iter_mut().for_each(|edges| drop(edges.drain(..edges.len() / 2)));
            self.count = self.by_task.iter().map(Vec::len).sum();
        }
        let edge = Edge { end: wait.end, sent: message.sent.begin, from: message.from };
        self.by_task[message.to as usize].push(edge);
        self.count += 1;
    }

    /// The path to the last end.
    pub(super) fn path(mut self, spans: &[Span]) -> CriticalPath {
        self.by_task.iter_mut().for_each(|edges| edges.sort_by_key(|edge| edge.end));
        let last = spans.iter().zip(0..).max_by_key(|(span, _)| span.end);
        let Some((span, mut task)) = last else { return CriticalPath::default() };
        let mut path = CriticalPath { end: span.end, is_cut: self.is_cut, ..Default::default() };
        let mut at = span.end;
        // Each step goes back in time, except for tasks that begin with their parents.
        let mut spawns = 0;
        loop {
            let begin = spans[task as usize].begin.min(at);
            let edges = &self.by_task[task as usize];
            let known = edges.partition_point(|edge| edge.end <= at);
            let edge = known.checked_sub(1).map(|place| edges[place]);
            if let Some(edge) = edge.filter(|edge| edge.end >= begin && edge.sent < edge.end) {
                path.run(task, Span { begin: edge.end, end: at });
                path.cross(edge.from, task, Span { begin: edge.sent, end: edge.end });
                (task, at) = (edge.from, edge.sent);
                continue;
            }
            path.run(task, Span { begin, end: at });
            let parent = self.parents[task as usize].filter(|_| spawns < self.parents.len());
            let Some((parent, began)) = parent else { break };
            // The time between the child's begin and its first call belongs to the child.
            let began = began.min(begin);
            path.run(task, Span { begin: began, end: begin });
            if began <= spans[parent as usize].begin {
                path.begin = began;
                return path;
            }
            (task, at, spawns) = (parent, began, spawns + 1);
        }
        path.begin = spans[task as usize].begin.min(at);
        path
    }
}

impl CriticalPath {
    fn run(&mut self, task: TaskIndex, span: Span) {
        if span.length() > 0 {
            *self.running.entry(task).or_default() += span.length();
            self.step(Step { task, to: None, span });
        }
    }

    fn cross(&mut self, from: TaskIndex, to: TaskIndex, span: Span) {
        self.on_the_way += span.length();
        self.messages += 1;
        self.step(Step { task: from, to: Some(to), span });
    }

    fn step(&mut self, step: Step) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(step);
        }
    }

    /// The length of the path.
    pub const fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}
