//! Depth `line`: each message takes a latency and a time for each byte, and messages share nothing
//! but their sender's output. So a message does not depend on the messages of other tasks, and no
//! queue of events is needed: each task goes on until it waits for a message that was not sent yet.
//! In which order tasks go on does not matter but for memory.

mod messages;
mod task;
#[cfg(test)]
mod tests;

use self::messages::{Message, Messages};
use self::task::{Asked, State, Task};
use crate::action::{Action, Matching, TaskNumber};
use crate::blame::{Chain, Phase};
use crate::error::{Awaited, Error, Waiting};
use crate::model::meeting::{self, Meetings};
use crate::platform::{Host, Line, Placement};
use crate::program::Source;
use crate::report::{ASKED_EVERY, Event, Report, StationReport, Watcher};
use crate::sections::Sections;
use crate::unit::Time;

/// Runs a program on a line, with a host for each task.
pub fn run(
    source: &mut dyn Source,
    line: Line,
    host: Host,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    run_placed(source, (line, host), &Placement::Each, watcher)
}

/// Runs a program on a line between hosts that have several tasks. Tasks do not share cores.
pub fn run_placed(
    source: &mut dyn Source,
    (line, host): (Line, Host),
    place: &Placement,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let tasks = source.tasks();
    let hosts = match place {
        Placement::Each => None,
        other => Some(other.hosts(tasks).map_err(Error::Unfit)?),
    };
    let mut run = LineRun::new(source, (line, host), hosts, watcher);
    run.carry_out()?;
    run.finish()
}

struct LineRun<'a> {
    source: &'a mut dyn Source,
    watcher: &'a mut dyn Watcher,
    line: Line,
    host: Host,
    /// The factor of all computing.
    slowness: f64,
    /// The host of each task, if some hosts have several tasks.
    hosts: Option<Vec<u32>>,
    matching: Matching,
    tasks: Vec<Task>,
    /// Tasks that can go on, the last one first.
    woken: Vec<TaskNumber>,
    meetings: Meetings,
    sections: Sections,
    messages: Messages,
    actions: u64,
    serial: u64,
}

impl<'a> LineRun<'a> {
    fn new(
        source: &'a mut dyn Source,
        (line, host): (Line, Host),
        hosts: Option<Vec<u32>>,
        watcher: &'a mut dyn Watcher,
    ) -> Self {
        Self {
            matching: source.matching(),
            tasks: vec![Task::default(); source.tasks() as usize],
            source,
            watcher,
            line,
            host,
            slowness: 1.0 / host.speed,
            hosts,
            woken: Vec::new(),
            meetings: Meetings::default(),
            sections: Sections::default(),
            messages: Messages::new(),
            actions: 0,
            serial: 0,
        }
    }

