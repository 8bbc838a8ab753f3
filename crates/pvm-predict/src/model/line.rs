//! Depth `line`: each message takes a latency and a time for each byte, and messages share nothing
//! but their sender's output. So a message does not depend on the messages of other tasks, and no
//! queue of events is needed: each task goes on until it waits for a message that was not sent yet.

use crate::action::{Action, Matching, TaskNumber};
use crate::blame::{Chain, Phase, Told};
use crate::error::{Awaited, Error, Waiting};
use crate::kernel::Map;
use crate::model::meeting::{self, Meetings};
use crate::platform::{Host, Line, Placement};
use crate::program::Source;
use crate::report::{ASKED_EVERY, Event, Report, StationReport, Watcher};
use crate::sections::Sections;
use crate::unit::Time;
use std::collections::VecDeque;

/// The most messages that are kept until they are taken.
const MESSAGES_MAX: usize = 1 << 26;
/// The index that is in no list.
const NOBODY: u32 = u32::MAX;

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
    let matching = source.matching();
    let ready = (0..tasks).filter(|task| !source.is_started(*task)).collect();
    LineRun {
        source,
        watcher,
        line,
        host,
        hosts,
        matching,
        tasks: vec![Task::default(); tasks as usize],
        ready,
        meetings: Meetings::default(),
        sections: Sections::default(),
        lists: Map::default(),
        messages: Vec::new(),
        free: NOBODY,
        actions: 0,
        serial: 0,
    }
    .all()
}

/// Receiver, sender and tag; if bytes are taken, the tag is always 0.
type Key = (TaskNumber, TaskNumber, i32);

/// A task.
#[derive(Clone, Debug, Default)]
struct Task {
    now: Time,
    /// The time at which its output is free for the next message.
    door: Time,
    waits: Waits,
    state: State,
    chain: Chain,
    report: StationReport,
}

// A million tasks of this size are most of the memory of depth `line`.
const _: () = assert!(size_of::<Task>() <= 256);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// The task was not started, if another task is to start it.
    #[default]
    New,
    Begun,
    /// The task has ended.
    Over,
}

/// The receive for which a task waits.
///
/// In a run of a million tasks nearly all of them wait, so this keeps only what a receive needs
/// later.
#[derive(Clone, Debug, Default)]
enum Waits {
    #[default]
    No,
    /// It has taken no bytes.
    Whole { from: TaskNumber, tag: i32, bytes: u64, time: Time },
    /// It has taken some of its bytes.
    Partly(Box<Receive>),
}

impl Waits {
    /// The sender, the tag, the bytes, and the missing bytes.
    fn missing(&self) -> Option<(TaskNumber, i32, u64, u64)> {
        match self {
            Self::No => None,
            Self::Whole { from, tag, bytes, .. } => Some((*from, *tag, *bytes, *bytes)),
            Self::Partly(receive) => {
                let Receive { from, tag, bytes, left, .. } = **receive;
                Some((from, tag, bytes, left))
            }
        }
    }
}

/// A receive of which some bytes have not been sent.
#[derive(Clone, Copy, Debug)]
struct Receive {
    from: TaskNumber,
    tag: i32,
    bytes: u64,
    left: u64,
    time: Time,
    wait: Told,
    /// The chain of causes of the last byte so far.
    cause: Chain,
    message: Option<u64>,
}

/// A message that has not been taken.
#[derive(Clone, Copy, Debug)]
struct Message {
    serial: u64,
    left: u64,
    began: Time,
    handed: Time,
    entered: Time,
    arrived: Time,
    /// The chain of causes of its begin.
    chain: Chain,
    next: u32,
}

/// The messages of one key, in their order.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

struct LineRun<'a> {
    source: &'a mut dyn Source,
    watcher: &'a mut dyn Watcher,
    line: Line,
    host: Host,
    /// The host of each task, if some hosts have several tasks.
    hosts: Option<Vec<u32>>,
    matching: Matching,
    tasks: Vec<Task>,
    ready: VecDeque<TaskNumber>,
    meetings: Meetings,
    sections: Sections,
    lists: Map<Key, List>,
    messages: Vec<Message>,
    free: u32,
    actions: u64,
    serial: u64,
}

