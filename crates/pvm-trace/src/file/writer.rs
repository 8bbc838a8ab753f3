//! Writes a trace as a stream. A file of bounded size keeps the newest records.

use super::chapter::{CHAPTERS, Chapter, FOOTER_SIZE, HEAD_SIZE};
use super::index::{self, BlockEntry, PLACES_IN_SECTION};
use super::section::{SECTION_HEAD, section};
use crate::block::{BLOCK_RECORDS_MAX, BlockBuilder};
use crate::error::Error;
use crate::levels::Summary;
use crate::tables::TaskIndex;
use crate::tables::{self, Ended, Gap, Tables, kind};
use pvm_wire::record::frames::{ClockPair, HostFacts, TaskFacts};
use pvm_wire::record::{Loss, Record, What};
use pvm_wire::{HostIndex, Wire};
use std::io::{Seek, SeekFrom, Write};

/// Unwritten blocks are all written when they have this many bytes together.
const PENDING_BYTES_MAX: usize = 16 << 20;
/// The smallest file: a smaller one would hold little more than its tables.
const SIZE_MIN: u64 = 4 << 20;
/// The most bytes of names that are written while a trace is recorded, because a program may rename
/// things without end.
const NAMES_TOLD_MAX: usize = 64 << 20;
/// The most bytes of an entry in the index: eleven numbers of ten bytes, rounded up.
const PLACE_BYTES_MAX: usize = 120;

/// The bounds of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// The most bytes of the file, which keeps the newest records; at least 4 MiB.
    pub bytes: Option<u64>,
}

