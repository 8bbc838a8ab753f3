//! The tables of a trace: hosts, tasks, names, clocks, gaps.

use crate::error::Fault;
use crate::varint::{self, Input};
use pvm_wire::record::NAME_BYTES_MAX;
use pvm_wire::record::frames::{ClockPair, Counts, HostFacts, TaskFacts};
use pvm_wire::record::{Class, Loss};
use pvm_wire::{HostIndex, Tid, Wire};
use std::collections::BTreeMap;

/// The most hosts.
const HOSTS_MAX: usize = 1 << 13;
const TASKS_MAX: usize = 1 << 20;
const NAMES_MAX: usize = 1 << 16;
/// The most bytes of all names together.
const NAMES_BYTES_MAX: usize = 16 << 20;
const GAPS_MAX: usize = 1 << 12;
const CLOCKS_MAX: usize = 1 << 16;

/// A task's number in a trace. A tid may be used twice, but not this number.
pub type TaskIndex = u32;

/// A host of a trace.
pub type Host = HostFacts;

/// A task of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The facts that were known at its beginning.
    pub facts: TaskFacts,
    /// Its end, if it was recorded.
    pub ended: Option<Ended>,
}

/// The end of a task, or of its recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The time by its host's clock.
    pub at: u64,
    /// The status as `wait` returns it; -1 if it is not known.
    pub status: i32,
    /// The number of records that it noted.
    pub noted: u64,
    /// The number of these that are not in the file.
    pub lost: u64,
}

impl From<(u64, i32, Counts)> for Ended {
    fn from((at, status, counts): (u64, i32, Counts)) -> Self {
        Self { at, status, noted: counts.noted, lost: counts.lost }
    }
}

/// Records that are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The host; none for all hosts.
    pub host: Option<HostIndex>,
    /// The task; none for all tasks of the host.
    pub task: Option<TaskIndex>,
    /// The begin of the gap.
    pub from: u64,
    /// The end of the gap.
    pub to: u64,
    /// The number of lost records; 0 if it is not known.
    pub lost: u64,
    /// The reason.
    pub reason: Loss,
}

impl Gap {
    /// Joins two gaps to one.
    const fn join(&mut self, other: &Self) {
        if other.from < self.from {
            self.from = other.from;
        }
        if other.to > self.to {
            self.to = other.to;
        }
        self.lost = self.lost.saturating_add(other.lost);
    }
}

/// Names that tasks gave to numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    all: BTreeMap<(TaskIndex, Class, u32), Vec<u8>>,
    /// The bytes of these names.
    bytes: usize,
}

impl Names {
    /// The name that a task gave to a number; bytes that are not UTF-8 are replaced.
    pub fn get(&self, task: TaskIndex, class: Class, number: u32) -> Option<String> {
        let text = self.all.get(&(task, class, number))?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = (TaskIndex, Class, u32, &[u8])> {
        self.all
            .iter()
            .map(|((task, class, number), text)| (*task, *class, *number, text.as_slice()))
    }

    /// Sets a name. Beyond the most names, or the most bytes of names, new ones are left out. True
    /// if the table has changed.
    pub fn set(&mut self, key: (TaskIndex, Class, u32), text: &[u8]) -> bool {
        let text = &text[..text.len().min(NAME_BYTES_MAX)];
        let before = self.all.get(&key).map(Vec::as_slice);
        let bytes = self.bytes - before.map_or(0, <[u8]>::len) + text.len();
        let is_room = before.is_some() || self.all.len() < NAMES_MAX;
        if before == Some(text) || !is_room || bytes > NAMES_BYTES_MAX {
            return false;
        }
        self.bytes = bytes;
        self.all.insert(key, text.to_vec());
        true
    }
}

/// The tables of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    /// The hosts, in the order of their appearance.
    pub hosts: Vec<Host>,
    /// The tasks, by number.
    pub tasks: Vec<Task>,
    /// Comparisons of clocks, each seen from its first host.
    pub clocks: Vec<(HostIndex, ClockPair)>,
    /// The gaps.
    pub gaps: Vec<Gap>,
    /// Names.
    pub names: Names,
    /// True if the tasks of a host computed one after the other while they were recorded.
    pub in_turns: bool,
}

/// Kinds of sections (`doc/trace.md`).
pub(crate) mod kind {
    pub(crate) const HOST: u8 = 1;
    pub(crate) const TASK: u8 = 2;
    pub(crate) const BLOCK: u8 = 3;
    pub(crate) const CLOCK: u8 = 4;
    pub(crate) const GAP: u8 = 5;
    pub(crate) const NAME: u8 = 6;
    pub(crate) const ENDED: u8 = 7;
    pub(crate) const TABLES: u8 = 8;
    pub(crate) const INDEX: u8 = 9;
    pub(crate) const END: u8 = 10;
    pub(crate) const CONDITIONS: u8 = 11;
}

