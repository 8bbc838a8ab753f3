//! The trace ring of a task: the records that its calls note, for one reader.
//!
//! ```text
//! segment:  0 claims    64 progress   128 lost   192 about   256 names u64
//!           4096 region 0   then region 1 ...   behind the last one: 8192 cells of names
//! region k: 32768 * 2^k cells of 32 bytes
//! cell:     0 stamp u32   4 28 bytes (`pvm_wire::record`)
//! claims:   0 reserved u64: region u4 (top), position u60
//! progress: 0 read u64, as reserved   8 taken u64   16 passed u64   24 skipped u64   32 told u64
//! ```
//! Positions count cells from the ring's beginning; the cell of position `p` is the one of number
//! `p` modulo the region's cells. Threads of the task claim as many cells as a record has and fill
//! them; the stamp of the first one becomes `2 p + 1` when all are complete, so no cell that lay
//! there before is ever taken for it. Stamps of further cells are 0.
//!
//! Only one region is written to at a time. When it is full, claims go on in the next one, which
//! is twice as large, if the host's budget allows it. A reader that finds no stamp looks there: no
//! word tells where a region ended, so a writer that is killed leaves nothing to be told. Without
//! room a record is counted: nobody ever waits for a reader.
//!
//! A task's records of itself (its program, its parent, the texts of its names) are in the ring and
//! once more in the cells of names, one behind the other, without stamps: a reader that comes when
//! they were read out of the ring finds them there. `names` counts the cells that are complete.

mod memory;
mod reader;

use crate::activity::Activity;
use crate::segment::Mapping;
use crate::sync::{AtomicBool, Ordering};
use crate::ticks::{self, Source};
use memory::{REGIONS, RingMemory, join, region_bytes, split, stamp};
use pvm_wire::record::Record;
use std::sync::Arc;

pub use memory::{FIRST_SIZE, SEGMENT_SIZE};
pub use reader::{Drained, Reader};

/// All rings of a host together have no more memory than this: 512 MiB.
pub const HOST_BYTES: u64 = 512 << 20;

/// Whether a record of `wanted` cells that claims `position` finds cells that have been read. The
/// claim may be older than `read`: then others have claimed the cells, and the claim is made anew.
const fn has_room(position: u64, read: u64, wanted: usize, cells: usize) -> bool {
    let ahead = position.wrapping_sub(read).cast_signed();
    ahead < 0 || ahead.cast_unsigned() + wanted as u64 <= cells as u64
}

/// The task's end.
#[derive(Debug)]
pub struct Recorder {
    memory: RingMemory,
    source: Source,
    /// The host whose budget growth is taken from; none in models.
    host: Option<Activity>,
    /// There was no memory behind a further region.
    is_poor: AtomicBool,
}

impl Recorder {
    /// Notes into this segment, which is fresh; the ring may grow within the host's budget.
    pub fn new(mapping: Arc<Mapping>, host: Activity) -> Self {
        Self::in_memory(RingMemory::Shared(mapping), Source::best(), Some(host))
    }

    /// On the heap, for models: the first region has `cells` cells, a power of two.
    pub fn on_heap(cells: usize, regions: u32) -> Self {
        Self::in_memory(RingMemory::on_heap(cells, regions), Source::Kernel, None)
    }

    fn in_memory(memory: RingMemory, source: Source, host: Option<Activity>) -> Self {
        memory.header().begin(source);
        Self { memory, source, host, is_poor: AtomicBool::new(false) }
    }

    /// The time now, for [`Record::begin`].
    #[inline]
    pub fn now(&self) -> u64 {
        self.source.now()
    }

