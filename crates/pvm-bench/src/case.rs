//! The parts of a suite: its cases, and the programs that they run.

use super::system::{Kind, Language, Source};
use std::time::Duration;

/// The extent of a measurement.
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
    /// The program of the other tasks, if it is another one; its path is the first argument.
    pub(crate) partner: Option<&'static Source>,
    /// Its further arguments.
    pub(crate) arguments: Vec<String>,
    /// The number of tasks.
    pub(crate) tasks: u32,
    /// Route and encoding and the like, for the rows.
    pub(crate) variant: String,
    /// On which systems.
    pub(crate) kinds: Vec<Kind>,
    /// The factor by which values are multiplied: a half makes one way of a round trip.
    pub(crate) factor: f64,
    /// No run may take longer.
    pub(crate) limit: Duration,
}

impl Case {
    /// A case for all systems, without variants, whose figures are reported as measured.
    pub(crate) fn new(
        source: &'static Source,
        tasks: u32,
        arguments: Vec<String>,
        limit: Duration,
    ) -> Self {
        Self {
            source,
            partner: None,
            arguments,
            tasks,
            variant: String::new(),
            kinds: Kind::ALL.to_vec(),
            factor: 1.0,
            limit,
        }
    }

    /// Its program and that of its partner.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &'static Source> {
        std::iter::once(self.source).chain(self.partner)
    }

    /// Whether it needs a Java.
    pub(crate) fn is_java(&self) -> bool {
        self.sources().any(|source| source.language == Language::Java)
    }
}

/// The time that all rounds of a suite may take together; cases that do not fit are cut
/// ([`super::budget`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds {
    /// In the full form.
    pub(crate) full: u64,
    /// In the short one.
    pub(crate) quick: u64,
}

impl Seconds {
    /// As a duration.
    pub(crate) fn of(self, length: Length) -> Duration {
        Duration::from_secs(length.pick(self.full, self.quick))
    }
}

/// A suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suite {
    /// The word for the command line.
    pub(crate) name: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// The method, and how it differs from that of the document that the suite repeats.
    pub(crate) method: &'static str,
    /// The time that the suite may take.
    pub(crate) seconds: Seconds,
    /// The cases of one round.
    pub(crate) cases: fn(Length) -> Vec<Case>,
}

/// Words as a program gets them.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
