//! The host's log, in the form of PVM's: `[t80040000] 11/21 18:39:39 text`. Times are UTC.
//!
//! A full disk costs lines, nothing else.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Longest file; what comes after is counted and dropped.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// Most of a log that is looked through for last words, and most of them that are told.
const WORDS_BYTES_MAX: usize = 8 << 10;
const WORDS_LINES_MAX: usize = 3;

/// The open log.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    written: u64,
    prefix: String,
}

impl Log {
    /// Makes the file, which must not be there.
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        let file = File::options().append(true).create_new(true).open(path)?;
        Ok(Self { file: Some(file), written: 0, prefix: "[pvmd]".to_owned() })
    }

    /// Names the daemon in all further lines.
    pub(crate) fn name(&mut self, who: impl std::fmt::Display) {
        self.prefix = format!("[{who}]");
    }

    /// The file, while there is room in it.
    pub(crate) const fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        let line = format!("{} {} {}\n", self.prefix, stamp(SystemTime::now()), text.trim_end());
        self.written += line.len() as u64;
        if self.written > LOG_BYTES_MAX {
            let _ = writeln!(file, "{} the log is full: no further lines", self.prefix);
            self.file = None;
            return;
        }
        // One write, so that lines stay whole. There is nowhere to tell of a failure.
        let _ = file.write_all(line.as_bytes());
    }
}

/// The last messages of daemons at the end of a log, a line each: why they died.
pub(crate) fn last_words(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text =
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(WORDS_BYTES_MAX)..]).into_owned();
    let said = text.lines().filter(|line| !line.starts_with('[') && !line.trim().is_empty());
    let mut lines: Vec<&str> = said.collect();
    lines.dedup();
    let last = &lines[lines.len().saturating_sub(WORDS_LINES_MAX)..];
    last.iter().map(|line| format!("\n  {}", line.trim())).collect()
}

/// `MM/DD hh:mm:ss`.
fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (month, day) = month_and_day(seconds / 86_400);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{month:02}/{day:02} {hour:02}:{minute:02}:{:02}", seconds % 60)
}

/// The date of the day with this number since 1970-01-01, counting years from March, so that the
/// leap day is the last of one.
const fn month_and_day(days: u64) -> (u64, u64) {
    let days = days + 719_468;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        assert_eq!(month_and_day(0), (1, 1));
        assert_eq!(month_and_day(59), (3, 1));
        assert_eq!(month_and_day(11_016), (2, 29));
        assert_eq!(month_and_day(20_778), (11, 21));
        assert_eq!(stamp(UNIX_EPOCH), "01/01 00:00:00");
    }
}
