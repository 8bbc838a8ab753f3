//! A run in the order of time: tasks act, share the cores of their hosts, and wait for messages
//! that a network carries. Which network that is decides the depth.
//!
//! A run is one part, or several parts that go on side by side ([`together`]).

mod acting;
pub(super) mod division;
pub(super) mod inbox;
mod looks;
mod mail;
pub(super) mod network;
mod places;
mod program;
mod receiving;
mod send;
mod sending;
mod state;
pub(super) mod together;

use self::division::{Division, Owned, Part};
use self::inbox::{Inbox, Receive};
use self::mail::Mail;
use self::network::{Network, Output};
use self::places::Places;
use self::program::{Program, Shared};
use self::state::{State, Task};
use crate::action::{Matching, TaskNumber};
use crate::blame::Phase;
use crate::error::{Awaited, Error, Waiting};
use crate::kernel::{Dice, Queue};
use crate::model::meeting::{Came, Meetings};
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
    let (tasks, matching) = (source.tasks(), source.matching());
    let hosts = hosts_of(platform, tasks)?;
    let part = Part { number: 0, division: Division::whole(count(&hosts)) };
    let network = network(&hosts)?;
    let shared = Shared::new(source, watcher);
    let mut run = Run::new(&shared, (platform, matching), seed, part, (hosts, network));
    run.all()?;
    finish(vec![run], &Meetings::default())
}

/// The host of each task.
fn hosts_of(platform: &Platform, tasks: TaskNumber) -> Result<Vec<u32>, Error> {
    if tasks > TASKS_MAX {
        let what = format!("{tasks} tasks are more than {TASKS_MAX}: --depth line");
        return Err(Error::Unfit(what));
    }
    platform.place.hosts(tasks).map_err(Error::Unfit)
}

/// The number of hosts, if the last one has a task.
fn count(hosts: &[u32]) -> u32 {
    hosts.iter().max().map_or(0, |most| most + 1)
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

/// A part of a run, or all of it.
struct Run<'a, N: Network> {
    program: &'a dyn Program,
    part: Part,
    host: Host,
    /// Random numbers for what differs from run to run.
    dice: Dice,
    queue: Queue<Planned<N::Planned>>,
    tasks: Owned<Task>,
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
    /// The time of the last event.
    now: Time,
    /// Tasks that have ended.
    over: u32,
    /// Tasks that wait to be started.
    new: u32,
    /// For other parts.
    mail: Vec<(u32, Mail<N::Mail>)>,
    /// The tasks that have come to a point at which tasks of all parts may meet.
    came: Vec<((u32, u32), Came)>,
}

impl<'a, N: Network> Run<'a, N> {
    fn new(
        program: &'a dyn Program,
        (platform, matching): (&Platform, Matching),
        seed: u64,
        part: Part,
        (hosts, network): (Vec<u32>, N),
    ) -> Self {
        let is_here = |task: TaskNumber| part.has(hosts[task as usize]);
        let tasks = Owned::new(hosts.len() as TaskNumber, is_here, |_| Task::default());
        Self {
            program,
            part,
            host: platform.host,
            dice: Dice::new(seed, part.stream(4)),
            queue: Queue::new(),
            tasks,
            network,
            places: Places::new(hosts, platform.host),
            inbox: Inbox::new(matching),
            matching,
            meetings: Meetings::default(),
            sections: Sections::default(),
            actions: 0,
            events: 0,
            idle: 0,
            serial: u64::from(part.number) << 48,
            now: Time::ZERO,
            over: 0,
            new: 0,
            mail: Vec::new(),
            came: Vec::new(),
        }
    }

    /// The random extra time of a call.
    const fn jitter(&mut self) -> Time {
        match self.host.jitter.0 {
            0 => Time::ZERO,
            most => Time(self.dice.below(most)),
        }
    }

    /// Runs all of it.
    fn all(&mut self) -> Result<(), Error> {
        self.begin();
        while !self.is_over() && self.step()? {}
        Ok(())
    }

    /// True if nothing is left but what does not keep the run going. Beats on a slow link are
    /// always under way: with beats, a run ends with its last task and the last message.
    fn is_over(&self) -> bool {
        let ends = self.network.has_beats() && self.over == self.tasks.count();
        (ends || self.queue.len() <= self.idle) && !self.network.is_busy()
    }

