//! The NAS Parallel Benchmarks. What is run of them stands in `bench/nas`: they take as long as
//! they take.

use crate::case::{Seconds, Suite};

/// The report's text about the programs.
pub(crate) const SUITE: Suite = Suite {
    name: "nas",
    title: "NAS Parallel Benchmarks",
    method: "The eight programs of benchmarks/nas, written anew from the specification, in C and \
             Fortran over pvm3.h and \
             fpvm3.h. The timed section is NPB's, and each answer is compared with the official \
             values: a time stands here \
             only where they came out. NPB's own programs over MPI run in turns with them, once \
             with mpirun's defaults and \
             once with tasks that give their processor away while they wait. NPB prints hundredths \
             of a second, so \
             times below a tenth of a second are left out of the means. In PVM: the seconds that a \
             task is at most in the calls that send and \
             in those that receive, waiting included, from its start to its end.",
    seconds: Seconds { full: 0, quick: 0 },
    cases: |_| Vec::new(),
};
