//! The places of each rank's lines in one file.

use crate::error::Error;
use crate::source::lines::{fill, newline};
use std::io::BufRead;

/// The most ranks: each has a run of lines at least.
const RANKS_MAX: usize = 1 << 20;
/// The most runs of all ranks: 16 bytes each.
const RUNS_MAX: usize = 1 << 22;
pub(super) const LINE_MAX: usize = 1 << 16;

/// Consecutive lines of one rank.
///
/// A million ranks have a million runs, so a run keeps as little as it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The offset of its next byte.
    pub(super) at: u64,
    /// The number of its bytes from there on.
    pub(super) left: u32,
    /// The rank's next run.
    pub(super) next: u32,
}

impl Run {
    /// The index of no run.
    pub(super) const NONE: u32 = u32::MAX;
}

/// The begin of the last line: its rank and one space, which most lines have in common with the
/// line before.
#[derive(Clone, Copy, Debug, Default)]
struct Begin {
    word: u64,
    mask: u64,
}

impl Begin {
    /// The begin of a line. Returns one that no line has if the rank does not begin the line, or is
    /// long.
    fn of(text: &[u8]) -> Self {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mask = u64::MAX >> (64 - 8 * (digits + 1).min(8));
        match text.first_chunk() {
            Some(word) if (1..8).contains(&digits) && text[digits] == b' ' => {
                Self { word: u64::from_le_bytes(*word) & mask, mask }
            }
            _ => Self { word: 1, mask: 0 },
        }
    }

    fn is_of(&self, text: &[u8]) -> bool {
        text.first_chunk().is_some_and(|word| u64::from_le_bytes(*word) & self.mask == self.word)
    }
}

/// The runs that were found so far.
#[derive(Debug, Default)]
pub(super) struct Index {
    runs: Vec<Run>,
    /// The first and the last run of each rank.
    first: Vec<u32>,
    last: Vec<u32>,
    /// The begin of the line before, if that was a rank's.
    begin: Option<Begin>,
    /// The rank of that line.
    rank: usize,
    at: u64,
    line: u64,
}

impl Index {
    /// Reads a file. Returns all runs, the first run of each rank, and the number of bytes.
    pub(super) fn of(reader: &mut impl BufRead) -> Result<(Vec<Run>, Vec<u32>, u64), Error> {
        let mut index = Self::default();
        // The begin of a line whose end has not been read.
        let mut cut = Vec::new();
        loop {
            let there = fill(reader)?;
            let (mut rest, length) = (there, there.len());
            while let Some(end) = newline(rest) {
                let (line, behind) = rest.split_at(end + 1);
                rest = behind;
                if cut.is_empty() {
                    index.line(line)?;
                } else {
                    cut.extend_from_slice(line);
                    index.line(&cut)?;
                    cut.clear();
                }
            }
            cut.extend_from_slice(rest);
            reader.consume(length);
            if length == 0 || cut.len() > LINE_MAX {
                break;
            }
        }
        if !cut.is_empty() {
            index.line(&cut)?;
        }
        Ok((index.runs, index.first, index.at))
    }

    /// Takes the next line.
    fn line(&mut self, text: &[u8]) -> Result<(), Error> {
        self.line += 1;
        let at = self.at;
        self.at += text.len() as u64;
        if text.len() > LINE_MAX {
            return Err(self.wrong("longer than 65536 bytes"));
        }
        if self.begin.is_some_and(|begin| begin.is_of(text)) && self.extend(text.len()) {
            return Ok(());
        }
        if text.trim_ascii().is_empty() || text.trim_ascii_start().starts_with(b"#") {
            self.begin = None;
            return Ok(());
        }
        let rank = rank(text).map_err(|what| self.wrong(what))?;
        let goes_on = self.begin.is_some() && self.rank == rank;
        self.begin = Some(Begin::of(text));
        if goes_on && self.extend(text.len()) {
            return Ok(());
        }
        self.rank = rank;
        self.put(rank, Run { at, left: text.len() as u32, next: Run::NONE })
    }

    /// Makes the last run longer; false if it cannot be.
    fn extend(&mut self, bytes: usize) -> bool {
        let Some(run) = self.runs.last_mut() else { return false };
        let left = run.left.checked_add(bytes as u32);
        run.left = left.unwrap_or(run.left);
        left.is_some()
    }

    /// Begins a run.
    fn put(&mut self, rank: usize, run: Run) -> Result<(), Error> {
        let number = self.runs.len() as u32;
        if self.runs.len() >= RUNS_MAX {
            let what = format!("the lines of ranks change more than {RUNS_MAX} times");
            return Err(self.wrong(&what));
        }
        if self.first.len() <= rank {
            self.first.resize(rank + 1, Run::NONE);
            self.last.resize(rank + 1, Run::NONE);
        }
        match std::mem::replace(&mut self.last[rank], number) {
            Run::NONE => self.first[rank] = number,
            before => self.runs[before as usize].next = number,
        }
        self.runs.push(run);
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        Error::Line { task: 0, line: self.line, what: what.to_owned() }
    }
}

/// The rank with which a line begins.
fn rank(text: &[u8]) -> Result<usize, &'static str> {
    let word = text.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let word = std::str::from_utf8(word).map_err(|_| "not text")?;
    let rank = word.parse().ok().filter(|rank| *rank < RANKS_MAX);
    rank.ok_or("it does not begin with the number of a rank below 1048576")
}
