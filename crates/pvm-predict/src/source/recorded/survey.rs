//! The first pass over a trace: the starts of tasks, and gaps.

use crate::action::TaskNumber;
use pvm_trace::matching::{Name, halves};
use pvm_trace::{Class, Reader, Record, Tables, TaskIndex, Tid, What};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{Read, Seek};

/// The gaps of a trace, and facts that no trace has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lacks {
    /// The byte at which the file is cut off.
    pub cut: Option<u64>,
    /// The number of time spans of which records are missing.
    pub gaps: u64,
    /// The number of records that are known to be missing.
    pub lost: u64,
    /// Messages to or from tasks that were not recorded: they are left out.
    pub apart: u64,
    /// Messages of which one end is missing: they are left out.
    pub halves: u64,
    /// Receives that would have taken any message: they take the one that they took.
    pub any_source: u64,
    /// Looks for a message that found none: the prediction has as many.
    pub polls: u64,
    /// Tasks with several threads, which are treated as one thread.
    pub threaded: u64,
    /// Tasks without an end.
    pub unended: u64,
}

impl Lacks {
    /// A sentence for each of these, for people.
    pub fn sentences(&self) -> Vec<String> {
        let counted = [
            (self.gaps, "gaps: what was done in them is missing"),
            (self.lost, "records were lost"),
            (self.apart, "messages to or from tasks that were not recorded are left out"),
            (self.halves, "messages of which the trace has one end only are left out"),
            (self.any_source, "receives took whatever came first; here they take what they took"),
            (self.polls, "looks for a message found none; here there are as many"),
            (self.threaded, "tasks have several threads, which are taken as one"),
            (self.unended, "tasks have no end: they end with their last record"),
        ];
        let cut = self.cut.map(|at| format!("the trace is cut off at byte {at}"));
        let told = counted.iter().filter(|(count, _)| *count > 0);
        cut.into_iter().chain(told.map(|(count, what)| format!("{count} {what}"))).collect()
    }
}

/// The results of the first pass over a trace: the starts of tasks, and gaps.
#[derive(Debug, Default)]
pub struct Survey {
    lacks: Lacks,
    /// By tid: the tasks that had it, with their begins, in their order.
    tasks: HashMap<Tid, Vec<(u64, TaskNumber)>>,
    halves: HashSet<Name>,
    /// By started task: the task that started it, and the begin and the end of that call.
    started: BTreeMap<TaskNumber, (TaskNumber, u64, u64)>,
    /// By task: its begin, or the begin of its recording.
    begins: BTreeMap<TaskNumber, u64>,
    /// By a task's number of a state: the section.
    numbers: BTreeMap<(TaskNumber, u32), u32>,
    sections: Vec<String>,
    /// By a task's number of a group: the group.
    groups: BTreeMap<(TaskNumber, u32), u32>,
    /// By task: the tag for which it has looked in vain since its last message.
    missed: BTreeMap<TaskNumber, i32>,
    /// Tags of messages that a task does not wait for: it has sent messages of this tag after a
    /// look in vain.
    optional: BTreeSet<(TaskNumber, i32)>,
}

impl Survey {
    /// Reads the whole trace once.
    pub fn of<R: Read + Seek>(reader: &mut Reader<R>) -> Self {
        let mut survey = Self::default();
        for (task, number) in reader.tables().tasks.iter().zip(0..) {
            survey.begins.insert(number, task.facts.began);
            survey.tasks.entry(task.facts.tid).or_default().push((task.facts.began, number));
        }
        let mut threads: BTreeMap<TaskIndex, u16> = BTreeMap::new();
        let mut threaded: BTreeSet<TaskIndex> = BTreeSet::new();
        let halves = halves(reader, |task, record| {
            survey.record(task, record);
            if record.thread != 0 && *threads.entry(task).or_insert(record.thread) != record.thread
            {
                threaded.insert(task);
            }
        });
        let tables = reader.tables();
        survey.name(tables);
        survey.lacks.cut = reader.cut();
        survey.lacks.threaded = threaded.len() as u64;
        survey.lacks.halves += halves.len() as u64;
        survey.lacks.gaps += tables.gaps.len() as u64;
        survey.lacks.lost += tables.gaps.iter().map(|gap| gap.lost).sum::<u64>();
        let unended = tables.tasks.iter().filter(|task| task.ended.is_none());
        survey.lacks.unended = unended.count() as u64;
        survey.halves = halves;
        survey
    }

    /// The gaps of the trace, and facts that no trace has.
    pub const fn lacks(&self) -> &Lacks {
        &self.lacks
    }

