//! The result of a rule.

/// Something a rule objects to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// `path` or `path:line`.
    pub(crate) place: String,
    pub(crate) what: String,
    pub(crate) warning: bool,
}

impl Finding {
    pub(crate) fn error(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), warning: false }
    }

    pub(crate) fn warning(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), warning: true }
    }
}
