//! The simulator of the thesis, chapters 4.2 to 4.4, to the letter.
//!
//! doc/prediction.md says which sentence became what, and what was decided where the text is
//! silent.

mod message;

use self::message::Message;
use crate::action::{Matching, TaskNumber};
use crate::blame::{Phase, Told};
use crate::error::{Awaited, Error, Label, Standstill, WAITING_TOLD, Waiting};
use crate::host::station::{self, Receive, Station};
use crate::kernel::Queue;
use crate::link::csma::{self, Carried, Csma, Rules};
use crate::planted::{self, Bug};
use crate::program::Source;
use crate::report::{ASKED_EVERY, Event, Report, StationReport, Watcher};
use crate::transport::server::{self, Job, Server};
use crate::unit::{Rate, Time};

/// The most messages that are kept until they are taken.
const MESSAGES_MAX: usize = 1 << 22;
/// The most stations: each has a server and a port of the cable.
const STATIONS_MAX: TaskNumber = 4096;

/// The cable of the thesis: 0.8 us a byte at 10 Mb/s. Its packets contain their headers.
pub const fn cable(rate: Rate) -> Rules {
    Rules {
        preamble: 0,
        gap: 0,
        header: 0,
        propagation: Time::ZERO,
        attempts: None,
        ..Rules::ethernet(rate)
    }
}

/// Runs a program on this model.
pub fn run(
    source: &mut dyn Source,
    rate: Rate,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let tasks = source.tasks();
    if tasks > STATIONS_MAX {
        let what = format!("the thesis' cable has {STATIONS_MAX} stations at most, not {tasks}");
        return Err(Error::Unfit(what));
    }
    if source.matching() != Matching::Bytes {
        let what = "the thesis' stations receive bytes, and this trace has messages with tags: \
                    `pvm trace export --to thesis` makes its lines of a trace";
        return Err(Error::Unfit(what.to_owned()));
    }
    let run = Run {
        source,
        watcher,
        queue: Queue::new(),
        stations: (0..tasks).map(Station::new).collect(),
        servers: (0..tasks).map(|_| Server::default()).collect(),
        cable: Csma::new(cable(rate), tasks as usize, seed),
        offered: vec![Time::ZERO; tasks as usize],
        messages: Vec::new(),
        free: Vec::new(),
        actions: 0,
        serial: 0,
    };
    run.all()
}

/// A planned event.
#[derive(Clone, Copy, Debug)]
enum ThesisEvent {
    Station(TaskNumber),
    Server(TaskNumber),
    Cable,
}

struct Run<'a> {
    source: &'a mut dyn Source,
    watcher: &'a mut dyn Watcher,
    queue: Queue<ThesisEvent>,
    stations: Vec<Station>,
    servers: Vec<Server>,
    cable: Csma,
    /// The time at which each station's frame was offered to the cable.
    offered: Vec<Time>,
    messages: Vec<Message>,
    free: Vec<u32>,
    actions: u64,
    serial: u64,
}

