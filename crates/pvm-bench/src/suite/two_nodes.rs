//! The two-node comparison of Mattson, Douglas and Schultz: round-trip times of nine sizes.

use super::echo;
use super::interfaces::{self, job};
use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Interface, Kind, Language, Source, Start};
use std::time::Duration;

const SIZES: [&str; 9] =
    ["100", "400", "1000", "4000", "10000", "40000", "100000", "400000", "1000000"];

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "two-nodes",
    title: "Two nodes: round-trip times",
    method: "As in the report of 1993: nine sizes, 100 round trips each without any before them, \
             every one timed \
             and corrected by the cost of reading the clock; whole round trips are told. There are \
             no daemons' \
             routes, packing or encodings in MPI. The report measured two SPARCstation 1 on an \
             Ethernet of their \
             own; here both tasks are on the hosts named above, on one host if there is no other, \
             so its \
             milliseconds are an anecdote, and the shape of its tables is what is repeated. The \
             tables A.1 to A.9 are \
             made by the programs that the report prints, repaired where they have slips, on \
             NeoPVM's libraries \
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

const PVM2: Interface = Interface { name: "pvm2", library: "pvm", start: Start::ByHand };
/// C-Linda and POSYBL have one library.
const LINDA: Interface = Interface { name: "linda", library: "linda", start: Start::Ntsnet };

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
const C_LINDA: Source =
    Source::of("two-nodes-linda", Language::Linda, &["two-nodes/linda.cl", "measure.c"])
        .with_calls_of(LINDA)
        .about("C-Linda");
const POSYBL_FILES: &[&str] = &["two-nodes/posybl.c", "measure.c"];
const POSYBL_WORKER_FILES: &[&str] = &["two-nodes/posybl_worker.c", "measure.c"];
const POSYBL: Source = Source::of("two-nodes-posybl", Language::C, POSYBL_FILES)
    .with_calls_of(Interface { start: Start::ByHand, ..LINDA })
    .about("POSYBL");
const POSYBL_WORKER: Source =
    Source::of("two-nodes-posybl-worker", Language::C, POSYBL_WORKER_FILES)
        .with_calls_of(Interface { start: Start::ByHand, ..LINDA });
/// The program of table A.9, by the calls that Debian's TCGMSG has, too.
const TCGMSG_OVER_MPI: Source =
    Source::of("two-nodes-tcgmsg-mpi", Language::C, &["two-nodes/tcgmsg.c", "measure.c"])
        .with_flags(&["-DGLOBAL_ARRAYS"])
        .with_libraries(&interfaces::GLOBAL_ARRAYS)
        .about(interfaces::TCGMSG_OVER_MPI);

/// The report's own programs, in `benchmarks/suites/two-nodes`.
fn as_printed(length: Length) -> Vec<Case> {
    let one = |source: &'static Source, variant: &str, first: &[&str]| {
        let mut arguments = words(first);
        arguments.push("100".to_owned());
        arguments.extend(words(&SIZES));
        let limit = Duration::from_secs(length.pick(60, 30));
        Case {
            variant: variant.to_owned(),
            kinds: vec![if source.libraries.is_empty() { Kind::Ours } else { Kind::OpenMpi }],
            partner: partner_of(source),
            ..Case::new(source, 2, arguments, limit)
        }
    };
    vec![
        one(&CPS, "", &[]),
        one(&C_LINDA, "", &[]),
        one(&P4, "", &[]),
        one(&POSYBL, "", &[]),
        one(&PVM2_MASTER, "vsnd/vrcv", &["vsnd", "packed"]),
        one(&PVM2_MASTER, "snd/rcv", &["snd", "packed"]),
        one(&PVM2_MASTER, "snd/rcv, not packed", &["snd", "unpacked"]),
        one(&TCGMSG, "", &[]),
        one(&TCGMSG_OVER_MPI, "", &[]),
    ]
}

/// The second process of a program, where that is another program.
fn partner_of(source: &Source) -> Option<&'static Source> {
    if *source == PVM2_MASTER {
        Some(&PVM2_WORKER)
    } else if *source == POSYBL {
        Some(&POSYBL_WORKER)
    } else {
        None
    }
}
