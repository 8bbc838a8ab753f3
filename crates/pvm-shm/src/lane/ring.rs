//! The place of a lane's cells, and the words that both of its ends write in front of them.

use crate::bytes::LINE;
use crate::lane::cell::{CELL_SIZE, Cell, Content, LINE_MAX};
use crate::lane::kind::INLINE_MAX;
use crate::segment::Mapping;
use crate::sync::{AtomicU32, AtomicU64, Ordering, Shared};
use std::sync::Arc;

/// Bytes in front of the cells.
pub const HEADER_SIZE: usize = 256;

/// In front of the cells, each part on a cache line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// Written by the receiver: how far it has read. Exact whenever it found the ring empty.
    pub(super) consumed: Line<AtomicU64>,
    /// Written by the receiver: 1 while it looks at the cells by itself and need not be told.
    pub(super) watched: Line<AtomicU32>,
    /// For the lane of a direct route: not 0 once the daemon is to read it.
    released: Line<AtomicU32>,
}

#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Line<T>(pub(super) T);

/// Bytes of a segment for a ring of `cells`.
pub const fn segment_size(cells: u32) -> usize {
    HEADER_SIZE + cells as usize * CELL_SIZE
}

/// The memory of a ring.
#[derive(Clone, Debug)]
pub enum Ring {
    /// In a shared segment.
    Shared(Arc<Mapping>),
    /// On the heap, for models.
    Heap(Arc<(Header, Box<[Cell]>)>),
}

impl Ring {
    /// A ring on the heap.
    pub fn on_heap(cells: usize) -> Self {
        let cell = || Cell { stamp: AtomicU32::new(0), content: Shared::new(Content::EMPTY) };
        let header = Header {
            consumed: Line(AtomicU64::new(0)),
            watched: Line(AtomicU32::new(0)),
            released: Line(AtomicU32::new(0)),
        };
        Self::Heap(Arc::new((header, (0..cells).map(|_| cell()).collect())))
    }

    pub(super) fn header(&self) -> &Header {
        match self {
            // SAFETY: an atomic, valid for any bits.
            Self::Shared(mapping) => unsafe { mapping.view(0) },
            Self::Heap(heap) => &heap.0,
        }
    }

    pub(super) fn cells(&self) -> &[Cell] {
        match self {
            Self::Shared(mapping) => {
                let cells = (mapping.size() - HEADER_SIZE) / CELL_SIZE;
                // SAFETY: an atomic and bytes behind `Shared`, valid for any bits.
                unsafe { mapping.views(HEADER_SIZE, cells) }
            }
            Self::Heap(heap) => &heap.1,
        }
    }

    /// From now on the daemon reads the lane of a direct route, from the mark on. Any process that
    /// has the ring mapped may call this. PAIRS WITH: `is_released` behind a publication.
    pub fn release(&self) {
        self.header().released.0.store(1, Ordering::SeqCst);
    }

    /// True once [`Ring::release`] was called.
    pub fn is_released(&self) -> bool {
        self.header().released.0.load(Ordering::SeqCst) != 0
    }

    /// Keeper: true if everything that was published has been read. Only to be asked when the
    /// sender is gone.
    pub fn is_drained(&self) -> bool {
        let cells = self.cells();
        let consumed = self.header().consumed.0.load(Ordering::Acquire);
        let index = (consumed % cells.len().max(1) as u64) as usize;
        cells.get(index).is_none_or(|cell| {
            cell.stamp.load(Ordering::Acquire) != (consumed as u32).wrapping_add(1)
        })
    }
}

/// A ring that one end goes round. The addresses of its parts are found out once.
#[derive(Debug)]
pub(super) struct Walk {
    ring: Ring,
    header: *const Header,
    /// The first one.
    first: *const Cell,
    /// The next one.
    next: *const Cell,
    /// The place behind the last one.
    end: *const Cell,
    /// The number of cells, at least one.
    pub(super) cells: usize,
}

// SAFETY: the pointers lead into the ring that is kept here, and what lies there is made of atomics
// and `Shared`.
unsafe impl Send for Walk {}
// SAFETY: as above.
unsafe impl Sync for Walk {}

