//! One task of a trace: its records become actions.

use super::stretch::Stretch;
use super::survey::Survey;
use crate::action::{Action, TaskNumber};
use crate::error::Error;
use crate::unit::{BYTES_MAX, Time};
use pvm_trace::{Ended, Processor, Reason, Record, Tid, Transfer, What, calls};

/// A message within a call.
#[derive(Clone, Copy, Debug)]
struct Part {
    message: Transfer,
    peer: TaskNumber,
    is_send: bool,
}

/// A task between two of its records.
#[derive(Debug)]
pub(super) struct Row {
    task: TaskNumber,
    stretch: Stretch,
    /// The cost of a record for the task.
    probe: Time,
    /// The open call: its messages, its records, and its waits, simulated or not.
    parts: Vec<Part>,
    records: u64,
    waited: u64,
    idle: u64,
    /// True if the call before found a message by a look; with the tag of receives that may have
    /// been put off.
    has_looked: bool,
    put_off: Option<i32>,
    /// The end of the last call, and the cost of its own record behind that.
    end: u64,
    debt: Time,
    is_over: bool,
}

impl Row {
    /// A task that begins `after` nanoseconds after the begin of the run, at the moment `begin` of
    /// its own clock.
    pub(super) fn new(
        task: TaskNumber,
        (after, begin): (u64, u64),
        probe: Time,
        by_processor: bool,
    ) -> Self {
        let mut stretch = Stretch::new(by_processor);
        if after > 0 {
            stretch.push(Action::Idle(Time::nanoseconds(after)));
        }
        let (parts, records, waited, idle, debt) = (Vec::new(), 0, 0, 0, Time::ZERO);
        Self {
            task,
            stretch,
            probe,
            parts,
            records,
            waited,
            idle,
            has_looked: false,
            put_off: None,
            end: begin,
            debt,
            is_over: false,
        }
    }

    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.stretch.pop()
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Handles the end of the records.
    pub(super) fn end(&mut self, ended: Option<&Ended>) {
        self.catch_up();
        if let Some(ended) = ended {
            self.compute_until(ended.at);
        }
        self.stretch.finish();
        self.is_over = true;
    }

    /// Reads a record: a part of a call, or a call that has ended.
    pub(super) fn record(&mut self, record: &Record, survey: &Survey) -> Result<(), Error> {
        self.records += 1;
        match &record.what {
            What::Send { message, .. } => self.message(*message, true, record.end(), survey),
            What::Receive { message, .. } => self.message(*message, false, record.end(), survey),
            What::Wait { reason, processor } => {
                self.wait(record, *reason, *processor);
                Ok(())
            }
            _ => Ok(()),
        }?;
        if record.part || record.depth > 0 {
            return Ok(());
        }
        self.call(record, survey);
        (self.records, self.waited, self.idle) = (0, 0, 0);
        self.parts.clear();
        Ok(())
    }

    fn wait(&mut self, record: &Record, reason: Reason, processor: Option<Processor>) {
        // The first and the last turn of a task are outside of calls: it enrols, and it has left.
        let is_apart = record.call == calls::NONE && reason == Reason::Turn;
        if is_apart {
            self.compute_until(record.begin);
            self.end = self.end.max(record.end());
        } else {
            self.waited = self.waited.saturating_add(record.length);
        }
        if matches!(reason, Reason::Answer | Reason::Other) {
            self.idle = self.idle.saturating_add(record.length);
        }
        if let Some(processor) = processor {
            self.stretch.slept(record.thread, (record.begin, record.end()), processor);
        }
        if is_apart {
            self.stretch.call_is_over();
        }
    }

    fn message(
        &mut self,
        message: Transfer,
        is_send: bool,
        at: u64,
        survey: &Survey,
    ) -> Result<(), Error> {
        let Some(peer) = survey.task(message.peer, at).filter(|_| message.number != 0) else {
            return Ok(());
        };
        let (from, to) = if is_send { (self.task, peer) } else { (peer, self.task) };
        if !survey.is_whole(&(from, to, message.number)) {
            return Ok(());
        }
        if message.bytes > BYTES_MAX {
            let bytes = message.bytes;
            let what = format!("task {}: a message of {bytes} bytes is no message", self.task);
            return Err(Error::Unfit(what));
        }
        self.parts.push(Part { message, peer, is_send });
        Ok(())
    }

