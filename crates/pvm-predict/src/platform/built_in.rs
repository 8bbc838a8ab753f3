//! Built-in platforms: files that are compiled in, and the machines of a published table.

use super::facts::{Host, Platform};
use super::network::{Line, Network};
use super::placement::Placement;
use super::transport::{Session, Transport};
use crate::link::routes::{Shape, Topology, Tree};
use crate::unit::Time;

/// A built-in platform.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    of: Of,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Of {
    File(&'static str),
    Row(Row),
}

/// A row of table 1 of *Message-Passing Performance of Various Computers* (Dongarra and Dunigan,
/// 1997).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    about: &'static str,
    /// The time of a message without data, in microseconds.
    pub latency: f64,
    /// Megabytes a second of a message of a million bytes.
    pub bandwidth: f64,
    /// The size at which half the bandwidth is reached, from the table.
    pub half: u32,
    /// The links of the machine, which messages share at depth `flow`. The table does not name
    /// them.
    topology: Topology,
}

const fn file(name: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, of: Of::File(text) }
}

const fn row(
    name: &'static str,
    about: &'static str,
    latency: f64,
    bandwidth: f64,
    half: u32,
) -> BuiltIn {
    BuiltIn { name, of: Of::Row(Row { about, latency, bandwidth, half, topology: Topology::Star }) }
}

impl BuiltIn {
    /// A row whose machine has other links than those of a switch.
    const fn with(self, topology: Topology) -> Self {
        match self.of {
            Of::Row(row) => Self { of: Of::Row(Row { topology, ..row }), ..self },
            Of::File(_) => self,
        }
    }
}

/// All built-in platforms: networks of today first, then the published table.
pub fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    FILES.iter().chain(&TABLE)
}

/// The built-in platform of this name.
pub fn named(name: &str) -> Option<Platform> {
    built_in().find(|known| known.name == name).map(BuiltIn::platform)
}

impl BuiltIn {
    /// The platform.
    pub fn platform(&self) -> Platform {
        match self.of {
            Of::File(text) => Platform::parse(text).expect("a test reads every built-in file"),
            Of::Row(row) => row.platform(self.name),
        }
    }

    /// The row of the table, if the platform comes from it.
    pub const fn row(&self) -> Option<Row> {
        match self.of {
            Of::Row(row) => Some(row),
            Of::File(_) => None,
        }
    }

    /// The file of the platform, with which a user can begin an own one.
    pub const fn text(&self) -> Option<&'static str> {
        match self.of {
            Of::File(text) => Some(text),
            Of::Row(_) => None,
        }
    }
}

impl Row {
    /// Makes a platform of a row. The latency is the time of a message without data, and the time
    /// of a byte follows from the message of a million bytes.
    fn platform(&self, name: &str) -> Platform {
        let million = 1.0 / self.bandwidth;
        let byte = (million - self.latency * 1e-6) * 1e6;
        let latency = Time::of_seconds(self.latency * 1e-6);
        Platform {
            name: name.to_owned(),
            about: format!("{}: half the bandwidth at {} B", self.about, self.half),
            network: Network::Line(Line { latency, byte, topology: self.topology }),
            host: Host::default(),
            transport: Transport::None,
            session: Session::default(),
            place: Placement::Each,
        }
    }
}

const FILES: [BuiltIn; 17] = [
    file("ethernet-10", include_str!("../../networks/ethernet-10.toml")),
    file("ethernet-100", include_str!("../../networks/ethernet-100.toml")),
    file("switch-10", include_str!("../../networks/switch-10.toml")),
    file("switch-100", include_str!("../../networks/switch-100.toml")),
    file("switch-1000", include_str!("../../networks/switch-1000.toml")),
    file("tbf-10", include_str!("../../networks/tbf-10.toml")),
    file("tbf-100", include_str!("../../networks/tbf-100.toml")),
    file("switch-10g", include_str!("../../networks/switch-10g.toml")),
    file("switch-100g", include_str!("../../networks/switch-100g.toml")),
    file("fddi-100", include_str!("../../networks/fddi-100.toml")),
    file("atm-155", include_str!("../../networks/atm-155.toml")),
    file("hippi-800", include_str!("../../networks/hippi-800.toml")),
    file("torus-1000", include_str!("../../networks/torus-1000.toml")),
    file("fat-tree-10g", include_str!("../../networks/fat-tree-10g.toml")),
    file("rdma-100g", include_str!("../../networks/rdma-100g.toml")),
    file("pvm3-ethernet-10", include_str!("../../networks/pvm3-ethernet-10.toml")),
    file("daemons-100", include_str!("../../networks/daemons-100.toml")),
];

