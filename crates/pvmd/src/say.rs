//! The messages of this program to its starter: answers on standard output, complaints on standard
//! error. `println!` and `eprintln!` panic if the output cannot be written.

use std::fmt::Display;
use std::io::{Result, Write as _, stderr, stdout};

/// Answers, at once.
pub(crate) fn answer(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Complains. A failure to write it changes nothing else.
pub(crate) fn complain(text: impl Display) {
    let _ = stderr().write_all(format!("pvmd: {text}\n").as_bytes());
}
