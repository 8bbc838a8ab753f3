//! What the library says to people, on standard error.

use crate::globals;

/// The tag `[tTID]`, or the pid form before enrolment, that begins every message to people.
pub(crate) fn who() -> String {
    let tid = globals::own_tid();
    if tid == -1 { format!("[pid{}]", std::process::id()) } else { format!("[t{tid:x}]") }
}

/// Writes to standard error in one piece, so that lines of several tasks do not mix.
pub(crate) fn say(text: &[u8]) {
    use std::io::Write as _;
    // Nobody is left to tell if standard error is gone.
    let _ = std::io::stderr().write_all(text);
}
