//! Programs of the suites with the calls of older interfaces: their own libraries instead of `calls/pvm.c`.

use crate::bench::case::Case;
use crate::bench::system::{Interface, Kind, Language, Source};
use std::time::Duration;

/// Whose figures the programs below tell.
pub(crate) const NAMES: [&str; 4] = ["NX", "Express", "TCGMSG", "P4"];

/// An interface whose programs are jobs of ranks.
pub(crate) const fn job(name: &'static str) -> Interface {
    Interface { name, library: name, has_jobs: true, has_procgroups: false }
}

/// Ranks of p4 share a host unless a procgroup file says otherwise.
pub(crate) const P4: Interface = Interface { has_procgroups: true, ..job("p4") };

/// `echo.c` by each of them.
pub(crate) const ECHO: [Source; 4] = [
    Source::of("echo-nx", Language::C, &["echo.c", "measure.c", "calls/nx.c"])
        .with_calls_of(job("nx"))
        .about("NX"),
    Source::of("echo-express", Language::C, &["echo.c", "measure.c", "calls/express.c"])
        .with_calls_of(job("express"))
        .about("Express"),
    Source::of("echo-tcgmsg", Language::C, &["echo.c", "measure.c", "calls/tcgmsg.c"])
        .with_calls_of(job("tcgmsg"))
        .about("TCGMSG"),
    Source::of("echo-p4", Language::C, &["echo.c", "measure.c", "calls/p4.c"])
        .with_calls_of(P4)
        .about("P4"),
];

/// `primitives.c` by each of them.
pub(crate) const PRIMITIVES: [Source; 4] = [
    Source::of("primitives-nx", Language::C, &["primitives.c", "measure.c", "calls/nx.c"])
        .with_calls_of(job("nx"))
        .about("NX"),
    Source::of(
        "primitives-express",
        Language::C,
        &["primitives.c", "measure.c", "calls/express.c"],
    )
    .with_calls_of(job("express"))
    .about("Express"),
    Source::of("primitives-tcgmsg", Language::C, &["primitives.c", "measure.c", "calls/tcgmsg.c"])
        .with_calls_of(job("tcgmsg"))
        .about("TCGMSG"),
    Source::of("primitives-p4", Language::C, &["primitives.c", "measure.c", "calls/p4.c"])
        .with_calls_of(P4)
        .about("P4"),
];

/// `applications.c` by each of them.
pub(crate) const APPLICATIONS: [Source; 4] = [
    Source::of(
        "applications-nx",
        Language::Fortran,
        &["calls/calls.f90", "gauss.f90", "nbody.f90", "applications.c", "measure.c", "calls/nx.c"],
    )
    .with_calls_of(job("nx"))
    .about("NX"),
    Source::of(
        "applications-express",
        Language::Fortran,
        &[
            "calls/calls.f90",
            "gauss.f90",
            "nbody.f90",
            "applications.c",
            "measure.c",
            "calls/express.c",
        ],
    )
    .with_calls_of(job("express"))
    .about("Express"),
    Source::of(
        "applications-tcgmsg",
        Language::Fortran,
        &[
            "calls/calls.f90",
            "gauss.f90",
            "nbody.f90",
            "applications.c",
            "measure.c",
            "calls/tcgmsg.c",
        ],
    )
    .with_calls_of(job("tcgmsg"))
    .about("TCGMSG"),
    Source::of(
        "applications-p4",
        Language::Fortran,
        &["calls/calls.f90", "gauss.f90", "nbody.f90", "applications.c", "measure.c", "calls/p4.c"],
    )
    .with_calls_of(P4)
    .about("P4"),
];

/// A case of each of these programs.
pub(crate) fn cases(
    sources: &'static [Source],
    tasks: u32,
    arguments: &[String],
    limit: Duration,
) -> Vec<Case> {
    let one = |source| Case {
        kinds: vec![Kind::Ours],
        ..Case::new(source, tasks, arguments.to_vec(), limit)
    };
    sources.iter().map(one).collect()
}
