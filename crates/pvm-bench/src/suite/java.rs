//! The Java bindings' own measurements (PBJ): a loop, and messages between C and Java in each
//! pairing.

use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Kind, Language, Source};
use std::time::Duration;

const PAIR_C: Source = Source::of("pair", Language::C, &["pair.c", "measure.c"]);
const PAIR_JAVA: Source = Source::of(
    "pair-java",
    Language::Java,
    &["java/Pair.java", "java/Calls.java", "java/Measure.java"],
);
const LOOP_C: Source = Source::of("loop", Language::C, &["loop.c", "measure.c"])
    .with_flags(&["-O3"])
    .alone("this computer");
const LOOP_JAVA: Source =
    Source::of("loop-java", Language::Java, &["java/Loop.java", "java/Measure.java"])
        .alone("this computer");

/// The document's sizes, in bytes.
const SIZES: [&str; 7] =
    ["1000000", "2000000", "4000000", "8000000", "16000000", "32000000", "64000000"];
const QUICK_SIZES: [&str; 2] = ["1000000", "4000000"];
/// The name of the first pairing.
const C_TO_C: &str = "C to C";

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "java",
    title: "Java and C: messages and a loop",
    method: "As in the PBJ document of 2004: a message of ints goes to the other task and back in \
             each pairing of C and \
             Java, and each int is compared; the time of sending (packing and handing over), \
             receiving (until it is back \
             and unpacked) and verifying is told, and a loop of a billion additions. The document \
             timed ten messages, \
             dropped the shortest and the longest time, told the average and counted the freeing \
             of buffers as verifying; \
             here three messages come first, ten are told one by one in each round, and the median \
             is compared. Its Java \
             unpacked into a new array, ours into one that is there. Java is the newest JDK of \
             this computer, with the \
             engine over the C library from Java 22 on and the one in Java alone before. Between \
             hosts a task in C sends \
             directly, one in Java through the daemons. The other systems have C only, and what \
             MPI calls sending ends \
             when the message has been taken.",
    seconds: Seconds { full: 130, quick: 20 },
    cases,
};

fn cases(length: Length) -> Vec<Case> {
    let mut all = vec![counting(length, &LOOP_C, "C"), counting(length, &LOOP_JAVA, "Java")];
    all.push(pairing(length, &PAIR_C, None, C_TO_C));
    all.push(pairing(length, &PAIR_C, Some(&PAIR_JAVA), "C to Java"));
    all.push(pairing(length, &PAIR_JAVA, Some(&PAIR_C), "Java to C"));
    all.push(pairing(length, &PAIR_JAVA, Some(&PAIR_JAVA), "Java to Java"));
    all
}

fn counting(length: Length, source: &'static Source, language: &str) -> Case {
    Case {
        variant: language.to_owned(),
        kinds: vec![Kind::Ours],
        ..Case::new(source, 1, words(&[length.pick("3", "1"), "1000000000"]), limit(length))
    }
}

/// C with C is what the other systems can, too.
fn pairing(
    length: Length,
    source: &'static Source,
    partner: Option<&'static Source>,
    variant: &str,
) -> Case {
    // The partner's program stands in front of these.
    let mut arguments = words(if partner.is_none() { &["-", "3", "10"] } else { &["3", "10"] });
    arguments.extend(words(length.pick(&SIZES[..], &QUICK_SIZES[..])));
    Case {
        partner,
        variant: variant.to_owned(),
        kinds: if variant == C_TO_C { Kind::ALL.to_vec() } else { vec![Kind::Ours] },
        ..Case::new(source, 2, arguments, limit(length))
    }
}

fn limit(length: Length) -> Duration {
    Duration::from_secs(length.pick(60, 20))
}
