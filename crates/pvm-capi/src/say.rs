//! The library's messages to people, on standard error.

use std::fmt;

use crate::globals;

/// The tag `[tTID]`, or the pid form before enrolment, that begins every message to people.
pub(crate) fn who() -> String {
    let tid = globals::own_tid();
    if tid == -1 { format!("[pid{}]", std::process::id()) } else { format!("[t{tid:x}]") }
}

/// A line of limited length that needs no memory but its own.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.len() - self.length;
        let text = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
        Ok(())
    }
}

/// Tells people which task speaks, and what went wrong. Allocates nothing, as this may be a handler
/// that interrupted the memory allocator.
pub(crate) fn tell(what: fmt::Arguments<'_>) {
    use fmt::Write as _;
    let mut line = Line { bytes: [0; 512], length: 0 };
    let tid = globals::own_tid();
    // A line has no errors of its own: text that does not fit is cut.
    let _ = if tid == -1 {
        writeln!(line, "libpvm [pid{}]: {what}", std::process::id())
    } else {
        writeln!(line, "libpvm [t{tid:x}]: {what}")
    };
    say(&line.bytes[..line.length]);
}

/// Writes to standard error in one piece, so that lines of several tasks do not mix.
pub(crate) fn say(mut text: &[u8]) {
    // Not through `std::io`, whose lock a handler may find taken by the thread it interrupted.
    while !text.is_empty() {
        match rustix::io::write(rustix::stdio::stderr(), text) {
            Ok(n) => text = &text[n..],
            Err(rustix::io::Errno::INTR) => {}
            // Without standard error there is no reader.
            Err(_) => return,
        }
    }
}
