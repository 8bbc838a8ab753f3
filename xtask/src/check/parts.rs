//! The parts, in the order in which they are wanted: first what others wait for, then what takes
//! longest.
//!
//! Each test makes its machines in a folder of its own, under a name of its own, in networks of its
//! own, so any number of them may run at once. What cannot be shared are folders that are written
//! ([`DEBUG_FOLDER`], [`PYTHON_FOLDER`], [`JAVA_FOLDER`]) and, as its programs have races that a
//! busy computer shows, the original ([`ORIGINAL`]).

mod alike;
mod built;
mod crates;
mod real;

use super::part::{Concerns, Need, Part, Work};
use super::run::{Run, every};
use crate::hosts;
use crate::programs::Program;

/// Cargo compiles into `target/debug` for one command at a time.
const DEBUG_FOLDER: &str = "target/debug";
const RELEASE_FOLDER: &str = "target/release";
/// The Python that the wheel is built and tested with, and the folder in which it is built.
const PYTHON_FOLDER: &str = "target/python";
/// Where Maven builds and tests.
const JAVA_FOLDER: &str = "bindings/java/target";
/// Debian's daemon and programs beside ours.
const ORIGINAL: &str = "the original";

/// The lists of test programs that parts make for others.
const CRATES_LIST: &str = "tests";
const E2E_LIST: &str = "end-to-end";
const SIMULATED_LIST: &str = "simulated";
/// The parts that compile all of the workspace that is not for users only. Clippy watches them.
const WATCHED: [&str; 3] = ["programs", "build", "simulator"];

/// What the simulator runs is compiled apart, because it is optimised, and once, with the bugs that
/// can be planted: none is, where nobody plants one.
const PLANTED: &str = "--features=pvm-sim/planted,pvm-quorum/planted";

/// The crates of the end-to-end tests, which need an installation, and all others.
const REAL: [&str; 2] = ["--package=pvm-e2e", "--package=testbed"];
const CRATES: [&str; 3] = ["--workspace", "--exclude=pvm-e2e", "--exclude=testbed"];

/// Every crate of the workspace but xtask: a change of that concerns every part.
#[rustfmt::skip]
const EVERY: &[&str] = &[
    "pvm-wire", "pvm-shm", "pvm-core", "pvm-quorum", "pvm-trace", "pvm-predict", "pvm", "pvmd",
    "pvm-capi", "pvm-cli", "pvm-bench", "pvm-sim", "pvm-e2e", "testbed", "pvm-tuples", "pvm-space",
    "pvm-clc",
];

/// What an installation is made of.
const INSTALLED: &[&str] = &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc"];
const INSTALLED_AND_E2E: &[&str] =
    &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc", "pvm-e2e"];

const PVMD: Need = Need("/usr/bin/pvmd", "pvm");
const PVM3_H: Need = Need("/usr/include/pvm3.h", "pvm-dev");
const EXAMPLES: Need = Need("/usr/bin/master1", "pvm-examples");
const FORTRAN: Need = Need("gfortran", "gfortran");
const CXX: Need = Need("g++", "g++");
const IP: Need = Need("ip", "iproute2");
const NFT: Need = Need("nft", "nftables");
const SSHD: Need = Need("sshd", "openssh-server");
const SSH: Need = Need("ssh", "openssh-client");
const SETPRIV: Need = Need("setpriv", "util-linux");

/// What a part is unless it says otherwise.
const PART: Part = Part {
    name: "",
    owner: "",
    work: Work::Waits,
    fast: false,
    uses: &[],
    after: &[],
    alone: &[],
    concerns: Concerns { packages: &[], paths: &[] },
    needs: &[],
    steps: |_| Ok(()),
};

pub(crate) const PARTS: &[Part] = &[
    built::INSTALL,
    built::TESTBED,
    built::PROGRAMS,
    built::BUILD,
    built::SIMULATOR,
    built::FOREIGN,
    crates::FUZZ,
    crates::LINT,
    crates::CLIPPY,
    real::HOSTS,
    real::SECOND_USER,
    real::END_TO_END,
    alike::CONFORMANCE,
    alike::TRACED,
    alike::PERSONALITIES,
    alike::PYTHON,
    alike::DOCS,
    real::MIXED,
    alike::SPREAD,
    crates::TESTS,
    alike::JAVA,
    real::BENCH,
    real::NAS,
    alike::DIFFER,
    real::DEMO,
    crates::SIMULATION,
    crates::PLANTED,
    crates::MODELS,
    real::PREDICTION,
    crates::LOOM,
    real::FIGURES,
];

fn some(programs: Vec<Program>, is_wanted: impl Fn(&Program) -> bool) -> Vec<Program> {
    programs.into_iter().filter(|program| is_wanted(program)).collect()
}

const NO_HOSTS: &str = "skipped: hosts with networks of their own need root";

fn on_hosts(run: &Run<'_>, words: &[&str]) -> Result<(), String> {
    if hosts::possible(run.root)? { run.step(words) } else { run.note(NO_HOSTS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_parts_name_one_another_and_can_all_come_to_their_turn() {
        let names: BTreeSet<&str> = PARTS.iter().map(|part| part.name).collect();
        assert_eq!(names.len(), PARTS.len());
        let mut done: BTreeSet<&str> = BTreeSet::new();
        while done.len() < PARTS.len() {
            let before = done.len();
            for part in PARTS {
                let mut first = part.uses.iter().chain(part.after);
                assert!(part.uses.iter().chain(part.after).all(|one| names.contains(one)));
                if first.all(|one| done.contains(one)) {
                    done.insert(part.name);
                }
            }
            assert!(done.len() > before, "{:?} wait for one another", names.difference(&done));
        }
    }

    #[test]
    fn what_runs_with_fast_needs_nothing_slow() {
        for part in PARTS.iter().filter(|part| part.fast) {
            let slow = |name: &&&str| PARTS.iter().any(|one| one.name == **name && !one.fast);
            assert_eq!(part.uses.iter().find(slow), None, "{}", part.name);
        }
    }

    #[test]
    fn every_end_to_end_test_is_in_one_part() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = std::fs::read_dir(root.join("crates/pvm-e2e/tests")).unwrap().flatten();
        for path in folder.map(|entry| entry.path()) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let own = [hosts::NETWORKS, hosts::BENCH, hosts::NAS, hosts::FIGURES]
                .contains(&name.as_str());
            let (package, path) = (String::new(), path.clone());
            let one = Program { package, name, is_library: false, folder: path.clone(), path };
            assert!(own != hosts::is_ordinary(&one), "{one:?}");
        }
    }
}