    /// Handles the end of a call that the program made itself.
    fn call(&mut self, record: &Record, survey: &Survey) {
        match &record.what {
            What::Begin { .. } => return self.end = self.end.max(record.end()),
            What::State { name } => {
                self.compute_until(record.begin);
                self.catch_up();
                self.stretch.push(Action::Enter(survey.section_of(self.task, *name)));
            }
            _ => self.compute_until(record.begin),
        }
        if let What::Spawn { children } = &record.what {
            self.spawn(children, record.end(), survey);
        }
        if self.idle > 0 {
            self.stretch.push(Action::Idle(Time::nanoseconds(self.idle)));
        }
        let parts = self.probe.times(self.records.saturating_sub(1));
        let own = Time::nanoseconds(record.length.saturating_sub(self.waited)).since(parts);
        self.actions(record, own, survey);
        self.stretch.call_is_over();
        self.debt = self.probe;
        self.end = self.end.max(record.end());
    }

    /// The actions of a call: its messages, a barrier, or time.
    fn actions(&mut self, record: &Record, own: Time, survey: &Survey) {
        if let Some((point, count)) = barrier(record, self.task, survey) {
            self.catch_up();
            return self.stretch.push(Action::Meet { time: own, point, count });
        }
        if self.parts.is_empty() {
            self.has_looked |= record.call == calls::PROBE && record.result > 0;
            if own > Time::ZERO {
                self.stretch.push(Action::Call(own));
            }
            return;
        }
        self.looks(record.call, survey);
        let is_one = is_multicast(record.call) && self.parts.iter().all(|part| part.is_send);
        if is_one && self.parts.len() > 1 {
            let Transfer { bytes, number, .. } = self.parts[0].message;
            let to: Box<[TaskNumber]> = self.parts.iter().map(|part| part.peer).collect();
            let alike = self.parts.iter().all(|part| part.message.number == number);
            if alike {
                let tag = label(number);
                return self.stretch.push(Action::Multicast { time: own, bytes, to, tag });
            }
        }
        let time = Time(own.0 / self.parts.len() as u64);
        for Part { message, peer, is_send } in std::mem::take(&mut self.parts) {
            let (bytes, tag) = (message.bytes, label(message.number));
            self.stretch.push(match is_send {
                true => Action::Send { time, bytes, to: peer, tag },
                false => Action::Receive { time, bytes, from: peer, tag },
            });
        }
    }

    /// Handles looks in a call that sends or takes messages. Receives that were put off stay so
    /// only behind messages of their own tag, and a message that a look found may be put off.
    fn looks(&mut self, call: u16, survey: &Survey) {
        let has_looked = std::mem::take(&mut self.has_looked) || call == calls::NRECV;
        let Part { message, is_send, .. } = self.parts[0];
        let is_alone = self.parts.len() == 1;
        let is_looked = !is_send && has_looked && survey.is_optional(self.task, message.tag);
        if !is_alone || self.put_off != Some(message.tag) || !(is_send || is_looked) {
            self.catch_up();
        }
        if is_alone && is_looked {
            self.put_off = Some(message.tag);
            self.stretch.push(Action::Look);
        }
    }

    fn catch_up(&mut self) {
        if self.put_off.take().is_some() {
            self.stretch.push(Action::CatchUp);
        }
    }

    fn spawn(&mut self, children: &[i32], at: u64, survey: &Survey) {
        let tids = children.iter().filter(|child| **child > 0);
        let tasks = tids.filter_map(|child| survey.task(Tid(child.cast_unsigned()), at));
        let tasks: Box<[TaskNumber]> = tasks.filter(|child| survey.is_started(*child)).collect();
        if !tasks.is_empty() {
            self.stretch.push(Action::Start(tasks));
        }
    }

    fn compute_until(&mut self, until: u64) {
        let time = Time::nanoseconds(until.saturating_sub(self.end)).since(self.debt);
        self.debt = Time::ZERO;
        self.end = self.end.max(until);
        if time > Time::ZERO {
            self.stretch.push(Action::Compute(time));
        }
    }
}

/// The number of a message, in the place of a tag.
const fn label(number: u64) -> i32 {
    (number & 0x7fff_ffff) as i32
}

const fn is_multicast(call: u16) -> bool {
    matches!(call, calls::MCAST | calls::BCAST | calls::NEOPVM_MULTICAST | calls::NEOPVM_BROADCAST)
}

/// The point and the number of tasks of a barrier that was passed.
fn barrier(record: &Record, task: TaskNumber, survey: &Survey) -> Option<(u32, u32)> {
    let What::Group { name, members, count, .. } = record.what else { return None };
    let is_barrier =
        matches!(record.call, calls::BARRIER | calls::NEOPVM_BARRIER | calls::NEOPVM_BARRIER_UNTIL);
    let count = if count > 0 { u32::try_from(count).unwrap_or(u32::MAX) } else { members };
    let passed = is_barrier && record.result >= 0 && count > 1;
    passed.then(|| (survey.point_of(task, name), count))
}
