//! The suites: what they measure, with which programs and how often.

pub(crate) mod applications;
pub(crate) mod echo;
pub(crate) mod interfaces;
pub(crate) mod java;
pub(crate) mod linpack;
pub(crate) mod nas;
pub(crate) mod primitives;
pub(crate) mod two_nodes;

use super::case::Suite;

/// All that plain `pvm bench` measures.
pub(crate) const ALL: [Suite; 6] = [
    echo::SUITE,
    linpack::SUITE,
    two_nodes::SUITE,
    primitives::SUITE,
    applications::SUITE,
    java::SUITE,
];

/// Every suite that can be named.
pub(crate) fn every() -> impl Iterator<Item = &'static Suite> {
    ALL.iter().chain([&nas::SUITE])
}

/// The suites of these names, or all suites without names; the error is the unknown name.
pub(crate) fn named(names: &[String]) -> Result<Vec<Suite>, String> {
    for name in names {
        if !ALL.iter().any(|suite| suite.name == name) {
            return Err(name.clone());
        }
    }
    let wanted = |suite: &Suite| names.is_empty() || names.iter().any(|name| name == suite.name);
    Ok(ALL.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::super::case::{Length, words};
    use super::*;

    #[test]
    fn suites_are_found_by_name_and_unknown_ones_are_named() {
        let names = |list: &[&str]| {
            named(&words(list)).map(|all| all.iter().map(|s| s.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), ALL.len());
        assert_eq!(names(&["two-nodes", "echo"]).unwrap(), ["echo", "two-nodes"]);
        assert_eq!(names(&["echo", "ehco"]).unwrap_err(), "ehco");
    }

    #[test]
    fn the_quick_form_is_a_part_of_the_full_one() {
        for suite in ALL {
            let (full, quick) = ((suite.cases)(Length::Full), (suite.cases)(Length::Quick));
            assert!(!quick.is_empty() && quick.len() <= full.len(), "{}", suite.name);
            assert!(full.iter().all(|case| case.tasks >= 1 && !case.kinds.is_empty()));
        }
    }
}
