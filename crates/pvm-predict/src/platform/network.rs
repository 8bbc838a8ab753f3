//! The network of a platform, and the reader of its section.

use super::reading::Section;
use super::transport::Transport;
use crate::error::Error;
use crate::link::routes::{Shape, Topology, Tree};
use crate::link::{cells, csma, hippi};
use crate::planted::{self, Bug};
use crate::unit::{BYTES_MAX, Rate, Time};

/// A network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Network {
    /// Each message takes a latency and a time for each byte; the messages of one task follow one
    /// another.
    Line(Line),
    /// A cable that all hosts share: CSMA/CD.
    Cable(csma::Rules),
    /// Links with routes: a switch, a ring, a grid, a tree.
    Fabric(Fabric),
}

impl Network {
    /// An error if the longest packets of a transport never pass.
    pub(super) fn carries(&self, transport: &Transport) -> Result<(), String> {
        let (Self::Fabric(fabric), Some(packet)) = (self, transport.longest()) else {
            return Ok(());
        };
        let frame = fabric.length(packet);
        let too_short = |name: &str, bytes: u64| {
            format!("no frame of {frame} B, the longest, passes a {name} of {bytes} B")
        };
        match fabric.burst {
            Some(burst) if burst < frame => Err(too_short("burst", burst)),
            // Cells leave while others of their packet come.
            _ if fabric.medium == Medium::Cells || transport.is_lossless() => Ok(()),
            _ if fabric.queue < frame => Err(too_short("queue", fabric.queue)),
            _ => Ok(()),
        }
    }

    /// True if frames are lost by chance, or by too many collisions.
    pub(super) fn loses(&self) -> bool {
        match self {
            Self::Fabric(fabric) => fabric.loss > 0.0,
            Self::Cable(_) => true,
            Self::Line(_) => false,
        }
    }
}

/// A latency and the time of a byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// The time of a message without data.
    pub latency: Time,
    /// The time of a byte, in picoseconds.
    pub byte: f64,
    /// The links that messages share at depth `flow`.
    pub topology: Topology,
}

impl Line {
    /// A line whose messages meet in a switch.
    pub const fn new(latency: Time, byte: f64) -> Self {
        Self { latency, byte, topology: Topology::Star }
    }

    /// The time of `bytes` bytes without the latency.
    pub fn time_of(&self, bytes: u64) -> Time {
        Time((bytes as f64 * self.byte).round() as u64)
    }
}

/// Links and the nodes between them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fabric {
    /// The rate of each link in each direction.
    pub rate: Rate,
    /// The time from one end of a link to the other.
    pub latency: Time,
    /// The most bytes of frames that wait in a port of a switch or of a host.
    pub queue: u64,
    /// The burst in bytes, if the ports are shaped by a token bucket (Linux' tbf).
    pub burst: Option<u64>,
    /// The mean time by which the timer of a token bucket goes off late.
    pub late: Time,
    /// The bytes of a frame beside its packet, as the rate counts them.
    pub header: u64,
    /// Bytes of the shortest frame.
    pub shortest: u64,
    /// The share of frames that is lost in each direction.
    pub loss: f64,
    /// Its links.
    pub topology: Topology,
    /// The number of received bytes after which a switch that cuts through forwards a frame.
    pub cut: Option<u64>,
    /// The carrier of its bits.
    pub medium: Medium,
}

/// The carrier of a fabric's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// Cables, each with two directions.
    Cables,
    /// Cables that carry cells of 53 bytes: ATM.
    Cells,
    /// A ring whose token comes back within this time: FDDI.
    Ring(Time),
    /// A crossbar that needs this time for a connection: HIPPI.
    Crossbar(Time),
}

impl Fabric {
    /// An error if the token of a ring of so many hosts never comes in time.
    pub(crate) fn comes_round(&self, hosts: u32) -> Result<(), String> {
        let round = self.latency.times(u64::from(hosts));
        match self.medium {
            Medium::Ring(target) if round >= target => Err(format!(
                "the token takes {round} round {hosts} hosts, and its target is {target}"
            )),
            _ => Ok(()),
        }
    }

