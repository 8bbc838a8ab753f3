//! The end-to-end tests of each part of `make check`.
//!
//! Hosts are network namespaces with an sshd each, made by `xtask/hosts.sh`; that needs root, so
//! where this is not root their part says so and passes.

use crate::outside;
use crate::programs::{Program, Target};
use std::path::Path;

/// The test target of pvm-e2e that needs such hosts.
pub(crate) const NETWORKS: &str = "networks";

/// Its arguments. Each test has hosts of its own; two at a time keep their waits from adding up.
pub(crate) const NETWORKS_ARGUMENTS: [&str; 1] = ["--test-threads=2"];

/// The one that needs other systems to compare with, and a browser.
pub(crate) const BENCH: &str = "bench";

/// The one of the NAS Parallel Benchmarks, which builds them.
pub(crate) const NAS: &str = "nas";

/// The one with hosts of several kinds of computers.
pub(crate) const MIXED: &str = "mixed";

/// Whether hosts can be made at all.
pub(crate) fn possible(root: &Path) -> Result<bool, String> {
    Ok(outside::output(root, "id", &["-u"])?.trim() == "0")
}

/// The one that measures,
pub(crate) const FIGURES: &str = "figures";
/// and its test that needs two processors for itself. On a computer that does other things, too, it
/// judges nothing.
pub(crate) const NEEDS_ALL: &str = "a_hundred_thousand_ping_pongs_need_hardly_a_system_call";

/// Whether a test program of pvm-e2e needs nothing special, and so runs in the part of that name.
pub(crate) fn is_ordinary(program: &Program) -> bool {
    program.target != Target::Test
        || ![NETWORKS, BENCH, NAS, FIGURES].contains(&program.name.as_str())
}

/// The programs with tests of what only root may do, each of which skips that for everybody else;
/// and these tests, where others stand beside them.
const OF_ROOT: [(&str, &[&str]); 6] = [
    ("bounds", &["a_full_disk_is_told_to_the_send_and_hinders_nobody_else"]),
    ("disk", &[]),
    ("durable", &["a_full_disk_refuses_what_is_put_and_loses_nothing"]),
    (
        "killed",
        &[
            "a_user_has_places_beside_those_of_root",
            "a_place_of_another_pid_namespace_is_not_taken_for_a_left_one",
        ],
    ),
    ("neighbour", &[]),
    ("testbed", &["a_killed_script_leaves_no_hosts"]),
];

/// The tests of an end-to-end program that do all that they can only as root: none, those with
/// these names, or, if there are no names, all.
pub(crate) fn tests_of_root(program: &Program) -> Option<&'static [&'static str]> {
    let is_it = |name: &str| program.target == Target::Test && name == program.name;
    OF_ROOT.iter().find(|(name, _)| is_it(name)).map(|(_, tests)| *tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    #[test]
    fn the_tests_with_parts_of_their_own_are_there() {
        let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/pvm-e2e/tests");
        for name in [NETWORKS, NAS] {
            assert!(tests.join(name).join("main.rs").is_file(), "{name}");
        }
        for name in [BENCH, MIXED, FIGURES] {
            assert!(tests.join(name).with_extension("rs").is_file(), "{name}");
        }
        let figures = std::fs::read_to_string(tests.join("figures.rs")).unwrap();
        assert!(figures.contains(&format!("fn {NEEDS_ALL}()")));
    }

    #[test]
    fn the_tests_that_need_root_run_as_root_too() {
        let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let folders = ["pvm-e2e/tests", "testbed/tests"].map(|name| crates.join(name));
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let files = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let found: BTreeMap<String, BTreeSet<String>> = files
            .filter_map(|path| {
                let found = functions_of_root(&std::fs::read_to_string(&path).unwrap());
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                found.map(|tests| (name, tests))
            })
            .collect();
        let listed = OF_ROOT.map(|(name, tests)| {
            (name.to_owned(), tests.iter().map(|test| (*test).to_owned()).collect())
        });
        assert_eq!(found, listed.into());
    }

    /// The tests in this text that skip something for everybody but root; an empty set, for all, if
    /// a function does that which is none.
    fn functions_of_root(text: &str) -> Option<BTreeSet<String>> {
        let skips = |line: &str| {
            line.contains("hosts::SKIPPED") || (line.contains("skipped:") && line.contains("root"))
        };
        let parts: Vec<&str> = text.split("\nfn ").collect();
        let of_root: Vec<usize> =
            (1..parts.len()).filter(|at| parts[*at].lines().any(skips)).collect();
        let is_test = |at: &usize| parts[at - 1].ends_with("#[test]");
        let name = |at: &usize| parts[*at].split('(').next().unwrap_or_default().to_owned();
        match &of_root[..] {
            [] => None,
            all if all.iter().all(is_test) => Some(all.iter().map(name).collect()),
            _ => Some(BTreeSet::new()),
        }
    }
}
