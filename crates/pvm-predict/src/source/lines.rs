//! Lines of text with a bounded length, and with their numbers for errors.

use crate::action::TaskNumber;
use crate::error::Error;
use std::io::{BufRead, ErrorKind, Read as _};

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

    /// Bytes that were read already and begin with the next line.
    pub(super) fn ahead(&mut self) -> Result<&[u8], Error> {
        Ok(fill(&mut self.reader)?)
    }

    /// A line of so many of these bytes was used.
    pub(super) fn used(&mut self, bytes: usize) {
        self.reader.consume(bytes);
        self.line += 1;
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

/// The bytes that a reader has; if there are none, it reads more.
pub(super) fn fill(reader: &mut impl BufRead) -> std::io::Result<&[u8]> {
    while let Err(error) = reader.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    reader.fill_buf()
}

/// The place of the first newline. Lines are short, so this looks at eight bytes at once and calls
/// nothing.
pub(super) fn newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let (words, rest) = bytes.as_chunks();
    for (place, word) in words.iter().enumerate() {
        // A byte that is a newline becomes 0, and the lowest byte that is 0 borrows first.
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\n'));
        let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if zeros != 0 {
            return Some(place * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    let place = rest.iter().position(|byte| *byte == b'\n')?;
    Some(bytes.len() - rest.len() + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_newline_is_found_at_every_place() {
        for length in 0..40 {
            let plain = vec![0x8a; length];
            assert_eq!(newline(&plain), None);
            for place in 0..length {
                let mut bytes = plain.clone();
                bytes[place..].fill(b'\n');
                assert_eq!(newline(&bytes), Some(place), "{place} of {length}");
                bytes[..place].fill(0x0b);
                assert_eq!(newline(&bytes), Some(place), "{place} of {length}");
            }
        }
    }
}
