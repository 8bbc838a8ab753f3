//! The memory of a trace ring, and its layout: see [`super`].

use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicU32, AtomicU64, Ordering, Shared};
use crate::ticks::Source;
use pvm_wire::record::{Cell, Moment};
use std::sync::Arc;

/// Cells of the first region: 1 MiB. The last one has 64 MiB.
pub(super) const REGION_CELLS: usize = 1 << 15;
const POSITION_BITS: u32 = 60;

/// A word of claims or progress: region and position.
pub(super) const fn join(region: u32, position: u64) -> u64 {
    (region as u64) << POSITION_BITS | position & ((1 << POSITION_BITS) - 1)
}

pub(super) const fn split(word: u64) -> (u32, u64) {
    ((word >> POSITION_BITS) as u32, word & ((1 << POSITION_BITS) - 1))
}

/// The stamp of a position: odd, so it is never that of a further cell or of memory that was not
/// written.
pub(super) const fn stamp(position: u64) -> u32 {
    (position as u32).wrapping_mul(2) | 1
}

/// Bytes in front of the cells.
pub(super) const HEADER_SIZE: usize = PAGE;
/// Regions of a ring; the first has [`REGION_CELLS`] cells, each further one twice as many.
pub(super) const REGIONS: u32 = 7;

/// Cells for the task's records of itself, behind the regions: 256 KiB.
const NAMES_CELLS: usize = 1 << 13;

#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Line<T>(pub(super) T);

/// The claims of writers.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Claims {
    /// The region in the upper 4 bits, the position behind the last claim in the others.
    pub(super) reserved: AtomicU64,
}

/// The progress that readers report.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Progress {
    /// Region and position of the next cell, as in [`Claims`].
    pub(super) read: AtomicU64,
    /// Records taken out.
    pub(super) taken: AtomicU64,
    /// Records passed on: the rest of `taken` was lost with a reader that was killed.
    pub(super) passed: AtomicU64,
    /// Claims that were given up, as nobody filled them.
    pub(super) skipped: AtomicU64,
    /// Records that found no room or whose claim was given up, as far as a gap told of them.
    pub(super) told: AtomicU64,
}

/// The ring's clock.
#[derive(Debug)]
#[repr(C)]
pub(super) struct About {
    /// 1: the counter; else the kernel's clock.
    source: AtomicU32,
    ready: AtomicU32,
    ticks: AtomicU64,
    nanoseconds: AtomicU64,
}

/// In front of the cells.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Header {
    pub(super) claims: Line<Claims>,
    pub(super) progress: Line<Progress>,
    /// Records that found no room.
    pub(super) lost: Line<AtomicU64>,
    about: Line<About>,
    /// Cells of names that are complete.
    pub(super) names: Line<AtomicU64>,
}

/// The place of a cell. The first word's lower half is the stamp.
#[derive(Debug)]
#[repr(C, align(32))]
pub(super) struct Slot {
    pub(super) first: AtomicU64,
    pub(super) others: Shared<[u64; 3]>,
}

const _: () = assert!(cfg!(loom) || size_of::<Slot>() == Cell::SIZE);
const _: () = assert!(cfg!(loom) || size_of::<Header>() <= HEADER_SIZE);

impl Header {
    fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let progress =
            Progress { read: zero(), taken: zero(), passed: zero(), skipped: zero(), told: zero() };
        let about = About {
            source: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            ticks: zero(),
            nanoseconds: zero(),
        };
        Self {
            claims: Line(Claims { reserved: zero() }),
            progress: Line(progress),
            lost: Line(zero()),
            about: Line(about),
            names: Line(zero()),
        }
    }

    /// Says which clock the records have, and what it showed at the beginning.
    pub(super) fn begin(&self, source: Source) {
        let about = &self.about.0;
        about.source.store(u32::from(source == Source::Counter), Ordering::Relaxed);
        let (ticks, nanoseconds) = source.moment();
        about.ticks.store(ticks, Ordering::Relaxed);
        about.nanoseconds.store(nanoseconds, Ordering::Relaxed);
        // PAIRS WITH: `Header::clock`.
        about.ready.store(1, Ordering::Release);
    }

    /// The clock and its first moment; none before the owner has begun.
    pub(super) fn clock(&self) -> Option<(Source, Moment)> {
        let about = &self.about.0;
        // PAIRS WITH: `Header::begin`.
        if about.ready.load(Ordering::Acquire) == 0 {
            return None;
        }
        let counter = about.source.load(Ordering::Relaxed) == 1;
        let source = if counter { Source::Counter } else { Source::Kernel };
        let (ticks, nanoseconds) = (&about.ticks, &about.nanoseconds);
        let (ticks, nanoseconds) =
            (ticks.load(Ordering::Relaxed), nanoseconds.load(Ordering::Relaxed));
        Some((source, Moment { ticks, nanoseconds }))
    }
}

