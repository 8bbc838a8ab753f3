//! Answers on standard output, remarks beside them on standard error.

use crate::text;
use serde::Serialize;
use std::fmt::Display;
use std::io::{BufWriter, Error, ErrorKind, Write as _, stderr, stdout};

/// Prints. That the reader has seen enough (`pvm ps | head -1`) is no failure.
pub fn show(text: impl Display) -> std::io::Result<()> {
    let mut out = stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints JSON on one line, so that line by line readers are served too. It is written while it is
/// made, so a list of a million entries is never held.
pub fn show_json(value: &(impl Serialize + ?Sized)) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    let written = serde_json::to_writer(&mut out, value).map_err(Error::from);
    match written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // The rest would be tried once more.
            drop(out.into_parts());
            Ok(())
        }
        other => other,
    }
}

/// Prints a line beside the answer in one piece, so that lines of several commands do not mix. An
/// error (a full disk, a closed terminal) is ignored.
pub fn remark(text: impl Display) {
    let _ = stderr().write_all(text::plain_lines(&format!("{text}\n")).as_bytes());
}
