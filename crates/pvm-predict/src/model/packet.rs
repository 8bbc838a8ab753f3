//! Depth `packet`: every segment of every connection crosses the network.
//!
//! Each pair of tasks on different hosts has a connection, or each pair of hosts has one between
//! its daemons. A task hands a message to its connection as a whole, and waits while the send
//! buffer is full. The receiver can take it when all of it has arrived.

mod ahead;
mod daemons;
mod debts;
mod fleet;
mod leaving;
mod network;
mod parts;
mod readers;
mod wires;
mod writing;

use self::ahead::Ahead;
use self::daemons::{Daemons, Parcel};
use self::debts::Debts;
use self::fleet::{Ends, Packet, UNKNOWN};
use self::leaving::Leaving;
use self::readers::Readers;
use self::wires::{Output as Wired, Planned as OnWire, Wires};
use super::run::division::Part;
use super::run::inbox::Arrived;
use super::run::network::{Network, Output};
use super::run::{OPEN_MAX, together};
use crate::action::TaskNumber;
use crate::crew::{Alone, Crew};
use crate::error::Error;
use crate::kernel::{Dice, Map};
use crate::platform::{self, Platform, Session, Transport};
use crate::program::Source;
use crate::report::{Report, Watcher};
use crate::transport::End;
use crate::transport::beats::Beats;
use crate::transport::tcp::{self, Clock, Input, Segment};
use crate::unit::Time;
use std::collections::VecDeque;

/// Runs a program on a platform.
pub fn run(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    run_with(source, platform, seed, (&Alone, watcher))
}

/// Runs a program on a platform with some workers, whose number does not change the result.
pub fn run_with(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    (crew, watcher): (&dyn Crew, &mut dyn Watcher),
) -> Result<Report, Error> {
    if platform.transport == Transport::None {
        let what = format!("{} has no transport, so no packets: --depth line", platform.name);
        return Err(Error::Unfit(what));
    }
    let divide = |hosts| parts::division(platform, hosts);
    let network = |hosts: &[u32], part| Packets::new(platform, hosts, seed, part);
    together::run(source, platform, seed, (divide, network), (crew, watcher))
}

/// A planned event.
#[derive(Clone, Copy, Debug)]
enum Planned {
    End(u32),
    Wire(OnWire),
    /// A message has passed through memory to a daemon, or from a daemon to its receiver.
    Hop(u32),
    /// The writer of a connection, which waits for the network, looks again.
    Look(u32),
    /// A daemon sends a heartbeat to another one.
    Beat(u32),
}

/// One end of a connection, and its use.
#[derive(Debug)]
struct Side {
    end: End,
    /// The task that writes to it, and the one at the other end, if they are not daemons.
    tasks: Option<(TaskNumber, TaskNumber)>,
    /// Its host, and the other one.
    hosts: (u32, u32),
    /// The other end's number, or [`UNKNOWN`].
    peer: u32,
    /// The number of bytes that were written so far.
    written: u64,
    ahead: Ahead,
    leaving: Leaving,
    /// Messages that come from the other end, each with the byte behind its last one.
    open: VecDeque<(u64, Parcel)>,
}

/// News for the network of another part.
#[derive(Debug)]
enum Mail {
    /// A packet will be at a node.
    Packet(Time, Packet),
    /// A message is on its way, up to this byte of its connection.
    Parcel(u64, Parcel),
}