    /// The time of a frame with such a packet at the rate of a link.
    pub fn frame(&self, bytes: u64) -> Time {
        self.rate.time_of(self.length(bytes))
    }

    /// The length of a frame with such a packet.
    pub fn length(&self, bytes: u64) -> u64 {
        match self.medium {
            Medium::Cells => cells::length(bytes),
            Medium::Crossbar(_) => hippi::length(bytes.saturating_add(self.header)),
            Medium::Cables | Medium::Ring(_) => {
                bytes.saturating_add(self.header).max(self.shortest)
            }
        }
    }

    /// The time from the begin of a frame of this length until a node can forward it.
    pub fn head(&self, length: u64) -> Time {
        let cut = if planted::is(Bug::CutForgotten) { None } else { self.cut };
        self.rate.time_of(cut.map_or(length, |cut| cut.min(length)))
    }

    /// The time at which a node can forward a packet that began at `began` and arrives at
    /// `arrives`.
    pub(crate) fn forwards(&self, bytes: u64, began: Time, arrives: Time) -> Time {
        match self.cut {
            Some(_) => arrives.min(began + self.head(self.length(bytes)) + self.latency),
            None => arrives,
        }
    }

    /// The shortest time after which a packet that leaves a node has an effect at the next one.
    pub(crate) fn ahead(&self) -> Time {
        let head = match self.burst {
            Some(_) => Time::ZERO,
            None => self.head(self.length(0)),
        };
        self.latency + head
    }

    /// The links between the nearest two hosts.
    const fn links(&self) -> u64 {
        match self.topology {
            Topology::Star | Topology::FatTree(_) => 2,
            _ => 1,
        }
    }

    /// The time of a packet between the nearest two hosts.
    pub(super) fn alone(&self, bytes: u64) -> Time {
        let (length, links) = (self.length(bytes), self.links());
        let on_the_way = match self.burst {
            Some(_) => Time::ZERO,
            None => self.head(length).times(links - 1) + self.rate.time_of(length),
        };
        let setup = match self.medium {
            Medium::Crossbar(setup) => setup,
            _ => Time::ZERO,
        };
        on_the_way + self.latency.times(links) + setup
    }

    /// The bytes of the rate that a packet of this size takes.
    pub(super) fn cost(&self, bytes: u64) -> f64 {
        let setup = match self.medium {
            Medium::Crossbar(setup) => setup.seconds() * self.rate.to_bits() / 8.0,
            _ => 0.0,
        };
        self.length(bytes) as f64 + setup
    }
}

/// Reads a section `[network]`.
pub(super) fn network_of(section: &mut Section<'_>) -> Result<Network, Error> {
    let kind = section.choice("kind", &["line", "cable", "switch", "atm", "fddi", "hippi"])?;
    match kind {
        0 => {
            let latency = section.time("latency")?.unwrap_or_default();
            let rate = section.need("rate", Section::rate)?;
            let topology = topology_of(section)?;
            Ok(Network::Line(Line { latency, byte: 8e12 / rate.to_bits(), topology }))
        }
        1 => cable_of(section),
        2 => switch_of(section),
        3 => Ok(Network::Fabric(Fabric {
            medium: Medium::Cells,
            cut: Some(cells::CELL),
            ..plain_of(section)?
        })),
        4 => ring_of(section),
        _ => {
            let setup = section.time("setup")?.unwrap_or(Time::microseconds(1));
            let medium = Medium::Crossbar(setup);
            let topology = Topology::Bus;
            Ok(Network::Fabric(Fabric { medium, topology, ..plain_of(section)? }))
        }
    }
}

fn cable_of(section: &mut Section<'_>) -> Result<Network, Error> {
    let mut rules = csma::Rules::ethernet(section.need("rate", Section::rate)?);
    let longest = rules.rate.time_of_bits(rules.slot / 2);
    rules.propagation =
        section.time("propagation")?.unwrap_or_else(|| rules.propagation.min(longest));
    if rules.propagation > longest {
        let what = format!("a cable may not be longer than half a slot, {longest}");
        return Err(section.wrong("propagation", what));
    }
    Ok(Network::Cable(rules))
}