impl LineRun<'_> {
    fn all(mut self) -> Result<Report, Error> {
        while let Some(task) = self.ready.pop_front() {
            while self.step(task)? {}
        }
        self.finish()
    }

    fn finish(self) -> Result<Report, Error> {
        let waiting = (0..).zip(&self.tasks).filter_map(|(task, state)| {
            let Some((from, tag, bytes, left)) = state.waits.missing() else {
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
            if task.report.execution > last || number == 0 {
                (last, path) = (task.report.execution, task.chain);
            }
        }
        // The reports replace the tasks, so that no second list of a million tasks is needed.
        let stations = self.tasks.into_iter().map(|task| task.report).collect();
        let (actions, sections) = (self.actions, self.sections.finish());
        let mut report = Report { actions, stations, sections, ..Report::default() };
        report.finish(std::iter::repeat(path));
        Ok(report)
    }

    /// Carries out one action of a task; false if the task waits or has ended.
    fn step(&mut self, number: TaskNumber) -> Result<bool, Error> {
        self.tasks[number as usize].state = State::Begun;
        match std::mem::take(&mut self.tasks[number as usize].waits) {
            Waits::No => (),
            Waits::Whole { from, tag, bytes, time } => {
                return self.begin_receive(number, (from, tag), bytes, time);
            }
            Waits::Partly(receive) => return self.receive(number, *receive),
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
                let time = time.scaled(1.0 / self.host.speed);
                let task = &mut self.tasks[number as usize];
                task.now += time;
                task.chain.computing += time;
                task.report.computing += time;
                Ok(true)
            }
            Action::Call(time) | Action::Idle(time) => {
                let task = &mut self.tasks[number as usize];
                task.now += time;
                task.chain.split.add(Phase::Host, time);
                match action {
                    Action::Call(_) => task.report.calls += time,
                    _ => task.report.blocked.add(Phase::Host, time),
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
                self.begin_receive(number, (from, tag), bytes, time)
            }
        }
    }

    fn begin_receive(
        &mut self,
        number: TaskNumber,
        (from, tag): (TaskNumber, i32),
        bytes: u64,
        time: Time,
    ) -> Result<bool, Error> {
        let task = &self.tasks[number as usize];
        let (wait, cause, left) = (Told::since(task.now), task.chain, bytes);
        let receive = Receive { from, tag, bytes, left, time, wait, cause, message: None };
        self.receive(number, receive)
    }

    /// Handles the end of a task.
    fn over(&mut self, number: TaskNumber) {
        let task = &mut self.tasks[number as usize];
        task.state = State::Over;
        task.report.execution = task.now;
        self.sections.leave(number, task.now);
    }

    /// Starts a task for another one.
    fn start(&mut self, by: TaskNumber, number: TaskNumber) {
        let (now, chain) = (self.tasks[by as usize].now, self.tasks[by as usize].chain);
        let task = &mut self.tasks[number as usize];
        if task.state == State::New && self.source.is_started(number) {
            (task.now, task.chain, task.state) = (now, chain, State::Begun);
            task.report.blocked.add(Phase::Late, now);
            self.ready.push_back(number);
        }
    }

    /// A task comes to a point; true if it does not have to wait for others.
    fn meet(&mut self, number: TaskNumber, time: Time, (point, count): (u32, u32)) -> bool {
        let task = &self.tasks[number as usize];
        let came = meeting::Came { task: number, at: task.now, time, chain: task.chain };
        let Some(met) = self.meetings.come((point, count), came) else { return false };
        let there = self.line.latency.times(2);
        for one in met.all() {
            let (wait, chain) = met.wait_of(one, there);
            let task = &mut self.tasks[one.task as usize];
            task.now = one.at + wait.total() + one.time;
            task.chain = chain;
            task.chain.split.add(Phase::Host, one.time);
            task.report.blocked.add_all(&wait);
            task.report.calls += one.time;
            if one.task != number {
                self.ready.push_back(one.task);
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
        let whole = time + self.host.send_of(bytes);
        task.now += whole;
        task.chain.split.add(Phase::Host, whole);
        task.report.sending += whole;
        task.report.count(number, to, bytes);
        let handed = task.now;
        for to in to {
            let (mut entered, mut arrived) = (handed, handed);
            if *to != number && self.are_near(number, *to) {
                let memory = self.host.memory;
                arrived = handed + memory.latency + memory.time_of(bytes);
            } else if *to != number {
                let task = &mut self.tasks[number as usize];
                entered = handed.max(task.door);
                task.door = entered + self.line.time_of(bytes);
                arrived = task.door + self.line.latency;
                task.report.net += arrived - handed;
            }
            self.serial += 1;
            let (serial, left, next) = (self.serial, bytes, NOBODY);
            let message = Message { serial, left, began, handed, entered, arrived, chain, next };
            let message = self.put(message, number)?;
            let (task, to_all, ended) = (number, &[*to], handed);
            let sent = Event::Sent { task, message: serial, to: to_all, bytes, began, ended };
            self.watcher.event(sent)?;
            self.append((*to, number, self.matching.tag(tag)), message);
            let waits = self.tasks[*to as usize].waits.missing();
            if waits.is_some_and(|(from, its, ..)| (from, its) == (number, self.matching.tag(tag)))
            {
                self.ready.push_back(*to);
            }
        }
        Ok(true)
    }

    /// True for tasks of one host.
    fn are_near(&self, one: TaskNumber, other: TaskNumber) -> bool {
        self.hosts.as_ref().is_some_and(|hosts| hosts[one as usize] == hosts[other as usize])
    }

    /// Takes the bytes that have been sent; false if the receive waits for more.
    fn receive(&mut self, number: TaskNumber, mut receive: Receive) -> Result<bool, Error> {
        receive.tag = self.matching.tag(receive.tag);
        let key = (number, receive.from, receive.tag);
        while receive.left > 0 || receive.message.is_none() {
            if self.matching == Matching::Bytes && receive.left == 0 {
                break;
            }
            let Some(list) = self.lists.get(&key).copied() else {
                // The missing bytes come from other tasks, so this task does not run before they
                // are sent.
                let Receive { from, tag, bytes, left, time, message, .. } = receive;
                let is_whole = left == bytes && message.is_none();
                self.tasks[number as usize].waits = match is_whole {
                    true => Waits::Whole { from, tag, bytes, time },
                    false => Waits::Partly(Box::new(receive)),
                };
                return Ok(false);
            };
            let message = &mut self.messages[list.first as usize];
            let some = match self.matching {
                Matching::Bytes => receive.left.min(message.left),
                Matching::Messages | Matching::Numbers => message.left,
            };
            message.left -= some;
            receive.left = match self.matching {
                Matching::Bytes => receive.left - some,
                Matching::Messages | Matching::Numbers => 0,
            };
            message.tell(&mut receive);
            if message.left == 0 {
                receive.message = Some(message.serial);
                self.release(key, list);
            } else {
                receive.message = None;
            }
        }
        self.received(number, &receive)?;
        Ok(true)
    }

    fn received(&mut self, number: TaskNumber, receive: &Receive) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        let began = task.now;
        let waited = receive.wait.split.total();
        let call = receive.time + self.host.receive_of(receive.bytes);
        let taken = (receive.from != number).then_some(receive.bytes);
        task.chain.receive(receive.cause, &receive.wait.split, call);
        task.report.receive(&receive.wait.split, call, taken);
        task.now = began + waited + call;
        let (message, from, ended) = (receive.message, receive.from, task.now);
        self.watcher.event(Event::Received { task: number, message, from, began, waited, ended })
    }

    fn put(&mut self, message: Message, task: TaskNumber) -> Result<u32, Error> {
        if self.free != NOBODY {
            let place = self.free;
            self.free = self.messages[place as usize].next;
            self.messages[place as usize] = message;
            return Ok(place);
        }
        if self.messages.len() >= MESSAGES_MAX {
            return Err(Error::TooMany { task, what: "its sends", limit: MESSAGES_MAX });
        }
        self.messages.push(message);
        Ok((self.messages.len() - 1) as u32)
    }

    fn append(&mut self, key: Key, message: u32) {
        let list = self.lists.entry(key).or_insert(List { first: message, last: NOBODY });
        if list.last != NOBODY {
            self.messages[list.last as usize].next = message;
        }
        list.last = message;
    }

    /// Removes the first message of a list, which has been taken.
    fn release(&mut self, key: Key, list: List) {
        let message = &mut self.messages[list.first as usize];
        let next = std::mem::replace(&mut message.next, self.free);
        self.free = list.first;
        if next == NOBODY {
            self.lists.remove(&key);
        } else if let Some(list) = self.lists.get_mut(&key) {
            list.first = next;
        }
    }
}

impl Message {
    /// Adds the causes of the message's delay to a receive, and the chain of its arrival if that is
    /// the last so far.
    fn tell(&self, receive: &mut Receive) {
        let wait = &mut receive.wait;
        let before = wait.end();
        let mut way = Told::since(self.began);
        for told in [wait, &mut way] {
            told.until(Phase::Late, self.began);
            told.until(Phase::Host, self.handed);
            told.until(Phase::Queue, self.entered);
            told.until(Phase::Wire, self.arrived);
        }
        if receive.wait.end() > before {
            receive.cause = self.chain.follow(&way.split);
        }
    }
}
