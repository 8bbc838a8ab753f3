//! The vocabulary of the parts: packages, folders, crates, lists of tests.

pub(super) use crate::check::part::{Concerns, Need, Part, Work};
pub(super) use crate::check::run::{Run, every};
pub(super) use crate::hosts;
pub(super) use crate::programs::Program;

/// Cargo compiles into it for one command at a time, the tests as well as what is installed.
pub(super) const COMPILED_FOLDER: &str = "target/release";
/// The Python that the wheel is built and tested with, and the folder in which it is built.
pub(super) const PYTHON_FOLDER: &str = "target/python";
/// The folder in which Maven builds and tests.
pub(super) const JAVA_FOLDER: &str = "bindings/java/target";
/// Debian's daemon and programs beside ours.
pub(super) const ORIGINAL: &str = "the original";

/// The lists of test programs that parts make for others.
pub(super) const CRATES_LIST: &str = "tests";
pub(super) const E2E_LIST: &str = "end-to-end";
pub(super) const SIMULATED_LIST: &str = "simulated";
/// The parts that compile all of the workspace that is not for users only. Clippy watches them.
pub(super) const WATCHED: [&str; 3] = ["programs", "build", "simulator"];

/// The crates that the simulator runs are compiled apart, because they are optimised, and once,
/// with the bugs that can be planted: none is, where nobody plants one.
pub(super) const PLANTED: &str = "--features=pvm-sim/planted,pvm-quorum/planted";

/// The other crates with bugs that can be planted are compiled with them for all of their tests: a
/// compilation without would take thirty processor seconds more, and run what it made for one.
pub(super) const PLANTED_TOO: &str = "--features=pvm-predict/planted,pvm-tuples/planted";

/// The crates of the end-to-end tests, which need an installation, and all others but the Python
/// module, which has no tests in Rust.
pub(super) const REAL: [&str; 2] = ["--package=pvm-e2e", "--package=testbed"];
pub(super) const CRATES: [&str; 4] =
    ["--workspace", "--exclude=pvm-e2e", "--exclude=testbed", "--exclude=neopvm-python"];

/// Every crate of the workspace but xtask: a change of that concerns every part.
#[rustfmt::skip]
pub(super) const EVERY: &[&str] = &[
    "pvm-wire", "pvm-shm", "pvm-core", "pvm-quorum", "pvm-trace", "pvm-predict", "pvm", "pvmd",
    "pvm-capi", "pvm-cli", "pvm-bench", "pvm-sim", "pvm-e2e", "testbed", "pvm-tuples", "pvm-space",
    "pvm-clc",
];

/// The packages of an installation.
pub(super) const INSTALLED: &[&str] =
    &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc"];
pub(super) const INSTALLED_AND_E2E: &[&str] =
    &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc", "pvm-e2e"];

pub(super) const PVMD: Need = Need("/usr/bin/pvmd", "pvm");
pub(super) const PVM3_H: Need = Need("/usr/include/pvm3.h", "pvm-dev");
pub(super) const EXAMPLES: Need = Need("/usr/bin/master1", "pvm-examples");
pub(super) const FORTRAN: Need = Need("gfortran", "gfortran");
pub(super) const CXX: Need = Need("g++", "g++");
pub(super) const IP: Need = Need("ip", "iproute2");
pub(super) const NFT: Need = Need("nft", "nftables");
pub(super) const SSHD: Need = Need("sshd", "openssh-server");
pub(super) const SSH: Need = Need("ssh", "openssh-client");
pub(super) const SETPRIV: Need = Need("setpriv", "util-linux");

/// The values of a part that sets no others.
pub(super) const PART: Part = Part::DEFAULT;

pub(super) fn some(programs: Vec<Program>, is_wanted: impl Fn(&Program) -> bool) -> Vec<Program> {
    programs.into_iter().filter(|program| is_wanted(program)).collect()
}

pub(super) const NO_HOSTS: &str = "skipped: hosts with networks of their own need root";

pub(super) fn on_hosts(run: &Run<'_>, words: &[&str]) -> Result<(), String> {
    if hosts::possible(run.root)? { run.step(words) } else { run.note(NO_HOSTS) }
}

/// A script of several tests (`xtask/failed.sh`).
pub(super) fn script_on_hosts(run: &Run<'_>, words: &[&str]) -> Result<(), String> {
    if hosts::possible(run.root)? { run.script(words) } else { run.note(NO_HOSTS) }
}
