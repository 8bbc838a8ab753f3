//! The applications of Ahmad's comparison: Gaussian elimination in three partitions, and N-body.

use super::interfaces;
use crate::case::{Case, Length, Seconds, Suite, words};
use crate::system::{Language, Source};
use std::time::Duration;

const PROGRAM: Source = Source::of(
    "applications",
    Language::Fortran,
    &["calls/calls.f90", "gauss.f90", "nbody.f90", "applications.c", "measure.c"],
);

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "applications",
    title: "Applications: Gaussian elimination and N-body",
    method: "The eliminations and the forces are in Fortran, as in the paper of 1997; what they \
             send goes through the same \
             few C calls for every system. Only the elimination is timed, averaged over the tasks, \
             and every result is \
             compared with that of a sequential run. The paper solved orders 256 to 768 and 512 to \
             16k bodies on a node for \
             each task; here the tasks share the processors of this computer, so more tasks than \
             processors show what \
             waiting costs, not a speed-up.",
    seconds: Seconds { full: 420, quick: 25 },
    cases,
};

fn cases(length: Length) -> Vec<Case> {
    let mut all = Vec::new();
    for what in ["rows", "columns", "scattered", "nbody"] {
        for &tasks in length.pick(&[1, 2, 4, 8, 16, 32][..], &[1, 2][..]) {
            let sizes: &[&str] = match (what, length, tasks) {
                ("nbody", Length::Quick, _) => &["1024"],
                (_, Length::Quick, _) => &["256"],
                ("nbody", Length::Full, 1..=4) => &["512", "2048", "8192"],
                ("nbody", Length::Full, _) => &["2048"],
                (_, Length::Full, 1..=4) => &["256", "384", "512", "640", "768", "1024"],
                (_, Length::Full, _) => &["256", "768"],
            };
            let mut arguments = words(&[what, &tasks.to_string(), length.pick("2", "3")]);
            arguments.extend(words(sizes));
            let limit = Duration::from_secs(length.pick(60, 20));
            if length == Length::Full && tasks <= 2 {
                all.extend(interfaces::cases(&interfaces::APPLICATIONS, tasks, &arguments, limit));
            }
            all.push(Case::new(&PROGRAM, tasks, arguments, limit));
        }
    }
    all
}
