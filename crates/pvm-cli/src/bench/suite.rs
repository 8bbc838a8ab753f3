//! The suites: what they measure, with which programs and how often.

pub(crate) mod echo;
pub(crate) mod primitives;
pub(crate) mod two_nodes;

use super::system::{Kind, Source};
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// Everything, within half an hour.
    Full,
    /// The most important, within three minutes.
    Quick,
}

impl Length {
    /// One or the other.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        if self == Self::Quick { quick } else { full }
    }
}

/// A run of a program on some systems.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The program.
    pub(crate) source: &'static Source,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// How many tasks it has.
    pub(crate) tasks: u32,
    /// Route and encoding and the like, for the rows.
    pub(crate) variant: String,
    /// On which systems.
    pub(crate) kinds: Vec<Kind>,
    /// What the values are multiplied by: a half makes a round trip one way.
    pub(crate) factor: f64,
    /// No run may take longer.
    pub(crate) limit: Duration,
}

/// A suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suite {
    /// The word for the command line.
    pub(crate) name: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// What it is and how it differs from the document that it repeats.
    pub(crate) method: &'static str,
    /// What is to be run in one round.
    pub(crate) cases: fn(Length) -> Vec<Case>,
}

/// All of them.
pub(crate) const ALL: [Suite; 3] = [echo::SUITE, two_nodes::SUITE, primitives::SUITE];

/// Those of these names, or all if there are none; the error is the name that is unknown.
pub(crate) fn named(names: &[String]) -> Result<Vec<Suite>, String> {
    for name in names {
        if !ALL.iter().any(|suite| suite.name == name) {
            return Err(name.clone());
        }
    }
    let wanted = |suite: &Suite| names.is_empty() || names.iter().any(|name| name == suite.name);
    Ok(ALL.into_iter().filter(wanted).collect())
}

/// Words as a program gets them.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_found_by_name_and_unknown_ones_are_named() {
        let names = |list: &[&str]| named(&words(list)).map(|all| all.iter().map(|s| s.name).collect::<Vec<_>>());
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
