//! Opens a trace: reads its tables and the index of its blocks, and blocks on demand.

use super::chapter::{CHAPTERS, Chapter, FOOTER_SIZE, HEAD_SIZE};
use super::index::{self, BlockEntry};
use super::section::{self, SECTION_HEAD, fill};
use crate::block::Block;
use crate::error::{Error, Fault};
use crate::levels::Summary;
use crate::tables::TaskIndex;
use crate::tables::{Tables, kind};
use pvm_wire::record::Record;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// A trace that is open.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    size: u64,
    tables: Tables,
    places: Vec<BlockEntry>,
    cut: Option<u64>,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens a trace. A trace that was cut off, or is still written, is read up to its last sound
    /// section.
    pub fn open(mut input: R) -> Result<Self, Error> {
        let size = input.seek(SeekFrom::End(0))?;
        let first = read_head(&mut input, 0)?.ok_or(Error::NoTrace)?;
        let mut reader =
            Self { input, size, tables: Tables::default(), places: Vec::new(), cut: None };
        for chapter in reader.chapters(first)? {
            reader.read_chapter(&chapter)?;
        }
        Ok(reader)
    }

    /// The tables of the trace.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The blocks, in the order in which they were written.
    pub fn places(&self) -> &[BlockEntry] {
        &self.places
    }

    /// The byte at which the trace is cut off, if it was not completed or is still written.
    pub const fn cut(&self) -> Option<u64> {
        self.cut
    }

    /// The summary of the whole trace.
    pub fn summary(&self) -> Summary {
        let mut all = Summary::default();
        self.places.iter().for_each(|place| all.add(&place.summary));
        all
    }

    /// The bytes of a block.
    pub fn read_block(&mut self, place: &BlockEntry) -> Result<Vec<u8>, Error> {
        let mut payload = Vec::new();
        self.read_block_into(place, &mut payload)?;
        Ok(payload)
    }

    pub(super) fn read_block_into(
        &mut self,
        place: &BlockEntry,
        payload: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let kind = section::read_section(&mut self.input, &place.chapter, place.at, payload)?;
        if kind != kind::BLOCK {
            return Err(damaged(place.at, "a block", Fault::UnknownKind(kind.into())));
        }
        Ok(())
    }

    /// Calls `each` for the records of a block, in the order in which they were noted.
    pub fn records_of(
        &mut self,
        place: &BlockEntry,
        mut each: impl FnMut(Record),
    ) -> Result<(), Error> {
        let bytes = self.read_block(place)?;
        let wrong = |fault| damaged(place.at, "a block", fault);
        let mut block = Block::new(&bytes).map_err(wrong)?;
        while let Some(record) = block.read_next(&bytes).map_err(wrong)? {
            each(record);
        }
        Ok(())
    }

    /// Calls `each` for the records that touch a window of uncorrected time; only blocks that touch
    /// it are read.
    pub fn window(
        &mut self,
        (from, to): (u64, u64),
        mut each: impl FnMut(TaskIndex, Record),
    ) -> Result<(), Error> {
        let places: Vec<_> =
            self.places.iter().filter(|place| place.touches(from, to)).copied().collect();
        for place in places {
            self.records_of(&place, |record| {
                if record.begin <= to && record.end() >= from {
                    each(place.task, record);
                }
            })?;
        }
        Ok(())
    }

    /// The summaries of each 64 records of a block.
    pub fn summaries_of(&mut self, place: &BlockEntry) -> Result<Vec<Summary>, Error> {
        let bytes = self.read_block(place)?;
        let block = Block::new(&bytes).map_err(|fault| damaged(place.at, "a block", fault))?;
        Ok(block.summaries().to_vec())
    }

    /// The chapters of the file, the oldest first.
    fn chapters(&mut self, first: Chapter) -> Result<Vec<Chapter>, Error> {
        let mut chapters = vec![first];
        if first.size == 0 {
            return Ok(chapters);
        }
        for slot in 1..CHAPTERS {
            let Some(begin) = first.size.checked_mul(slot).filter(|begin| *begin < self.size)
            else {
                break;
            };
            let found = read_head(&mut self.input, begin)?;
            let ours = |chapter: &Chapter| {
                chapter.identity == first.identity
                    && chapter.size == first.size
                    && chapter.begin() == begin
            };
            chapters.extend(found.filter(ours));
        }
        chapters.sort_unstable_by_key(|chapter| chapter.sequence);
        Ok(chapters)
    }

    fn read_chapter(&mut self, chapter: &Chapter) -> Result<(), Error> {
        let end = match chapter.size {
            0 => self.size,
            size => self.size.min(chapter.begin().saturating_add(size)),
        };
        let kept = (self.tables.clone(), self.places.len());
        match self.read_end(chapter, end) {
            Ok(true) => return Ok(()),
            Err(Error::Io(error)) => return Err(error.into()),
            Ok(false) | Err(_) => (),
        }
        self.tables = kept.0;
        self.places.truncate(kept.1);
        self.scan(chapter, end)
    }

    /// Reads the tables from the end of a chapter; false if it has no footer.
    fn read_end(&mut self, chapter: &Chapter, end: u64) -> Result<bool, Error> {
        let begin = chapter.begin();
        let Some(footer_at) = end.checked_sub(FOOTER_SIZE as u64).filter(|at| *at > begin) else {
            return Ok(false);
        };
        self.input.seek(SeekFrom::Start(footer_at))?;
        let mut footer = [0; FOOTER_SIZE];
        let sound = fill(&mut self.input, &mut footer)?;
        let Some(end_at) = chapter.of_footer(&footer).filter(|_| sound) else { return Ok(false) };
        let mut payload = Vec::new();
        let kind = section::read_section(&mut self.input, chapter, end_at, &mut payload)?;
        let Some(tables_at) = payload.first_chunk().filter(|_| kind == kind::END) else {
            return Ok(false);
        };
        let tables_at = u64::from_le_bytes(*tables_at);
        self.input.seek(SeekFrom::Start(tables_at))?;
        let mut at = tables_at;
        let mut input = BufReader::with_capacity(1 << 16, &mut self.input);
        while at < end_at {
            let found = section::read_here(&mut input, chapter, &mut payload)?;
            let wrong = |fault| damaged(at, "a section", fault);
            let kind = found.map_err(wrong)?;
            apply((&mut self.tables, &mut self.places), (chapter, at), (kind, &payload))
                .map_err(wrong)?;
            at += (SECTION_HEAD + payload.len()) as u64;
        }
        Ok(at == end_at)
    }

    /// Reads a chapter section by section, up to the first damage.
    fn scan(&mut self, chapter: &Chapter, end: u64) -> Result<(), Error> {
        let mut at = chapter.begin() + HEAD_SIZE as u64;
        self.input.seek(SeekFrom::Start(at))?;
        let mut input = BufReader::with_capacity(1 << 18, &mut self.input);
        let mut payload = Vec::new();
        while at < end {
            let Ok(kind) = section::read_here(&mut input, chapter, &mut payload)? else { break };
            let told = (&mut self.tables, &mut self.places);
            // An END without its footer repeats sections that were read.
            if kind == kind::END {
                break;
            }
            if kind != kind::INDEX {
                match apply(told, (chapter, at), (kind, &payload)) {
                    Err(fault @ Fault::TooMany(_)) => return Err(damaged(at, "the trace", fault)),
                    Err(_) => break,
                    Ok(()) => (),
                }
            }
            at += (SECTION_HEAD + payload.len()) as u64;
        }
        self.cut = Some(at);
        Ok(())
    }
}

fn apply(
    (tables, places): (&mut Tables, &mut Vec<BlockEntry>),
    (chapter, at): (&Chapter, u64),
    (kind, payload): (u8, &[u8]),
) -> Result<(), Fault> {
    match kind {
        kind::BLOCK => {
            let place = BlockEntry::of_block(at, *chapter, payload)?;
            tables.known(place.task)?;
            index::push(places, place)
        }
        kind::INDEX => {
            let before = places.len();
            index::decode(payload, *chapter, places)?;
            places[before..].iter().try_for_each(|place| tables.known(place.task).map(|_| ()))
        }
        // A kind of a later version is skipped.
        _ => tables.apply(kind, payload).map(|_| ()),
    }
}

fn read_head<R: Read + Seek>(input: &mut R, at: u64) -> Result<Option<Chapter>, Error> {
    input.seek(SeekFrom::Start(at))?;
    let mut head = [0; HEAD_SIZE];
    if fill(input, &mut head)? { Chapter::of_head(&head) } else { Ok(None) }
}

pub(super) const fn damaged(at: u64, what: &'static str, fault: Fault) -> Error {
    Error::Damaged { at, what, fault }
}