/// Connections, and the cables that carry their segments.
struct Packets {
    part: Part,
    transport: Transport,
    session: Session,
    /// The bytes of each message beside its data.
    extra: u64,
    /// The round trip time on an idle network.
    base: Time,
    /// The host of each task.
    hosts: Vec<u32>,
    /// By computer: the clock of its timers. Hosts are assigned to computers in turn.
    clocks: Vec<Clock>,
    wires: Wires,
    ends: Vec<Side>,
    /// Queues for the outputs of ends.
    spare: Vec<VecDeque<tcp::Output>>,
    /// The ends of tasks, and those of daemons.
    connections: Map<(TaskNumber, TaskNumber), u32>,
    links: Map<(u32, u32), u32>,
    debts: Debts,
    readers: Readers,
    daemons: Option<Daemons>,
    beats: Beats,
    /// Messages that were taken from their senders and are not there. In one of several parts it
    /// counts down those of others.
    under_way: i64,
    /// The time that packets of each task took.
    net: Vec<Time>,
    /// News for other parts.
    mail: Vec<(u32, Mail)>,
    /// Random numbers for the times of segments that go alone.
    dice: Dice,
    out: VecDeque<Output<Planned, Packet>>,
}

impl Packets {
    fn new(platform: &Platform, hosts: &[u32], seed: u64, part: Part) -> Result<Self, Error> {
        let count = hosts.iter().max().map_or(0, |most| most + 1);
        let computers = platform.host.computers.map_or(count, |some| some.min(count)).max(1);
        let (session, transport) = (platform.session, platform.transport);
        let (tick, extra, confirmation) = match transport {
            Transport::Tcp(tcp) => (tcp.tick, tcp.message, tcp.confirmation),
            Transport::Datagrams(datagrams) => (Time::ZERO, datagrams.message, 0),
            _ => (Time::ZERO, 0, 0),
        };
        let mut network = platform.network;
        if let (true, platform::Network::Fabric(fabric)) = (transport.is_lossless(), &mut network) {
            // The switches of a lossless network slow senders down before a queue is full. The
            // model leaves out how far that reaches, and gives queues no bound.
            fabric.queue = u64::MAX;
        }
        let mut dice = Dice::new(seed, 3);
        let phases = (0..computers).map(|_| Time(dice.below(tick.0.max(1))));
        let clocks = phases.map(|phase| Clock::new(tick, phase)).collect();
        let beats = Beats::new(session.beat, count);
        let first = beats.first(&mut dice).into_iter();
        Ok(Self {
            part,
            transport,
            session,
            extra,
            clocks,
            base: platform.shortest(transport.header()).times(2),
            wires: Wires::new(network, (count, computers), seed, part)?,
            ends: Vec::new(),
            spare: Vec::new(),
            connections: Map::default(),
            links: Map::default(),
            debts: Debts::new(hosts.len() as TaskNumber, confirmation),
            readers: Readers::new(hosts.len()),
            daemons: Daemons::new(&session, platform.host.memory),
            beats,
            under_way: 0,
            net: vec![Time::ZERO; hosts.len()],
            hosts: hosts.to_vec(),
            mail: Vec::new(),
            dice: Dice::new(seed, part.stream(5)),
            out: first.map(|(at, beat)| Output::Idle(at, Planned::Beat(beat))).collect(),
        })
    }

    /// The end of a task's connection to another task.
    fn connection(&mut self, own: TaskNumber, other: TaskNumber) -> u32 {
        if let Some(end) = self.connections.get(&(own, other)) {
            return *end;
        }
        let hosts = (self.hosts[own as usize], self.hosts[other as usize]);
        let first = self.ends.len() as u32;
        self.connections.insert((own, other), first);
        if !self.part.has(hosts.1) {
            self.open(hosts, Some((own, other)), UNKNOWN);
            return first;
        }
        self.connections.insert((other, own), first + 1);
        self.open(hosts, Some((own, other)), first + 1);
        self.open((hosts.1, hosts.0), Some((other, own)), first);
        first
    }

    /// The end of a daemon's connection to another host's.
    fn link(&mut self, hosts: (u32, u32)) -> u32 {
        if let Some(end) = self.links.get(&hosts) {
            return *end;
        }
        let first = self.ends.len() as u32;
        self.links.insert(hosts, first);
        self.links.insert((hosts.1, hosts.0), first + 1);
        self.open(hosts, None, first + 1);
        self.open((hosts.1, hosts.0), None, first);
        first
    }

