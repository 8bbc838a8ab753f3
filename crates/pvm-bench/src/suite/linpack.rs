//! LINPACK 100 and 1000 of Dongarra and Dunigan, and a factorization by several tasks.

use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Kind, Language, Source};
use std::time::Duration;

const FLAGS: &[&str] = &["-O3", "-march=native"];
const PROGRAM: Source = Source::of("linpack", Language::C, &["linpack.c", "measure.c"])
    .with_flags(FLAGS)
    .alone("this computer");
const SPREAD: Source = Source::of("lu", Language::C, &["lu.c", "measure.c"]).with_flags(FLAGS);

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "linpack",
    title: "LINPACK: computation, and latency in lost operations",
    method: "Our own programs: order 100 in plain loops as the report of 1997 describes them, \
             order 1000 in blocks, as it \
             allows; double and single precision; every residual is checked. The compiler may use \
             what this processor \
             has (-O3 -march=native) where the report had -O. Operations are counted as 2/3 n^3 + \
             2 n^2. The clock is \
             measured by a chain of additions; the peak is what the instruction set allows with \
             two units for fused \
             multiplication and addition, where makers printed a figure of their own. The \
             factorization by several tasks \
             gives them columns in turn and sends each column to all.",
    seconds: Seconds { full: 180, quick: 22 },
    cases,
};

fn cases(length: Length) -> Vec<Case> {
    let limit = Duration::from_secs(length.pick(120, 40));
    let alone = Case {
        kinds: vec![Kind::Ours],
        ..Case::new(&PROGRAM, 1, words(&[length.pick("1", "0.3")]), limit)
    };
    let spread = length.pick(&[(2, "1000"), (4, "1000"), (2, "2000")][..], &[(2, "1000")][..]);
    let spread = spread.iter().map(|&(tasks, order)| {
        let arguments = words(&[&tasks.to_string(), order, length.pick("5", "3")]);
        Case::new(&SPREAD, tasks, arguments, limit)
    });
    std::iter::once(alone).chain(spread).collect()
}
