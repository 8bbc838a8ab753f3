//! Plain `cargo test` runs every crate but those whose tests need an installation:
//! `default-members` has all others.

use super::finding::Finding;
use crate::source::Source;
use std::collections::BTreeSet;

const MANIFEST: &str = "Cargo.toml";
/// The crate whose tests need an installation, and the one that has no tests in Rust.
const LEFT_OUT: [&str; 2] = ["crates/pvm-e2e", "bindings/python"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let Some(manifest) = sources.iter().find(|source| source.path == MANIFEST) else {
        return Vec::new();
    };
    let tested = list(&manifest.text, "default-members");
    let mut findings = Vec::new();
    for member in list(&manifest.text, "members") {
        let fault = match (tested.contains(member), LEFT_OUT.contains(&member)) {
            (false, false) => "is not in default-members, so plain `cargo test` leaves it out",
            (true, true) => "is in default-members, and its tests need an installation",
            _ => continue,
        };
        findings.push(Finding::error(MANIFEST, format!("{member} {fault}")));
    }
    findings
}

/// The texts of a list of the manifest.
fn list<'a>(manifest: &'a str, name: &str) -> BTreeSet<&'a str> {
    let begin = format!("\n{name} = [");
    let inside = manifest.split(&begin).nth(1).and_then(|rest| rest.split(']').next());
    inside.unwrap_or("").split('"').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(members: &str) -> usize {
        check(&[Source::new(MANIFEST, format!("[workspace]\n{members}\n"))]).len()
    }

    #[test]
    fn all_but_those_that_need_an_installation_are_tested() {
        let members = "members = [\"crates/a\", \"crates/pvm-e2e\",\n  \"xtask\"]";
        assert_eq!(found(&format!("{members}\ndefault-members = [\"crates/a\", \"xtask\"]")), 0);
    }

    #[test]
    fn a_crate_that_nobody_tests_and_one_that_cannot_be_tested_are_found() {
        let members = "members = [\"crates/a\", \"crates/pvm-e2e\"]";
        assert_eq!(found(members), 1);
        assert_eq!(found(&format!("{members}\ndefault-members = [\"crates/pvm-e2e\"]")), 2);
    }
}
