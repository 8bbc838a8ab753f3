//! Packets between hosts: over a shared cable, or over a switch with two ways to each host.

use crate::action::TaskNumber;
use crate::blame::{Phase, Told};
use crate::error::Error;
use crate::kernel::Dice;
use crate::link::csma::{self, Csma};
use crate::link::port::{self, Port};
use crate::model::run::inbox::Transfer;
use crate::planted::{self, Bug};
use crate::platform::{Network, Switch};
use crate::transport::tcp::Segment;
use crate::unit::Time;
use std::collections::VecDeque;

/// The causes that held up one packet, in sequence.
const PHASES: [[Phase; 4]; 2] = [
    [Phase::Queue, Phase::Wire, Phase::Queue, Phase::Wire],
    [Phase::Queue, Phase::Retransmission, Phase::Wire, Phase::Wire],
];

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) from: TaskNumber,
    pub(super) to: TaskNumber,
    /// Its bytes with the headers of TCP and IP.
    pub(super) bytes: u64,
    /// The end that it comes from, and the one that it is for.
    pub(super) sender: u32,
    pub(super) receiver: u32,
    pub(super) segment: Segment,
    times: [Time; 4],
    is_shared: bool,
    /// It stays in its host's memory until it has arrived: both hosts are namespaces of one
    /// computer.
    is_kept: bool,
}

impl Packet {
    /// Between two hosts, from an end to an end.
    pub(super) fn new(
        (from, to): (TaskNumber, TaskNumber),
        (sender, receiver): (u32, u32),
        bytes: u64,
        segment: Segment,
    ) -> Self {
        Self { from, to, sender, receiver, bytes, segment, ..Self::default() }
    }
}

impl Transfer for Packet {
    /// The packet is the last one that its message waited for.
    fn tell(&self, told: &mut Told) {
        told.until(Phase::Queue, self.segment.first_sent);
        told.until(Phase::Retransmission, self.segment.sent);
        let phases = PHASES[usize::from(self.is_shared)];
        phases.iter().zip(self.times).for_each(|(phase, time)| told.until(*phase, time));
    }
}

/// A planned event of the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Planned {
    Up(TaskNumber),
    Down(TaskNumber),
    Cable,
    /// A packet is at the switch, or at its end.
    Switch(u32),
    End(u32),
}

/// An event of the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// Plan this.
    At(Time, Planned),
    /// A packet has arrived; it may be looked at until the next one is sent.
    Arrived(Packet),
    /// A packet has left its host's memory.
    Left(Packet),
}

/// The network.
pub(super) struct Wires {
    kind: Kind,
    packets: Vec<Packet>,
    free: Vec<u32>,
    dice: Dice,
    computers: TaskNumber,
    pub(super) lost: u64,
    /// Packets that were sent, and that arrived or were lost.
    pub(super) sent: u64,
    pub(super) ended: u64,
    out: VecDeque<Output>,
}

enum Kind {
    Cable(Csma),
    Switch { rules: Switch, up: Vec<Port>, down: Vec<Port> },
}

impl Wires {
    /// Hosts are on `computers`, in turns.
    pub(super) fn new(
        network: Network,
        (hosts, computers): (TaskNumber, TaskNumber),
        seed: u64,
    ) -> Result<Self, Error> {
        let kind = match network {
            Network::Line(_) => {
                let what = "a network of kind line has no packets: --depth line";
                return Err(Error::Unfit(what.to_owned()));
            }
            Network::Cable(rules) => Kind::Cable(Csma::new(rules, hosts as usize, seed)),
            Network::Switch(rules) => {
                let way = port::Rules {
                    rate: rules.rate,
                    latency: rules.latency,
                    queue: rules.queue,
                    burst: rules.burst,
                };
                let ports = || (0..hosts).map(|_| Port::new(way)).collect();
                Kind::Switch { rules, up: ports(), down: ports() }
            }
        };
        let (packets, free, dice) = (Vec::new(), Vec::new(), Dice::new(seed, 2));
        let (lost, sent, ended, out) = (0, 0, 0, VecDeque::new());
        Ok(Self { kind, packets, free, dice, computers, lost, sent, ended, out })
    }

    pub(super) const fn collisions(&self) -> Option<u64> {
        match &self.kind {
            Kind::Cable(cable) => Some(cable.collisions()),
            Kind::Switch { .. } => None,
        }
    }