/// A bit of [`kind::CONDITIONS`]; later versions may have further bits.
const IN_TURNS: u64 = 1;

impl Tables {
    /// The host of this index.
    pub fn host(&self, index: HostIndex) -> Option<&Host> {
        self.hosts.iter().find(|host| host.host == index)
    }

    /// The task that had this tid at this time of its host. Of two tasks with one tid it is the
    /// later one that had begun by then.
    pub fn task_at(&self, tid: Tid, at: u64) -> Option<TaskIndex> {
        let with_tid = self.tasks.iter().zip(0..).filter(|(task, _)| task.facts.tid == tid);
        let mut found = None;
        for (task, index) in with_tid {
            if found.is_none() || task.facts.began <= at {
                found = Some(index);
            }
        }
        found
    }

    /// The name of a task for people: program and tid.
    pub fn label(&self, task: TaskIndex) -> String {
        self.tasks.get(task as usize).map_or_else(
            || format!("task {task}"),
            |task| {
                let program = task.facts.program.to_text();
                let program = program.rsplit('/').next().unwrap_or_default();
                format!("{program} t{:x}", task.facts.tid.0)
            },
        )
    }

    pub(crate) fn set_host(&mut self, host: Host) -> Result<(), Fault> {
        if let Some(known) = self.hosts.iter_mut().find(|known| known.host == host.host) {
            *known = host;
            return Ok(());
        }
        if self.hosts.len() >= HOSTS_MAX {
            return Err(Fault::TooMany("hosts"));
        }
        self.hosts.push(host);
        Ok(())
    }

    pub(crate) fn set_task(&mut self, index: TaskIndex, facts: TaskFacts) -> Result<(), Fault> {
        if let Some(known) = self.tasks.get_mut(index as usize) {
            known.facts = facts;
        } else if index as usize != self.tasks.len() {
            return Err(Fault::UnknownTask(index));
        } else if self.tasks.len() >= TASKS_MAX {
            return Err(Fault::TooMany("tasks"));
        } else {
            self.tasks.push(Task { facts, ended: None });
        }
        Ok(())
    }

    pub(crate) fn add_clock(&mut self, host: HostIndex, pair: ClockPair) {
        if self.clocks.len() >= CLOCKS_MAX {
            self.clocks.drain(..CLOCKS_MAX / 4);
        }
        self.clocks.push((host, pair));
    }

    /// Adds a gap. If there are too many, the first ones become one.
    pub(crate) fn add_gap(&mut self, gap: Gap) {
        if self.gaps.len() >= GAPS_MAX {
            let early: Vec<_> = self.gaps.drain(..GAPS_MAX / 2).collect();
            let mut all = Gap { host: None, task: None, ..early[0] };
            early[1..].iter().for_each(|gap| all.join(gap));
            self.gaps.insert(0, all);
        }
        self.gaps.push(gap);
    }

    /// Adds a gap of records that were removed to make room; all of these are one gap.
    pub(crate) fn add_thrown(&mut self, gap: Gap) {
        let thrown = |known: &&mut Gap| {
            known.reason == Loss::Size && known.host.is_none() && known.task.is_none()
        };
        match self.gaps.iter_mut().find(thrown) {
            Some(known) => known.join(&gap),
            None => self.gaps.insert(0, gap),
        }
    }

    /// Shortens the tables for a new chapter, which repeats them.
    pub(crate) fn trim(&mut self) {
        const KEPT: usize = 256;
        if self.clocks.len() > KEPT {
            self.clocks.drain(..self.clocks.len() - KEPT);
        }
        while self.gaps.len() > KEPT {
            let gap = Gap { host: None, task: None, ..self.gaps.remove(1) };
            self.gaps[0].join(&gap);
            (self.gaps[0].host, self.gaps[0].task) = (None, None);
        }
    }

