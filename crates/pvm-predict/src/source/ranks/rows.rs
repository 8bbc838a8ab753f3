//! The lines of each rank: from a file for each rank, or from one file that is read at several
//! offsets.

mod blocks;
mod index;

use self::blocks::Blocks;
use self::index::{Index, LINE_MAX, Run};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::source::lines::{Lines, fill, newline};
use std::io::{BufRead, Seek, SeekFrom};

/// The bytes that are read ahead for all ranks together. With more ranks than [`AHEAD_RANKS`] they
/// have [`Blocks`] in common.
const AHEAD: usize = 8 << 20;
const AHEAD_RANKS: usize = 1 << 12;
const AHEAD_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) enum Rows<R> {
    Each(Vec<Lines<R>>),
    One(One<R>),
}

/// One file with the lines of all ranks.
#[derive(Debug)]
pub(super) struct One<R> {
    reader: R,
    /// The offset at which the reader is.
    at: u64,
    /// The runs of all ranks. A run becomes shorter as it is read.
    runs: Vec<Run>,
    /// The present run of each rank.
    present: Vec<u32>,
    held: Ahead,
    text: Vec<u8>,
}

/// The bytes that were read and not used yet.
#[derive(Debug)]
enum Ahead {
    /// For each rank, with the number of bytes that are read ahead for one of them.
    Each(Vec<ReadAhead>, usize),
    All(Blocks),
}

/// The bytes read for a rank. All of them belong to its present run.
#[derive(Clone, Debug, Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    used: usize,
}

impl<R: BufRead + Seek> Rows<R> {
    pub(super) fn each(files: Vec<R>) -> Self {
        Self::Each(files.into_iter().map(Lines::new).collect())
    }

    /// Reads a file of all ranks once, to find the lines of each rank.
    pub(super) fn index(mut reader: R) -> Result<Self, Error> {
        let (runs, present, at) = Index::of(&mut reader)?;
        let ranks = present.len();
        let held = if ranks > AHEAD_RANKS {
            Ahead::All(Blocks::new(at))
        } else {
            let size = (AHEAD / ranks.max(1)).min(AHEAD_MAX);
            Ahead::Each(vec![ReadAhead::default(); ranks], size)
        };
        Ok(Self::One(One { reader, at, runs, present, held, text: Vec::new() }))
    }

    pub(super) const fn count(&self) -> usize {
        match self {
            Self::Each(files) => files.len(),
            Self::One(one) => one.present.len(),
        }
    }

    /// Bytes that were read already and begin with the next line of a rank. They may end anywhere.
    pub(super) fn ahead(&mut self, task: TaskNumber) -> Result<&[u8], Error> {
        match self {
            Self::Each(files) => files[task as usize].ahead(),
            Self::One(one) => one.ahead(task),
        }
    }

    /// A rank has used a line of so many of these bytes.
    pub(super) fn used(&mut self, task: TaskNumber, bytes: usize) {
        match self {
            Self::Each(files) => files[task as usize].used(bytes),
            Self::One(one) => one.used(task, bytes),
        }
    }

    /// The next line of a rank.
    pub(super) fn next(&mut self, task: TaskNumber) -> Result<Option<&str>, Error> {
        match self {
            Self::Each(files) => files[task as usize].next(task),
            Self::One(one) => one.next(task),
        }
    }

    /// The error that the last line of a rank is wrong.
    pub(super) fn wrong(&mut self, task: TaskNumber, what: String) -> Error {
        let line = match self {
            Self::Each(files) => Ok(files[task as usize].number()),
            Self::One(one) => one.number(task),
        };
        line.map_or_else(Error::Io, |line| Error::Line { task, line, what })
    }
}

impl<R: BufRead + Seek> One<R> {
    /// The present run of a rank that has bytes left to be read.
    fn run(&mut self, task: TaskNumber) -> Option<&mut Run> {
        let present = &mut self.present[task as usize];
        while let Some(run) = self.runs.get(*present as usize)
            && run.left == 0
            && run.next != Run::NONE
        {
            *present = run.next;
        }
        self.runs.get_mut(*present as usize).filter(|run| run.left > 0)
    }