    fn record(&mut self, task: TaskIndex, record: &Record) {
        match &record.what {
            What::Begin { .. } => {
                self.begins.insert(task, record.begin);
            }
            What::Send { message, .. } => {
                let known = self.task(message.peer, record.end()).is_some();
                self.lacks.apart += u64::from(!known || message.number == 0);
                if self.missed.remove(&task) == Some(message.tag) {
                    self.optional.insert((task, message.tag));
                }
            }
            What::Receive { message, any_source, .. } => {
                self.lacks.any_source += u64::from(*any_source);
                self.missed.remove(&task);
                let known = self.task(message.peer, record.end()).is_some();
                self.lacks.apart += u64::from(!known || message.number == 0);
            }
            What::Poll { tag, .. } => {
                self.lacks.polls += 1;
                self.missed.insert(task, *tag);
            }
            What::Gap { lost, .. } => {
                self.lacks.gaps += 1;
                self.lacks.lost += lost;
            }
            What::Spawn { children } => {
                for child in children {
                    let tid = Tid(child.cast_unsigned());
                    let found = (*child > 0).then(|| self.task(tid, record.end())).flatten();
                    if let Some(child) = found.filter(|child| *child != task) {
                        let call = (task, record.begin, record.end());
                        self.started.entry(child).or_insert(call);
                    }
                }
            }
            _ => (),
        }
    }

    /// Combines states of one name, even of different tasks, to one section; and groups in the same
    /// way.
    fn name(&mut self, tables: &Tables) {
        let mut sections: BTreeMap<&[u8], u32> = BTreeMap::new();
        let mut groups: BTreeMap<&[u8], u32> = BTreeMap::new();
        for (task, class, number, text) in tables.names.iter() {
            let (known, numbers) = match class {
                Class::State => (&mut sections, &mut self.numbers),
                Class::Group => (&mut groups, &mut self.groups),
                _ => continue,
            };
            let next = known.len() as u32 + 1;
            let place = *known.entry(text).or_insert(next);
            numbers.insert((task, number), place);
            if class == Class::State && place as usize > self.sections.len() {
                self.sections.push(String::from_utf8_lossy(text).into_owned());
            }
        }
    }

    /// The point at which the members of a task's group meet. All groups without a name share a
    /// point.
    pub(super) fn point_of(&self, task: TaskNumber, number: u32) -> u32 {
        self.groups.get(&(task, number)).copied().unwrap_or(0)
    }

    /// The section of a task's state; 0 for none.
    pub(super) fn section_of(&self, task: TaskNumber, number: u32) -> u32 {
        self.numbers.get(&(task, number)).copied().unwrap_or(0)
    }

    /// True if a task goes on when a look for messages of this tag finds none.
    pub(super) fn is_optional(&self, task: TaskNumber, tag: i32) -> bool {
        self.optional.contains(&(task, tag))
    }

    pub(super) fn section(&self, number: u32) -> Option<&str> {
        let place = (number as usize).checked_sub(1)?;
        self.sections.get(place).map(String::as_str)
    }

    pub(super) fn is_started(&self, task: TaskNumber) -> bool {
        self.started.contains_key(&task)
    }

    /// The task that had a tid at a time: the last one that had begun by then.
    pub(super) fn task(&self, tid: Tid, at: u64) -> Option<TaskNumber> {
        let all = self.tasks.get(&tid)?;
        let begun = all.iter().rev().find(|(began, _)| *began <= at);
        begun.or_else(|| all.first()).map(|(_, number)| *number)
    }

    /// True for a message of which the trace has both ends.
    pub(super) fn is_whole(&self, name: &Name) -> bool {
        !self.halves.contains(name)
    }

    /// The begin of a task in nanoseconds: after the call that started it, or relative to the first
    /// task of its computer that no task has started. Also its first moment by its own clock.
    pub(super) fn start_of(&self, tables: &Tables, task: TaskNumber) -> (u64, u64) {
        let own = &tables.tasks[task as usize].facts;
        let begin = self.begins.get(&task).copied().unwrap_or(own.began);
        let host = |task: TaskNumber| tables.tasks[task as usize].facts.tid.host();
        if let Some((parent, called, returned)) = self.started.get(&task) {
            // Clocks of different computers do not agree, but a spawn returns when the task has
            // started.
            let near = host(*parent) == own.tid.host();
            let after = if near { begin.saturating_sub(*called) } else { returned - called };
            return (after, begin);
        }
        let roots = self.begins.iter().filter(|(other, _)| {
            host(**other) == own.tid.host() && !self.started.contains_key(other)
        });
        let first = roots.map(|(_, begin)| *begin).min().unwrap_or(begin);
        (begin.saturating_sub(first), begin)
    }
}