    /// All sections of the tables.
    pub(crate) fn sections(&self) -> Vec<(u8, Vec<u8>)> {
        let mut all = vec![(kind::TABLES, Vec::new())];
        all.extend(self.in_turns.then(|| (kind::CONDITIONS, conditions_section())));
        all.extend(self.hosts.iter().map(|host| (kind::HOST, host.to_bytes())));
        for (task, index) in self.tasks.iter().zip(0..) {
            all.push((kind::TASK, task_section(index, &task.facts)));
            all.extend(task.ended.iter().map(|ended| (kind::ENDED, ended_section(index, ended))));
        }
        let names = self.names.iter();
        all.extend(names.map(|(task, class, number, text)| {
            (kind::NAME, name_section((task, class, number), text))
        }));
        all.extend(
            self.clocks.iter().map(|(host, pair)| (kind::CLOCK, clock_section(*host, pair))),
        );
        all.extend(self.gaps.iter().map(|gap| (kind::GAP, gap_section(gap))));
        all
    }

    /// Applies such a section; false for a section of another kind.
    pub(crate) fn apply(&mut self, kind: u8, payload: &[u8]) -> Result<bool, Fault> {
        let mut input = Input::new(payload);
        match kind {
            kind::TABLES => {
                self.clocks.clear();
                self.gaps.clear();
            }
            kind::HOST => self.set_host(HostFacts::from_bytes(payload)?)?,
            kind::TASK => {
                let index = input.number_of()?;
                self.set_task(index, TaskFacts::from_bytes(input.rest)?)?;
            }
            kind::CLOCK => {
                let (host, pair) = <(HostIndex, ClockPair)>::from_bytes(payload)?;
                self.add_clock(host, pair);
            }
            kind::CONDITIONS => self.in_turns = input.number()? & IN_TURNS != 0,
            kind::GAP => self.add_gap(gap(&mut input)?),
            kind::NAME => {
                let task = self.known(input.number_of()?)?;
                let class = Class::from_number(input.byte()?).ok_or(Fault::Range)?;
                let number = input.number_of()?;
                let _ = self.names.set((task, class, number), input.rest);
            }
            kind::ENDED => {
                let task = self.known(input.number_of()?)?;
                self.tasks[task as usize].ended = Some(ended(&mut input)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) const fn known(&self, task: TaskIndex) -> Result<TaskIndex, Fault> {
        if (task as usize) < self.tasks.len() { Ok(task) } else { Err(Fault::UnknownTask(task)) }
    }
}

pub(crate) fn task_section(index: TaskIndex, facts: &TaskFacts) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, index.into());
    facts.encode(&mut out);
    out
}

pub(crate) fn conditions_section() -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, IN_TURNS);
    out
}

pub(crate) fn clock_section(host: HostIndex, pair: &ClockPair) -> Vec<u8> {
    (host, pair.clone()).to_bytes()
}

pub(crate) fn name_section((task, class, number): (TaskIndex, Class, u32), text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, task.into());
    out.push(class as u8);
    varint::put(&mut out, number.into());
    out.extend_from_slice(&text[..text.len().min(NAME_BYTES_MAX)]);
    out
}

pub(crate) fn ended_section(task: TaskIndex, ended: &Ended) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, task.into());
    varint::put(&mut out, ended.at);
    varint::put_signed(&mut out, ended.status.into());
    varint::put(&mut out, ended.noted);
    varint::put(&mut out, ended.lost);
    out
}

fn ended(input: &mut Input<'_>) -> Result<Ended, Fault> {
    let at = input.number()?;
    let status = i32::try_from(input.signed()?).map_err(|_| Fault::Range)?;
    Ok(Ended { at, status, noted: input.number()?, lost: input.number()? })
}

/// The section of a gap. Hosts and tasks are written as their number plus one, so that 0 means
/// none.
pub(crate) fn gap_section(gap: &Gap) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, gap.host.map_or(0, |host| u64::from(host.0) + 1));
    varint::put(&mut out, gap.task.map_or(0, |task| u64::from(task) + 1));
    varint::put(&mut out, gap.from);
    varint::put_signed(&mut out, gap.to.wrapping_sub(gap.from).cast_signed());
    varint::put(&mut out, gap.lost);
    out.push(gap.reason as u8);
    out
}

fn gap(input: &mut Input<'_>) -> Result<Gap, Fault> {
    let host: u64 = input.number()?;
    let task: u64 = input.number()?;
    let host = host.checked_sub(1).map(u16::try_from).transpose().map_err(|_| Fault::Range)?;
    let task = task.checked_sub(1).map(u32::try_from).transpose().map_err(|_| Fault::Range)?;
    let from = input.number()?;
    let to = from.wrapping_add(input.signed()?.cast_unsigned());
    let lost = input.number()?;
    let reason = Loss::from_number(input.byte()?).ok_or(Fault::Range)?;
    Ok(Gap { host: host.map(HostIndex), task, from, to, lost, reason })
}
