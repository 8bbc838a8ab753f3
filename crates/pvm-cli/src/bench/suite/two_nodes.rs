//! The two-node comparison of Mattson, Douglas and Schultz: round-trip times of nine sizes.

use super::echo;
use crate::bench::case::{Case, Length, Seconds, Suite, words};
use crate::bench::system::Kind;
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
             milliseconds are an anecdote, and the shape of its tables is what is repeated.",
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
    all
}