    /// A rank's run goes on behind so many bytes.
    fn passed(&mut self, task: TaskNumber, bytes: usize) {
        let run = &mut self.runs[self.present[task as usize] as usize];
        run.at += bytes as u64;
        run.left -= bytes as u32;
    }

    fn ahead(&mut self, task: TaskNumber) -> Result<&[u8], Error> {
        let run = match &self.held {
            Ahead::Each(held, _) if !held[task as usize].rest().is_empty() => None,
            Ahead::Each(..) => self.load(task).map(|()| None)?,
            Ahead::All(_) => self.run(task).copied(),
        };
        match (&mut self.held, run) {
            (Ahead::Each(held, _), _) => Ok(held[task as usize].rest()),
            (Ahead::All(_), None) => Ok(&[]),
            (Ahead::All(blocks), Some(Run { at, left, .. })) => {
                let there = blocks.from(&mut self.reader, at)?;
                Ok(&there[..there.len().min(left as usize)])
            }
        }
    }

    /// The bytes that are held for a rank.
    fn rest(&self, task: TaskNumber) -> &[u8] {
        match &self.held {
            Ahead::Each(held, _) => held[task as usize].rest(),
            Ahead::All(_) => &[],
        }
    }

    fn used(&mut self, task: TaskNumber, bytes: usize) {
        match &mut self.held {
            Ahead::Each(held, _) => held[task as usize].used += bytes,
            Ahead::All(_) => self.passed(task, bytes),
        }
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<&str>, Error> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        loop {
            let there = self.ahead(task)?;
            let end = newline(there).map(|end| end + 1);
            let some = end.unwrap_or(there.len());
            if some == 0 {
                break;
            }
            text.extend_from_slice(&there[..some]);
            self.used(task, some);
            if text.len() > LINE_MAX {
                return Err(self.wrong(task, "longer than 65536 bytes"));
            }
            if end.is_some() {
                break;
            }
        }
        self.text = text;
        if std::str::from_utf8(&self.text).is_err() {
            return Err(self.wrong(task, "not text"));
        }
        Ok(std::str::from_utf8(&self.text).ok().filter(|text| !text.is_empty()))
    }

    /// Reads more bytes for a rank, if there are any.
    fn load(&mut self, task: TaskNumber) -> Result<(), Error> {
        let run = self.run(task).copied();
        let Ahead::Each(held, size) = &mut self.held else { return Ok(()) };
        let some = run.map_or(0, |run| run.left as usize).min(*size);
        let held = &mut held[task as usize];
        held.used = 0;
        held.bytes.resize(some, 0);
        let Some(Run { at, .. }) = run else { return Ok(()) };
        // The distance is small if ranks take turns, and then the buffer still holds the bytes.
        self.reader.seek_relative(at.wrapping_sub(self.at).cast_signed())?;
        self.reader.read_exact(&mut held.bytes)?;
        self.at = at + some as u64;
        self.passed(task, some);
        Ok(())
    }

    fn wrong(&mut self, task: TaskNumber, what: &str) -> Error {
        let what = what.to_owned();
        self.number(task).map_or_else(Error::Io, |line| Error::Line { task, line, what })
    }

    /// The number of the last line that was used for a rank. The file is read again for it, so that
    /// no run needs to keep the number of its first line.
    fn number(&mut self, task: TaskNumber) -> std::io::Result<u64> {
        let end = self.runs.get(self.present[task as usize] as usize).map_or(0, |run| run.at);
        let held = self.rest(task).len() as u64;
        self.reader.seek(SeekFrom::Start(0))?;
        self.at = 0;
        let (mut lines, mut left) = (1, end - held);
        let mut is_behind = true;
        while left > 0 {
            let there = fill(&mut self.reader)?;
            let some = (there.len() as u64).min(left) as usize;
            lines += there[..some].iter().filter(|byte| **byte == b'\n').count() as u64;
            is_behind = there[..some].ends_with(b"\n");
            self.reader.consume(some);
            self.at += some as u64;
            left -= some as u64;
        }
        Ok(lines - u64::from(is_behind))
    }
}

impl ReadAhead {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.used..]
    }
}
