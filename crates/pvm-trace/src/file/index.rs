//! The index: the place and the sums of each block.

use super::chapter::Chapter;
use crate::block::Block;
use crate::error::Fault;
use crate::levels::Summary;
use crate::tables::TaskIndex;
use crate::varint::{self, Input};

/// The most blocks that a reader keeps in memory: with their summaries some 120 bytes each.
pub(super) const PLACES_MAX: usize = 1 << 22;
/// The most entries in one section.
pub(super) const PLACES_IN_SECTION: usize = 4096;

/// A block's place in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockEntry {
    /// The byte at which its section begins.
    pub at: u64,
    /// The task of the records.
    pub task: TaskIndex,
    /// The summary of the records.
    pub summary: Summary,
    pub(super) chapter: Chapter,
}

impl BlockEntry {
    /// The entry of a block that was read.
    pub(super) fn of_block(at: u64, chapter: Chapter, bytes: &[u8]) -> Result<Self, Fault> {
        let block = Block::new(bytes)?;
        let mut summary = Summary::default();
        block.summaries().iter().for_each(|part| summary.add(part));
        Ok(Self { at, task: block.task(), summary, chapter })
    }

    /// True if some of its records lie between these times.
    pub const fn touches(&self, from: u64, to: u64) -> bool {
        self.summary.first <= to && self.summary.last >= from
    }
}

/// The payload of an index section: `count varint`, then for each block its offset as the
/// difference from the one before, its task, and its summary, whose times are relative to those of
/// the one before.
pub(super) fn encode(places: &[BlockEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, places.len() as u64);
    let (mut at, mut first) = (0, 0);
    for place in places {
        varint::put(&mut out, place.at.wrapping_sub(at));
        varint::put(&mut out, place.task.into());
        place.summary.encode(first, &mut out);
        (at, first) = (place.at, place.summary.first);
    }
    out
}

pub(super) fn decode(
    payload: &[u8],
    chapter: Chapter,
    places: &mut Vec<BlockEntry>,
) -> Result<(), Fault> {
    let mut input = Input::new(payload);
    let count: usize = input.number_of()?;
    if count > PLACES_IN_SECTION {
        return Err(Fault::Range);
    }
    let (mut at, mut first) = (0u64, 0);
    for _ in 0..count {
        at = at.wrapping_add(input.number()?);
        let task = input.number_of()?;
        let summary = Summary::decode(first, &mut input)?;
        first = summary.first;
        push(places, BlockEntry { at, task, summary, chapter })?;
    }
    if input.rest.is_empty() { Ok(()) } else { Err(Fault::Trailing) }
}

pub(super) fn push(places: &mut Vec<BlockEntry>, place: BlockEntry) -> Result<(), Fault> {
    if places.len() >= PLACES_MAX {
        return Err(Fault::TooMany("blocks"));
    }
    places.push(place);
    Ok(())
}