/// The writer of a trace.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    chapter: Chapter,
    at: u64,
    tables: Tables,
    builders: Vec<BlockBuilder>,
    pending: usize,
    places: Vec<BlockEntry>,
    /// The most bytes of the tables: their size at the begin of the chapter, and what was added
    /// since.
    tables_size: usize,
    /// The bytes of names so far.
    named: usize,
    /// The summaries of the chapters in the file, by their slot.
    kept: [Summary; CHAPTERS as usize],
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a trace. `identity` should differ from that of other traces; the time is good enough.
    pub fn new(out: W, limits: Limits, identity: u64) -> Result<Self, Error> {
        let size = limits.bytes.map_or(0, |bytes| bytes.max(SIZE_MIN) / CHAPTERS);
        let mut writer = Self {
            out,
            chapter: Chapter { size, sequence: 0, identity },
            at: 0,
            tables: Tables::default(),
            builders: Vec::new(),
            pending: 0,
            places: Vec::new(),
            tables_size: 0,
            named: 0,
            kept: [Summary::default(); CHAPTERS as usize],
        };
        writer.begin_chapter()?;
        Ok(writer)
    }

    /// The tables of the trace.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Adds a host. For a host that is added again, the later facts count.
    pub fn host(&mut self, host: HostFacts) -> Result<(), Error> {
        let payload = host.to_bytes();
        self.told(Tables::set_host, host)?;
        self.put(kind::HOST, &payload)
    }

    /// Notes that the tasks of a host compute one after the other while they are recorded.
    pub fn in_turns(&mut self) -> Result<(), Error> {
        self.tables.in_turns = true;
        self.put(kind::CONDITIONS, &tables::conditions_section())
    }

    /// Adds a task; its records come afterwards.
    pub fn task(&mut self, facts: TaskFacts) -> Result<TaskIndex, Error> {
        let index = self.tables.tasks.len() as TaskIndex;
        let payload = tables::task_section(index, &facts);
        self.told(|tables, facts| tables.set_task(index, facts), facts)?;
        self.builders.push(BlockBuilder::new(index));
        self.put(kind::TASK, &payload)?;
        Ok(index)
    }

    /// Adds a comparison of another clock with that of `host`.
    pub fn clock(&mut self, host: HostIndex, pair: ClockPair) -> Result<(), Error> {
        let payload = tables::clock_section(host, &pair);
        self.tables.add_clock(host, pair);
        self.put(kind::CLOCK, &payload)
    }

    /// Adds a gap.
    pub fn gap(&mut self, gap: Gap) -> Result<(), Error> {
        self.tables.add_gap(gap);
        self.put(kind::GAP, &tables::gap_section(&gap))
    }

    /// Adds the end of a task.
    pub fn ended(&mut self, task: TaskIndex, ended: Ended) -> Result<(), Error> {
        self.write_block(task)?;
        let known = self.tables.tasks.get_mut(task as usize).ok_or_else(|| unknown(task))?;
        known.ended = Some(ended);
        self.put(kind::ENDED, &tables::ended_section(task, &ended))
    }

    /// Adds a record of a task. Names and gaps go into the tables.
    pub fn record(&mut self, task: TaskIndex, record: &Record) -> Result<(), Error> {
        match &record.what {
            What::Name { class, number, text } => {
                let key = (task, *class, *number);
                self.tables.known(task).map_err(|_| unknown(task))?;
                if self.named > NAMES_TOLD_MAX || !self.tables.names.set(key, text) {
                    return Ok(());
                }
                let payload = tables::name_section(key, text);
                self.named += payload.len();
                return self.put(kind::NAME, &payload);
            }
            What::Gap { reason, lost } => {
                let (from, to) = (record.begin, record.end());
                let host = self.tables.tasks.get(task as usize).map(|task| task.facts.tid.host());
                let (reason, lost) = (*reason, *lost);
                return self.gap(Gap { host, task: Some(task), from, to, lost, reason });
            }
            _ => (),
        }
        let builder = self.builders.get_mut(task as usize).ok_or_else(|| unknown(task))?;
        let before = builder.size();
        builder.push(record);
        self.pending += builder.size() - before;
        if builder.is_full() {
            self.write_block(task)
        } else if self.pending > PENDING_BYTES_MAX {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what was not written yet.
    pub fn flush(&mut self) -> Result<(), Error> {
        for task in 0..self.builders.len() {
            self.write_block(task as TaskIndex)?;
        }
        Ok(self.out.flush()?)
    }

    /// Completes the file. A file of bounded size with a single chapter becomes as long as its
    /// content.
    pub fn finish(mut self) -> Result<W, Error> {
        self.flush()?;
        if self.chapter.size > 0 && self.chapter.sequence == 0 {
            self.chapter.size = 0;
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&self.chapter.head())?;
            self.out.seek(SeekFrom::Start(self.at))?;
        }
        self.end_chapter()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn told<T>(
        &mut self,
        set: impl FnOnce(&mut Tables, T) -> Result<(), crate::error::Fault>,
        value: T,
    ) -> Result<(), Error> {
        let at = self.at;
        set(&mut self.tables, value).map_err(|fault| Error::Damaged { at, what: "a table", fault })
    }

    fn write_block(&mut self, task: TaskIndex) -> Result<(), Error> {
        let Some(builder) = self.builders.get_mut(task as usize) else { return Ok(()) };
        if builder.count() == 0 {
            return Ok(());
        }
        debug_assert!(builder.count() <= BLOCK_RECORDS_MAX);
        self.pending = self.pending.saturating_sub(builder.size());
        let summary = builder.summary();
        let payload = builder.take();
        self.make_room(SECTION_HEAD + payload.len())?;
        let place = BlockEntry { at: self.at, task, summary, chapter: self.chapter };
        self.places.push(place);
        self.kept[self.slot()].add(&summary);
        self.put_here(kind::BLOCK, &payload)
    }

    const fn slot(&self) -> usize {
        (self.chapter.sequence % CHAPTERS) as usize
    }

    /// Adds a section to the tables, which the end of the chapter repeats.
    fn put(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error> {
        let bytes = SECTION_HEAD + payload.len();
        self.make_room(2 * bytes)?;
        self.tables_size += bytes;
        self.put_here(kind, payload)
    }

    fn put_here(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error> {
        let bytes = section(&self.chapter, kind, payload);
        self.out.write_all(&bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Ends a chapter that would become too long with another section and its end.
    fn make_room(&mut self, more: usize) -> Result<(), Error> {
        if self.chapter.size == 0 || self.left() >= more as u64 + self.end_size() {
            return Ok(());
        }
        self.end_chapter()?;
        self.chapter.sequence += 1;
        self.begin_chapter()?;
        if self.left() >= more as u64 + self.end_size() {
            return Ok(());
        }
        let what = "the trace may not grow, and its tables alone are too long for an eighth of it";
        Err(std::io::Error::new(std::io::ErrorKind::StorageFull, what).into())
    }

    const fn left(&self) -> u64 {
        (self.chapter.begin() + self.chapter.size).saturating_sub(self.at)
    }

    /// The most bytes of the chapter's end, with one more entry.
    const fn end_size(&self) -> u64 {
        let places = (self.places.len() + 1) * PLACE_BYTES_MAX;
        (self.tables_size + places + 4096) as u64
    }

    fn begin_chapter(&mut self) -> Result<(), Error> {
        self.tables.trim();
        let slot = self.slot();
        let thrown = std::mem::take(&mut self.kept[slot]);
        if thrown.records > 0 {
            let Summary { first: from, last: to, records: lost, .. } = thrown;
            let gap = Gap { host: None, task: None, from, to, lost, reason: Loss::Size };
            self.tables.add_thrown(gap);
        }
        self.places.clear();
        self.at = self.chapter.begin();
        if self.chapter.size > 0 {
            self.out.seek(SeekFrom::Start(self.at))?;
        }
        self.out.write_all(&self.chapter.head())?;
        self.at += HEAD_SIZE as u64;
        self.put_tables()
    }

    fn put_tables(&mut self) -> Result<(), Error> {
        let sections = self.tables.sections();
        self.tables_size = sections.iter().map(|(_, payload)| SECTION_HEAD + payload.len()).sum();
        sections.iter().try_for_each(|(kind, payload)| self.put_here(*kind, payload))
    }

    fn end_chapter(&mut self) -> Result<(), Error> {
        let tables_at = self.at;
        self.put_tables()?;
        for places in std::mem::take(&mut self.places).chunks(PLACES_IN_SECTION) {
            self.put_here(kind::INDEX, &index::encode(places))?;
        }
        let end = self.at;
        self.put_here(kind::END, &tables_at.to_le_bytes())?;
        if self.chapter.size > 0 {
            let footer = self.chapter.begin() + self.chapter.size - FOOTER_SIZE as u64;
            self.out.seek(SeekFrom::Start(footer))?;
        }
        Ok(self.out.write_all(&self.chapter.footer(end))?)
    }
}

fn unknown(task: TaskIndex) -> Error {
    Error::Damaged { at: 0, what: "a record", fault: crate::error::Fault::UnknownTask(task) }
}