impl Run<'_> {
    fn all(mut self) -> Result<Report, Error> {
        for station in 0..self.stations.len() as TaskNumber {
            self.station(Time::ZERO, station)?;
        }
        while let Some((now, planned)) = self.queue.pop() {
            if now == Time::END {
                return Err(Error::Endless);
            }
            match planned {
                ThesisEvent::Station(number) => {
                    self.stations[number as usize].handle_timeout(now);
                    self.station(now, number)?;
                }
                ThesisEvent::Server(number) => {
                    self.servers[number as usize].handle_timeout(now);
                    self.server(now, number)?;
                }
                ThesisEvent::Cable => {
                    self.cable.handle_timeout(now);
                    self.cable(now)?;
                }
            }
        }
        self.finish()
    }

    fn finish(self) -> Result<Report, Error> {
        let waiting = self.waiting();
        if !waiting.is_empty() {
            let count = waiting.len() as u64;
            let first = waiting.into_iter().take(WAITING_TOLD).collect();
            return Err(Error::Standstill(Standstill { count, first }));
        }
        let mut report = Report {
            collisions: Some(self.cable.collisions()),
            actions: self.actions,
            ..Report::default()
        };
        for (station, server) in self.stations.iter().zip(&self.servers) {
            report.stations.push(StationReport { transport: server.worked, ..station.report });
        }
        report.finish(self.stations.iter().map(|station| station.chain));
        Ok(report)
    }

    fn waiting(&self) -> Vec<Waiting> {
        let stations = (0..).zip(self.stations.iter().zip(&self.servers));
        let waiting = stations.filter_map(|(task, (station, server))| {
            let receive = station.receive()?;
            let (from, bytes) = (receive.from, receive.bytes);
            let there = server.lacks().map_or_else(|| server.there(from), |left| bytes - left);
            let what = Awaited::Message { from, label: Label::Next, bytes, there };
            Some(Waiting { task, what })
        });
        waiting.collect()
    }

    /// Handles the outputs of a station.
    fn station(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        while let Some(output) = self.stations[number as usize].poll_output() {
            match output {
                station::Output::Wake(at) => self.queue.push(at, ThesisEvent::Station(number)),
                station::Output::Next => self.line(now, number)?,
                station::Output::Write { to, bytes, began, until } => {
                    self.write(now, number, (to, bytes), (began, until))?;
                }
                station::Output::Read { from, bytes } => self.read(now, number, from, bytes)?,
                station::Output::Received(receive) => self.received(now, number, &receive)?,
            }
        }
        Ok(())
    }

    fn line(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        if self.actions.is_multiple_of(ASKED_EVERY) && !self.watcher.goes_on(self.actions) {
            return Err(Error::Stopped(self.actions));
        }
        let line = self.source.next(number)?;
        self.actions += u64::from(line.is_some());
        self.stations[number as usize].handle(now, station::Input::Line(line));
        Ok(())
    }

    /// A station hands a message over: 4.2.1.
    fn write(
        &mut self,
        now: Time,
        from: TaskNumber,
        (to, bytes): (Box<[TaskNumber]>, u64),
        (began, until): (Time, Time),
    ) -> Result<(), Error> {
        if bytes == 0 || to.is_empty() {
            return Ok(());
        }
        // The whole send is in the station's chain already, but the message's chain begins before
        // the send.
        let mut chain = self.stations[from as usize].chain;
        chain.split.take(Phase::Host, until - began);
        let open = to.len();
        let way = Told::since(began);
        let (handed, granted, processed) = (now, now, now);
        self.serial += 1;
        let serial = self.serial;
        let message = Message {
            serial,
            from,
            to,
            bytes,
            began,
            handed,
            granted,
            processed,
            chain,
            way,
            open,
        };
        let number = self.keep(message)?;
        let message = &self.messages[number as usize];
        self.watcher.event(Event::Sent {
            task: from,
            message: serial,
            to: &message.to,
            bytes,
            began,
            ended: until,
        })?;
        let is_own = |to: &&TaskNumber| **to == from && !planted::is(Bug::OwnMessagesPassTcp);
        let own = message.to.iter().filter(is_own).count();
        let others = message.to.len() - own;
        for _ in 0..own {
            self.servers[from as usize].arrive(from, number, bytes, bytes);
        }
        if others > 0 {
            let asked = server::Input::Asked(Job::Write { message: number, bytes });
            self.servers[from as usize].handle(now, asked);
            self.server(now, from)?;
        }
        Ok(())
    }

    fn keep(&mut self, message: Message) -> Result<u32, Error> {
        if let Some(number) = self.free.pop() {
            self.messages[number as usize] = message;
            return Ok(number);
        }
        if self.messages.len() >= MESSAGES_MAX {
            let (task, what, limit) = (message.from, "its sends", MESSAGES_MAX);
            return Err(Error::TooMany { task, what, limit });
        }
        self.messages.push(message);
        Ok((self.messages.len() - 1) as u32)
    }

    /// A station asks for bytes: 4.2.2. Its own messages do not pass the server.
    fn read(
        &mut self,
        now: Time,
        number: TaskNumber,
        from: TaskNumber,
        bytes: u64,
    ) -> Result<(), Error> {
        let server = &mut self.servers[number as usize];
        if from != number || planted::is(Bug::OwnMessagesPassTcp) {
            server.handle(now, server::Input::Asked(Job::Read { from, bytes }));
            return self.server(now, number);
        }
        // Bytes that a station sends to itself must be there already: no other task sends them.
        if server.there(from) >= bytes
            && let Some(mut last) = server.take_own(from, bytes)
        {
            last.serial = self.messages[last.message as usize].serial;
            let station = &mut self.stations[number as usize];
            let cause = station.chain;
            station.handle(now, station::Input::Complete { cause, last });
            station.handle(now, station::Input::Woke { cause });
            return self.server(now, number);
        }
        Ok(())
    }

    fn received(&mut self, now: Time, task: TaskNumber, receive: &Receive) -> Result<(), Error> {
        let Some(last) = receive.last else { return Ok(()) };
        let (from, began, waited) = (receive.from, receive.began, receive.waited);
        let message = last.is_whole.then_some(last.serial);
        self.watcher.event(Event::Received { task, message, from, began, waited, ended: now })?;
        if last.is_end && from != task && !planted::is(Bug::AcknowledgementForgotten) {
            let server = &mut self.servers[task as usize];
            server.handle(now, server::Input::Asked(Job::Acknowledge));
            self.server(now, task)?;
        }
        Ok(())
    }

    /// Handles the outputs of a server.
    fn server(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        while let Some(output) = self.servers[number as usize].poll_output() {
            match output {
                server::Output::Wake(at) => self.queue.push(at, ThesisEvent::Server(number)),
                server::Output::Granted { message } => {
                    self.messages[message as usize].granted = now;
                }
                server::Output::Processed { message } => {
                    self.messages[message as usize].processed = now;
                }
                server::Output::Offer { bytes } => {
                    self.offered[number as usize] = now;
                    self.cable.handle(now, number as usize, 0, bytes);
                    self.cable(now)?;
                }
                server::Output::Delivered { message, bytes } => {
                    self.delivered(now, message, bytes)?;
                }
                server::Output::Woke { message, worked } => {
                    self.woke(now, number, message, worked)?
                }
                server::Output::Complete(mut last) => {
                    let message = &self.messages[last.message as usize];
                    last.serial = message.serial;
                    let cause = message.chain.follow(&message.way.split);
                    let complete = station::Input::Complete { cause, last };
                    self.stations[number as usize].handle(now, complete);
                    self.station(now, number)?;
                }
                server::Output::Taken { message } => self.taken(number, message),
            }
        }
        Ok(())
    }

    fn woke(
        &mut self,
        now: Time,
        number: TaskNumber,
        message: u32,
        worked: bool,
    ) -> Result<(), Error> {
        let message = &self.messages[message as usize];
        let mut way = message.way;
        let station = &mut self.stations[number as usize];
        for told in station.wait.iter_mut().chain([&mut way]).filter(|_| worked) {
            told.until(Phase::Queue, now - server::WORK);
            told.until(Phase::Host, now);
        }
        way.until(Phase::Queue, now);
        let cause = message.chain.follow(&way.split);
        station.handle(now, station::Input::Woke { cause });
        self.station(now, number)
    }

    /// A packet has reached the receivers of its message.
    fn delivered(&mut self, now: Time, number: u32, bytes: u64) -> Result<(), Error> {
        let message = &self.messages[number as usize];
        let (from, size, to) = (message.from, message.bytes, message.to.clone());
        for receiver in to.iter().filter(|to| **to != from || planted::is(Bug::OwnMessagesPassTcp))
        {
            let arrived = server::Input::Arrived { from, message: number, bytes, size };
            self.servers[*receiver as usize].handle(now, arrived);
            self.server(now, *receiver)?;
        }
        Ok(())
    }

    fn taken(&mut self, _receiver: TaskNumber, number: u32) {
        let message = &mut self.messages[number as usize];
        message.open = message.open.saturating_sub(1);
        if message.open == 0 {
            self.free.push(number);
        }
    }

    /// Handles the outputs of the cable.
    fn cable(&mut self, now: Time) -> Result<(), Error> {
        while let Some(output) = self.cable.poll_output() {
            match output {
                csma::Output::Wake(at) => self.queue.push(at, ThesisEvent::Cable),
                csma::Output::Carried(carried) => self.carried(now, &carried)?,
                csma::Output::Dropped { .. } => (),
            }
        }
        Ok(())
    }

    fn carried(&mut self, now: Time, carried: &Carried) -> Result<(), Error> {
        let sender = carried.port as TaskNumber;
        if let Some(number) = self.servers[carried.port].sends() {
            self.stations[carried.port].report.net += carried.ended - self.offered[carried.port];
            let message = &mut self.messages[number as usize];
            let mut way = message.way;
            message.tell(&mut way, carried);
            message.way = way;
            for receiver in &message.to {
                let station = &mut self.stations[*receiver as usize];
                let waits = station.receive().is_some_and(|receive| receive.from == sender);
                if let Some(wait) = station.wait.as_mut().filter(|_| waits) {
                    message.tell(wait, carried);
                }
            }
        }
        self.servers[carried.port].handle(now, server::Input::Carried);
        self.server(now, sender)
    }
}
