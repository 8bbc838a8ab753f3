//! The lines of each rank: from a file for each rank, or from one file that is read at several
//! offsets.

use crate::action::TaskNumber;
use crate::error::Error;
use crate::source::lines::Lines;
use std::io::{BufRead, Seek};
use std::ops::Range;

/// The most ranks: each is a file, or a list of offsets in one.
const RANKS_MAX: usize = 1 << 20;
/// The most offsets in one file, for all ranks: 24 bytes each.
const RUNS_MAX: usize = 1 << 22;
const LINE_MAX: usize = 1 << 16;
/// The bytes that are read ahead for all ranks together. With more ranks than [`AHEAD_RANKS`] none
/// are: each rank then has few lines, which lie next to those of its neighbours.
const AHEAD: usize = 8 << 20;
const AHEAD_RANKS: usize = 1 << 12;
const AHEAD_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) enum Rows<R> {
    Each(Vec<Lines<R>>),
    One {
        reader: R,
        ranks: Vec<Row>,
        at: u64,
        text: String,
        /// The bytes that are read ahead for one rank.
        ahead: usize,
    },
}

/// The lines of one rank in the file.
#[derive(Debug, Default)]
pub(super) struct Row {
    runs: Vec<Run>,
    run: usize,
    /// The next line: its offset and its number.
    at: u64,
    line: u64,
    /// Bytes before that offset that were read and not used yet.
    held: Option<Box<ReadAhead>>,
}

/// The bytes read for a rank.
#[derive(Debug, Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    used: usize,
}

/// Consecutive lines of one rank.
#[derive(Clone, Copy, Debug)]
struct Run {
    begin: u64,
    end: u64,
    line: u64,
}

impl<R: BufRead + Seek> Rows<R> {
    pub(super) fn each(files: Vec<R>) -> Self {
        Self::Each(files.into_iter().map(Lines::new).collect())
    }

    /// Reads a file of all ranks once, to find the lines of each rank.
    pub(super) fn index(mut reader: R) -> Result<Self, Error> {
        let mut ranks: Vec<Row> = Vec::new();
        let (mut at, mut line, mut runs) = (0u64, 0u64, 0usize);
        let (mut text, mut last) = (Vec::new(), None);
        loop {
            text.clear();
            let length = take_line(&mut reader, &mut text)? as u64;
            if length == 0 {
                break;
            }
            line += 1;
            if length > LINE_MAX as u64 {
                let what = "longer than 65536 bytes".to_owned();
                return Err(Error::Line { task: 0, line, what });
            }
            if !text.trim_ascii().is_empty() && !text.trim_ascii_start().starts_with(b"#") {
                let rank = rank(&text, line)?;
                if ranks.len() <= rank {
                    ranks.resize_with(rank + 1, Row::default);
                }
                if last == Some(rank) {
                    let run = ranks[rank].runs.last_mut().expect("it has the line before");
                    run.end = at + length;
                } else {
                    runs += 1;
                    // Of a million ranks most have a single run.
                    if ranks[rank].runs.is_empty() {
                        ranks[rank].runs.reserve_exact(1);
                    }
                    ranks[rank].runs.push(Run { begin: at, end: at + length, line });
                }
                last = Some(rank);
            } else {
                last = None;
            }
            if runs > RUNS_MAX {
                let what = format!("the lines of ranks change more than {RUNS_MAX} times");
                return Err(Error::Line { task: 0, line, what });
            }
            at += length;
        }
        let many = ranks.len() > AHEAD_RANKS;
        let ahead = if many { 0 } else { (AHEAD / ranks.len().max(1)).min(AHEAD_MAX) };
        Ok(Self::One { reader, ranks, at, text: String::new(), ahead })
    }

    pub(super) const fn count(&self) -> usize {
        match self {
            Self::Each(files) => files.len(),
            Self::One { ranks, .. } => ranks.len(),
        }
    }

    /// The number of the last line that was returned for a rank.
    pub(super) fn line(&self, task: TaskNumber) -> u64 {
        match self {
            Self::Each(files) => files[task as usize].number(),
            Self::One { ranks, .. } => ranks[task as usize].line,
        }
    }

