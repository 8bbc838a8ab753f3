//! Depth `packet`: every segment of every connection crosses the network.
//!
//! Each pair of tasks of different hosts has a connection. A message is handed to its connection in
//! one piece; where the send buffer is full the task waits. It is taken when all of it is there.

mod debts;
mod wires;

use self::debts::Debts;
use self::wires::{Output as Wired, Packet, Planned as OnWire, Wires};
use super::run::inbox::{Arrived, Message};
use super::run::network::{Network, Output};
use super::run::{self, OPEN_MAX};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::kernel::{Dice, Map};
use crate::platform::{Platform, Tcp, Transport};
use crate::program::Source;
use crate::report::{Report, Watcher};
use crate::transport::tcp::{self, Clock, End, Input, Segment};
use crate::unit::Time;
use std::collections::VecDeque;

/// Runs a program on a platform.
pub fn run(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let Transport::Tcp(tcp) = platform.transport else {
        let what = format!("{} has no transport, so no packets: --depth line", platform.name);
        return Err(Error::Unfit(what));
    };
    let network = |hosts: &[u32]| Packets::new(platform, tcp, hosts, seed);
    run::run(source, platform, seed, network, watcher)
}

/// A planned event.
#[derive(Clone, Copy, Debug)]
enum Planned {
    End(u32),
    Wire(OnWire),
}

/// One end of a connection, and what it is for.
#[derive(Debug)]
struct Side {
    end: End,
    own: TaskNumber,
    other: TaskNumber,
    /// The other end's number.
    peer: u32,
    /// Bytes that were written so far.
    written: u64,
    /// Messages that have not arrived at the other end, each with the byte behind its last one.
    open: VecDeque<(u64, Message)>,
}

/// Connections, and the cables that carry their segments.
struct Packets {
    tcp: Tcp,
    /// The time there and back on a network with nothing else.
    base: Time,
    /// The host of each task.
    hosts: Vec<u32>,
    /// By computer: when its timers go off. Hosts are on computers in turns.
    clocks: Vec<Clock>,
    wires: Wires,
    ends: Vec<Side>,
    connections: Map<(TaskNumber, TaskNumber), u32>,
    debts: Debts,
    /// The time that packets of each task took.
    net: Vec<Time>,
    out: VecDeque<Output<Planned, Packet>>,
}

impl Packets {
    fn new(platform: &Platform, tcp: Tcp, hosts: &[u32], seed: u64) -> Result<Self, Error> {
        let count = hosts.iter().max().map_or(0, |most| most + 1);
        let computers = platform.host.computers.map_or(count, |some| some.min(count)).max(1);
        let mut dice = Dice::new(seed, 3);
        let phases = (0..computers).map(|_| Time(dice.below(tcp.tick.0.max(1))));
        Ok(Self {
            tcp,
            clocks: phases.map(|phase| Clock::new(tcp.tick, phase)).collect(),
            base: platform.shortest(tcp.header).times(2),
            wires: Wires::new(platform.network, (count, computers), seed)?,
            ends: Vec::new(),
            connections: Map::default(),
            debts: Debts::new(hosts.len() as TaskNumber, tcp.confirmation),
            net: vec![Time::ZERO; hosts.len()],
            hosts: hosts.to_vec(),
            out: VecDeque::new(),
        })
    }

    fn connection(&mut self, own: TaskNumber, other: TaskNumber) -> u32 {
        if let Some(end) = self.connections.get(&(own, other)) {
            return *end;
        }
        let first = self.ends.len() as u32;
        for (own, other, peer) in [(own, other, first + 1), (other, own, first)] {
            let computer = self.hosts[own as usize] as usize % self.clocks.len();
            let clock = self.clocks[computer];
            let end = End::new(&self.tcp, self.base, clock);
            self.connections.insert((own, other), self.ends.len() as u32);
            self.ends.push(Side { end, own, other, peer, written: 0, open: VecDeque::new() });
        }
        first
    }

    /// Does what an end says; `cause` is the packet that it got.
    fn end(&mut self, now: Time, number: u32, cause: Option<&Packet>) {
        while let Some(output) = self.ends[number as usize].end.poll_output() {
            match output {
                tcp::Output::Wake(at) => {
                    self.out.push_back(Output::At(at, Planned::End(number)));
                }
                tcp::Output::Send(segment) => self.send(now, number, segment),
                tcp::Output::Room => {
                    self.out.push_back(Output::Room(self.ends[number as usize].own));
                }
                tcp::Output::Here(until) => self.here(number, until, cause),
            }
        }
    }

