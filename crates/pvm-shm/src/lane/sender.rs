//! The end of a lane that fills it.

use crate::bytes::{FEW, LINE, copy, copy_few_to, prefetch_to_write};
use crate::lane::cell::{CELL_SIZE, Cell, FOLLOWING, SLAB_PAYLOAD_MAX, SPANNING_MAX, spanned};
use crate::lane::head::Head;
use crate::lane::kind::{EXTENT_SIZE, Extent, INLINE_MAX, Kind};
use crate::lane::ring::{Ring, Walk};
use crate::sync::{Ordering, fence, write_shared};
use pvm_wire::{Envelope, Tid};

const _: () = assert!(FEW <= INLINE_MAX);

/// The end of a lane that fills it.
#[derive(Debug)]
pub struct Sender {
    walk: Walk,
    position: u64,
    consumed: u64,
}

/// The ring has no free cell but the one that is kept back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl Sender {
    /// The only sender of this ring.
    pub fn new(ring: Ring) -> Self {
        Self { walk: Walk::new(ring, 0), position: 0, consumed: 0 }
    }

    /// A sender for a ring in which `position` cells seem to have been filled and emptied.
    #[cfg(test)]
    pub(super) fn at(ring: Ring, position: u64) -> Self {
        ring.header().consumed.0.store(position, Ordering::Relaxed);
        Self { walk: Walk::new(ring, position), position, consumed: position }
    }

    /// The number of cells of the ring.
    pub const fn cells(&self) -> u32 {
        self.walk.cells as u32
    }

    #[inline]
    fn has_room(&mut self, kept: u64) -> bool {
        let (cells, used) = (self.walk.cells as u64, self.position + kept);
        used < cells + self.consumed || used < cells + self.read_mark()
    }

    /// The position up to which the receiver says that it has read.
    #[cold]
    #[inline(never)]
    fn read_mark(&mut self) -> u64 {
        // PAIRS WITH: `Receiver::report`. What it claims beyond our own position is a lie.
        let consumed = self.walk.header().consumed.0.load(Ordering::Acquire);
        if consumed > self.consumed && consumed <= self.position {
            self.consumed = consumed;
        }
        self.consumed
    }

    /// Publishes a message or a descriptor; `payload` is at most [`INLINE_MAX`] long,
    /// [`SLAB_PAYLOAD_MAX`] where the message does not ride in the cell, and [`SPANNING_MAX`] where
    /// it does so in several.
    ///
    /// # Errors
    /// The ring is full; the lane must move.
    #[inline]
    pub fn push(&mut self, kind: Kind, envelope: &Envelope, payload: &[u8]) -> Result<(), Full> {
        if !self.has_room(1) {
            return Err(Full);
        }
        if kind == Kind::Spanning {
            return self.push_spanning(envelope, payload);
        }
        if kind == Kind::Inline {
            self.publish(&Head::of(kind, envelope, payload.len()), None, payload);
        } else {
            let size = EXTENT_SIZE + payload.len();
            self.publish(&Head::of(kind, envelope, size), Some(Extent::of(envelope)), payload);
        }
        Ok(())
    }

    /// True if a message with a body of `size` bytes fits the free cells.
    pub fn has_room_for(&mut self, size: usize) -> bool {
        self.has_room(spanned(size) as u64)
    }

    /// Publishes a message in several cells; `body` is all of its data and its run list, and at
    /// most [`SPANNING_MAX`] long.
    ///
    /// # Errors
    /// The ring has not as many free cells: the lane must move, or the message go another way.
    pub fn push_spanning(&mut self, envelope: &Envelope, body: &[u8]) -> Result<(), Full> {
        debug_assert!(body.len() <= SPANNING_MAX && envelope.body_size() == body.len() as u64);
        let size = EXTENT_SIZE + body.len().min(SLAB_PAYLOAD_MAX);
        let head = Head::of(Kind::Spanning, envelope, size);
        if self.span(&head, Extent::of(envelope), body) { Ok(()) } else { Err(Full) }
    }

    /// Publishes a message on the fast path; `sent` is its sender and its moment. False if the ring
    /// has no room for it, or it is longer than [`SPANNING_MAX`].
    #[inline]
    pub fn push_small(&mut self, head: &Head, sent: (Tid, u32), data: &[u8]) -> bool {
        if data.len() > INLINE_MAX {
            return self.push_small_spanning(head, sent, data);
        }
        if !self.has_room(1) {
            return false;
        }
        let cell = self.walk.next();
        fill(cell, &head.of_sender(sent), None, data);
        self.complete(cell, 1);
        true
    }

    /// [`Sender::push_small`] of at most [`FEW`] bytes, where the mark of the receiver need not be
    /// read for it.
    #[inline]
    pub fn push_few(&mut self, head: &Head, sent: (Tid, u32), data: &[u8]) -> bool {
        if data.len() > FEW || self.position + 1 >= self.walk.cells as u64 + self.consumed {
            return false;
        }
        let cell = self.walk.next();
        let head = head.of_sender(sent);
        write_shared!(cell.content, |content| {
            // SAFETY: as in `fill`, and the payload of a cell has room for a few bytes.
            unsafe {
                (&raw mut (*content).head).write_unaligned(head);
                copy_few_to(data, (&raw mut (*content).payload).cast::<u8>());
            }
        });
        // PAIRS WITH: `Receiver::pop`.
        self.position += 1;
        cell.stamp.store(self.position as u32, Ordering::Release);
        self.walk.advance();
        prefetch_to_write(self.walk.second());
        // The receiver looks at the first line of the next cell only.
        self.walk.lines_behind_first(data.len(), prefetch_to_write);
        true
    }

    #[inline(never)]
    fn push_small_spanning(&mut self, head: &Head, sent: (Tid, u32), data: &[u8]) -> bool {
        let size = EXTENT_SIZE + data.len().min(SLAB_PAYLOAD_MAX);
        let extent = Extent { data_size: data.len() as u64, run_count: head.run_count() };
        data.len() <= SPANNING_MAX && self.span(&head.spanning(size).of_sender(sent), extent, data)
    }

    #[inline]
    fn span(&mut self, head: &Head, extent: Extent, body: &[u8]) -> bool {
        let cells = spanned(body.len());
        if !self.has_room(cells as u64) {
            return false;
        }
        let (front, behind) = body.split_at(body.len().min(SLAB_PAYLOAD_MAX));
        let first = self.walk.next();
        self.prefetch(behind.len());
        for (n, part) in behind.chunks(FOLLOWING).enumerate() {
            let Some(cell) = self.walk.ahead(n + 1) else { return false };
            write_shared!(cell.content, |content| {
                // SAFETY: as in `fill`; a part is no longer than the content.
                unsafe { copy(part.as_ptr(), content.cast::<u8>(), part.len()) }
            });
            // Nobody looks here before the next round; a stamp that stayed could be taken for one
            // of 2^32 positions later.
            let position = self.position as u32;
            cell.stamp.store(position.wrapping_add(n as u32 + 2), Ordering::Relaxed);
        }
        // The cache line of the stamp is written last, as the receiver looks there.
        fill(first, head, Some(extent), front);
        self.complete(first, cells);
        true
    }

    /// Prefetches all cache lines of a message that has `behind` bytes after its first cell.
    /// Otherwise each line would be fetched only after those before it have been written.
    #[inline]
    fn prefetch(&self, behind: usize) {
        let (cells, rest) = (behind / FOLLOWING, behind % FOLLOWING);
        let in_last = if rest == 0 { 0 } else { (CELL_SIZE - FOLLOWING + rest).div_ceil(LINE) };
        let lines = (1 + cells) * (CELL_SIZE / LINE) + in_last;
        let (front, back) = self.walk.stretches(lines * LINE);
        // The receiver looks at the very first line.
        (1..front / LINE).for_each(|line| prefetch_to_write(self.walk.line(line)));
        (0..back / LINE).for_each(|line| prefetch_to_write(self.walk.line_from_start(line)));
    }

    /// The ring.
    pub const fn ring(&self) -> &Ring {
        self.walk.ring()
    }

    /// The oldest message is done with: only where the sender itself moves the mark.
    pub fn confirm(&mut self) {
        if self.consumed < self.position {
            self.consumed += 1;
            self.walk.header().consumed.0.store(self.consumed, Ordering::Release);
        }
    }

    /// True if the receiver has reported that it has read all of it.
    pub(crate) fn is_read(&mut self) -> bool {
        // Looks at the mark, as no ring has that much room.
        self.has_room(self.walk.cells as u64);
        self.consumed == self.position
    }

    /// Ends this ring: the lane goes on in `segment`.
    pub fn push_moved(&mut self, segment: u32) {
        debug_assert!(self.has_room(0), "the cell was kept back");
        self.publish(&Head::MOVED, None, &segment.to_ne_bytes());
    }

    #[inline]
    fn publish(&mut self, head: &Head, extent: Option<Extent>, payload: &[u8]) {
        let cell = self.walk.next();
        fill(cell, head, extent, payload);
        self.complete(cell, 1);
    }

    /// Completes the next message, which has `cells` cells.
    #[inline]
    fn complete(&mut self, first: *const Cell, cells: usize) {
        // SAFETY: a cell of this ring's, which is kept.
        let first = unsafe { &*first };
        // PAIRS WITH: `Receiver::pop`.
        first.stamp.store((self.position as u32).wrapping_add(1), Ordering::Release);
        self.position += cells as u64;
        self.walk.advance_by(cells);
        // The receiver looks at the next one; the one behind that can come here meanwhile.
        prefetch_to_write(self.walk.second());
    }

    /// Asked behind a publication: true if the receiver looks at this ring by itself, so
    /// that it need not be told. PAIRS WITH: `Receiver::unwatch`. Either the receiver that ends its
    /// watch sees the cell, or this sees that the watch has ended.
    #[inline]
    pub fn is_watched(&self) -> bool {
        fence(Ordering::SeqCst);
        self.walk.header().watched.0.load(Ordering::Relaxed) != 0
    }
}

/// Writes all of a cell but its stamp.
#[inline]
fn fill(cell: &Cell, head: &Head, extent: Option<Extent>, payload: &[u8]) {
    let before = if extent.is_some() { EXTENT_SIZE } else { 0 };
    assert!(before + payload.len() <= INLINE_MAX);
    write_shared!(cell.content, |content| {
        // SAFETY: the receiver does not read this cell before its stamp says so, and it has
        // reported that it is done with the former message in it; raw writes of plain bytes.
        unsafe {
            (&raw mut (*content).head).write_unaligned(*head);
            let to = (&raw mut (*content).payload).cast::<u8>();
            // The extent is written from registers: a copy put together in memory first would be
            // read before it is there.
            if let Some(extent) = extent {
                to.cast::<Extent>().write_unaligned(extent);
            }
            copy(payload.as_ptr(), to.add(before), payload.len());
        }
    });
}