    pub(super) fn send(&mut self, now: Time, mut packet: Packet) {
        self.sent += 1;
        packet.is_shared = matches!(self.kind, Kind::Cable(_));
        packet.is_kept = packet.from % self.computers == packet.to % self.computers;
        let number = self.free.pop().unwrap_or(self.packets.len() as u32);
        match self.packets.get_mut(number as usize) {
            Some(place) => *place = packet,
            None => self.packets.push(packet),
        }
        match &mut self.kind {
            Kind::Cable(cable) => {
                cable.handle(now, packet.from as usize, u64::from(number), packet.bytes);
                self.cable();
            }
            Kind::Switch { rules, up, .. } => {
                up[packet.from as usize].handle(now, number, rules.length(packet.bytes));
                self.up(packet.from);
            }
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time, planned: Planned) {
        match (planned, &mut self.kind) {
            (Planned::Cable, Kind::Cable(cable)) => {
                cable.handle_timeout(now);
                self.cable();
            }
            (Planned::Up(host), Kind::Switch { up, .. }) => {
                up[host as usize].handle_timeout(now);
                self.up(host);
            }
            (Planned::Down(host), Kind::Switch { down, .. }) => {
                down[host as usize].handle_timeout(now);
                self.down(host);
            }
            (Planned::Switch(number), Kind::Switch { rules, down, .. }) => {
                let packet = self.packets[number as usize];
                let lost = rules.loss > 0.0 && self.dice.chance(rules.loss);
                if lost && !planted::is(Bug::LossForgotten) {
                    return self.lose(number);
                }
                down[packet.to as usize].handle(now, number, rules.length(packet.bytes));
                self.down(packet.to);
            }
            (Planned::End(number), _) => self.arrive(number),
            _ => (),
        }
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// A packet has left its host.
    fn leave(&mut self, number: u32) {
        let packet = self.packets[number as usize];
        if !packet.is_kept {
            self.out.push_back(Output::Left(packet));
        }
    }

    /// A packet is no more: a keeper of it is told.
    fn end(&mut self, number: u32) {
        let packet = self.packets[number as usize];
        if packet.is_kept {
            self.out.push_back(Output::Left(packet));
        }
        self.ended += 1;
        self.free.push(number);
    }

    fn lose(&mut self, number: u32) {
        self.lost += 1;
        self.end(number);
    }

    fn arrive(&mut self, number: u32) {
        self.end(number);
        self.out.push_back(Output::Arrived(self.packets[number as usize]));
    }

    fn cable(&mut self) {
        loop {
            let Kind::Cable(cable) = &mut self.kind else { return };
            let Some(output) = cable.poll_output() else { return };
            match output {
                csma::Output::Wake(at) => self.out.push_back(Output::At(at, Planned::Cable)),
                csma::Output::Dropped { token, .. } => {
                    self.leave(token as u32);
                    self.lose(token as u32);
                }
                csma::Output::Carried(carried) => {
                    let packet = &mut self.packets[carried.token as usize];
                    packet.times = [carried.tried, carried.began, carried.ended, carried.ended];
                    let arrival = Planned::End(carried.token as u32);
                    self.leave(carried.token as u32);
                    self.out.push_back(Output::At(carried.ended, arrival));
                }
            }
        }
    }

    /// From a host to the switch.
    fn up(&mut self, host: TaskNumber) {
        loop {
            let Kind::Switch { up, .. } = &mut self.kind else { return };
            let Some(output) = up[host as usize].poll_output() else { return };
            match output {
                port::Output::Wake(at) => self.out.push_back(Output::At(at, Planned::Up(host))),
                port::Output::Dropped { token } => {
                    self.leave(token);
                    self.lose(token);
                }
                port::Output::Sent { token, began, arrives } => {
                    let packet = &mut self.packets[token as usize];
                    (packet.times[0], packet.times[1]) = (began, arrives);
                    self.leave(token);
                    self.out.push_back(Output::At(arrives, Planned::Switch(token)));
                }
            }
        }
    }

    /// From the switch to a host.
    fn down(&mut self, host: TaskNumber) {
        loop {
            let Kind::Switch { down, .. } = &mut self.kind else { return };
            let Some(output) = down[host as usize].poll_output() else { return };
            match output {
                port::Output::Wake(at) => self.out.push_back(Output::At(at, Planned::Down(host))),
                port::Output::Dropped { token } => self.lose(token),
                port::Output::Sent { token, began, arrives } => {
                    let packet = &mut self.packets[token as usize];
                    (packet.times[2], packet.times[3]) = (began, arrives);
                    self.out.push_back(Output::At(arrives, Planned::End(token)));
                }
            }
        }
    }
}
