//! `pvm predict part`: one task of a rehearsal. It gets its script from the task that started it.

use super::calibrate;
use super::said::{DONE, GO, READY, SCRIPT, STAGE, TASKS, heard, nanoseconds, say};
use super::script::{MESSAGE, Script, Step};
use crate::failure::{Failure, Status};
use crate::options::predict::PartOptions;
use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Between parts: begin.
const BEGIN: i32 = 6;
/// The context of the rehearsed messages.
const REHEARSED: i32 = 0x7265_6866;
/// `PvmAllowDirect` and `PvmRouteDirect`.
const ALLOW_DIRECT: i32 = 2;
const ROUTE_DIRECT: i32 = 3;
/// Shorter computing is slept together with what follows: a sleep takes some 60 us at least.
const SHORT: Duration = Duration::from_micros(100);

/// Plays its part.
pub(super) fn part(options: &PartOptions) -> Result<(), Failure> {
    let task = Task::enrol(b"pvm predict", false).map_err(refused)?;
    let route = if options.routed { ALLOW_DIRECT } else { ROUTE_DIRECT };
    task.set_route(route).map_err(refused)?;
    let master = Tid(options.of);
    let done = if options.calibrates {
        calibrate::part::obey(task, master)
    } else {
        Part::of(task, master).and_then(|mut part| part.play())
    };
    let left = task.leave();
    done.and(left).map_err(refused)
}

fn refused(code: Code) -> Failure {
    match code {
        Code::NoData => Failure::new(Status::Refused, "this is no script of a rehearsal"),
        _ => Failure::refused("a part of a program", code),
    }
}

struct Part {
    task: &'static Task,
    master: Tid,
    steps: Vec<Step>,
    tasks: Vec<Tid>,
    /// Computing that was not slept yet, in nanoseconds; less than none if a sleep took too long.
    owed: i64,
    /// The bytes of each sender that a receive has left.
    left: BTreeMap<u32, u64>,
    slept: Duration,
    sections: Vec<(u32, Duration)>,
}

impl Part {
    fn of(task: &'static Task, master: Tid) -> Result<Self, Code> {
        let script = heard(task, master, SCRIPT)?;
        let tasks = heard(task, master, TASKS)?;
        let tasks = tasks.as_chunks::<4>().0.iter().map(|tid| Tid(u32::from_le_bytes(*tid)));
        let steps = Script::from_bytes(&script).ok_or(Code::NoData)?;
        Ok(Self {
            task,
            master,
            steps,
            tasks: tasks.collect(),
            owed: 0,
            left: BTreeMap::new(),
            slept: Duration::ZERO,
            sections: Vec::new(),
        })
    }

    fn play(&mut self) -> Result<(), Code> {
        let steps = std::mem::take(&mut self.steps);
        let meets = |step: &Step| match step {
            Step::Meet { point, .. } => Some(*point),
            _ => None,
        };
        for point in steps.iter().filter_map(meets).collect::<BTreeSet<u32>>() {
            self.task.join_group(&self.group(point))?;
        }
        say(self.task, self.master, READY, &[])?;
        heard(self.task, self.master, GO)?;
        let begin = Instant::now();
        for step in &steps {
            self.step(step, begin)?;
        }
        self.rest(Duration::ZERO);
        let took = begin.elapsed();
        let mut told = vec![nanoseconds(took), nanoseconds(self.slept)];
        for (section, at) in &self.sections {
            told.extend([u64::from(*section), nanoseconds(*at)]);
        }
        let told: Vec<u8> = told.into_iter().flat_map(u64::to_le_bytes).collect();
        say(self.task, self.master, DONE, &told)
    }

    fn group(&self, point: u32) -> Vec<u8> {
        format!("rehearsal {:x} {point}", self.master.0).into_bytes()
    }

    fn tid(&self, number: u32) -> Result<Tid, Code> {
        self.tasks.get(number as usize).copied().ok_or(Code::NoData)
    }

    fn step(&mut self, step: &Step, begin: Instant) -> Result<(), Code> {
        match step {
            Step::Busy(time) => self.owed = self.owed.saturating_add_unsigned(*time),
            Step::Enter(section) => {
                self.rest(Duration::ZERO);
                self.sections.push((*section, begin.elapsed()));
            }
            Step::Send { bytes, tag, to } => {
                self.rest(SHORT);
                let mut buffer = Buffer::new(Encoding::Raw);
                let length = usize::try_from(*bytes).map_err(|_| Code::NoMem)?;
                buffer.pack(Kind::Byte, &vec![0; length])?;
                for to in to {
                    let (tag, context) = (Tag(*tag), Context(REHEARSED));
                    self.task.send(&mut buffer, Address { to: self.tid(*to)?, tag, context })?;
                }
            }
            Step::Receive { bytes, tag, from } => {
                self.rest(SHORT);
                self.receive(*bytes, *tag, *from)?;
            }
            Step::Meet { point, count } => {
                self.rest(SHORT);
                let count = i32::try_from(*count).map_err(|_| Code::NoData)?;
                self.task.barrier_by(&self.group(*point), count, Deadline::Never)?;
            }
            Step::Start(tasks) => {
                self.rest(SHORT);
                for started in tasks {
                    say(self.task, self.tid(*started)?, BEGIN, &[])?;
                }
            }
            Step::Await => {
                let pattern = Pattern { context: STAGE, source: None, tag: Some(BEGIN) };
                self.task.receive_blocking(&pattern, Deadline::Never)?;
            }
        }
        Ok(())
    }

    /// A message; or, where a receive takes bytes, as many as it takes.
    fn receive(&mut self, bytes: u64, tag: i32, from: u32) -> Result<(), Code> {
        let source = Some(self.tid(from)?);
        let pattern = Pattern { context: REHEARSED, source, tag: Some(tag) };
        if bytes == MESSAGE {
            return self.take(&pattern).map(drop);
        }
        let mut have = self.left.remove(&from).unwrap_or_default();
        while have < bytes {
            have += self.take(&pattern)?;
        }
        if have > bytes {
            self.left.insert(from, have - bytes);
        }
        Ok(())
    }

    /// The length of the next message.
    fn take(&self, pattern: &Pattern) -> Result<u64, Code> {
        let message = self.task.receive_blocking(pattern, Deadline::Never)?;
        message.map(|message| message.sent_size() as u64).ok_or(Code::SysErr)
    }

    /// Sleeps what is owed, if it is more than `least`. What a sleep takes too long is owed less.
    fn rest(&mut self, least: Duration) {
        let owed = Duration::from_nanos(u64::try_from(self.owed).unwrap_or_default());
        if owed <= least {
            return;
        }
        let begin = Instant::now();
        std::thread::sleep(owed);
        let took = begin.elapsed();
        self.slept += took;
        self.owed = self.owed.saturating_sub_unsigned(nanoseconds(took));
    }
}
