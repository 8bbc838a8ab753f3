//! A part of the check: what it waits for, what it cannot share, what it is about, and its steps.

use super::run::Run;

/// Something a part cannot do without, and the Debian package that brings it.
#[derive(Debug)]
pub(crate) struct Need(pub(crate) &'static str, pub(crate) &'static str);

/// The kind of work that takes most of a part's time. The scheduler runs a few parts of each kind
/// side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// Compiles what other parts wait for, so it goes before everything.
    Builds,
    /// Compiles or calculates, and takes what the others leave of the cores.
    Computes,
    /// Measures, and so runs when nothing else does.
    Measures,
    /// Starts real processes and mostly waits for them. They must be served at once, as if nothing
    /// ran beside them.
    Waits,
}

/// The changes that a part can judge.
#[derive(Debug)]
pub(crate) struct Concerns {
    /// Packages; what they depend on concerns the part, too.
    pub(crate) packages: &'static [&'static str],
    /// Files, and all that is below folders.
    pub(crate) paths: &'static [&'static str],
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// Whoever wants it faster looks here.
    pub(crate) owner: &'static str,
    pub(crate) work: Work,
    /// Whether it runs with `FAST=1`.
    pub(crate) fast: bool,
    /// Parts whose results it takes: they run first, they run whenever this one does, and without
    /// them it cannot run.
    pub(crate) uses: &'static [&'static str],
    /// Parts that go first if they run at all.
    pub(crate) after: &'static [&'static str],
    /// Folders and programs that the part must have for itself: no two parts that name one of them
    /// run at the same time.
    pub(crate) alone: &'static [&'static str],
    pub(crate) concerns: Concerns,
    /// Programs, or files if they start with `/`.
    pub(crate) needs: &'static [Need],
    pub(crate) steps: fn(&Run<'_>) -> Result<(), String>,
}

impl Part {
    /// A part that waits, needs nothing and does nothing: the values that a part does not set.
    pub(crate) const DEFAULT: Self = Self {
        name: "",
        owner: "",
        work: Work::Waits,
        fast: false,
        uses: &[],
        after: &[],
        alone: &[],
        concerns: Concerns { packages: &[], paths: &[] },
        needs: &[],
        steps: |_| Ok(()),
    };
}

/// The end of a part.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    /// A tool is missing.
    Skipped(String),
}

impl Outcome {
    /// Runs a part, if all that it needs is there.
    pub(crate) fn of(part: &Part, run: &Run<'_>, nothing_skipped: bool) -> Self {
        let missing: Vec<&str> = part
            .needs
            .iter()
            .filter(|need| !crate::outside::is_there(need.0))
            .map(|need| need.1)
            .collect();
        if missing.is_empty() {
            return (part.steps)(run).map_or_else(Self::Failed, |()| Self::Passed);
        }
        let why = format!("needs the package {}", missing.join(", "));
        if nothing_skipped { Self::Failed(why) } else { Self::Skipped(why) }
    }

    /// The word in the table and what is to be said beside it.
    pub(crate) fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Passed => ("passed", ""),
            Self::Failed(why) => ("FAILED", why),
            Self::Skipped(why) => ("skipped", why),
        }
    }
}
