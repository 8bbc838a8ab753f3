//! Depth `packet`: every segment of every connection crosses the network.
//!
//! Each task has a host of its own, unless a placement says otherwise, and each pair of tasks of
//! different hosts a connection. Tasks of one host share its cores. A message is handed to its
//! connection in one piece; where the send buffer is full the task waits. It is taken when all of
//! it is there.

mod debts;
mod inbox;
mod looks;
mod places;
mod send;
mod state;
mod wires;

use self::debts::Debts;
use self::inbox::{Arrived, Inbox, Receive};
use self::looks::Wanted;
use self::places::Places;
use self::send::Send;
use self::state::{Side, State, Task};
use self::wires::{Output as Wired, Packet, Planned as OnWire, Wires};
use crate::action::{Action, Matching, TaskNumber};
use crate::blame::{Phase, Told};
use crate::error::{Awaited, Error, Standstill, WAITING_TOLD, Waiting};
use crate::kernel::{Map, Queue};
use crate::model::meeting::{Came, Meetings};
use crate::platform::{Host, Platform, Tcp, Transport};
use crate::program::Source;
use crate::report::{ASKED_EVERY, Event, Report, Watcher};
use crate::sections::Sections;
use crate::transport::tcp::{End, Input, Output, Segment};
use crate::unit::Time;
use std::collections::VecDeque;

/// More tasks are refused: each is a host with a port.
const TASKS_MAX: TaskNumber = 1 << 16;
/// Messages of one pair that have not arrived.
const OPEN_MAX: usize = 1 << 20;

/// Runs a program on a platform.
pub fn run(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let tasks = source.tasks();
    if tasks > TASKS_MAX {
        let what = format!("{tasks} tasks are more than {TASKS_MAX}: --depth line");
        return Err(Error::Unfit(what));
    }
    let Transport::Tcp(tcp) = platform.transport else {
        let what = format!("{} has no transport, so no packets: --depth line", platform.name);
        return Err(Error::Unfit(what));
    };
    let matching = source.matching();
    let places = Places::new(&platform.place, tasks, platform.host)?;
    Run {
        source,
        watcher,
        host: platform.host,
        tcp,
        base: platform.shortest(tcp.header).times(2),
        queue: Queue::new(),
        tasks: (0..tasks).map(|_| Task::default()).collect(),
        wires: Wires::new(platform.network, places.hosts(), seed)?,
        places,
        ends: Vec::new(),
        connections: Map::default(),
        inbox: Inbox::new(matching),
        matching,
        debts: Debts::new(tasks, tcp.confirmation),
        meetings: Meetings::default(),
        sections: Sections::default(),
        actions: 0,
        serial: 0,
    }
    .all()
}

/// What is planned.
#[derive(Clone, Copy, Debug)]
enum Planned {
    Task(TaskNumber),
    /// Somebody may have had the processor time that it wanted, on this computer.
    Cores(u32, u64),
    /// A message through memory is there.
    Memory(u32),
    End(u32),
    Wire(OnWire),
}

struct Run<'a> {
    source: &'a mut dyn Source,
    watcher: &'a mut dyn Watcher,
    host: Host,
    tcp: Tcp,
    /// The time there and back on a network with nothing else.
    base: Time,
    queue: Queue<Planned>,
    tasks: Vec<Task>,
    places: Places,
    wires: Wires,
    ends: Vec<Side>,
    connections: Map<(TaskNumber, TaskNumber), u32>,
    inbox: Inbox,
    matching: Matching,
    debts: Debts,
    meetings: Meetings,
    sections: Sections,
    actions: u64,
    serial: u64,
}

