//! Lines of text with a bounded length, and with their numbers for errors.

use crate::action::TaskNumber;
use crate::error::Error;
use std::io::{BufRead, Read as _};

/// The most bytes of a line.
const LINE_MAX: usize = 1 << 16;

/// The lines of one file.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, line: 0, text: Vec::new() }
    }

    /// The number of the last line.
    pub(super) const fn number(&self) -> u64 {
        self.line
    }

    /// The next line that is neither empty nor a comment (`#`); `None` at the end.
    pub(super) fn next(&mut self, task: TaskNumber) -> Result<Option<&str>, Error> {
        loop {
            self.text.clear();
            let mut limited = (&mut self.reader).take(LINE_MAX as u64);
            if limited.read_until(b'\n', &mut self.text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let line = self.line;
            let wrong = |what: &str| Error::Line { task, line, what: what.to_owned() };
            if self.text.len() == LINE_MAX && !self.text.ends_with(b"\n") {
                return Err(wrong("longer than 65536 bytes"));
            }
            let text = std::str::from_utf8(&self.text).map_err(|_| wrong("not text"))?;
            if text.trim_start().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            break;
        }
        Ok(std::str::from_utf8(&self.text).ok())
    }
}
