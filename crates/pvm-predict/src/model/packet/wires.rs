//! Fleet between hosts: over a shared cable, or over a switch with two links for each host.

use super::fleet::{Fleet, Packet};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::kernel::Dice;
use crate::link::cells::Cells;
use crate::link::csma::{self, Csma};
use crate::link::fddi::{self, Fddi};
use crate::link::hippi::{self, Hippi};
use crate::link::port::{self, Port};
use crate::link::routes::Routes;
use crate::link::{Frame, Link};
use crate::model::run::division::{Owned, Part};
use crate::planted::{self, Bug};
use crate::platform::{Fabric, Medium, Network};
use crate::unit::Time;
use std::collections::VecDeque;

/// A planned event of the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Planned {
    Cable,
    /// A link has asked for a wake-up.
    Link(u32),
    /// A packet reaches the next node of its route.
    Node(u32),
}

/// An event of the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// Plan this event.
    At(Time, Planned),
    /// The packet of this number has arrived, and is to be taken.
    Arrived(u32),
    /// So many bytes of data of an end have left its host's memory.
    Left(u32, u64),
    /// The packet of this number will be, at this time, at a node of another part, and is to be
    /// taken.
    Away(u32, Time, u32),
}

/// The network.
pub(super) struct Wires {
    kind: Kind,
    packets: Fleet,
    dice: Dice,
    computers: TaskNumber,
    part: Part,
    pub(super) lost: u64,
    /// The number of packets that were sent, and the number of those that arrived or were lost.
    pub(super) sent: u64,
    pub(super) ended: u64,
    out: VecDeque<Output>,
}

enum Kind {
    Cable(Csma),
    Fabric { rules: Fabric, routes: Routes, links: Owned<Link> },
}

impl Wires {
    /// Makes a network whose hosts are assigned to `computers` computers in turn.
    pub(super) fn new(
        network: Network,
        (hosts, computers): (TaskNumber, TaskNumber),
        seed: u64,
        part: Part,
    ) -> Result<Self, Error> {
        let kind = match network {
            Network::Line(_) => {
                let what = "a network of kind line has no packets: --depth line";
                return Err(Error::Unfit(what.to_owned()));
            }
            Network::Cable(rules) => Kind::Cable(Csma::new(rules, hosts as usize, seed)),
            Network::Fabric(rules) => {
                rules.comes_round(hosts).map_err(Error::Unfit)?;
                let routes = Routes::new(rules.topology, hosts).map_err(Error::Unfit)?;
                let is_here = |link| part.has(routes.host_of(link));
                let link = |link| link_of(&rules, link, hosts, seed);
                let links = Owned::new(routes.links(), is_here, link);
                Kind::Fabric { rules, routes, links }
            }
        };
        let (packets, dice) = (Fleet::default(), Dice::new(seed, part.stream(2)));
        let (lost, sent, ended, out) = (0, 0, 0, VecDeque::new());
        Ok(Self { kind, packets, dice, computers, part, lost, sent, ended, out })
    }

    pub(super) const fn collisions(&self) -> Option<u64> {
        match &self.kind {
            Kind::Cable(cable) => Some(cable.collisions()),
            Kind::Fabric { .. } => None,
        }
    }

    pub(super) fn send(&mut self, now: Time, mut packet: Packet) {
        self.sent += 1;
        let is_shared = matches!(self.kind, Kind::Cable(_));
        let (from, to) = (packet.now.from, packet.now.to);
        let is_kept = from % self.computers == to % self.computers;
        packet.begins(is_shared, is_kept);
        let number = self.packets.keep(&packet);
        match &mut self.kind {
            Kind::Cable(cable) => {
                cable.handle(now, from as usize, u64::from(number), packet.now.bytes());
                self.cable();
            }
            Kind::Fabric { .. } => self.forward(now, number),
        }
    }

    /// A packet of another part comes to a node of this one: what is to be planned for then.
    pub(super) fn deliver(&mut self, packet: Packet) -> Planned {
        self.sent += 1;
        Planned::Node(self.packets.keep(&packet))
    }

    /// Takes a packet that has arrived, or goes to another part: its place is free.
    pub(super) fn take(&mut self, number: u32) -> Packet {
        self.packets.take(number)
    }

