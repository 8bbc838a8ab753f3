//! Answers on standard output.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stdout};

/// Prints. That the reader has seen enough (`pvm ps | head -1`) is no failure.
pub(crate) fn show(text: impl Display) -> std::io::Result<()> {
    let mut out = stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints JSON on one line, so that line by line readers are served too.
pub(crate) fn show_json(value: &serde_json::Value) -> std::io::Result<()> {
    show(format_args!("{value}\n"))
}
