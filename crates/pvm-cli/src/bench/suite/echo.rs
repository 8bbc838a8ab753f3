//! The echo test of Dongarra and Dunigan: latency, bandwidth, alpha, beta and n-half.

use crate::bench::case::{Case, Length, Suite, words};
use crate::bench::system::{Kind, Language, Source};
use std::time::Duration;

/// The program, which the two-node comparison uses as well.
pub(crate) const PROGRAM: Source = Source {
    name: "echo",
    language: Language::C,
    files: &["echo.c", "measure.c"],
    flags: &[],
    talks: true,
};

/// Sizes of the messages, in bytes.
const SIZES: [&str; 21] = [
    "0", "4", "8", "16", "32", "64", "100", "200", "400", "1000", "2000", "4000", "10000", "20000",
    "40000", "100000", "200000", "400000", "1000000", "2000000", "4000000",
];
const QUICK_SIZES: [&str; 9] =
    ["0", "8", "100", "1000", "4000", "10000", "100000", "400000", "1000000"];

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "echo",
    title: "Echo: latency and bandwidth",
    method: "A message goes to the other task and back; each of up to 1000 round trips (at least 20) is timed, \
             the cost of reading the clock is taken off, and half of it is told. The report of 1997 gives the \
             smallest zero-byte time as latency and the bandwidth at 1,000,000 bytes; beside the smallest stand \
             the median here. Ten round trips warm up first. Alpha and beta are fitted by least squares of the \
             relative differences, so that short messages count as much as long ones; the report does not say \
             how it weighs them.",
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
            source: &PROGRAM,
            arguments,
            tasks: 2,
            variant: if is_pvm { format!("{route} {mode}") } else { String::new() },
            kinds: kinds.to_vec(),
            factor: 0.5,
            limit: Duration::from_secs(length.pick(90, 30)),
        }
    };
    let pvm = VARIANTS
        .iter()
        .filter(|(route, mode)| {
            length == Length::Full || quick.contains(&&*format!("{route} {mode}"))
        })
        .map(|(route, mode)| one(route, mode, &[Kind::Ours, Kind::Original]));
    pvm.chain([one("direct", "raw", &[Kind::OpenMpi, Kind::Mpich])]).collect()
}
