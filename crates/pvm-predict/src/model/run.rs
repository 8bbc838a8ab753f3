//! A run in the order of time: tasks act, share the cores of their hosts, and wait for messages
//! that a network carries. The depth is that of the network.

mod acting;
pub(super) mod inbox;
mod looks;
pub(super) mod network;
mod places;
mod receiving;
mod send;
mod sending;
mod state;

use self::inbox::{Inbox, Receive};
use self::network::{Network, Output};
use self::places::Places;
use self::state::{State, Task};
use crate::action::{Matching, TaskNumber};
use crate::blame::Phase;
use crate::error::{Awaited, Error, Waiting};
use crate::kernel::{Dice, Queue};
use crate::model::meeting::Meetings;
use crate::platform::{Host, Platform};
use crate::program::Source;
use crate::report::{Report, Watcher};
use crate::sections::Sections;
use crate::unit::Time;

/// The most tasks: each is a host with a port.
const TASKS_MAX: TaskNumber = 1 << 16;
/// The most messages of one pair that have not arrived, and the most receives that a task puts off.
pub(super) const OPEN_MAX: usize = 1 << 20;

/// Runs a program on a platform. The network is made by a function that gets the hosts.
pub(super) fn run<N: Network>(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    network: impl FnOnce(&[u32]) -> Result<N, Error>,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let dice = Dice::new(seed, 4);
    let tasks = source.tasks();
    if tasks > TASKS_MAX {
        let what = format!("{tasks} tasks are more than {TASKS_MAX}: --depth line");
        return Err(Error::Unfit(what));
    }
    let matching = source.matching();
    let places = Places::new(&platform.place, tasks, platform.host)?;
    Run {
        source,
        watcher,
        host: platform.host,
        dice,
        queue: Queue::new(),
        tasks: (0..tasks).map(|_| Task::default()).collect(),
        network: network(places.hosts())?,
        places,
        inbox: Inbox::new(matching),
        matching,
        meetings: Meetings::default(),
        sections: Sections::default(),
        actions: 0,
        events: 0,
        idle: 0,
        serial: 0,
    }
    .all()
}

/// A planned event.
#[derive(Clone, Copy, Debug)]
enum Planned<P> {
    Task(TaskNumber),
    /// A task may have got the processor time that it asked for, on this computer.
    Cores(u32, u64),
    /// A message has passed through memory.
    Memory(u32),
    Network(P),
    /// An event of the network that does not keep the run going.
    Idle(P),
}

struct Run<'a, N: Network> {
    source: &'a mut dyn Source,
    watcher: &'a mut dyn Watcher,
    host: Host,
    /// Random numbers for what differs from run to run.
    dice: Dice,
    queue: Queue<Planned<N::Planned>>,
    tasks: Vec<Task>,
    places: Places<N::Transfer>,
    network: N,
    inbox: Inbox<N::Transfer>,
    matching: Matching,
    meetings: Meetings,
    sections: Sections,
    actions: u64,
    /// The number of events of the network that were handled.
    events: u64,
    /// The number of planned events that do not keep the run going.
    idle: usize,
    serial: u64,
}

impl<N: Network> Run<'_, N> {
    /// The random extra time of a call.
    const fn jitter(&mut self) -> Time {
        match self.host.jitter.0 {
            0 => Time::ZERO,
            most => Time(self.dice.below(most)),
        }
    }

    fn all(mut self) -> Result<Report, Error> {
        for task in 0..self.tasks.len() as TaskNumber {
            if self.source.is_started(task) {
                self.tasks[task as usize].state = State::New;
            } else {
                self.queue.push(Time::ZERO, Planned::Task(task));
            }
        }
        while self.queue.len() > self.idle || self.network.is_busy() {
            let Some((now, planned)) = self.queue.pop() else { break };
            if now == Time::END {
                return Err(Error::Endless);
            }
            match planned {
                Planned::Task(task) => self.task(now, task)?,
                Planned::Cores(computer, wish) => {
                    self.places.handle_timeout(now, computer, wish);
                    self.processors();
                }
                Planned::Memory(place) => {
                    let (to, from, arrived) = self.places.arrived(place);
                    self.inbox.put(to, from, arrived);
                    self.look(now, to, from)?;
                }
                Planned::Network(planned) => {
                    self.events += 1;
                    self.network.handle_timeout(now, planned);
                }
                Planned::Idle(planned) => {
                    self.idle -= 1;
                    self.events += 1;
                    self.network.handle_timeout(now, planned);
                }
            }
            self.carry(now)?;
        }
        self.finish()
    }

    /// Handles the outputs of the network.
    fn carry(&mut self, now: Time) -> Result<(), Error> {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::At(at, planned) => self.queue.push(at, Planned::Network(planned)),
                Output::Idle(at, planned) => {
                    self.idle += 1;
                    self.queue.push(at, Planned::Idle(planned));
                }
                Output::Room(task) => self.room(now, task)?,
                Output::Arrived { to, from, arrived } => self.inbox.put(to, from, arrived),
                Output::Look { to, from } => self.look(now, to, from)?,
            }
        }
        Ok(())
    }

    /// Handles the outputs of the processors.
    fn processors(&mut self) {
        while let Some(output) = self.places.poll_output() {
            match output {
                places::Output::Wake(computer, at, wish) => {
                    self.queue.push(at, Planned::Cores(computer, wish));
                }
                places::Output::Done(now, task) => self.queue.push(now, Planned::Task(task)),
            }
        }
    }

    /// A task needs a processor for `time`; then its call or computation has ended.
    fn busy(&mut self, now: Time, number: TaskNumber, time: Time) {
        self.tasks[number as usize].busy = (now, time);
        if self.places.handle(now, number, time) {
            return self.processors();
        }
        self.queue.push(now + time, Planned::Task(number));
    }

    /// A task's call or computation has ended.
    fn task(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        // The time beyond what it needed is the time in which other tasks had the processors.
        let (since, time) = std::mem::take(&mut task.busy);
        if time > Time::ZERO {
            let late = now.since(since + time);
            task.report.blocked.add(Phase::Host, late);
            task.chain.split.add(Phase::Host, late);
        }
        match std::mem::take(&mut self.tasks[number as usize].state) {
            State::Sending(send) => self.write(now, number, send),
            State::Ready => self.act(now, number),
            other => {
                self.tasks[number as usize].state = other;
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Report, Error> {
        let waiting = (0..).zip(&self.tasks).filter_map(|(task, state)| {
            let State::Receiving(receive) = &state.state else {
                return self.meetings.waiting(task);
            };
            let Receive { from, tag, bytes, left, .. } = **receive;
            let (label, there) = (self.matching.label(tag), bytes - left);
            Some(Waiting { task, what: Awaited::Message { from, label, bytes, there } })
        });
        super::nobody_waits(waiting)?;
        let is_new = |task: &Task| matches!(task.state, State::New);
        if let Some(task) = self.tasks.iter().position(is_new) {
            return Err(super::never_started(task));
        }
        let mut report = Report {
            stations: self.tasks.iter().map(|task| task.report).collect(),
            actions: self.actions,
            events: self.events,
            put_off: self.tasks.iter().map(|task| task.looks.count).sum(),
            sections: self.sections.finish(),
            ..Report::default()
        };
        self.network.report(&mut report);
        report.finish(self.tasks.iter().map(|task| task.chain));
        Ok(report)
    }
}
