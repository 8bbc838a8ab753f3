//! The echo test of Dongarra and Dunigan: latency, bandwidth, alpha, beta and n-half.

use super::interfaces;
use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Kind, Language, Source};
use std::time::Duration;

/// The program, which the two-node comparison uses as well.
pub(crate) const PROGRAM: Source = Source::of("echo", Language::C, &["echo.c", "measure.c"]);

/// The network itself, for the floor below all systems.
const NETWORK: Source =
    Source::of("network", Language::C, &["network.c", "sockets.c", "measure.c"]).about("network");

/// Memory that others read, and the same asked for by messages.
const GET: Source = Source::of("get", Language::C, &["get.c", "measure.c"]);

/// Sizes of the messages, in bytes.
const SIZES: [&str; 21] = [
    "0", "4", "8", "16", "32", "64", "100", "200", "400", "1000", "2000", "4000", "10000", "20000",
    "40000", "100000", "200000", "400000", "1000000", "2000000", "4000000",
];
/// Sizes that are read; a datagram of more than 1400 may pass in two packets.
const READ_SIZES: [&str; 7] = ["8", "100", "1000", "10000", "100000", "400000", "1000000"];
const DATAGRAM_SIZES: [&str; 4] = ["4", "100", "1000", "1400"];
/// Groups of repetitions of `get.c`: what it times is ten of them.
const GET_GROUP: f64 = 10.0;
const QUICK_SIZES: [&str; 9] =
    ["0", "8", "100", "1000", "4000", "10000", "100000", "400000", "1000000"];

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "echo",
    title: "Echo: latency and bandwidth",
    method: "A message goes to the other task and back; each of up to 1000 round trips (at least \
             20) is timed, \
             the cost of reading the clock is taken off, and half of it is told. The report of \
             1997 gives the \
             smallest zero-byte time as latency and the bandwidth at 1,000,000 bytes; beside the \
             smallest stand \
             the median here. Ten round trips warm up first. Alpha and beta are fitted by least \
             squares of the \
             relative differences, so that short messages count as much as long ones; the report \
             does not say \
             how it weighs them. UDP echo and TCP stream (50,000-byte messages, measured by the \
             receiver) show the \
             network below; its ttcp used windows of 50,000 bytes, which Linux doubles. A get \
             reads another task's \
             memory while that task sleeps; it is told as the average of ten.",
    seconds: Seconds { full: 400, quick: 45 },
    cases,
};

/// Routes and encodings of PVM.
pub(crate) const VARIANTS: [(&str, &str); 6] = [
    ("direct", "raw"),
    ("direct", "encoded"),
    ("direct", "inplace"),
    ("daemons", "raw"),
    ("daemons", "encoded"),
    ("daemons", "inplace"),
];

fn cases(length: Length) -> Vec<Case> {
    let quick = ["direct raw", "direct inplace", "daemons raw"];
    let one = |route: &str, mode: &str, kinds: &[Kind]| {
        let seconds = length.pick("0.15", "0.06");
        let mut arguments = words(&[route, mode, "10", "1000", seconds]);
        arguments.extend(words(length.pick(&SIZES[..], &QUICK_SIZES[..])));
        let is_pvm = kinds.iter().all(|kind| kind.is_pvm());
        Case {
            variant: if is_pvm { format!("{route} {mode}") } else { String::new() },
            kinds: kinds.to_vec(),
            factor: 0.5,
            ..Case::new(&PROGRAM, 2, arguments, Duration::from_secs(length.pick(90, 30)))
        }
    };
    let pvm = VARIANTS
        .iter()
        .filter(|(route, mode)| {
            length == Length::Full || quick.contains(&&*format!("{route} {mode}"))
        })
        .map(|(route, mode)| one(route, mode, &[Kind::Ours, Kind::Original]));
    pvm.chain([one("direct", "raw", &[Kind::OpenMpi, Kind::Mpich]), network(length)])
        .chain(
            length.pick(&[1, 2, 4][..], &[1, 2][..]).iter().map(|&readers| read(length, readers)),
        )
        .chain(by_interfaces(length))
        .collect()
}

/// The cases of this suite by NX, Express, TCGMSG (ours, and Debian's over Open MPI) and p4, and in
/// full by MPL, CMMD, Vertex and MPSC.
fn by_interfaces(length: Length) -> Vec<Case> {
    let mut arguments = words(&["direct", "raw", "10", "1000", length.pick("0.15", "0.06")]);
    arguments.extend(words(length.pick(&SIZES[..], &QUICK_SIZES[..])));
    let limit = Duration::from_secs(length.pick(90, 30));
    let mut cases = interfaces::cases(&interfaces::ECHO, 2, &arguments, limit);
    cases.push(interfaces::peers_case(&interfaces::PEERS_ECHO, 2, &arguments, limit));
    if length == Length::Full {
        cases.extend(interfaces::cases(&interfaces::ECHO_OF_1997, 2, &arguments, limit));
    }
    cases.into_iter().map(|case| Case { factor: 0.5, ..case }).collect()
}

/// Our machine carries the program to the other host; what it measures is sockets.
fn network(length: Length) -> Case {
    let mut arguments = words(&[length.pick("0.5", "0.2")]);
    arguments.extend(words(&DATAGRAM_SIZES));
    Case {
        kinds: vec![Kind::Ours],
        factor: 0.5,
        ..Case::new(&NETWORK, 2, arguments, Duration::from_secs(length.pick(60, 30)))
    }
}

/// The memory of one task, read by others: figure 4 of the report. PVM 3.4.6 exposes none.
fn read(length: Length, readers: u32) -> Case {
    let mut arguments = words(&[&readers.to_string(), "10", "100", length.pick("0.1", "0.03")]);
    let step = length.pick(1, 2);
    arguments.extend(READ_SIZES.iter().step_by(step).map(|&size| size.to_owned()));
    Case {
        kinds: vec![Kind::Ours, Kind::OpenMpi, Kind::Mpich],
        factor: 1.0 / GET_GROUP,
        ..Case::new(&GET, readers + 1, arguments, Duration::from_secs(length.pick(60, 30)))
    }
}