/// 16 columns, as the Delta and many Paragons had.
const GRID: Topology = Topology::Mesh(Shape([16, 4096, 1]));
/// A T3D of 512 nodes, which can be longer in one direction.
const CUBE: Topology = Topology::Torus(Shape([8, 8, 1024]));
/// Four children for each switch. A CM-5 has half as many links upwards as downwards.
const TREE: Topology = Topology::FatTree(Tree { children: 4, taper: 2 });

const TABLE: [BuiltIn; 28] = [
    row("convex-spp1000-pvm", "Convex SPP1000 (PVM), SPP-UX 3.0.4.1", 76.0, 11.0, 1000),
    row("convex-spp1000-sm-1-n", "Convex SPP1000 (sm 1-n), SPP-UX 3.0.4.1", 2.5, 82.0, 1000),
    row("convex-spp1000-sm-m-n", "Convex SPP1000 (sm m-n), SPP-UX 3.0.4.1", 12.0, 59.0, 1000),
    row("convex-spp1200-pvm", "Convex SPP1200 (PVM), SPP-UX 3.0.4.1", 63.0, 15.0, 1000),
    row("convex-spp1200-sm-1-n", "Convex SPP1200 (sm 1-n), SPP-UX 3.0.4.1", 2.2, 92.0, 1000),
    row("convex-spp1200-sm-m-n", "Convex SPP1200 (sm m-n), SPP-UX 3.0.4.1", 11.0, 71.0, 1000),
    row("cray-t3d-sm", "Cray T3D (sm), MAX 1.2.0.2", 3.0, 128.0, 363).with(CUBE),
    row("cray-t3d-pvm", "Cray T3D (PVM), MAX 1.2.0.2", 21.0, 27.0, 1502).with(CUBE),
    row("fujitsu-vpp300", "Fujitsu VPP300, F90/VP V10L10", 19.0, 522.0, 11427),
    row("intel-paragon-osf", "Intel Paragon, OSF 1.0.4", 29.0, 154.0, 7236).with(GRID),
    row("intel-paragon-sunmos", "Intel Paragon, SUNMOS 1.6.2", 25.0, 171.0, 5856).with(GRID),
    row("intel-delta", "Intel Delta, NX 3.3.10", 77.0, 8.0, 900).with(GRID),
    row("intel-ipsc-860", "Intel iPSC/860, NX 3.3.2", 65.0, 3.0, 340).with(Topology::Hypercube),
    row("intel-ipsc-2", "Intel iPSC/2, NX 3.3.2", 370.0, 2.8, 1742).with(Topology::Hypercube),
    row("ibm-sp-1", "IBM SP-1, MPL", 270.0, 7.0, 1904),
    row("ibm-sp-2", "IBM SP-2, MPI", 35.0, 35.0, 3263),
    row("ksr-1", "KSR-1, OSF R1.2.2", 73.0, 8.0, 635).with(Topology::Ring),
    row("meiko-cs2-sm", "Meiko CS2 (sm), Solaris 2.3", 11.0, 40.0, 285).with(TREE),
    row("meiko-cs2", "Meiko CS2, Solaris 2.3", 83.0, 43.0, 3559).with(TREE),
    row("ncube-2", "nCUBE 2, Vertex 2.0", 154.0, 1.7, 333).with(Topology::Hypercube),
    row("ncube-1", "nCUBE 1, Vertex 2.3", 384.0, 0.4, 148).with(Topology::Hypercube),
    row("nec-cenju-3", "NEC Cenju-3, Env. Rel 1.5d", 40.0, 13.0, 900),
    row("nec-cenju-3-sm", "NEC Cenju-3 (sm), Env. Rel 1.5d", 34.0, 25.0, 400),
    row("sgi", "SGI, IRIX 6.1", 10.0, 64.0, 799).with(Topology::Bus),
    row("tmc-cm-5", "TMC CM-5, CMMD 2.0", 95.0, 9.0, 962).with(TREE),
    row("ethernet", "Ethernet, TCP/IP", 500.0, 0.9, 450).with(Topology::Bus),
    row("fddi", "FDDI, TCP/IP", 900.0, 9.7, 8730).with(Topology::Bus),
    row("atm-100", "ATM-100, TCP/IP", 900.0, 3.5, 3150),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_sound_and_every_name_is_one() {
        let mut names = std::collections::BTreeSet::new();
        for known in built_in() {
            assert!(names.insert(known.name), "{} stands twice", known.name);
            if let Some(text) = known.text() {
                let platform =
                    Platform::parse(text).unwrap_or_else(|error| panic!("{}: {error}", known.name));
                assert_eq!(platform.name, known.name);
                assert!(!platform.about.is_empty());
            }
        }
    }

    #[test]
    fn the_links_of_each_row_are_what_its_file_names() {
        for known in built_in() {
            let topology = known.platform().line().topology;
            let links = topology.to_toml();
            let text = format!("[network]\nkind = \"line\"\nrate = \"1 MB/s\"\n{links}");
            let platform = Platform::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(platform.line().topology, topology, "{}", known.name);
        }
    }
}
