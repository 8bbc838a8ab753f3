//! Whole reports, to the last picosecond, as a table of digests.
//!
//! Who makes the simulator faster changes no digest. Who changes a model makes the table anew:
//! `DIGESTS=write cargo test -p pvm-predict --test digests`.

use pvm_predict::platform::{Placement, Platform, built_in};
use pvm_predict::report::{Event, Report, Watcher};
use pvm_predict::source::{Pattern, Shape};
use pvm_predict::{Alone, Error, Time, model};
use std::fmt::{self, Write};

const TABLE: &str = include_str!("digests.txt");
const TOPOLOGIES: [&str; 8] = [
    "",
    "topology = \"ring\"\n",
    "topology = \"hypercube\"\n",
    "topology = \"torus\"\nshape = \"5x5x4\"\n",
    "topology = \"mesh\"\nshape = \"20x5\"\n",
    "topology = \"fat-tree\"\n",
    "forwarding = \"cut-through\"\n",
    "burst = \"5 kB\"\nlate = \"50 us\"\n",
];
/// A window of cubic after a loss is the only number that computers may round differently.
const TRANSPORTS: [&str; 7] = [
    "loss = 0.002\n[transport]\nkind = \"tcp\"\ncongestion = \"reno\"\nnagle = true\n",
    "queue = \"1 GB\"\n[transport]\nkind = \"tcp\"\ncongestion = \"cubic\"\n",
    "queue = \"40 kB\"\n[transport]\nkind = \"tcp\"\nconfirmation = \"37 B\"\nwake = \"9 us\"\n",
    "loss = 0.01\n[transport]\nkind = \"tcp\"\nsend_buffer = \"9 kB\"\ntrain = 1\n",
    "[transport]\nkind = \"rdma\"\n",
    "loss = 0.002\n[transport]\nkind = \"pvm3\"\nroute = \"direct\"\n",
    "loss = 0.002\n[transport]\nkind = \"tcp\"\nroute = \"daemons\"\nbeat = \"1 ms\"\n",
];
const SHAPES: [(Shape, u32); 6] = [
    (Shape::Pairs, 40),
    (Shape::Ring, 64),
    (Shape::Stencil, 49),
    (Shape::Tree, 77),
    (Shape::Exchange, 36),
    (Shape::Star, 33),
];

/// FNV-1a of 64 bits.
struct Digest(u64);

impl Digest {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// The events of each task: what several tasks do has no order in time.
struct Events(Vec<Digest>);

impl Watcher for Events {
    fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        let (Event::Sent { task, .. } | Event::Received { task, .. }) = event;
        write!(self.0[task as usize], "{event:?}").expect("a digest takes all");
        Ok(())
    }

    fn goes_on(&mut self, _: u64) -> bool {
        true
    }
}

type Model = fn(&mut Pattern, &Platform, u64, &mut dyn Watcher) -> Result<Report, Error>;

/// Adds a run of each shape; the seed differs from shape to shape.
fn add(digest: &mut Digest, platform: &Platform, model: Model, bytes: u64) {
    for ((shape, tasks), seed) in SHAPES.into_iter().zip(1..) {
        let pattern = Pattern::new(shape, tasks, 2, bytes, Time::microseconds(30));
        let mut events = Events((0..tasks).map(|_| Digest::new()).collect());
        let report = model(&mut pattern.expect("it is sound"), platform, seed, &mut events);
        let report = report.map_err(|error| error.to_string());
        let events: Vec<u64> = events.0.iter().map(|events| events.0).collect();
        write!(digest, "{report:?}{events:?}").expect("a digest takes all");
    }
}

fn packets(
    source: &mut Pattern,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    model::packet::run_with(source, platform, seed, (&Alone, watcher))
}

fn flows(
    source: &mut Pattern,
    platform: &Platform,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    model::flow::run(source, platform, seed, watcher)
}

/// A line: a name, and the digest of these runs.
fn line(table: &mut String, name: &str, runs: impl FnOnce(&mut Digest)) {
    let mut digest = Digest::new();
    runs(&mut digest);
    writeln!(table, "{:016x} {name}", digest.0).expect("a string takes all");
}

fn table() -> String {
    let mut table = String::new();
    for known in built_in() {
        let platform = known.platform();
        line(&mut table, known.name, |digest| {
            add(digest, &platform, packets, 3_000);
            add(digest, &platform, flows, 3_000);
        });
    }
    for (topology, first) in TOPOLOGIES.into_iter().zip(0..) {
        for (transport, second) in TRANSPORTS.into_iter().zip(0..) {
            let network = "[network]\nkind = \"switch\"\nrate = \"1 Gb/s\"\nlatency = \"700 ns\"\n";
            let host = "[host]\njitter = \"2 us\"\ncores = 1\n";
            let text = format!("{network}{topology}{transport}{host}");
            let platform = Platform::parse(&text);
            let mut platform = platform.unwrap_or_else(|error| panic!("{error}: {text}"));
            let places = [Placement::Each, Placement::Blocks(2), Placement::Round(20)];
            platform.place = places[(first + second) % 3].clone();
            line(&mut table, &format!("topology {first}, transport {second}"), |digest| {
                [700, 20_000].iter().for_each(|bytes| add(digest, &platform, packets, *bytes));
            });
        }
    }
    table
}

#[test]
fn reports_are_the_same_to_the_last_picosecond() {
    let table = table();
    if std::env::var_os("DIGESTS").is_some_and(|what| what == "write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/digests.txt");
        std::fs::write(path, &table).expect("the table can be written");
        return;
    }

    let differ: Vec<&str> = table.lines().filter(|line| !TABLE.contains(line)).collect();
    assert!(table == TABLE, "not in the table:\n{}", differ.join("\n"));
}
