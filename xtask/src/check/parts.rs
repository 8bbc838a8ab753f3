//! The parts, in the order in which they are wanted: first what others wait for, then what takes
//! longest.
//!
//! Each test makes its machines in a folder of its own, under a name of its own, in networks of its
//! own, so any number of them may run at once. What cannot be shared are folders that are written
//! (`COMPILED_FOLDER`, `PYTHON_FOLDER`, `JAVA_FOLDER`) and, as its programs have races that a
//! busy computer shows, the original (`ORIGINAL`).

mod alike;
mod built;
mod crates;
mod real;
mod shared;

use super::part::Part;

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
    crates::TESTS,
    real::HOSTS,
    real::END_TO_END,
    alike::CONFORMANCE,
    alike::SPREAD,
    alike::TRACED,
    alike::PERSONALITIES,
    alike::JAVA,
    alike::PYTHON,
    real::SECOND_USER,
    real::BENCH,
    real::NAS,
    crates::C_LIBRARY,
    alike::DOCS,
    alike::DIFFER,
    real::DEMO,
    real::MIXED,
    crates::SIMULATION,
    crates::PLANTED,
    crates::MODELS,
    real::PREDICTION,
    crates::LOOM,
    real::FIGURES,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts;
    use crate::programs::{Program, Target};
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
            let one = Program { package, name, target: Target::Test, folder: path.clone(), path };
            assert!(own != hosts::is_ordinary(&one), "{one:?}");
        }
    }
}