impl Run<'_> {
    fn all(mut self) -> Result<Report, Error> {
        for task in 0..self.tasks.len() as TaskNumber {
            if self.source.is_started(task) {
                self.tasks[task as usize].state = State::New;
            } else {
                self.queue.push(Time::ZERO, Planned::Task(task));
            }
        }
        while let Some((now, planned)) = self.queue.pop() {
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
                Planned::End(end) => {
                    self.ends[end as usize].end.handle_timeout(now);
                    self.end(now, end, None)?;
                }
                Planned::Wire(planned) => {
                    self.wires.handle_timeout(now, planned);
                    self.wire(now)?;
                }
            }
        }
        self.finish()
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
        let first: Vec<Waiting> = waiting.clone().take(WAITING_TOLD).collect();
        if !first.is_empty() {
            let count = waiting.count() as u64;
            return Err(Error::Standstill(Standstill { count, first }));
        }
        let is_new = |task: &Task| matches!(task.state, State::New);
        if let Some(task) = self.tasks.iter().position(is_new) {
            return Err(super::never_started(task));
        }
        debug_assert_eq!(self.wires.sent, self.wires.ended, "each packet arrives or is lost");
        let mut report = Report {
            stations: self.tasks.iter().map(|task| task.report).collect(),
            collisions: self.wires.collisions(),
            lost: self.wires.lost,
            resent: self.ends.iter().map(|side| side.end.resent()).sum(),
            actions: self.actions,
            put_off: self.tasks.iter().map(|task| task.looks.count).sum(),
            sections: self.sections.finish(),
            ..Report::default()
        };
        report.finish(self.tasks.iter().map(|task| task.chain));
        Ok(report)
    }

    /// A task wants a processor for so long; then its call or computation is over.
    fn busy(&mut self, now: Time, number: TaskNumber, time: Time) {
        self.tasks[number as usize].busy = (now, time);
        if self.places.handle(now, number, time) {
            return self.processors();
        }
        self.queue.push(now + time, Planned::Task(number));
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

    /// A task's call or computation is over.
    fn task(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        // What it took longer than it wanted, others had the processors.
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

    /// A task's next action.
    fn act(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        if self.actions.is_multiple_of(ASKED_EVERY) && !self.watcher.goes_on(self.actions) {
            return Err(Error::Stopped(self.actions));
        }
        let inbox = &self.inbox;
        let is_there = |wanted: &Wanted| inbox.has(number, wanted.from, wanted.tag);
        if let Some(receive) = self.tasks[number as usize].looks.take(is_there) {
            return self.begin_receive(now, number, receive);
        }
        let action = self.source.next(number)?;
        let task = &mut self.tasks[number as usize];
        self.actions += u64::from(action.is_some());
        match action {
            None if task.looks.open() > 0 => {
                task.looks.settle();
                self.act(now, number)
            }
            None => {
                task.state = State::Over;
                task.report.execution = now;
                self.sections.leave(number, now);
                Ok(())
            }
            Some(Action::Compute(time)) => {
                let time = time.scaled(1.0 / self.host.speed);
                task.chain.computing += time;
                task.report.computing += time;
                self.busy(now, number, time);
                Ok(())
            }
            Some(Action::Call(time)) => {
                task.chain.split.add(Phase::Host, time);
                task.report.calls += time;
                self.busy(now, number, time);
                Ok(())
            }
            Some(Action::Idle(time)) => {
                task.chain.split.add(Phase::Host, time);
                task.report.blocked.add(Phase::Host, time);
                self.queue.push(now + time, Planned::Task(number));
                Ok(())
            }
            Some(Action::Start(tasks)) => {
                tasks.iter().for_each(|started| self.start(now, number, *started));
                self.queue.push(now, Planned::Task(number));
                Ok(())
            }
            Some(Action::Meet { time, point, count }) => {
                self.meet(now, number, time, (point, count))
            }
            Some(Action::Look) => {
                self.look_for(number)?;
                self.act(now, number)
            }
            Some(Action::CatchUp) => {
                task.looks.settle();
                self.act(now, number)
            }
            Some(Action::Enter(section)) => {
                self.sections.enter(number, section, now);
                self.queue.push(now, Planned::Task(number));
                Ok(())
            }
            Some(Action::Send { time, bytes, to, tag }) => {
                self.begin_send(now, number, (time, bytes, tag), [to].into());
                Ok(())
            }
            Some(Action::Multicast { time, bytes, to, tag }) => {
                self.begin_send(now, number, (time, bytes, tag), to);
                Ok(())
            }
            Some(Action::Receive { time, bytes, from, tag }) => {
                self.begin_receive(now, number, Wanted { time, bytes, from, tag })
            }
        }
    }

    /// A task begins, because another one has started it.
    fn start(&mut self, now: Time, by: TaskNumber, number: TaskNumber) {
        let chain = self.tasks[by as usize].chain;
        let task = &mut self.tasks[number as usize];
        if matches!(task.state, State::New) {
            (task.state, task.chain) = (State::Ready, chain);
            task.report.blocked.add(Phase::Late, now);
            self.queue.push(now, Planned::Task(number));
        }
    }

    /// A task comes to a point at which it may have to wait for others.
    fn meet(
        &mut self,
        now: Time,
        number: TaskNumber,
        time: Time,
        at: (u32, u32),
    ) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        task.state = State::Meeting;
        let came = Came { task: number, at: now, time, chain: task.chain };
        let Some(met) = self.meetings.come(at, came) else {
            self.debts.look(number);
            return self.confirm(now, number);
        };
        for one in met.all() {
            let (wait, chain) = met.wait_of(one, self.base);
            let task = &mut self.tasks[one.task as usize];
            task.state = State::Ready;
            task.chain = chain;
            task.chain.split.add(Phase::Host, one.time);
            task.report.blocked.add_all(&wait);
            task.report.calls += one.time;
            self.queue.push(one.at + wait.total() + one.time, Planned::Task(one.task));
        }
        Ok(())
    }

    fn begin_send(
        &mut self,
        now: Time,
        number: TaskNumber,
        (time, bytes, tag): (Time, u64, i32),
        to: Box<[TaskNumber]>,
    ) {
        let (whole, left) = (time + self.host.send_of(bytes), self.length(bytes));
        let task = &mut self.tasks[number as usize];
        let chain = task.chain;
        task.chain.split.add(Phase::Host, whole);
        task.report.sending += whole;
        task.report.count(number, &to, bytes);
        let send = Send { to, at: 0, left, bytes, tag, began: now, chain, serial: self.serial };
        self.serial += send.to.len() as u64;
        task.state = State::Sending(Box::new(send));
        self.busy(now, number, whole);
    }

    /// What a message is on its connection: at least a byte, as nothing tells of one that has none.
    fn length(&self, bytes: u64) -> u64 {
        (bytes + self.tcp.message).max(1)
    }

    /// Hands over what there is room for; waits for room, or goes on.
    fn write(&mut self, now: Time, number: TaskNumber, mut send: Box<Send>) -> Result<(), Error> {
        while let Some(to) = send.to.get(send.at).copied() {
            if !self.places.are_near(number, to) {
                let end = self.connection(number, to);
                let some = self.ends[end as usize].end.room().min(send.left);
                send.left -= some;
                let side = &mut self.ends[end as usize];
                side.written += some;
                if send.left == 0 {
                    side.open.push_back(send.message(now, side.written));
                    if side.open.len() > OPEN_MAX {
                        let what = "a connection";
                        return Err(Error::TooMany { task: number, what, limit: OPEN_MAX });
                    }
                }
                side.end.handle(now, Input::Written(some));
                self.end(now, end, None)?;
                if send.left > 0 {
                    self.tasks[number as usize].state = State::Writing(send, now);
                    return Ok(());
                }
            } else if to == number {
                self.inbox.put(to, number, Arrived::new(send.message(now, 0), None));
            } else {
                let (message, bytes) = (send.message(now, 0), send.bytes);
                let (at, place) = self.places.send(now, (to, number), bytes, message);
                self.queue.push(at, Planned::Memory(place));
            }
            self.watcher.event(Event::Sent {
                task: number,
                message: send.serial + send.at as u64,
                to: &[to],
                bytes: send.bytes,
                began: send.began,
                ended: now,
            })?;
            self.debts.told(number, to);
            send.at += 1;
            send.left = self.length(send.bytes);
        }
        self.act(now, number)
    }

    /// There is room again for what a task waits to hand over.
    fn room(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        match std::mem::take(&mut task.state) {
            State::Writing(send, since) => {
                task.report.blocked.add(Phase::Queue, now - since);
                task.chain.split.add(Phase::Queue, now - since);
                self.write(now, number, send)
            }
            other => {
                task.state = other;
                Ok(())
            }
        }
    }

    fn connection(&mut self, own: TaskNumber, other: TaskNumber) -> u32 {
        if let Some(end) = self.connections.get(&(own, other)) {
            return *end;
        }
        let first = self.ends.len() as u32;
        for (own, other, peer) in [(own, other, first + 1), (other, own, first)] {
            let end = End::new(&self.tcp, self.base);
            self.connections.insert((own, other), self.ends.len() as u32);
            self.ends.push(Side { end, own, other, peer, written: 0, open: VecDeque::new() });
        }
        first
    }

    /// A task looks for a message: the receive behind the look is one of those that may wait.
    fn look_for(&mut self, number: TaskNumber) -> Result<(), Error> {
        let Some(Action::Receive { time, bytes, from, tag }) = self.source.next(number)? else {
            return Err(Error::Unfit(format!("task {number}: behind a look there is no receive")));
        };
        self.actions += 1;
        let is_there = self.inbox.has(number, from, tag);
        let looks = &mut self.tasks[number as usize].looks;
        if looks.open() >= OPEN_MAX {
            let what = "messages that are put off";
            return Err(Error::TooMany { task: number, what, limit: OPEN_MAX });
        }
        looks.look(Wanted { time, bytes, from, tag }, is_there);
        Ok(())
    }

    fn begin_receive(
        &mut self,
        now: Time,
        number: TaskNumber,
        Wanted { time, bytes, from, tag }: Wanted,
    ) -> Result<(), Error> {
        let (wait, cause) = (Told::since(now), self.tasks[number as usize].chain);
        let (left, began, message, is_done) = (bytes, now, None, false);
        self.receive(
            now,
            number,
            Receive { from, tag, bytes, left, time, began, wait, cause, message, is_done },
        )
    }

    fn receive(
        &mut self,
        now: Time,
        number: TaskNumber,
        mut receive: Receive,
    ) -> Result<(), Error> {
        self.inbox.take(number, &mut receive);
        self.debts.look(number);
        let task = &mut self.tasks[number as usize];
        if !receive.is_done {
            task.state = State::Receiving(Box::new(receive));
            return self.confirm(now, number);
        }
        receive.wait.until(Phase::Queue, now);
        let waited = receive.wait.split.total();
        let call = receive.time + self.host.receive_of(receive.bytes);
        let taken = (receive.from != number).then_some(receive.bytes);
        task.chain.receive(receive.cause, &receive.wait.split, call);
        task.report.receive(&receive.wait.split, call, taken);
        task.state = State::Ready;
        self.busy(now, number, call);
        let Receive { from, message, began, .. } = receive;
        let ended = now + call;
        self.watcher.event(Event::Received { task: number, message, from, began, waited, ended })
    }

    /// Does what an end says; `cause` is the packet that it got.
    fn end(&mut self, now: Time, number: u32, cause: Option<&Packet>) -> Result<(), Error> {
        while let Some(output) = self.ends[number as usize].end.poll_output() {
            match output {
                Output::Wake(at) => self.queue.push(at, Planned::End(number)),
                Output::Send(segment) => self.send(now, number, segment)?,
                Output::Room => {
                    let own = self.ends[number as usize].own;
                    self.room(now, own)?;
                }
                Output::Here(until) => self.here(now, number, until, cause)?,
            }
        }
        Ok(())
    }

    fn send(&mut self, now: Time, sender: u32, segment: Segment) -> Result<(), Error> {
        let side = &self.ends[sender as usize];
        let bytes = segment.bytes + self.tcp.header;
        let hosts = (self.places.host(side.own), self.places.host(side.other));
        let packet = Packet::new(hosts, (sender, side.peer), bytes, segment);
        self.wires.send(now, packet);
        self.wire(now)
    }

    /// Does what the network says.
    fn wire(&mut self, now: Time) -> Result<(), Error> {
        while let Some(output) = self.wires.poll_output() {
            match output {
                Wired::At(at, planned) => self.queue.push(at, Planned::Wire(planned)),
                Wired::Left(packet) if packet.segment.bytes == 0 => (),
                Wired::Left(packet) => {
                    let side = &mut self.ends[packet.sender as usize];
                    side.end.handle(now, Input::Left(packet.segment.bytes));
                    self.end(now, packet.sender, None)?;
                }
                Wired::Arrived(packet) => {
                    if packet.segment.bytes > 0 {
                        let from = self.ends[packet.sender as usize].own;
                        let report = &mut self.tasks[from as usize].report;
                        report.net += now - packet.segment.sent;
                    }
                    let side = &mut self.ends[packet.receiver as usize];
                    side.end.handle(now, Input::Arrived(packet.segment));
                    self.end(now, packet.receiver, Some(&packet))?;
                }
            }
        }
        Ok(())
    }

    /// All bytes of a stream below a place are at its receiver.
    fn here(
        &mut self,
        now: Time,
        number: u32,
        until: u64,
        cause: Option<&Packet>,
    ) -> Result<(), Error> {
        let (own, other, peer) = {
            let side = &self.ends[number as usize];
            (side.own, side.other, side.peer)
        };
        let open = &mut self.ends[peer as usize].open;
        while let Some(message) = open.front().copied().filter(|message| message.end <= until) {
            open.pop_front();
            self.debts.arrived(own, other);
            self.inbox.put(own, other, Arrived::new(message, cause.copied()));
        }
        self.look(now, own, other)
    }

    /// Something of one task is there for another one, which may wait for it.
    fn look(&mut self, now: Time, own: TaskNumber, other: TaskNumber) -> Result<(), Error> {
        let task = &mut self.tasks[own as usize];
        match std::mem::take(&mut task.state) {
            State::Receiving(receive) if receive.from == other => self.receive(now, own, *receive),
            state => {
                let waits = matches!(state, State::Receiving(_) | State::Meeting);
                task.state = state;
                if !waits {
                    return Ok(());
                }
                // Its library takes in what it does not wait for, and finds no more.
                self.debts.look(own);
                self.confirm(now, own)
            }
        }
    }

    /// A task has found nothing more: those are told whose messages it has seen.
    fn confirm(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        for other in self.debts.take(number) {
            let (bytes, end) = (self.debts.bytes, self.connection(number, other));
            let side = &mut self.ends[end as usize];
            side.written += bytes;
            side.end.handle(now, Input::Written(bytes));
            self.end(now, end, None)?;
        }
        Ok(())
    }
}
