//! The number of crates from outside is bounded: what is loaded into other people's processes stays
//! small.

use super::finding::Finding;
use crate::outside;
use std::collections::BTreeSet;
use std::path::Path;

/// A package and how many crates from outside it may need, build time included.
const LIMITS: [(&str, usize); 2] = [("pvm-capi", 20), ("pvmd", 130)];

pub(crate) fn check(root: &Path) -> Vec<Finding> {
    let there = |package: &str| root.join(manifest(package)).exists();
    LIMITS
        .iter()
        .filter(|(package, _)| there(package))
        .filter_map(|limit| weigh(root, limit))
        .collect()
}

fn weigh(root: &Path, (package, limit): &(&str, usize)) -> Option<Finding> {
    let what = ["tree", "--edges=normal,build", "--prefix=none", "--package", package];
    let tree = match outside::output(root, "cargo", &what) {
        Ok(tree) => tree,
        Err(why) => return Some(Finding::error(manifest(package), why)),
    };
    let count = from_outside(&tree).len();
    println!("{package}: {count} crates from outside, limit {limit}");
    let what = format!("{count} crates from outside, more than {limit}");
    (count > *limit).then(|| Finding::error(manifest(package), what))
}

fn manifest(package: &str) -> String {
    format!("crates/{package}/Cargo.toml")
}

/// The crates of a `cargo tree` listing that are not in this workspace, which shows their folder in
/// brackets.
fn from_outside(tree: &str) -> BTreeSet<&str> {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)").trim());
    lines.filter(|line| !line.is_empty() && !line.contains("(/")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_crates_and_repetitions_do_not_count() {
        let tree = "pvm v0.1.0 (/home/x/crates/pvm)\nrustix v1.1.6\nbitflags v2.0.0\nrustix v1.1.6 \
                    (*)\n\
                    syn v2.0.0 (proc-macro)\n";
        let expected = ["bitflags v2.0.0", "rustix v1.1.6", "syn v2.0.0 (proc-macro)"];
        assert_eq!(from_outside(tree), BTreeSet::from(expected));
    }
}
