//! The communication primitives of Ahmad's comparison: exchange, broadcast, sum, ring, complete
//! exchange. Its one-to-one echo is the echo suite.

use super::interfaces;
use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Language, Source};
use std::time::Duration;

const PROGRAM: Source = Source::of("primitives", Language::C, &["primitives.c", "measure.c"]);

/// The paper's three classes of sizes (to 200, 1000 and 16000 bytes), and larger ones.
const SIZES: [&str; 12] =
    ["0", "4", "100", "200", "600", "1000", "4000", "8000", "16000", "100000", "400000", "1000000"];
const QUICK_SIZES: [&str; 4] = ["4", "200", "16000", "100000"];
/// Words of a sum as in its tables, and more.
const WORDS: [&str; 6] = ["1", "2", "4", "26", "1000", "100000"];
/// A complete exchange of larger blocks among 32 tasks would need gigabytes.
const BLOCK_BYTES_MAX: u32 = 4_000_000;

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "primitives",
    title: "Primitives: exchange, broadcast, sum, ring, complete exchange",
    method: "As in the paper of 1997: five experiments, each the average of many repetitions \
             between two \
             barriers. Its sum was made by hand in PVM; here it is pvm_reduce and a broadcast, and \
             MPI_Allreduce. \
             The sender of the broadcast changes from one repetition to the next, so that it \
             cannot run ahead of \
             the receivers; the paper does not say. A broadcast of no bytes is an empty message in \
             PVM and nothing at all in \
             MPI. Tasks share the processors of this computer where the paper \
             had a node for each.",
    seconds: Seconds { full: 480, quick: 40 },
    cases,
};

fn cases(length: Length) -> Vec<Case> {
    let mut all = Vec::new();
    for test in ["exchange", "broadcast", "ring", "complete"] {
        for &tasks in length.pick(&[2, 4, 8, 16, 32][..], &[4][..]) {
            let fits = |size: &&&str| {
                let bytes: u32 = size.parse().unwrap_or(0);
                test != "complete" || bytes * tasks <= BLOCK_BYTES_MAX
            };
            let sizes = length.pick(&SIZES[..], &QUICK_SIZES[..]);
            let sizes: Vec<&str> = sizes.iter().filter(fits).copied().collect();
            // The larger crowds with every other size only: they take long and say the same.
            let sizes = if tasks > 8 { sizes.into_iter().step_by(2).collect() } else { sizes };
            all.push(case(length, test, tasks, &sizes));
        }
    }
    for &tasks in length.pick(&[2, 4, 8, 16, 32][..], &[4, 8][..]) {
        all.push(case(length, "sum", tasks, length.pick(&WORDS, &WORDS[..5])));
    }
    if length == Length::Full {
        all.extend(by_interfaces());
    }
    all
}

/// The cases of this suite by NX, Express, TCGMSG (ours, and Debian's over Open MPI) and p4, among
/// as many as the paper's pictures have.
fn by_interfaces() -> Vec<Case> {
    let of = |test: &str, sizes: &[&str]| {
        let case = case(Length::Full, test, 4, sizes);
        let (arguments, limit) = (&case.arguments, case.limit);
        let mut cases = interfaces::cases(&interfaces::PRIMITIVES, 4, arguments, limit);
        cases.push(interfaces::peers_case(&interfaces::PEERS_PRIMITIVES, 4, arguments, limit));
        cases
    };
    let mut all = of("sum", &WORDS);
    for test in ["exchange", "broadcast", "ring", "complete"] {
        all.extend(of(test, &SIZES[..10]));
    }
    all
}

fn case(length: Length, test: &str, tasks: u32, sizes: &[&str]) -> Case {
    let seconds = length.pick("0.05", "0.03");
    let mut arguments = words(&[test, &tasks.to_string(), "5", "1000", seconds]);
    arguments.extend(words(sizes));
    Case::new(&PROGRAM, tasks, arguments, Duration::from_secs(length.pick(60, 20)))
}