    fn send(&mut self, now: Time, sender: u32, segment: Segment) {
        let side = &self.ends[sender as usize];
        let bytes = segment.bytes + self.tcp.header;
        let hosts = (self.hosts[side.own as usize], self.hosts[side.other as usize]);
        let packet = Packet::new(hosts, (sender, side.peer), bytes, segment);
        self.wires.send(now, packet);
        self.wire(now);
    }

    /// Does what the cables say.
    fn wire(&mut self, now: Time) {
        while let Some(output) = self.wires.poll_output() {
            match output {
                Wired::At(at, planned) => {
                    self.out.push_back(Output::At(at, Planned::Wire(planned)));
                }
                Wired::Left(packet) if packet.segment.bytes == 0 => (),
                Wired::Left(packet) => {
                    let side = &mut self.ends[packet.sender as usize];
                    side.end.handle(now, Input::Left(packet.segment.bytes));
                    self.end(now, packet.sender, None);
                }
                Wired::Arrived(packet) => {
                    if packet.segment.bytes > 0 {
                        let from = self.ends[packet.sender as usize].own;
                        self.net[from as usize] += now - packet.segment.sent;
                    }
                    let side = &mut self.ends[packet.receiver as usize];
                    side.end.handle(now, Input::Arrived(packet.segment));
                    self.end(now, packet.receiver, Some(&packet));
                }
            }
        }
    }

    /// All bytes of a stream below a place are at its receiver.
    fn here(&mut self, number: u32, until: u64, cause: Option<&Packet>) {
        let Side { own, other, peer, .. } = self.ends[number as usize];
        let (to, from) = (own, other);
        let open = &mut self.ends[peer as usize].open;
        while let Some((_, message)) = open.pop_front_if(|(end, _)| *end <= until) {
            self.debts.arrived(to, from);
            let arrived = Arrived::new(message, cause.copied());
            self.out.push_back(Output::Arrived { to, from, arrived });
        }
        self.out.push_back(Output::Look { to, from });
    }

    fn write(&mut self, now: Time, end: u32, bytes: u64) {
        let side = &mut self.ends[end as usize];
        side.written += bytes;
        side.end.handle(now, Input::Written(bytes));
        self.end(now, end, None);
    }
}

impl Network for Packets {
    type Transfer = Packet;
    type Planned = Planned;

    /// At least a byte, as nothing tells of a message that has none.
    fn length(&self, bytes: u64) -> u64 {
        (bytes + self.tcp.message).max(1)
    }

    fn there_and_back(&self) -> Time {
        self.base
    }

    fn offer(
        &mut self,
        now: Time,
        (from, to): (TaskNumber, TaskNumber),
        message: Message,
        left: u64,
    ) -> Result<u64, Error> {
        let end = self.connection(from, to);
        let side = &mut self.ends[end as usize];
        let some = side.end.room().min(left);
        if some == left {
            side.open.push_back((side.written + some, message));
        }
        if side.open.len() > OPEN_MAX {
            let what = "a connection";
            return Err(Error::TooMany { task: from, what, limit: OPEN_MAX });
        }
        self.write(now, end, some);
        Ok(some)
    }

    fn sent(&mut self, from: TaskNumber, to: TaskNumber) {
        self.debts.told(from, to);
    }

    fn looks(&mut self, now: Time, task: TaskNumber, waits: bool) {
        self.debts.look(task);
        if !waits {
            return;
        }
        for other in self.debts.take(task) {
            let (bytes, end) = (self.debts.bytes, self.connection(task, other));
            self.write(now, end, bytes);
        }
    }

    fn handle_timeout(&mut self, now: Time, planned: Planned) {
        match planned {
            Planned::End(end) => {
                self.ends[end as usize].end.handle_timeout(now);
                self.end(now, end, None);
            }
            Planned::Wire(planned) => {
                self.wires.handle_timeout(now, planned);
                self.wire(now);
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<Planned, Packet>> {
        self.out.pop_front()
    }

    fn report(&self, report: &mut Report) {
        debug_assert_eq!(self.wires.sent, self.wires.ended, "each packet arrives or is lost");
        for (station, net) in report.stations.iter_mut().zip(&self.net) {
            station.net = *net;
        }
        report.collisions = self.wires.collisions();
        report.lost = self.wires.lost;
        report.resent = self.ends.iter().map(|side| side.end.resent()).sum();
    }
}
