//! The choice of parts: all, the fast ones (`FAST=1`), some by name (`PART=a,b`), or those that can
//! be affected by a change since a commit (`SINCE=commit`). A part that a chosen one uses is chosen
//! with it.

use super::part::Part;
use crate::manifest::Packages;
use std::collections::BTreeSet;

/// The names in `PART=a,b`; what is no part is an error that lists them.
pub(crate) fn by_name<'a>(all: &'a [Part], words: &str) -> Result<Vec<&'a Part>, String> {
    let wanted: Vec<&str> = words.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    for name in &wanted {
        if !all.iter().any(|part| part.name == *name) {
            return Err(format!("there is no part '{name}'; the parts are:\n{}", list(all)));
        }
    }
    if wanted.is_empty() {
        return Err(format!("PART names no part; the parts are:\n{}", list(all)));
    }
    Ok(with_what_they_use(all, |part| wanted.contains(&part.name)))
}

fn list(all: &[Part]) -> String {
    let names: Vec<&str> = all.iter().map(|part| part.name).collect();
    names.chunks(8).map(|line| format!("  {}\n", line.join(" "))).collect()
}

/// Those that may find a fault in a change of these files; all, if nobody can say who would.
pub(crate) fn by_change<'a>(
    all: &'a [Part],
    packages: &Packages,
    files: &BTreeSet<String>,
) -> Vec<&'a Part> {
    let concerned = |part: &Part| {
        let looks_at_all = part.concerns.paths.contains(&"*");
        looks_at_all || files.iter().any(|file| concerns(part, packages, file))
    };
    let unclaimed = |file: &&String| !all.iter().any(|part| concerns(part, packages, file));
    let file = files.iter().find(unclaimed);
    if let Some(file) = file {
        println!("{file} may concern every part");
    }
    with_what_they_use(all, |part| file.is_some() || concerned(part))
}

fn concerns(part: &Part, packages: &Packages, file: &str) -> bool {
    let below = |path: &str| {
        file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let owner = packages.owner(file);
    let depends = |package: &str| owner.is_some_and(|owner| packages.uses(package, owner));
    part.concerns.paths.iter().any(|path| below(path))
        || part.concerns.packages.iter().any(|package| depends(package))
}

/// These, and what they take from others, in the order of all.
pub(crate) fn with_what_they_use(all: &[Part], is_chosen: impl Fn(&Part) -> bool) -> Vec<&Part> {
    let mut names: BTreeSet<&str> =
        all.iter().filter(|part| is_chosen(part)).map(|part| part.name).collect();
    loop {
        let chosen = all.iter().filter(|part| names.contains(part.name));
        let used: BTreeSet<&str> = chosen.flat_map(|part| part.uses.iter().copied()).collect();
        if used.is_subset(&names) {
            return all.iter().filter(|part| names.contains(part.name)).collect();
        }
        names.extend(used);
    }
}

#[cfg(test)]
mod tests {
    use super::super::parts::PARTS;
    use super::*;
    use crate::source;
    use std::path::Path;

    fn names(parts: &[&Part]) -> Vec<&'static str> {
        parts.iter().map(|part| part.name).collect()
    }

    fn by_files(files: &[&str]) -> Vec<&'static str> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let packages = Packages::new(&source::read_all(&root).unwrap());
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        names(&by_change(PARTS, &packages, &files))
    }

    #[test]
    fn a_part_by_name_comes_with_what_it_uses() {
        let chosen = by_name(PARTS, "mixed, loom").unwrap();
        assert_eq!(names(&chosen), ["install", "programs", "foreign", "mixed", "loom"]);
    }

    #[test]
    fn what_is_no_part_is_told_with_the_parts() {
        let why = by_name(PARTS, "lint,nonsense").unwrap_err();
        assert!(why.contains("'nonsense'") && why.contains("conformance"), "{why}");
        assert!(by_name(PARTS, ",").unwrap_err().contains("the parts are"));
    }

    #[test]
    fn a_change_runs_the_parts_of_all_packages_that_depend_on_it() {
        assert_eq!(
            by_files(&["crates/pvm-sim/src/lib.rs"]),
            ["programs", "build", "simulator", "lint", "clippy", "simulation", "planted"]
        );
        let shared_memory = by_files(&["crates/pvm-shm/src/lib.rs"]);
        for name in ["loom", "conformance", "java", "python", "fuzz", "mixed", "hosts", "tests"] {
            assert!(shared_memory.contains(&name), "{name}: {shared_memory:?}");
        }
        assert!(!shared_memory.contains(&"simulation"), "{shared_memory:?}");
        assert!(by_files(&["crates/pvm-core/src/lib.rs"]).contains(&"simulation"));
    }

    #[test]
    fn a_change_of_documents_is_linted_only_and_one_that_nobody_claims_runs_all() {
        assert_eq!(by_files(&["doc/testing.md"]), ["lint"]);
        assert_eq!(by_files(&[]), ["lint"]);
        for file in ["Cargo.lock", "xtask/src/check.rs", "new-folder/file", "documents"] {
            assert_eq!(by_files(&[file]).len(), PARTS.len(), "{file}");
        }
    }

    #[test]
    fn a_change_of_the_fuzz_targets_concerns_the_fuzzer() {
        assert_eq!(by_files(&["fuzz/src/lane.rs"]), ["fuzz", "lint"]);
    }
}
