//! Depth `flow`: messages are flows that share links by max-min fairness.
//!
//! A message crosses the links of its route ([`Routes`]): with a switch, a link from its host and a
//! link to the other host; with a shared cable, that cable. The messages of a pair of tasks follow
//! one another. The model leaves out what packets, windows and losses do to a flow: a flow has its
//! share at once, and gives it up at once.

use super::run::inbox::{Arrived, Message, Transfer};
use super::run::network::{Network, Output};
use super::run::{self, OPEN_MAX};
use crate::action::TaskNumber;
use crate::blame::{Phase, Told};
use crate::error::Error;
use crate::kernel::Map;
use crate::link::routes::Routes;
use crate::link::share::{self, Share};
use crate::platform::{Line, Platform, Session, Transport};
use crate::program::Source;
use crate::report::{Report, Watcher};
use crate::unit::Time;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;

/// Runs a program on a platform.
pub fn run(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    run::run(source, platform, seed, |hosts| Flows::new(platform, hosts), watcher)
}

/// A planned event.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// Flows may have ended; the number is that of the links' wake-up.
    Share(u64),
    /// The first message that has left this connection arrives.
    Arrival(u32),
}

/// The transfer of a message.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    /// The time of its arrival.
    at: Time,
    /// The time that it would have taken alone on all its links.
    alone: Time,
}

impl Transfer for Crossed {
    fn tell(&self, told: &mut Told) {
        told.until(Phase::Queue, self.at.since(self.alone));
        told.until(Phase::Wire, self.at);
    }
}

/// The messages from one task to another, in their order.
#[derive(Debug)]
struct Connection {
    from: TaskNumber,
    to: TaskNumber,
    /// The links between their hosts.
    links: Rc<[u32]>,
    /// The messages that were handed over, with their bytes. The first one is the flow under way,
    /// since the time beside it.
    queue: VecDeque<(Message, u64)>,
    since: Time,
    /// The bytes of all messages but the first.
    behind: u64,
    /// True if the sender keeps the last byte of its message until less than a buffer is under way.
    waits: bool,
    /// True if the sender's next offer is that byte.
    owes: bool,
    /// The messages that have left and have not arrived.
    leaving: VecDeque<(Message, Crossed)>,
}

impl Connection {
    /// The number of remaining bytes of the first message at which there is room behind it.
    fn mark(&self, buffer: u64) -> Option<u64> {
        if self.waits { buffer.checked_sub(self.behind) } else { None }
    }
}

/// Connections, and the links that they share.
struct Flows {
    line: Line,
    /// The bytes of each message beside its data.
    extra: u64,
    session: Session,
    buffer: u64,
    /// The host of each task.
    hosts: Vec<u32>,
    routes: Routes,
    /// The links that messages have crossed, by their numbers in the routes.
    links: Map<u32, u32>,
    share: Share,
    connections: Vec<Connection>,
    numbers: Map<(TaskNumber, TaskNumber), u32>,
    /// The time of the messages of each task.
    net: Vec<Time>,
    out: VecDeque<Output<Planned, Crossed>>,
}

impl Flows {
    fn new(platform: &Platform, hosts: &[u32]) -> Result<Self, Error> {
        let line = platform.line();
        let count = hosts.iter().max().map_or(0, |most| *most + 1);
        let routes = Routes::new(line.topology, count).map_err(Error::Unfit)?;
        let (extra, buffer) = match platform.transport {
            Transport::Tcp(tcp) => (tcp.message, tcp.send_buffer.most()),
            _ => (0, u64::MAX),
        };
        Ok(Self {
            line,
            extra,
            session: platform.session,
            buffer,
            hosts: hosts.to_vec(),
            routes,
            share: Share::new([]),
            links: Map::default(),
            connections: Vec::new(),
            numbers: Map::default(),
            net: vec![Time::ZERO; hosts.len()],
            out: VecDeque::new(),
        })
    }

    fn connection(&mut self, from: TaskNumber, to: TaskNumber) -> u32 {
        *self.numbers.entry((from, to)).or_insert_with(|| {
            let hosts = (self.hosts[from as usize], self.hosts[to as usize]);
            let route = self.routes.route(hosts.0, hosts.1);
            let (known, share, byte) = (&mut self.links, &mut self.share, self.line.byte);
            let mut number = |link| *known.entry(link).or_insert_with(|| share.link(byte));
            let links = route.map(&mut number).collect();
            let (queue, leaving) = (VecDeque::new(), VecDeque::new());
            let (since, behind, waits, owes) = (Time::ZERO, 0, false, false);
            self.connections.push(Connection {
                from,
                to,
                links,
                queue,
                since,
                behind,
                waits,
                owes,
                leaving,
            });
            self.connections.len() as u32 - 1
        })
    }

