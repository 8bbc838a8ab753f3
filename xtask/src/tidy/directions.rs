//! Dependencies between the crates of the workspace point down, never up or sideways.

use super::finding::Finding;
use crate::manifest::{dependencies, package_name};
use crate::source::Source;

/// Each crate and the crates of ours it may depend on. A crate that is not here may not exist.
/// pvm-wire is the ground that requests and codes come from, so whoever speaks to `pvm` may name
/// them.
const MAY_USE: [(&str, &[&str]); 19] = [
    ("pvm-wire", &[]),
    ("pvm-shm", &["pvm-wire"]),
    ("pvm-core", &["pvm-wire"]),
    ("pvm-quorum", &["pvm-core", "pvm-wire"]),
    ("pvm-trace", &["pvm-wire"]),
    ("pvm-predict", &["pvm-trace", "pvm-wire"]),
    ("pvm", &["pvm-shm", "pvm-wire"]),
    ("pvmd", &["pvm-core", "pvm-shm", "pvm-wire", "pvm-quorum"]),
    ("pvm-tuples", &["pvm-wire"]),
    ("pvm-space", &["pvm", "pvm-tuples", "pvm-wire"]),
    ("pvm-capi", &["pvm", "pvm-space", "pvm-tuples", "pvm-wire"]),
    ("pvm-cli", &["pvm", "pvm-predict", "pvm-space", "pvm-trace", "pvm-tuples", "pvm-wire"]),
    ("pvm-bench", &["pvm-cli"]),
    ("neopvm-python", &["pvm", "pvm-space", "pvm-tuples", "pvm-wire"]),
    ("pvm-sim", &["pvm-core", "pvm-wire", "pvm-quorum"]),
    ("pvm-e2e", &["testbed"]),
    ("testbed", &[]),
    ("pvm-clc", &[]),
    ("xtask", &[]),
];

/// Crates that only tests use: a machine has no log of commands of its own, and a real one needs a
/// testbed.
const TESTS_MAY_USE: [(&str, &str); 3] =
    [("pvm-core", "pvm-quorum"), ("pvm-cli", "testbed"), ("pvmd", "testbed")];

/// The async runtime, and the only crate that may know it.
const ASYNC_RUNTIME: &str = "tokio";
const ASYNC_CRATE: &str = "pvmd";

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let manifests =
        sources.iter().filter(|s| s.path.ends_with("/Cargo.toml") && !s.path.starts_with("fuzz/"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Source) -> Vec<Finding> {
    let Some(name) = package_name(&manifest.text) else { return Vec::new() };
    let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
        let what =
            format!("crate {name} has no place in the design (xtask/src/tidy/directions.rs)");
        return vec![Finding::error(&manifest.path, what)];
    };
    let mut findings = Vec::new();
    let tests = manifest.text.split("[dev-dependencies]").next().unwrap_or_default();
    for dependency in dependencies(&manifest.text) {
        let above = TESTS_MAY_USE.contains(&(name, dependency));
        if above && !dependencies(tests).contains(&dependency) {
            continue;
        }
        let ours = MAY_USE.iter().any(|(known, _)| *known == dependency);
        if ours && !allowed.contains(&dependency) {
            let what = format!("{name} may not depend on {dependency}");
            findings.push(Finding::error(&manifest.path, what));
        }
        if dependency.starts_with(ASYNC_RUNTIME) && name != ASYNC_CRATE {
            let what = format!("{dependency}: only {ASYNC_CRATE} knows an async runtime");
            findings.push(Finding::error(&manifest.path, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, tables: &str) -> usize {
        let text = format!("[package]\nname = \"{name}\"\n\n{tables}");
        check(&[Source::new(format!("crates/{name}/Cargo.toml"), text)]).len()
    }

    #[test]
    fn a_dependency_pointing_down_is_fine() {
        assert_eq!(
            findings("pvm", "[dependencies]\npvm-wire.workspace = true\nrustix = \"1\"\n"),
            0
        );
    }

    #[test]
    fn a_dependency_pointing_up_or_sideways_is_found_in_every_spelling() {
        assert_eq!(findings("pvm-wire", "[dependencies]\npvm.workspace = true\n"), 1);
        assert_eq!(
            findings("pvm-core", "[dependencies]\npvm-shm = { path = \"../pvm-shm\" }\n"),
            1
        );
        assert_eq!(findings("pvm", "[dev-dependencies.pvmd]\npath = \"../pvmd\"\n"), 1);
        assert_eq!(findings("pvm", "[target.'cfg(loom)'.dependencies]\npvmd=\"0\"\n"), 1);
    }

    #[test]
    fn an_async_runtime_outside_the_daemon_is_found() {
        assert_eq!(findings("pvm", "[dependencies]\ntokio = \"1\"\n"), 1);
        assert_eq!(findings("pvmd", "[dependencies]\ntokio = \"1\"\ntokio-rustls = \"0\"\n"), 0);
    }

    #[test]
    fn an_unknown_crate_is_found() {
        assert_eq!(findings("pvm-misc", ""), 1);
    }
}