    pub(super) fn next(&mut self, task: TaskNumber) -> Result<Option<&str>, Error> {
        let (reader, ranks, at, text, ahead) = match self {
            Self::Each(files) => return files[task as usize].next(task),
            Self::One { reader, ranks, at, text, ahead } => (reader, ranks, at, text, *ahead),
        };
        let row = &mut ranks[task as usize];
        if ahead > 0 {
            return row.next((reader, at), ahead, task);
        }
        let Some(run) = row.runs.get(row.run) else { return Ok(None) };
        if row.at < run.begin {
            (row.at, row.line) = (run.begin, run.line - 1);
        }
        if *at != row.at {
            // The distance is small if ranks take turns, and then the buffer still holds the bytes.
            reader.seek_relative(row.at.wrapping_sub(*at).cast_signed())?;
        }
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        row.at += take_line(reader, &mut bytes)? as u64;
        row.line += 1;
        *at = row.at;
        row.run += usize::from(row.at >= run.end);
        let line = row.line;
        let made = String::from_utf8(bytes);
        *text = made.map_err(|_| Error::Line { task, line, what: "not text".to_owned() })?;
        Ok(Some(text))
    }
}

impl Row {
    /// The next line, from bytes read before or from the file.
    fn next<R: BufRead + Seek>(
        &mut self,
        (reader, at): (&mut R, &mut u64),
        ahead: usize,
        task: TaskNumber,
    ) -> Result<Option<&str>, Error> {
        let mut held = self.held.take().unwrap_or_default();
        let mut line = held.line();
        while line.is_none() {
            if held.rest().len() > LINE_MAX {
                let what = "longer than 65536 bytes".to_owned();
                return Err(Error::Line { task, line: self.line + 1, what });
            }
            let Some(run) = self.runs.get(self.run) else {
                line = held.last();
                break;
            };
            if self.at < run.begin {
                (self.at, self.line) = (run.begin, run.line - 1);
            }
            let some = (run.end - self.at).min(ahead as u64);
            reader.seek_relative(self.at.wrapping_sub(*at).cast_signed())?;
            held.read(reader, some as usize)?;
            self.at += some;
            *at = self.at;
            self.run += usize::from(self.at >= run.end);
            line = held.line();
        }
        let Some(range) = line else { return Ok(None) };
        self.line += 1;
        let text = std::str::from_utf8(&self.held.insert(held).bytes[range]);
        let line = self.line;
        text.map(Some).map_err(|_| Error::Line { task, line, what: "not text".to_owned() })
    }
}

impl ReadAhead {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    /// The next whole line.
    fn line(&mut self) -> Option<Range<usize>> {
        let mut rest = self.rest();
        let length = rest.skip_until(b'\n').ok()?;
        let range = self.used..self.used + length;
        self.bytes[range.clone()].ends_with(b"\n").then(|| {
            self.used = range.end;
            range
        })
    }

    /// The last line, if it ends without a newline.
    fn last(&mut self) -> Option<Range<usize>> {
        let range = self.used..self.bytes.len();
        self.used = range.end;
        (!range.is_empty()).then_some(range)
    }

    /// Reads this many more bytes.
    fn read<R: BufRead>(&mut self, reader: &mut R, count: usize) -> Result<(), Error> {
        self.bytes.drain(..self.used);
        self.used = 0;
        let old = self.bytes.len();
        self.bytes.resize(old + count, 0);
        Ok(reader.read_exact(&mut self.bytes[old..])?)
    }
}

/// Reads the next line and returns its number of bytes. Of a line that is too long only the begin
/// is kept.
fn take_line<R: BufRead>(reader: &mut R, text: &mut Vec<u8>) -> Result<usize, Error> {
    let mut length = 0;
    loop {
        let mut limited = std::io::Read::take(&mut *reader, LINE_MAX as u64);
        let before = text.len();
        let some = limited.read_until(b'\n', text)?;
        length += some;
        let is_whole = some == 0 || text.ends_with(b"\n");
        if before > 0 {
            text.truncate(LINE_MAX);
        }
        if is_whole {
            return Ok(length);
        }
    }
}

fn rank(text: &[u8], line: u64) -> Result<usize, Error> {
    let wrong = |what: &str| Error::Line { task: 0, line, what: what.to_owned() };
    let word = text.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let word = std::str::from_utf8(word).map_err(|_| wrong("not text"))?;
    let rank = word.parse().ok().filter(|rank| *rank < RANKS_MAX);
    rank.ok_or_else(|| wrong("it does not begin with the number of a rank below 1048576"))
}