    fn open(&mut self, hosts: (u32, u32), tasks: Option<(TaskNumber, TaskNumber)>, peer: u32) {
        let clock = self.clocks[hosts.0 as usize % self.clocks.len()];
        let end = End::new(&self.transport, self.base, clock);
        let end = end.expect("a platform without a transport has no packets");
        let ahead = Ahead::new(self.session.bounded);
        let (written, leaving, open) = (0, Leaving::default(), VecDeque::new());
        self.ends.push(Side { end, tasks, hosts, peer, written, ahead, leaving, open });
    }

    /// The end that a packet is for. The first packet of another part tells who its sender is.
    fn receiver(&mut self, packet: &Packet) -> u32 {
        let end = match packet.tasks() {
            Some((from, to)) if packet.now.receiver == UNKNOWN => self.connection(to, from),
            _ => packet.now.receiver,
        };
        self.ends[end as usize].peer = packet.now.sender;
        end
    }

    /// A message will be whole when an end has sent so many bytes.
    fn expect(&mut self, end: u32, until: u64, parcel: Parcel) -> Result<(), Error> {
        self.under_way += 1;
        let side = &self.ends[end as usize];
        if !self.part.has(side.hosts.1) {
            let part = self.part.division.of_host(side.hosts.1);
            self.mail.push((part, Mail::Parcel(until, parcel)));
            return Ok(());
        }
        self.expected(side.peer, until, parcel)
    }

    /// A message comes to an end.
    fn expected(&mut self, end: u32, until: u64, parcel: Parcel) -> Result<(), Error> {
        let open = &mut self.ends[end as usize].open;
        if open.len() > OPEN_MAX {
            let what = "a connection";
            return Err(Error::TooMany { task: parcel.from, what, limit: OPEN_MAX });
        }
        if open.capacity() == 0 {
            // Most connections have one message at a time, and a message is large.
            open.reserve_exact(1);
        }
        open.push_back((until, parcel));
        Ok(())
    }

    /// Hands an input to an end, and handles what it says.
    fn handle(&mut self, now: Time, number: u32, input: Input, cause: Option<&Packet>) {
        let Side { end, leaving, .. } = &mut self.ends[number as usize];
        if let Input::Left(bytes) = input
            && leaving.notes(now, bytes)
        {
            return;
        }
        if let Some(tcp) = end.tcp() {
            leaving.tell(tcp);
            tcp.lend(&mut self.spare);
        }
        end.handle(now, input);
        leaving.handled(end);
        self.end(now, number, cause);
    }

    /// An end's time has come.
    fn timeout(&mut self, now: Time, number: u32) {
        let Side { end, leaving, .. } = &mut self.ends[number as usize];
        if let Some(tcp) = end.tcp() {
            leaving.tell(tcp);
            tcp.lend(&mut self.spare);
        }
        end.handle_timeout(now);
        leaving.handled(end);
        self.end(now, number, None);
    }

    /// Handles the outputs of an end; `cause` is the packet that it received.
    fn end(&mut self, now: Time, number: u32, cause: Option<&Packet>) {
        while let Some(output) = self.ends[number as usize].end.poll_output() {
            match output {
                tcp::Output::Wake(at) => {
                    let (side, planned) = (&self.ends[number as usize], Planned::End(number));
                    // Beats alone, and what follows from them, do not keep a run going.
                    let is_idle =
                        side.tasks.is_none() && self.ends[side.peer as usize].open.is_empty();
                    self.out.push_back(match is_idle {
                        true => Output::Idle(at, planned),
                        false => Output::At(at, planned),
                    });
                }
                tcp::Output::Send(segment) => self.send(now, number, segment),
                tcp::Output::Room => {
                    // Room in the buffer wakes nobody who waits for the network.
                    if !self.ends[number as usize].ahead.pauses() {
                        self.has_room(now, number);
                    }
                }
                tcp::Output::GaveUp => {
                    let (from, to) = self.ends[number as usize].hosts;
                    self.out.push_back(Output::GaveUp { from, to });
                }
                tcp::Output::Here(until) => {
                    self.here(now, number, until, cause);
                    // A write that waits takes in what comes, and looks for room again.
                    if self.ends[number as usize].ahead.waits() {
                        self.has_room(now, number);
                    }
                }
            }
        }
        if let Some(tcp) = self.ends[number as usize].end.tcp() {
            tcp.give_back(&mut self.spare);
        }
    }