/// A ring's memory.
#[derive(Clone, Debug)]
pub(super) enum RingMemory {
    /// A segment.
    Shared(Arc<Mapping>),
    /// Regions on the heap, for models.
    Heap(Arc<(Header, Vec<Box<[Slot]>>)>),
}

impl RingMemory {
    pub(super) fn on_heap(first: usize, regions: u32) -> Self {
        let slot = || Slot { first: AtomicU64::new(0), others: Shared::new([0; 3]) };
        let region = |number: u32| (0..first << number).map(|_| slot()).collect();
        Self::Heap(Arc::new((Header::new(), (0..regions).map(region).collect())))
    }

    pub(super) fn header(&self) -> &Header {
        match self {
            // SAFETY: atomics, valid for any bits.
            Self::Shared(mapping) => unsafe { mapping.view(0) },
            Self::Heap(heap) => &heap.0,
        }
    }

    /// The offset of a region in the segment, and its cells.
    const fn extent(region: u32) -> (usize, usize) {
        let before = (REGION_CELLS << region) - REGION_CELLS;
        (HEADER_SIZE + before * Cell::SIZE, REGION_CELLS << region)
    }

    /// The cells of a region, a power of two; none if there is no such region.
    #[inline]
    pub(super) fn region(&self, number: u32) -> Option<&[Slot]> {
        match self {
            Self::Shared(mapping) => {
                let (offset, cells) = Self::extent(number.min(REGIONS));
                let inside = offset + cells * Cell::SIZE <= mapping.size();
                // SAFETY: an atomic and bytes behind `Shared`, valid for any bits.
                inside.then(|| unsafe { mapping.views(offset, cells) })
            }
            Self::Heap(heap) => heap.1.get(number as usize).map(|region| &**region),
        }
    }

    /// The cells of names; none in a segment of before there were any, and in models.
    pub(super) fn names(&self) -> Option<&[Slot]> {
        let Self::Shared(mapping) = self else { return None };
        // SAFETY: an atomic and bytes behind `Shared`, valid for any bits.
        (mapping.size() >= SEGMENT_SIZE).then(|| unsafe { mapping.views(RINGS_SIZE, NAMES_CELLS) })
    }

    /// Has memory behind cells of names before they are touched.
    pub(super) fn provide_names(&self, at: usize, cells: usize) -> bool {
        let Self::Shared(mapping) = self else { return false };
        let (from, to) = (RINGS_SIZE + at * Cell::SIZE, RINGS_SIZE + (at + cells) * Cell::SIZE);
        let from = from / PAGE * PAGE;
        mapping.provide(from, to.next_multiple_of(PAGE) - from)
    }

    /// Has memory behind a region before it is touched. False if there is none, or no such region.
    pub(super) fn provide(&self, region: u32) -> bool {
        match self {
            Self::Shared(mapping) => {
                let (offset, cells) = Self::extent(region.min(REGIONS));
                mapping.provide(offset, cells * Cell::SIZE)
            }
            Self::Heap(heap) => (region as usize) < heap.1.len(),
        }
    }

    /// Gives the memory of a region back, whose cells have all been read and which no claim
    /// leads to any more.
    pub(super) fn give_up(&self, region: u32) {
        if let Self::Shared(mapping) = self {
            let (offset, cells) = Self::extent(region.min(REGIONS));
            mapping.give_up(offset, cells * Cell::SIZE);
        }
    }
}

/// Bytes of the memory behind a region.
pub(super) const fn region_bytes(region: u32) -> u64 {
    ((REGION_CELLS * Cell::SIZE) as u64) << region
}

/// The offset of the names: behind all regions.
const RINGS_SIZE: usize = HEADER_SIZE + ((REGION_CELLS << REGIONS) - REGION_CELLS) * Cell::SIZE;
/// Bytes of a segment with all regions and names: most of it has no memory behind it.
pub const SEGMENT_SIZE: usize = RINGS_SIZE + NAMES_CELLS * Cell::SIZE;
/// Bytes of it that have memory from the start.
pub const FIRST_SIZE: usize = HEADER_SIZE + REGION_CELLS * Cell::SIZE;
