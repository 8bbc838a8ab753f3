//! One thing that was looked at.

use crate::text;
use serde_json::{Value, json};
use std::fmt;

/// The state of a thing that was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// A machine runs, but something will surprise.
    Warning,
    /// No machine will run, or it can do nothing.
    Failed,
}

impl State {
    fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// A thing that was checked, its state, and the advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Check {
    what: &'static str,
    /// The state.
    pub(crate) state: State,
    detail: String,
    remedy: String,
}

impl Check {
    /// All is well.
    pub(crate) fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self { what, state: State::Ok, detail: detail.into(), remedy: String::new() }
    }

    /// Something will surprise.
    pub(crate) fn warning(
        what: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { what, state: State::Warning, detail: detail.into(), remedy: remedy.into() }
    }

    /// Something is wrong.
    pub(crate) fn failed(
        what: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { what, state: State::Failed, detail: detail.into(), remedy: remedy.into() }
    }

    /// The fields that the man page lists.
    pub(crate) fn json(&self) -> Value {
        let remedy = Some(&self.remedy).filter(|text| !text.is_empty());
        json!({
            "check": self.what, "state": self.state.text(),
            "detail": self.detail, "remedy": remedy,
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<9}{:<9}{}", self.what, self.state.text(), text::plain(&self.detail))?;
        if !self.remedy.is_empty() {
            writeln!(f, "{:18}try: {}", "", text::plain(&self.remedy))?;
        }
        Ok(())
    }
}