    pub(super) fn handle_timeout(&mut self, now: Time, planned: Planned) {
        match (planned, &mut self.kind) {
            (Planned::Cable, Kind::Cable(cable)) => {
                cable.handle_timeout(now);
                self.cable();
            }
            (Planned::Cable, Kind::Fabric { .. }) => (),
            (Planned::Link(number), Kind::Fabric { links, .. }) => {
                links[number as usize].handle_timeout(now);
                self.link(number);
            }
            (Planned::Node(number), Kind::Fabric { rules, .. }) => {
                let first = self.packets.at(number).hops == 1;
                let lost = first && rules.loss > 0.0 && self.dice.chance(rules.loss);
                if lost && !planted::is(Bug::LossForgotten) {
                    return self.lose(number);
                }
                self.forward(now, number);
            }
            (Planned::Link(_), Kind::Cable(_)) => (),
            (Planned::Node(number), Kind::Cable(_)) => self.arrive(number),
        }
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// A packet has left its host.
    fn leave(&mut self, number: u32) {
        self.left(number, false);
    }

    /// A packet has arrived or was lost; if it was kept in memory, its host is notified.
    fn end(&mut self, number: u32) {
        self.left(number, true);
        self.ended += 1;
    }

    /// Data that were kept, or were not, are in their host's memory no more.
    fn left(&mut self, number: u32, is_kept: bool) {
        let packet = self.packets.at(number);
        if packet.is_kept == is_kept && packet.data > 0 {
            self.out.push_back(Output::Left(packet.sender, u64::from(packet.data)));
        }
    }

    fn lose(&mut self, number: u32) {
        self.lost += 1;
        self.end(number);
        self.packets.take(number);
    }

    fn arrive(&mut self, number: u32) {
        self.end(number);
        self.out.push_back(Output::Arrived(number));
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
                    let packet = self.packets.at(carried.token as u32);
                    packet.carried(carried.tried, carried.began, carried.ended);
                    let arrival = Planned::Node(carried.token as u32);
                    self.leave(carried.token as u32);
                    self.out.push_back(Output::At(carried.ended, arrival));
                }
            }
        }
    }

    /// A packet begins on the next link of its route, or has arrived.
    fn forward(&mut self, now: Time, number: u32) {
        let Kind::Fabric { rules, routes, links } = &mut self.kind else { return };
        let packet = self.packets.at(number);
        let (from, to) = (packet.from, packet.to);
        let Some(hop) = routes.next((from, to), packet.node) else { return self.arrive(number) };
        let frame = Frame { token: number, from, to, bytes: rules.length(packet.bytes()) };
        links[hop.link as usize].handle(now, frame);
        self.packets.at(number).node = hop.node;
        self.link(hop.link);
    }

    /// A packet will be at its next node, which may belong to another part.
    fn on(&mut self, at: Time, number: u32) {
        let part = self.next_part(number);
        if part == self.part.number {
            return self.out.push_back(Output::At(at, Planned::Node(number)));
        }
        self.end(number);
        self.out.push_back(Output::Away(part, at, number));
    }

    /// The part of a packet's next link, or of its host.
    fn next_part(&mut self, number: u32) -> u32 {
        let Kind::Fabric { routes, .. } = &self.kind else { return self.part.number };
        if self.part.division.parts == 1 {
            return self.part.number;
        }
        let packet = self.packets.at(number);
        let hop = routes.next((packet.from, packet.to), packet.node);
        let host = hop.map_or(packet.to, |hop| routes.host_of(hop.link));
        self.part.division.of_host(host)
    }

    /// Does what a link says.
    fn link(&mut self, number: u32) {
        loop {
            let Kind::Fabric { rules, links, .. } = &mut self.kind else { return };
            let Some(output) = links[number as usize].poll_output() else { return };
            match output {
                port::Output::Wake(at) => self.out.push_back(Output::At(at, Planned::Link(number))),
                port::Output::Dropped { token } => {
                    if self.packets.at(token).hops == 0 {
                        self.leave(token);
                    }
                    self.lose(token);
                }
                port::Output::Sent { token, began, arrives } => {
                    let packet = self.packets.at(token);
                    let is_last = packet.node == packet.to;
                    let at = if is_last {
                        arrives
                    } else {
                        rules.forwards(packet.bytes(), began, arrives)
                    };
                    let hops = packet.hops;
                    packet.cross(began, at);
                    if hops == 0 {
                        self.leave(token);
                    }
                    self.on(at, token);
                }
            }
        }
    }
}

/// The link of a fabric with this number.
fn link_of(rules: &Fabric, number: u32, hosts: u32, seed: u64) -> Link {
    let Fabric { rate, latency, queue, burst, late, .. } = *rules;
    let port = port::Rules { rate, latency, queue, burst, late };
    match rules.medium {
        Medium::Ring(target) => {
            let ring = fddi::Rules { rate, latency, target, queue };
            Link::Ring(Box::new(Fddi::new(ring, hosts as usize)))
        }
        Medium::Crossbar(setup) => {
            let crossbar = hippi::Rules { rate, latency, setup, queue };
            Link::Crossbar(Box::new(Hippi::new(crossbar, hosts as usize)))
        }
        // In a star the links from the switch come after the links of the hosts.
        Medium::Cells if number >= hosts => Link::Cells(Cells::new(port)),
        Medium::Cells | Medium::Cables => Link::Port(Port::new(port, seed, number)),
    }
}
