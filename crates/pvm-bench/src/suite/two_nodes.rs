//! The two-node comparison of Mattson, Douglas and Schultz: round-trip times of nine sizes.

use super::echo;
use super::interfaces::{self, job};
use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Interface, Kind, Language, Source};
use std::time::Duration;

const SIZES: [&str; 9] =
    ["100", "400", "1000", "4000", "10000", "40000", "100000", "400000", "1000000"];

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "two-nodes",
    title: "Two nodes: round-trip times",
    method: "As in the report of 1993: nine sizes, 100 round trips each without any before them, every one timed \
             and corrected by the cost of reading the clock; whole round trips are told. There are no daemons' \
             routes, packing or encodings in MPI. The report measured two SPARCstation 1 on an Ethernet of their \
             own; here both tasks are on the hosts named above, on one host if there is no other, so its \
             milliseconds are an anecdote, and the shape of its tables is what is repeated. The tables A.1 to A.9 are \
             made by the programs that the report prints, repaired where they have slips, on NeoPVM's libraries \
             for those interfaces; each shows the round whose median is in the middle.",
    seconds: Seconds { full: 120, quick: 18 },
    cases,
};

fn cases(length: Length) -> Vec<Case> {
    // The tables A.6, A.7 and A.8 of the report, and the encoding that PVM has by default.
    let pvm = [
        ("direct", "raw", "direct, packed"),
        ("daemons", "raw", "daemons, packed"),
        ("daemons", "unpacked", "daemons, not packed"),
        ("direct", "unpacked", "direct, not packed"),
        ("direct", "encoded", "direct, encoded"),
    ];
    let one = |route: &str, mode: &str, variant: &str, kinds: &[Kind]| {
        let mut arguments = words(&[route, mode, "0", "100", "0"]);
        arguments.extend(words(&SIZES));
        let limit = Duration::from_secs(length.pick(60, 30));
        Case {
            variant: variant.to_owned(),
            kinds: kinds.to_vec(),
            ..Case::new(&echo::PROGRAM, 2, arguments, limit)
        }
    };
    let mut all: Vec<Case> = pvm[..length.pick(5, 3)]
        .iter()
        .map(|(route, mode, variant)| one(route, mode, variant, &[Kind::Ours, Kind::Original]))
        .collect();
    all.push(one("direct", "raw", "", &[Kind::OpenMpi, Kind::Mpich]));
    all.extend(as_printed(length));
    all
}

const PVM2: Interface =
    Interface { name: "pvm2", library: "pvm", has_jobs: false, has_procgroups: false };

const PVM2_MASTER: Source =
    Source::of("two-nodes-pvm2", Language::C, &["two-nodes/pvm2.c", "measure.c"])
        .with_calls_of(PVM2)
        .about("PVM 2.4");
const PVM2_WORKER: Source =
    Source::of("two-nodes-pvm2-worker", Language::C, &["two-nodes/pvm2_worker.c", "measure.c"])
        .with_calls_of(PVM2);
const TCGMSG: Source =
    Source::of("two-nodes-tcgmsg", Language::C, &["two-nodes/tcgmsg.c", "measure.c"])
        .with_calls_of(job("tcgmsg"))
        .about("TCGMSG");
const P4: Source = Source::of("two-nodes-p4", Language::C, &["two-nodes/p4.c", "measure.c"])
    .with_calls_of(interfaces::P4)
    .about("P4");
const CPS: Source = Source::of("two-nodes-cps", Language::C, &["two-nodes/cps.c", "measure.c"])
    .with_calls_of(job("cps"))
    .about("CPS");

/// The report's own programs, in `benchmarks/suites/two-nodes`.
fn as_printed(length: Length) -> Vec<Case> {
    let one = |source: &'static Source, variant: &str, first: &[&str]| {
        let mut arguments = words(first);
        arguments.push("100".to_owned());
        arguments.extend(words(&SIZES));
        let limit = Duration::from_secs(length.pick(60, 30));
        Case {
            variant: variant.to_owned(),
            kinds: vec![Kind::Ours],
            partner: (*source == PVM2_MASTER).then_some(&PVM2_WORKER),
            ..Case::new(source, 2, arguments, limit)
        }
    };
    vec![
        one(&CPS, "", &[]),
        one(&P4, "", &[]),
        one(&PVM2_MASTER, "vsnd/vrcv", &["vsnd", "packed"]),
        one(&PVM2_MASTER, "snd/rcv", &["snd", "packed"]),
        one(&PVM2_MASTER, "snd/rcv, not packed", &["snd", "unpacked"]),
        one(&TCGMSG, "", &[]),
    ]
}