impl Walk {
    /// Begins with the cell for `position`.
    pub(super) fn new(ring: Ring, position: u64) -> Self {
        // No segment is so small that it has no cell; if one were, nothing would ever come.
        let ring = if ring.cells().is_empty() { Ring::on_heap(1) } else { ring };
        let (header, cells) = (std::ptr::from_ref(ring.header()), ring.cells());
        let (first, cells) = (cells.as_ptr(), cells.len());
        let at = (position % cells as u64) as usize;
        let (next, end) = (first.wrapping_add(at), first.wrapping_add(cells));
        Self { ring, header, first, next, end, cells }
    }

    pub(super) const fn ring(&self) -> &Ring {
        &self.ring
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: it lies in `ring`, which neither moves nor goes before this does.
        unsafe { &*self.header }
    }

    /// The next cell.
    #[inline]
    pub(super) fn next(&self) -> &Cell {
        // SAFETY: `next` is always one of the ring's cells, which neither moves nor goes before
        // this does.
        unsafe { &*self.next }
    }

    /// The index of the next cell in the ring.
    #[cfg(test)]
    pub(super) fn at(&self) -> usize {
        self.cells - (self.end.addr() - self.next.addr()) / size_of::<Cell>()
    }

    #[inline]
    fn place(&self, by: usize) -> *const Cell {
        let place = self.next.wrapping_add(by);
        if place >= self.end { place.wrapping_sub(self.cells) } else { place }
    }

    /// The cell that lies `by` cells behind the next one; none if the ring has no more cells than
    /// that.
    #[inline]
    pub(super) fn ahead(&self, by: usize) -> Option<&Cell> {
        if by >= self.cells {
            return None;
        }
        // SAFETY: no further than once round, so it is one of the ring's cells; as for `next`.
        Some(unsafe { &*self.place(by) })
    }

    /// Most likely the cell behind the next one, for a hint to the processor: behind the last one
    /// there is none.
    #[inline]
    pub(super) const fn second(&self) -> *const Cell {
        self.next.wrapping_add(1)
    }

    /// Gives `hint` the further cache lines of a message of `size` bytes in the next cell: no loop,
    /// which the compiler would make long.
    #[inline]
    pub(super) fn lines_behind_first(&self, size: usize, hint: impl Fn(*const [u8; LINE])) {
        const { assert!(INLINE_MAX <= LINE_MAX + 3 * LINE) };
        if size > LINE_MAX {
            hint(self.line(1));
            if size > LINE_MAX + LINE {
                hint(self.line(2));
                if size > LINE_MAX + 2 * LINE {
                    hint(self.line(3));
                }
            }
        }
    }

    /// The lengths of the two parts of `bytes` bytes from the next cell on: in front of the ring's
    /// end, and at its beginning. For hints to the processor.
    #[inline]
    pub(super) fn stretches(&self, bytes: usize) -> (usize, usize) {
        let front = bytes.min(self.end.addr() - self.next.addr());
        (front, bytes - front)
    }

    /// A cache line behind the beginning of the next cell, and one behind that of the ring, for
    /// hints to the processor.
    #[inline]
    pub(super) const fn line(&self, line: usize) -> *const [u8; LINE] {
        self.next.cast::<[u8; LINE]>().wrapping_add(line)
    }

    /// Like `line`, from the beginning of the ring.
    #[inline]
    pub(super) const fn line_from_start(&self, line: usize) -> *const [u8; LINE] {
        self.first.cast::<[u8; LINE]>().wrapping_add(line)
    }

    /// Past the next cell.
    #[inline]
    pub(super) fn advance(&mut self) {
        let next = self.next.wrapping_add(1);
        self.next = if next == self.end { self.first } else { next };
    }

    /// Past the cells of a message, no more than there are.
    #[inline]
    pub(super) fn advance_by(&mut self, cells: usize) {
        debug_assert!(cells <= self.cells);
        self.next = self.place(cells);
    }
}
