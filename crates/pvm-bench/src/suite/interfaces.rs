//! Programs of the suites with the calls of older interfaces: their own libraries instead of
//! `calls/pvm.c`.

use crate::case::Case;
use crate::system::{Interface, Kind, Language, Source, Start};
use std::time::Duration;

/// The names of the interfaces whose figures the programs below print.
pub(crate) const NAMES: [&str; 9] =
    ["NX", "Express", "TCGMSG", TCGMSG_OVER_MPI, "P4", "MPL", "CMMD", "Vertex", "MPSC"];
/// Debian's `libglobalarrays-dev`.
pub(crate) const TCGMSG_OVER_MPI: &str = "TCGMSG over Open MPI";
/// The libraries of Global Arrays.
pub(crate) const GLOBAL_ARRAYS: [&str; 3] = ["-lga-openmpi", "-larmci-openmpi", "-lgfortran"];

/// An interface whose programs are jobs of ranks.
pub(crate) const fn job(name: &'static str) -> Interface {
    Interface { name, library: name, start: Start::Job }
}

/// Ranks of p4 share a host unless a procgroup file says otherwise.
pub(crate) const P4: Interface = Interface { start: Start::Procgroup, ..job("p4") };

/// A program with the calls of each interface: its name, its language and its other files.
macro_rules! by_each {
    ($program:literal, $language:expr, [$($file:literal),*]) => {
        [
            Source::of(concat!($program, "-nx"), $language, &[$($file,)* "calls/nx.c"])
                .with_calls_of(job("nx"))
                .about("NX"),
            Source::of(concat!($program, "-express"), $language, &[$($file,)* "calls/express.c"])
                .with_calls_of(job("express"))
                .about("Express"),
            Source::of(concat!($program, "-tcgmsg"), $language, &[$($file,)* "calls/tcgmsg.c"])
                .with_calls_of(job("tcgmsg"))
                .about("TCGMSG"),
            Source::of(concat!($program, "-p4"), $language, &[$($file,)* "calls/p4.c"])
                .with_calls_of(P4)
                .about("P4"),
        ]
    };
}

/// `echo.c` by each of them.
pub(crate) const ECHO: [Source; 4] = by_each!("echo", Language::C, ["echo.c", "measure.c"]);

/// `echo.c` by the interfaces of table 1 of the report of 1997 that have messages between two nodes
/// and little else.
pub(crate) const ECHO_OF_1997: [Source; 4] = [
    pair("echo-mpl", &["echo.c", "measure.c", "calls/mpl.c"], "mpl", "MPL"),
    pair("echo-cmmd", &["echo.c", "measure.c", "calls/cmmd.c"], "cmmd", "CMMD"),
    pair("echo-vertex", &["echo.c", "measure.c", "calls/vertex.c"], "vertex", "Vertex"),
    pair("echo-mpsc", &["echo.c", "measure.c", "calls/mpsc.c"], "mpsc", "MPSC"),
];

/// `echo.c` and `primitives.c` by the peer's TCGMSG: the source is the one that ours is measured
/// with.
pub(crate) const PEERS_ECHO: Source =
    peer("echo-tcgmsg-mpi", &["echo.c", "measure.c", "calls/tcgmsg.c"]);
pub(crate) const PEERS_PRIMITIVES: Source =
    peer("primitives-tcgmsg-mpi", &["primitives.c", "measure.c", "calls/tcgmsg.c"]);

const fn peer(program: &'static str, files: &'static [&'static str]) -> Source {
    Source::of(program, Language::C, files).with_libraries(&GLOBAL_ARRAYS).about(TCGMSG_OVER_MPI)
}

const fn pair(
    program: &'static str,
    files: &'static [&'static str],
    interface: &'static str,
    name: &'static str,
) -> Source {
    Source::of(program, Language::C, files).with_calls_of(job(interface)).about(name)
}

/// `primitives.c` by each of them.
pub(crate) const PRIMITIVES: [Source; 4] =
    by_each!("primitives", Language::C, ["primitives.c", "measure.c"]);

/// `applications.c` by each of them.
pub(crate) const APPLICATIONS: [Source; 4] = by_each!(
    "applications",
    Language::Fortran,
    ["calls/calls.f90", "gauss.f90", "nbody.f90", "applications.c", "measure.c"]
);

/// A case of each of these programs.
pub(crate) fn cases(
    sources: &'static [Source],
    tasks: u32,
    arguments: &[String],
    limit: Duration,
) -> Vec<Case> {
    sources.iter().map(|source| case(source, Kind::Ours, tasks, arguments, limit)).collect()
}

/// A case of one of the peer's.
pub(crate) fn peers_case(
    source: &'static Source,
    tasks: u32,
    arguments: &[String],
    limit: Duration,
) -> Case {
    case(source, Kind::OpenMpi, tasks, arguments, limit)
}

fn case(
    source: &'static Source,
    kind: Kind,
    tasks: u32,
    arguments: &[String],
    limit: Duration,
) -> Case {
    Case { kinds: vec![kind], ..Case::new(source, tasks, arguments.to_vec(), limit) }
}
