//! The part of `make check` for hosts with networks of their own, and what of the end-to-end tests is not part of it.
//!
//! The hosts are network namespaces with an sshd each, made by `xtask/hosts.sh`; that needs root, so where this is not
//! root the part says so and passes.

use crate::outside;
use std::fs;
use std::path::Path;

/// The test target of pvm-e2e that needs such hosts.
const NETWORKS: &str = "networks";

/// `cargo test` arguments for the tests on several hosts. Each test has hosts of its own; two at a time keep their
/// waits from adding up.
pub(crate) const TESTS: [&str; 4] =
    ["--package=pvm-e2e", "--test=networks", "--", "--test-threads=2"];

/// The one that needs other systems to compare with, and a browser.
const BENCH: &str = "bench";

/// `cargo test` arguments for the tests of `pvm bench`.
pub(crate) const BENCH_TESTS: [&str; 2] = ["--package=pvm-e2e", "--test=bench"];

/// Whether hosts can be made at all.
pub(crate) fn possible(root: &Path) -> Result<bool, String> {
    Ok(outside::output(root, "id", &["-u"])?.trim() == "0")
}

/// `cargo test` arguments for all other end-to-end tests: the library's own and every other target.
pub(crate) fn other_tests(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("crates/pvm-e2e/tests");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != NETWORKS && name != BENCH)
        .map(|name| format!("--test={name}"))
        .collect();
    names.sort();
    let mut arguments = vec!["--package=pvm-e2e".to_owned(), "--lib".to_owned()];
    arguments.append(&mut names);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn every_end_to_end_test_is_in_one_part() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let others = other_tests(&root).unwrap();
        assert!(others.contains(&"--test=hosts".to_owned()), "{others:?}");
        assert!(!others.contains(&"--test=networks".to_owned()), "{others:?}");
        assert!(root.join("crates/pvm-e2e/tests/networks/main.rs").is_file());
        assert!(!others.contains(&"--test=bench".to_owned()), "{others:?}");
        assert!(root.join("crates/pvm-e2e/tests/bench.rs").is_file());
        assert!(TESTS.contains(&"--test=networks"));
    }
}