    /// Plans the begin of each task that nobody starts.
    fn begin(&mut self) {
        for task in (0..self.tasks.count()).filter(|task| self.part.has(self.places.host(*task))) {
            if self.program.is_started(task) {
                self.tasks[task as usize].state = State::New;
                self.new += 1;
            } else {
                self.queue.push(Time::ZERO, Planned::Task(task));
            }
        }
    }

    /// Does what happens before `end`.
    fn until(&mut self, end: Time) -> Result<(), Error> {
        while self.queue.next().is_some_and(|next| next < end) {
            self.step()?;
        }
        Ok(())
    }

    /// One event; false if none is planned.
    fn step(&mut self) -> Result<bool, Error> {
        let Some((now, planned)) = self.queue.pop() else { return Ok(false) };
        if now == Time::END {
            return Err(Error::Endless);
        }
        self.now = now;
        match planned {
            Planned::Task(task) => self.task(now, task)?,
            Planned::Cores(computer, wish) => {
                self.places.handle_timeout(now, computer, wish);
                self.processors();
            }
            Planned::Memory(place) => {
                let (to, from, arrived) = self.places.arrived(place);
                self.inbox.put(to, from, Box::new(arrived));
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
        Ok(true)
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
                Output::GaveUp { from, to } => return Err(Error::GaveUp { from, to }),
            }
        }
        Ok(())
    }

    /// Something comes of another part, or of a meeting.
    fn deliver(&mut self, mail: Mail<N::Mail>) -> Result<(), Error> {
        match mail {
            Mail::Network(mail) => {
                self.network.deliver(mail)?;
                while let Some(output) = self.network.poll_output() {
                    let Output::At(at, planned) = output else { continue };
                    self.queue.push(at, Planned::Network(planned));
                }
            }
            Mail::Start { task, at, chain } => self.started(at, chain, task),
            Mail::Met { came, wait, chain } => self.met(&came, &wait, chain),
        }
        Ok(())
    }

    /// Takes what is for other parts.
    fn mail(&mut self) -> impl Iterator<Item = (u32, Mail<N::Mail>)> {
        let network = self.network.mail();
        self.mail.drain(..).chain(network.map(|(part, mail)| (part, Mail::Network(mail))))
    }

    /// Does what the processors say.
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
}

/// The report of all parts.
fn finish<N: Network>(parts: Vec<Run<'_, N>>, meetings: &Meetings) -> Result<Report, Error> {
    let tasks = parts[0].tasks.count();
    let task = |number| parts.iter().find_map(|part| Some((part, part.tasks.get(number)?)));
    let all = || (0..tasks).filter_map(|number| Some((number, task(number)?)));
    let waiting = all().filter_map(|(task, (part, state))| {
        let State::Receiving(receive) = &state.state else {
            return meetings.waiting(task).or_else(|| part.meetings.waiting(task));
        };
        let Receive { from, tag, bytes, left, .. } = **receive;
        let (label, there) = (part.matching.label(tag), bytes - left);
        Some(Waiting { task, what: Awaited::Message { from, label, bytes, there } })
    });
    super::nobody_waits(waiting)?;
    let is_new = |(_, (_, task)): &(u32, (_, &Task))| matches!(task.state, State::New);
    if let Some((task, _)) = all().find(is_new) {
        return Err(super::never_started(task as usize));
    }
    let mut report = Report {
        stations: all().map(|(_, (_, task))| task.report).collect(),
        actions: parts.iter().map(|part| part.actions).sum(),
        events: parts.iter().map(|part| part.events).sum(),
        put_off: all().map(|(_, (_, task))| task.looks.count).sum(),
        ..Report::default()
    };
    parts.iter().for_each(|part| part.network.report(&mut report));
    report.finish(all().map(|(_, (_, task))| task.chain));
    report.sections = match parts.len() {
        1 => parts.into_iter().flat_map(|part| part.sections.finish()).collect(),
        _ => Sections::of_all(parts.into_iter().map(|part| part.sections)),
    };
    Ok(report)
}