    /// Notes a record, or counts it if there is no room. Any thread; never waits.
    #[inline]
    pub fn put(&self, record: &Record) {
        let Some((region, position)) = self.claim(record.cells()) else {
            self.memory.header().lost.0.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let Some(slots) = self.memory.region(region) else { return };
        let mut at = position;
        let mut head = 0;
        record.encode(|cell| {
            let slot = &slots[at as usize & (slots.len() - 1)];
            slot.others.with_mut(|others| {
                // SAFETY: this position is ours alone, and the reader is done with the former cell
                // there; a raw write of plain bytes.
                unsafe { others.write([cell.0[1], cell.0[2], cell.0[3]]) }
            });
            if at == position {
                head = cell.0[0];
            } else {
                slot.first.store(cell.0[0], Ordering::Relaxed);
            }
            at += 1;
        });
        let first = head & !0xffff_ffff | u64::from(stamp(position));
        // PAIRS WITH: `Reader::drain`.
        slots[position as usize & (slots.len() - 1)].first.store(first, Ordering::Release);
    }

    /// Notes a record that later readers find, too, as long as there are cells for it. One at a
    /// time, by the caller's lock.
    pub fn put_for_all(&self, record: &Record) {
        self.keep(record);
        self.put(record);
    }

    fn keep(&self, record: &Record) {
        let (Some(slots), kept) = (self.memory.names(), &self.memory.header().names.0) else {
            return;
        };
        let (mut at, cells) = (kept.load(Ordering::Relaxed) as usize, record.cells());
        let is_inside = at.saturating_add(cells) <= slots.len();
        if !is_inside || !self.memory.provide_names(at, cells) {
            return;
        }
        record.encode(|cell| {
            slots[at].others.with_mut(|others| {
                // SAFETY: cells behind `names` are the owner's, which writes one record at a time;
                // a raw write of plain bytes.
                unsafe { others.write([cell.0[1], cell.0[2], cell.0[3]]) }
            });
            slots[at].first.store(cell.0[0], Ordering::Relaxed);
            at += 1;
        });
        // PAIRS WITH: `Reader::names`.
        kept.store(at as u64, Ordering::Release);
    }

    /// Cells for a record, ours alone until they are stamped.
    #[inline]
    fn claim(&self, wanted: usize) -> Option<(u32, u64)> {
        let header = self.memory.header();
        let reserved = &header.claims.0.reserved;
        let mut word = reserved.load(Ordering::Relaxed);
        loop {
            let (region, position) = split(word);
            let cells = self.memory.region(region)?.len();
            // PAIRS WITH: `Reader::drain`, which is done with the cells before this position.
            let (_, read) = split(header.progress.0.read.load(Ordering::Acquire));
            if !has_room(position, read, wanted, cells) {
                word = self.grow(word)?;
                continue;
            }
            let next = join(region, position + wanted as u64);
            // A region that was begun is known with its number: PAIRS WITH: `grow`.
            match reserved.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some((region, position)),
                Err(now) => word = now,
            }
        }
    }

    /// Claims go on in the next region: the word of claims then. None if there is no room.
    #[cold]
    fn grow(&self, word: u64) -> Option<u64> {
        let (region, position) = split(word);
        let next = region + 1;
        self.memory.region(next)?;
        let grant = Grant::take(self, next)?;
        let reserved = &self.memory.header().claims.0.reserved;
        let grown = join(next, position);
        match reserved.compare_exchange(word, grown, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                grant.keep();
                Some(grown)
            }
            // Another thread has grown it, or has found room.
            Err(now) => Some(now),
        }
    }

    /// A reader of the same ring, for tests of one process.
    pub fn reader(&self) -> Reader {
        Reader::of(self.memory.clone())
    }
}

/// The cost of noting a record, in picoseconds: the best of some rounds, measured by this call. It
/// takes less than a millisecond.
pub fn cost_ps() -> u64 {
    const CALLS: u64 = 512;
    let recorder = Recorder { source: Source::best(), ..Recorder::on_heap(1 << 10, 1) };
    let mut reader = recorder.reader();
    let mut cells = Vec::new();
    let round = |recorder: &Recorder| {
        let begin = ticks::nanoseconds();
        for _ in 0..CALLS {
            let begin = recorder.now();
            let length = recorder.now().saturating_sub(begin);
            recorder.put(&Record::call(0, begin, length));
        }
        ticks::nanoseconds().saturating_sub(begin)
    };
    let best = (0..16).map(|_| {
        let took = round(&recorder);
        cells.clear();
        reader.drain((usize::MAX, usize::MAX), false, &mut cells);
        took
    });
    best.min().unwrap_or(0) * 1000 / CALLS
}

/// Memory for a region out of the host's budget; given back unless it is kept.
struct Grant<'a>(Option<&'a Activity>, u64);

impl<'a> Grant<'a> {
    fn take(recorder: &'a Recorder, region: u32) -> Option<Self> {
        if recorder.is_poor.load(Ordering::Relaxed) {
            return None;
        }
        let grant = Self::of_budget(recorder.host.as_ref(), region_bytes(region))?;
        if recorder.memory.provide(region) {
            return Some(grant);
        }
        recorder.is_poor.store(true, Ordering::Relaxed);
        None
    }

    fn of_budget(host: Option<&'a Activity>, bytes: u64) -> Option<Self> {
        let Some(host) = host else { return Some(Self(None, 0)) };
        let more = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= HOST_BYTES);
        let taken = host.rings().fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Self(Some(host), bytes))
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        if let Some(host) = self.0 {
            host.rings().fetch_sub(self.1, Ordering::Relaxed);
        }
    }
}

/// Bytes of the host's budget that a ring has taken by growing, as the first page of its segment
/// tells; no more than it can have.
pub(crate) fn grown_bytes(head: &Arc<Mapping>) -> u64 {
    let memory = RingMemory::Shared(head.clone());
    let (region, _) = split(memory.header().claims.0.reserved.load(Ordering::Relaxed));
    (1..=region.min(REGIONS - 1)).map(region_bytes).sum()
}

#[cfg(all(test, not(loom)))]
mod tests;
