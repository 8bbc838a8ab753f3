//! The reading end of a trace ring: see [`super`].

use super::memory::{RingMemory, SEGMENT_SIZE, Slot, join, split, stamp};
use crate::segment::Mapping;
use crate::sync::Ordering;
use crate::ticks;
use pvm_wire::Tid;
use pvm_wire::record::{Cell, DecodedRecords, Moment, What};
use pvm_wire::request::Dropped;
use std::sync::Arc;

/// A claim that is not filled for this long, in nanoseconds, is given up: its thread has left it by
/// `longjmp` out of a signal handler, or has ended.
const ABANDONED: u64 = 1_000_000_000;

/// Claims that are given up in one look. In an honest ring each has a record behind it, or the end
/// of all claims; a process that outlives its task can move that end on for ever.
const SKIPS_MAX: u32 = 4;

/// The result of one look at a ring.
#[derive(Clone, Copy, Debug)]
pub struct Drained {
    /// Records taken out.
    pub taken: usize,
    /// Records since the ring began that found no room, or whose claim was given up.
    pub lost: u64,
    /// Two moments by both clocks, the end of the look before this one and the end of this one:
    /// the records that were taken out end in between, on the line through them. A moment from
    /// before the look would leave those outside that are noted while a reader is off its core, and
    /// the line, often a millisecond long, would be prolonged to them, off by tens of microseconds.
    /// None before the owner has begun.
    pub span: Option<(Moment, Moment)>,
}

/// The other end. Only one at a time: a later reader goes on where the last one was.
#[derive(Debug)]
pub struct Reader {
    pub(super) memory: RingMemory,
    /// The last look by both clocks.
    looked: Option<Moment>,
    /// A claim that was not filled, and since when that is known.
    waits: Option<(u64, u64)>,
}

impl Reader {
    /// Reads a task's recorder. The task may write anything there at any time.
    pub const fn new(mapping: Arc<Mapping>) -> Self {
        Self::of(RingMemory::Shared(mapping))
    }

    pub(super) const fn of(memory: RingMemory) -> Self {
        Self { memory, looked: None, waits: None }
    }

    /// True once the owner has said by which clock it notes.
    pub fn has_begun(&self) -> bool {
        self.memory.header().clock().is_some()
    }

    fn span(&mut self) -> Option<(Moment, Moment)> {
        let (source, first) = self.memory.header().clock()?;
        let (ticks, nanoseconds) = source.moment();
        let now = Moment { ticks, nanoseconds };
        let before = self.looked.replace(now).unwrap_or(first);
        Some((before, now))
    }

    /// The records about the task itself since the ring began, even if a reader has read them
    /// before.
    pub fn names(&self) -> Vec<Cell> {
        let Some(slots) = self.memory.names() else { return Vec::new() };
        // PAIRS WITH: `Recorder::keep`.
        let count = self.memory.header().names.0.load(Ordering::Acquire);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(slots.len());
        slots[..count].iter().map(|slot| read(slot, slot.first.load(Ordering::Relaxed))).collect()
    }

    /// Cells that wait, as far as claims tell.
    pub fn waiting(&self) -> u64 {
        let (claimed, read) = self.positions();
        claimed.saturating_sub(read)
    }

    /// The positions up to which cells are claimed, and up to which they were read. Both only grow.
    pub fn positions(&self) -> (u64, u64) {
        let header = self.memory.header();
        let (_, read) = split(header.progress.0.read.load(Ordering::Relaxed));
        let (_, claimed) = split(header.claims.0.reserved.load(Ordering::Relaxed));
        (claimed, read)
    }

    /// The share of the ring's present size that is full, in percent; above 100 if the ring is
    /// about to grow.
    pub fn fullness(&self) -> u64 {
        let (region, _) = split(self.memory.header().claims.0.reserved.load(Ordering::Relaxed));
        let cells = self.memory.region(region).map_or(1, <[Slot]>::len) as u64;
        self.waiting().saturating_mul(100) / cells.max(1)
    }

    /// Records taken out since the ring began, and of these, passed on.
    pub fn counts(&self) -> (u64, u64) {
        let progress = &self.memory.header().progress.0;
        (progress.taken.load(Ordering::Relaxed), progress.passed.load(Ordering::Relaxed))
    }

    /// `records` more records were passed on, or told to be lost: a later reader need not account
    /// for them.
    pub fn pass(&self, records: u64) {
        self.memory.header().progress.0.passed.fetch_add(records, Ordering::Relaxed);
    }

    /// The number of lost records that were reported, by this reader or an earlier one.
    pub fn told_lost(&self) -> u64 {
        self.memory.header().progress.0.told.load(Ordering::Relaxed)
    }

    /// `records` more lost records were told.
    pub fn tell_lost(&self, records: u64) {
        self.memory.header().progress.0.told.fetch_add(records, Ordering::Relaxed);
    }

