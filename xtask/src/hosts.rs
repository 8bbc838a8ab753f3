//! The end-to-end tests of each part of `make check`.
//!
//! Hosts are network namespaces with an sshd each, made by `xtask/hosts.sh`; that needs root, so
//! where this is not root their part says so and passes.

use crate::outside;
use crate::programs::Program;
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
    program.is_library || ![NETWORKS, BENCH, NAS, FIGURES].contains(&program.name.as_str())
}

/// Those with tests of what only root may do, each of which skips that for everybody else.
const OF_ROOT: [&str; 6] = ["bounds", "disk", "durable", "killed", "neighbour", "testbed"];

/// Whether an end-to-end test program does all that it can only as root.
pub(crate) fn has_tests_of_root(program: &Program) -> bool {
    OF_ROOT.contains(&program.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut found = Vec::new();
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        for path in files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let of_root = |line: &str| line.contains("skipped:") && line.contains("root");
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("hosts::SKIPPED") || text.lines().any(of_root) {
                found.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
        found.sort();
        assert_eq!(found, OF_ROOT);
    }
}