    /// Runs all tasks. A task that can go on does so before another one begins, because it takes
    /// messages that others have sent, and those need memory until then.
    fn carry_out(&mut self) -> Result<(), Error> {
        for task in 0..self.tasks.len() as TaskNumber {
            if !self.source.is_started(task) {
                self.woken.push(task);
            }
            while let Some(task) = self.woken.pop() {
                while self.step(task)? {}
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Report, Error> {
        let waiting = (0..).zip(&self.tasks).filter_map(|(task, state)| {
            let Some((Asked { from, tag, bytes, .. }, left)) = state.waits() else {
                return self.meetings.waiting(task);
            };
            let (label, there) = (self.matching.label(tag), bytes - left);
            Some(Waiting { task, what: Awaited::Message { from, label, bytes, there } })
        });
        super::nobody_waits(waiting)?;
        if let Some(task) = self.tasks.iter().position(|task| task.state == State::New) {
            return Err(super::never_started(task));
        }
        if self.tasks.iter().any(|task| task.now == Time::END) {
            return Err(Error::Endless);
        }
        let (mut last, mut path) = (Time::ZERO, Chain::default());
        for (task, number) in self.tasks.iter().zip(0..) {
            if task.now > last || number == 0 {
                (last, path) = (task.now, task.chain.into());
            }
        }
        // The reports replace the tasks, so that no second list of a million tasks is needed.
        let stations = self.tasks.into_iter().map(StationReport::from).collect();
        let (actions, sections) = (self.actions, self.sections.finish());
        let mut report = Report { actions, stations, sections, ..Report::default() };
        report.finish(std::iter::repeat(path));
        Ok(report)
    }

    /// Carries out one action of a task; false if the task waits or has ended.
    fn step(&mut self, number: TaskNumber) -> Result<bool, Error> {
        let task = &mut self.tasks[number as usize];
        if let State::Waits | State::Woken = std::mem::replace(&mut task.state, State::Begun) {
            let wanted = task.wants;
            return self.receive(number, wanted);
        }
        if self.actions.is_multiple_of(ASKED_EVERY) && !self.watcher.goes_on(self.actions) {
            return Err(Error::Stopped(self.actions));
        }
        let Some(action) = self.source.next(number)? else {
            self.over(number);
            return Ok(false);
        };
        self.actions += 1;
        match action {
            Action::Compute(time) => {
                let time = time.scaled(self.slowness);
                let task = &mut self.tasks[number as usize];
                task.now += time;
                task.chain.computing += time;
                task.computing += time;
                Ok(true)
            }
            Action::Call(time) | Action::Idle(time) => {
                let task = &mut self.tasks[number as usize];
                task.now += time;
                task.chain.split.add(Phase::Host, time);
                match action {
                    Action::Call(_) => task.calls += time,
                    _ => task.blocked.add(Phase::Host, time),
                }
                Ok(true)
            }
            Action::Start(tasks) => {
                tasks.iter().for_each(|started| self.start(number, *started));
                Ok(true)
            }
            Action::Meet { time, point, count } => Ok(self.meet(number, time, (point, count))),
            // At this depth a receive waits where the recorded program received.
            Action::Look | Action::CatchUp => Ok(true),
            Action::Enter(section) => {
                let now = self.tasks[number as usize].now;
                self.sections.enter(number, section, now);
                Ok(true)
            }
            Action::Send { time, bytes, to, tag } => self.send(number, (time, bytes), &[to], tag),
            Action::Multicast { time, bytes, to, tag } => {
                self.send(number, (time, bytes), &to, tag)
            }
            Action::Receive { time, bytes, from, tag } => {
                self.receive(number, Asked { from, tag, bytes, time })
            }
        }
    }

    /// Handles the end of a task.
    fn over(&mut self, number: TaskNumber) {
        let task = &mut self.tasks[number as usize];
        task.state = State::Over;
        self.sections.leave(number, task.now);
    }

    /// Starts a task for another one.
    fn start(&mut self, by: TaskNumber, number: TaskNumber) {
        let (now, chain) = (self.tasks[by as usize].now, self.tasks[by as usize].chain);
        let task = &mut self.tasks[number as usize];
        if task.state == State::New && self.source.is_started(number) {
            (task.now, task.chain, task.state) = (now, chain, State::Begun);
            task.blocked.add(Phase::Late, now);
            self.woken.push(number);
        }
    }

    /// A task comes to a point; true if it does not have to wait for others.
    fn meet(&mut self, number: TaskNumber, time: Time, (point, count): (u32, u32)) -> bool {
        let task = &self.tasks[number as usize];
        let came = meeting::Came { task: number, at: task.now, time, chain: task.chain.into() };
        let Some(met) = self.meetings.come((point, count), came) else { return false };
        let there = self.line.latency.times(2);
        for one in met.all() {
            let (wait, chain) = met.wait_of(one, there);
            let task = &mut self.tasks[one.task as usize];
            task.now = one.at + wait.total() + one.time;
            task.chain = chain.into();
            task.chain.split.add(Phase::Host, one.time);
            task.blocked.add_all(&wait);
            task.calls += one.time;
            if one.task != number {
                self.woken.push(one.task);
            }
        }
        true
    }

    fn send(
        &mut self,
        number: TaskNumber,
        (time, bytes): (Time, u64),
        to: &[TaskNumber],
        tag: i32,
    ) -> Result<bool, Error> {
        let task = &mut self.tasks[number as usize];
        let (began, chain) = (task.now, task.chain);
        task.sends(time + self.host.send_of(bytes));
        let handed = task.now;
        for to in to {
            let is_near = *to != number && self.are_near(number, *to);
            let task = &mut self.tasks[number as usize];
            task.count(bytes, *to == number);
            let (mut entered, mut arrived) = (handed, handed);
            if is_near {
                let memory = self.host.memory;
                arrived = handed + memory.latency + memory.time_of(bytes);
            } else if *to != number {
                entered = handed.max(task.door);
                task.door = entered + self.line.time_of(bytes);
                arrived = task.door + self.line.latency;
                task.net += arrived - handed;
            }
            self.serial += 1;
            let (serial, left) = (self.serial, bytes);
            let message = Message { serial, left, began, handed, entered, arrived, chain };
            let (task, to_all, ended) = (number, &[*to], handed);
            let sent = Event::Sent { task, message: serial, to: to_all, bytes, began, ended };
            self.watcher.event(sent)?;
            let tag = self.matching.tag(tag);
            self.messages.put((*to, number, tag), message)?;
            let receiver = &mut self.tasks[*to as usize];
            let its = receiver.wants;
            let waits = receiver.state == State::Waits;
            if waits && (its.from, self.matching.tag(its.tag)) == (number, tag) {
                // Further messages do not wake it again: it may wait for something else by then.
                receiver.state = State::Woken;
                self.woken.push(*to);
            }
        }
        Ok(true)
    }

    /// True for tasks of one host.
    fn are_near(&self, one: TaskNumber, other: TaskNumber) -> bool {
        self.hosts.as_ref().is_some_and(|hosts| hosts[one as usize] == hosts[other as usize])
    }

    /// Takes the bytes that have been sent; false if the receive waits for more.
    fn receive(&mut self, number: TaskNumber, wanted: Asked) -> Result<bool, Error> {
        let task = &mut self.tasks[number as usize];
        let mut receive = task.receive(wanted);
        let key = (number, wanted.from, self.matching.tag(wanted.tag));
        let takes_bytes = self.matching == Matching::Bytes;
        while receive.left > 0 || (receive.message.is_none() && !takes_bytes) {
            if !self.messages.take(key, &mut receive, takes_bytes) {
                // The missing bytes come from other tasks, so this task does not run before they
                // are sent.
                task.wait(receive);
                return Ok(false);
            }
        }
        let call = wanted.time + self.host.receive_of(wanted.bytes);
        let began = task.received(number, &receive, call);
        let (message, from, ended) = (receive.message, wanted.from, task.now);
        let waited = receive.wait.split.total();
        self.watcher.event(Event::Received {
            task: number,
            message,
            from,
            began,
            waited,
            ended,
        })?;
        Ok(true)
    }
}