    /// Takes out the complete records, in the order of the claims, at most `records` records and
    /// about `cells` cells. `ended`: the owner is gone, and nobody fills a claim any more.
    pub fn drain(
        &mut self,
        (records, cells): (usize, usize),
        ended: bool,
        out: &mut Vec<Cell>,
    ) -> Drained {
        let memory = self.memory.clone();
        let progress = &memory.header().progress.0;
        let (mut region, mut position) = split(progress.read.load(Ordering::Relaxed));
        let limit = out.len().saturating_add(cells);
        let (mut taken, mut skips) = (0, 0);
        while taken < records && out.len() < limit {
            let Some(slots) = memory.region(region) else { break };
            let Some(count) = take(slots, position, out) else {
                if let Some(grown) = self.grown(region, position) {
                    memory.give_up(region);
                    region = grown;
                } else if skips < SKIPS_MAX && self.is_abandoned(position, ended) {
                    skips += 1;
                    progress.skipped.fetch_add(1, Ordering::Relaxed);
                    position = self.behind(region, position);
                } else {
                    break;
                }
                continue;
            };
            taken += 1;
            position += count as u64;
        }
        progress.taken.fetch_add(taken as u64, Ordering::Relaxed);
        // PAIRS WITH: `Recorder::claim`, which may use the cells again now.
        progress.read.store(join(region, position), Ordering::Release);
        Drained { taken, lost: self.lost(), span: self.span() }
    }

    /// Takes out all that is left of a task that is gone, and tells what it was. It never takes
    /// more than a ring can hold, whatever is written there meanwhile.
    pub(crate) fn drop_unread(&mut self) -> Dropped {
        const CELLS: usize = 1 << 14;
        let mut span: Option<(Moment, Moment)> = None;
        let mut parent = Tid::NONE;
        let mut cells = Vec::new();
        for _ in 0..SEGMENT_SIZE / Cell::SIZE / CELLS {
            cells.clear();
            let drained = self.drain((usize::MAX, CELLS), true, &mut cells);
            span = drained.span.map(|(from, to)| (span.map_or(from, |(first, _)| first), to));
            // The task's first records name its parent.
            parent = DecodedRecords::new(&cells).take(2).flatten().fold(parent, |known, record| {
                if let What::Begin { parent, .. } = record.what { parent } else { known }
            });
            if drained.taken == 0 {
                break;
            }
        }
        let (from, to) = span.map_or((0, 0), |(from, to)| (from.nanoseconds, to.nanoseconds));
        let (taken, passed) = self.counts();
        let untold = self.lost().saturating_sub(self.told_lost());
        let noted = taken.saturating_add(untold);
        let lost = noted.saturating_sub(passed);
        Dropped { parent, from, to, noted, lost }
    }

    /// Records since the ring began that found no room, or whose claim was given up.
    fn lost(&self) -> u64 {
        let header = self.memory.header();
        let skipped = header.progress.0.skipped.load(Ordering::Relaxed);
        header.lost.0.load(Ordering::Relaxed).saturating_add(skipped)
    }

    /// The region in which the ring goes on at this position, if it has grown there. A writer that
    /// is killed behind its claim has left nothing to be told: the stamp itself tells.
    fn grown(&self, region: u32, position: u64) -> Option<u32> {
        let (last, _) = split(self.memory.header().claims.0.reserved.load(Ordering::Acquire));
        (region + 1..=last)
            .find(|next| self.memory.region(*next).is_some_and(|slots| is_stamped(slots, position)))
    }

    /// True if the claim at this position will not be filled any more.
    fn is_abandoned(&mut self, position: u64, ended: bool) -> bool {
        let (_, claimed) = split(self.memory.header().claims.0.reserved.load(Ordering::Acquire));
        if position >= claimed {
            self.waits = None;
            return false;
        }
        let now = ticks::nanoseconds();
        let since = match self.waits {
            Some((at, since)) if at == position => since,
            _ => now,
        };
        self.waits = Some((position, since));
        ended || now.saturating_sub(since) > ABANDONED
    }

    /// The next position from which a record can be read, or the end of the claims.
    fn behind(&self, region: u32, position: u64) -> u64 {
        let (last, claimed) = split(self.memory.header().claims.0.reserved.load(Ordering::Acquire));
        let regions: Vec<&[Slot]> =
            (region..=last).filter_map(|number| self.memory.region(number)).collect();
        // Not farther than a ring full: a position that lies would lead on for ever.
        let most = regions.last().map_or(0, |slots| slots.len()) as u64;
        (position + 1..claimed.min(position + most))
            .find(|at| regions.iter().any(|slots| is_stamped(slots, *at)))
            .unwrap_or(claimed)
    }
}

fn slot(slots: &[Slot], position: u64) -> &Slot {
    &slots[position as usize & (slots.len() - 1)]
}

fn is_stamped(slots: &[Slot], position: u64) -> bool {
    // PAIRS WITH: `Recorder::put`.
    slot(slots, position).first.load(Ordering::Acquire) as u32 == stamp(position)
}

/// The cells of the record at a position, if it is complete.
fn take(slots: &[Slot], position: u64, out: &mut Vec<Cell>) -> Option<usize> {
    let head = slot(slots, position);
    // PAIRS WITH: `Recorder::put`: behind a head's stamp all cells of the record are there.
    let first = head.first.load(Ordering::Acquire);
    if first as u32 != stamp(position) {
        return None;
    }
    let cell = read(head, first);
    let count = cell.cells().min(slots.len());
    out.push(cell);
    for at in 1..count {
        let further = slot(slots, position + at as u64);
        out.push(read(further, further.first.load(Ordering::Relaxed)));
    }
    Some(count)
}

fn read(slot: &Slot, first: u64) -> Cell {
    let others = slot.others.with(|others| {
        // SAFETY: inside of the mapping; plain bytes, valid whatever they are. The stamp says that
        // the writer is done; one that lies spoils its own record.
        unsafe { others.read_volatile() }
    });
    // The lower half of the first word is the ring's.
    Cell([first & !0xffff_ffff, others[0], others[1], others[2]])
}