/// Reads the keys that all networks of links have; frames have no bytes beside the packet.
fn plain_of(section: &mut Section<'_>) -> Result<Fabric, Error> {
    Ok(Fabric {
        rate: section.need("rate", Section::rate)?,
        latency: section.time("latency")?.unwrap_or_default(),
        queue: section.size_in("queue", 2_000, BYTES_MAX)?.unwrap_or(256_000),
        burst: None,
        late: Time::ZERO,
        header: 0,
        shortest: 0,
        loss: section.share("loss")?.unwrap_or(0.0),
        topology: Topology::Star,
        cut: None,
        medium: Medium::Cables,
    })
}

fn switch_of(section: &mut Section<'_>) -> Result<Network, Error> {
    let plain = plain_of(section)?;
    let cut = section.chosen("forwarding", &["store", "cut-through"])?;
    let (burst, late) = (section.size("burst")?, section.time("late")?.unwrap_or_default());
    if late > Time::ZERO && burst.is_none() {
        return Err(section.wrong("late", "only the timer of a burst may be late".to_owned()));
    }
    Ok(Network::Fabric(Fabric {
        burst,
        late,
        // Frame head and checksum, preamble, gap: the bytes that a frame takes beside its packet.
        header: section.size("frame")?.unwrap_or(38),
        shortest: section.size("shortest")?.unwrap_or(84),
        topology: topology_of(section)?,
        // Preamble and head, from which the switch knows the destination.
        cut: (cut == Some(1)).then_some(22),
        ..plain
    }))
}

fn ring_of(section: &mut Section<'_>) -> Result<Network, Error> {
    let plain = plain_of(section)?;
    let target = section.time("target")?.unwrap_or(Time::microseconds(8_000));
    if target < Time::microseconds(100) {
        return Err(section.wrong("target", "a token takes 100 us at least".to_owned()));
    }
    Ok(Network::Fabric(Fabric {
        // Preamble, delimiters, control, two addresses, checksum, and LLC and SNAP.
        header: section.size("frame")?.unwrap_or(36),
        topology: Topology::Bus,
        medium: Medium::Ring(target),
        ..plain
    }))
}

/// Reads `topology` and the keys that belong to it.
fn topology_of(section: &mut Section<'_>) -> Result<Topology, Error> {
    let words = ["star", "bus", "ring", "hypercube", "mesh", "torus", "fat-tree"];
    let whole = |number: Option<f64>| number.map(|number| number as u32);
    Ok(match section.chosen("topology", &words)?.unwrap_or(0) {
        0 => Topology::Star,
        1 => Topology::Bus,
        2 => Topology::Ring,
        3 => Topology::Hypercube,
        4 => Topology::Mesh(section.need("shape", shape_of)?),
        5 => Topology::Torus(section.need("shape", shape_of)?),
        _ => Topology::FatTree(Tree {
            children: whole(section.number("children", 2.0, 1024.0)?).unwrap_or(4),
            taper: whole(section.number("taper", 1.0, 1024.0)?).unwrap_or(1),
        }),
    })
}

/// Reads the sides of a grid, such as `8x4` or `4x4x4`.
fn shape_of(section: &mut Section<'_>, name: &'static str) -> Result<Option<Shape>, Error> {
    let Some(text) = section.text(name)? else { return Ok(None) };
    let side = |word: &str| word.parse().ok().filter(|side| (1..=1 << 16).contains(side));
    let sides: Option<Vec<u32>> = text.split('x').map(side).collect();
    let (x, y, z) = match sides.as_deref() {
        Some([x]) => (*x, 1, 1),
        Some([x, y]) => (*x, *y, 1),
        Some([x, y, z]) => (*x, *y, *z),
        _ => {
            let what = format!("{name} is {text:?}, not one to three numbers such as \"8x4\"");
            return Err(section.wrong(name, what));
        }
    };
    Ok(Some(Shape([x, y, z])))
}