    /// The first message of a connection begins to cross its links.
    fn begin(&mut self, now: Time, number: u32) {
        let connection = &mut self.connections[number as usize];
        let Some((_, bytes)) = connection.queue.front() else { return };
        connection.since = now;
        self.share.handle(now, number, Rc::clone(&connection.links), *bytes);
        if let Some(mark) = connection.mark(self.buffer) {
            self.share.mark(now, number, mark);
        }
    }

    /// The first message of a connection has left.
    fn left(&mut self, now: Time, number: u32) {
        let connection = &mut self.connections[number as usize];
        let Some((message, bytes)) = connection.queue.pop_front() else { return };
        let latency = self.line.latency;
        let crossed = Crossed { at: now + latency, alone: self.line.time_of(bytes) + latency };
        self.net[connection.from as usize] += crossed.at - connection.since;
        connection.leaving.push_back((message, crossed));
        connection.behind -= connection.queue.front().map_or(0, |(_, bytes)| *bytes);
        self.out.push_back(Output::At(crossed.at, Planned::Arrival(number)));
        self.begin(now, number);
    }

    /// Handles the outputs of the links.
    fn told(&mut self, now: Time) {
        while let Some(output) = self.share.poll_output() {
            match output {
                share::Output::Wake(at, wish) => {
                    self.out.push_back(Output::At(at, Planned::Share(wish)));
                }
                share::Output::Marked(number) => {
                    let connection = &mut self.connections[number as usize];
                    connection.waits = false;
                    self.out.push_back(Output::Room(connection.from));
                }
                share::Output::Done(number) => self.left(now, number),
            }
        }
    }
}

impl Network for Flows {
    type Transfer = Crossed;
    type Planned = Planned;
    /// Flows share links from one end of the network to the other one: there are no parts.
    type Mail = Infallible;

    fn mail(&mut self) -> impl Iterator<Item = (u32, Infallible)> {
        std::iter::empty()
    }

    fn due(mail: &Infallible) -> Time {
        match *mail {}
    }

    fn deliver(&mut self, mail: Infallible) -> Result<(), Error> {
        match mail {}
    }

    fn length(&self, bytes: u64) -> u64 {
        self.session.records(bytes + self.extra).max(1)
    }

    fn there_and_back(&self) -> Time {
        self.line.latency.times(2)
    }

    /// Takes a whole message. If more than a buffer would be under way then, its last byte is taken
    /// later, when there is room.
    fn offer(
        &mut self,
        now: Time,
        (from, to): (TaskNumber, TaskNumber),
        message: Message,
        left: u64,
    ) -> Result<u64, Error> {
        let number = self.connection(from, to);
        let bytes = self.length(message.bytes);
        let connection = &mut self.connections[number as usize];
        if std::mem::take(&mut connection.owes) {
            return Ok(left);
        }
        if connection.queue.len() + connection.leaving.len() >= OPEN_MAX {
            let what = "a connection";
            return Err(Error::TooMany { task: from, what, limit: OPEN_MAX });
        }
        let first = connection.queue.front().map(|(_, bytes)| *bytes);
        connection.behind += if first.is_some() { bytes } else { 0 };
        connection.queue.push_back((message, bytes));
        let under_way = first.unwrap_or(bytes).saturating_add(connection.behind);
        connection.waits = under_way > self.buffer;
        connection.owes = connection.waits;
        let (waits, mark) = (connection.waits, connection.mark(self.buffer));
        if first.is_none() {
            self.begin(now, number);
        } else if let Some(mark) = mark {
            self.share.mark(now, number, mark);
        }
        self.told(now);
        Ok(left - u64::from(waits))
    }

    fn handle_timeout(&mut self, now: Time, planned: Planned) {
        match planned {
            Planned::Share(wish) => {
                self.share.handle_timeout(now, wish);
                self.told(now);
            }
            Planned::Arrival(number) => {
                let connection = &mut self.connections[number as usize];
                let (to, from) = (connection.to, connection.from);
                if let Some((message, crossed)) = connection.leaving.pop_front() {
                    let arrived = Arrived::new(message, Some(crossed));
                    self.out.push_back(Output::Arrived { to, from, arrived: Box::new(arrived) });
                    self.out.push_back(Output::Look { to, from });
                }
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<Planned, Crossed>> {
        self.out.pop_front()
    }

    fn report(&self, report: &mut Report) {
        for (station, net) in report.stations.iter_mut().zip(&self.net) {
            station.net = *net;
        }
    }
}