    fn send(&mut self, now: Time, sender: u32, segment: Segment) {
        let side = &self.ends[sender as usize];
        let ends = Ends { hosts: side.hosts, numbers: (sender, side.peer), tasks: side.tasks };
        self.wires.send(now, Packet::new(ends, segment));
        self.wire(now);
    }

    /// Handles the outputs of the cables.
    fn wire(&mut self, now: Time) {
        while let Some(output) = self.wires.poll_output() {
            match output {
                Wired::At(at, planned) => {
                    self.out.push_back(Output::At(at, Planned::Wire(planned)));
                }
                Wired::Away(part, at, number) => {
                    let packet = self.wires.take(number);
                    self.mail.push((part, Mail::Packet(at, packet)));
                }
                Wired::Left(sender, bytes) => {
                    self.handle(now, sender, Input::Left(bytes), None);
                }
                Wired::Arrived(number) => {
                    let packet = self.wires.take(number);
                    let receiver = self.receiver(&packet);
                    let side = &self.ends[receiver as usize];
                    let segment = packet.segment();
                    if segment.bytes > 0 {
                        let first = side.open.front().map(|(_, parcel)| parcel.from);
                        if let Some(from) = packet.tasks().map(|(from, _)| from).or(first) {
                            self.net[from as usize] += now - segment.sent;
                        }
                    }
                    self.arrived(now, receiver, (segment, packet));
                }
            }
        }
    }

    /// All bytes of a stream below an offset have arrived.
    fn here(&mut self, now: Time, number: u32, until: u64, cause: Option<&Packet>) {
        let mut last = None;
        let Side { tasks, open, .. } = &mut self.ends[number as usize];
        while let Some((_, parcel)) = open.pop_front_if(|(end, _)| *end <= until) {
            match (&mut self.daemons, *tasks) {
                (Some(daemons), None) => {
                    let (at, place) = daemons.hop(now, parcel, cause.copied());
                    self.out.push_back(Output::At(at, Planned::Hop(place)));
                }
                _ => {
                    self.debts.arrived(parcel.to, parcel.from);
                    last = Some(parcel);
                    self.under_way -= 1;
                    self.out.push_back(arrived(parcel, cause.copied()));
                }
            }
        }
        let pair = last.map(|Parcel { to, from, .. }| (to, from));
        if let Some((to, from)) = pair.or(*tasks) {
            self.out.push_back(Output::Look { to, from });
        }
    }

    /// A message has gone through memory: it is at its daemon, or at its receiver.
    fn hopped(&mut self, now: Time, place: u32) {
        let Some(daemons) = &mut self.daemons else { return };
        let (mut parcel, cause) = daemons.take(place);
        let Parcel { from, to, .. } = parcel;
        if let Some(cause) = cause {
            self.under_way -= 1;
            self.out.push_back(arrived(parcel, Some(cause.until(now))));
            self.out.push_back(Output::Look { to, from });
            return;
        }
        parcel.message.handed = now;
        let end = self.link((self.hosts[from as usize], self.hosts[to as usize]));
        let bytes = self.length(parcel.message.bytes);
        if let Some(daemons) = &mut self.daemons {
            daemons.queue(end, parcel, bytes);
        }
        self.fill(now, end);
    }
}

/// A message is there.
fn arrived(parcel: Parcel, cause: Option<Packet>) -> Output<Planned, Packet> {
    let Parcel { to, from, message } = parcel;
    Output::Arrived { to, from, arrived: Box::new(Arrived::new(message, cause)) }
}
