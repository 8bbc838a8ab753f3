//! The end of a lane that empties it.

mod few;

use crate::bytes::{copy, prefetch_to_read};
use crate::lane::cell::{Content, FOLLOWING, SLAB_PAYLOAD_MAX, SPANNING_MAX, spanned};
use crate::lane::head::{Head, Key};
use crate::lane::kind::{EXTENT_SIZE, Extent, INLINE_MAX, Kind};
use crate::lane::ring::{Ring, Walk};
use crate::lane::room::{Room, try_room_for};
use crate::sync::{AtomicU32, Ordering, fence, read_shared};
use pvm_wire::{Envelope, Tid};

/// The end of a lane that empties it.
#[derive(Debug)]
pub struct Receiver {
    walk: Walk,
    position: u64,
    reported: u64,
    /// The position at which this end reports to the sender next.
    due: u64,
}

/// A message that came out of a cell, without its payload. Only its size is checked.
#[derive(Clone, Copy, Debug)]
pub struct Popped {
    /// The number of its [`Kind`].
    pub kind: u8,
    /// The envelope; none if it is nonsense.
    pub envelope: Option<Envelope>,
    /// Bytes of the payload.
    pub size: usize,
    /// Cells that it took.
    pub cells: usize,
}

impl Receiver {
    /// The only receiver of this ring. It goes on where the one before it stopped: a daemon that
    /// is replaced has its inbox read by the next one.
    pub fn new(ring: Ring) -> Self {
        // PAIRS WITH: `report`. The top bit is cut off so that no lie overflows a position.
        let position = ring.header().consumed.0.load(Ordering::Acquire) & (u64::MAX >> 1);
        let walk = Walk::new(ring, position);
        let due = position + walk.cells as u64 / 4 + 1;
        Self { walk, position, reported: position, due }
    }

    /// The stamp that the next cell will have when it is complete, and where it is.
    #[inline]
    pub(crate) fn next_stamp(&self) -> (&AtomicU32, u32) {
        (&self.walk.next().stamp, (self.position as u32).wrapping_add(1))
    }

    /// The word by which the sender knows whether this ring is watched.
    pub(crate) fn watch_flag(&self) -> &AtomicU32 {
        &self.walk.header().watched.0
    }

    /// The ring.
    pub(crate) const fn ring(&self) -> &Ring {
        self.walk.ring()
    }

    /// The index of the next cell.
    #[cfg(test)]
    pub(super) fn at(&self) -> usize {
        self.walk.at()
    }

    /// True if a cell is complete.
    #[inline]
    pub fn is_ready(&self) -> bool {
        // PAIRS WITH: `Sender::publish`.
        let (stamp, next) = self.next_stamp();
        stamp.load(Ordering::Acquire) == next
    }

    /// The kind of the next complete cell, and its moment.
    #[inline]
    pub fn next_head(&self) -> Option<(u8, u32)> {
        if !self.is_ready() {
            return None;
        }
        let cell = self.walk.next();
        // SAFETY: raw reads of plain bytes inside the cell.
        Some(read_shared!(cell.content, |content| unsafe {
            let head = &raw const (*content).head;
            let kind = (&raw const (*head).shape).read_unaligned().kind();
            (kind, (&raw const (*head).destination).read_unaligned())
        }))
    }

    /// The context of the next complete message.
    pub(crate) fn next_context(&self) -> Option<i32> {
        self.is_ready().then(|| {
            // SAFETY: as in `next_head`.
            read_shared!(self.walk.next().content, |content| unsafe {
                (&raw const (*content).head).read_unaligned().context()
            })
        })
    }

    /// The next complete cell; its payload goes to `room`. The sender learns now and then how far
    /// this end is.
    #[inline]
    pub fn pop(&mut self, room: &mut Room) -> Option<Popped> {
        let popped = self.pop_ahead(room);
        if popped.is_none() {
            self.report();
        } else {
            self.report_now_and_then();
        }
        popped
    }

    /// Tells the sender how far this end is, if much has been read since.
    #[inline]
    pub(crate) fn report_now_and_then(&mut self) {
        if self.position >= self.due {
            self.report();
        }
    }

    /// The next complete cell, which stays the sender's until it is confirmed: a receiver that
    /// takes over from this one gets it again.
    #[inline]
    pub fn pop_ahead(&mut self, room: &mut Room) -> Option<Popped> {
        let popped = self.peek(room)?;
        self.step(popped.cells);
        Some(popped)
    }

    /// The next complete cell, which stays the next one; where the payload is longer than `room`,
    /// that grows. None if there is none, or no memory for it.
    #[inline]
    pub fn peek(&self, room: &mut Room) -> Option<Popped> {
        let cell = self.walk.next();
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != (self.position as u32).wrapping_add(1) {
            return None;
        }
        cell.content.with(|content| {
            // SAFETY: raw reads of plain bytes inside the cell, no more than any `Room` has. A
            // sender that writes although the cell is published spoils its own message.
            unsafe {
                let head = (&raw const (*content).head).read_unaligned();
                let from = (&raw const (*content).payload).cast::<u8>();
                let kind = head.shape.kind();
                let mut size = head.shape.size().min(INLINE_MAX);
                if !Kind::has_extent(kind) {
                    copy(from, room.as_mut_ptr(), size);
                    return Some(Popped { kind, envelope: head.envelope(), size, cells: 1 });
                }
                let envelope = head.envelope_of(&from.cast::<Extent>().read_unaligned());
                if kind == Kind::Spanning as u8 {
                    return self.peek_spanning(content, envelope, room);
                }
                size = size.saturating_sub(EXTENT_SIZE);
                copy(from.add(EXTENT_SIZE), room.as_mut_ptr(), size);
                Some(Popped { kind, envelope, size, cells: 1 })
            }
        })
    }

    #[cold]
    fn peek_spanning(
        &self,
        first: *const Content,
        envelope: Option<Envelope>,
        room: &mut Room,
    ) -> Option<Popped> {
        let kind = Kind::Spanning as u8;
        let sound = envelope.zip(envelope.and_then(|envelope| self.size_of(&envelope)));
        let Some((envelope, size)) = sound else {
            return Some(Popped { kind, envelope: None, size: 0, cells: 1 });
        };
        if room.len() < size {
            *room = try_room_for(size)?;
        }
        self.copy_spanning(first, &mut room[..size]);
        Some(Popped { kind, envelope: Some(envelope), size, cells: spanned(size) })
    }

    /// Bytes of a spanning message's body; none if it is no such message's.
    #[inline]
    fn size_of(&self, envelope: &Envelope) -> Option<usize> {
        let size = usize::try_from(envelope.body_size()).ok()?;
        self.may_span(size).then_some(size)
    }

    /// True if a body of `size` bytes may lie in several cells of this ring.
    #[inline]
    const fn may_span(&self, size: usize) -> bool {
        size > INLINE_MAX && size <= SPANNING_MAX && spanned(size) <= self.walk.cells
    }

    /// Copies as much of the spanning message that begins in `first` as `room` has place for.
    #[inline]
    fn copy_spanning(&self, first: *const Content, room: &mut [u8]) {
        let (front, behind) = room.split_at_mut(room.len().min(SLAB_PAYLOAD_MAX));
        // SAFETY: as in `peek`; `front` is no longer than the payload behind the extent.
        unsafe {
            let from = (&raw const (*first).payload).cast::<u8>().add(EXTENT_SIZE);
            copy(from, front.as_mut_ptr(), front.len());
        }
        for (n, part) in behind.chunks_mut(FOLLOWING).enumerate() {
            let Some(cell) = self.walk.ahead(n + 1) else { return };
            read_shared!(cell.content, |content| {
                // SAFETY: as in `peek`; a part is no longer than the content.
                unsafe { copy(content.cast::<u8>(), part.as_mut_ptr(), part.len()) }
            });
        }
    }

    /// Goes on behind the message that [`Receiver::peek`] gave.
    #[inline]
    pub fn step(&mut self, cells: usize) {
        self.position += cells as u64;
        self.walk.advance_by(cells);
    }

    /// Takes the next message on the fast path: if it lies whole in this ring, is plain, no longer
    /// than `room`, and `wanted` of `source`. Its data go to `room`, its head to `about`, and its
    /// size is returned. Any other message stays.
    // Inlined: pvm_precv of 8 bytes takes 60 instructions less, with what calls it.
    #[inline(always)]
    pub fn take(
        &mut self,
        (source, wanted): (Tid, &Key),
        about: &mut Head,
        room: &mut [u8],
    ) -> Option<usize> {
        let cell = self.walk.next();
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != (self.position as u32).wrapping_add(1) {
            return None;
        }
        let (size, cells) = read_shared!(cell.content, |content| {
            self.take_out((source, wanted), content, about, room)
        })?;
        self.step(cells);
        self.report_now_and_then();
        Some(size)
    }

    /// Prefetches the next cell. In a stream it is written already; a cell that is still to be
    /// written is taken from its sender by this.
    #[inline]
    pub(crate) fn fetch_next(&self) {
        prefetch_to_read(self.walk.next());
    }

    /// Prefetches the further cache lines of the next message, if that has `size` bytes and is
    /// there: otherwise they would be fetched only after the first line has come.
    #[inline]
    pub(crate) fn fetch_behind_first(&self, size: usize) {
        self.walk.lines_behind_first(size, prefetch_to_read);
    }

    /// The part of [`Receiver::take`] for a complete cell: returns the size of its message, and how
    /// many cells it took.
    // Inlined: pvm_precv of 8 bytes takes 41 instructions less, pvm_recv of 1000 bytes 36.
    #[inline(always)]
    fn take_out(
        &self,
        (source, wanted): (Tid, &Key),
        content: *const Content,
        about: &mut Head,
        room: &mut [u8],
    ) -> Option<(usize, usize)> {
        // SAFETY: a raw read of plain bytes inside the cell.
        let head = unsafe { (&raw const (*content).head).read_unaligned() };
        if head.source != source.0 || !wanted.fits(&head) {
            return None;
        }
        if !head.shape.is_plain(Kind::Inline) {
            let size = self.take_spanning((source, wanted), content, about, room)?;
            return Some((size, spanned(size)));
        }
        let size = head.shape.size();
        let fits = size <= INLINE_MAX && size <= room.len();
        if !fits || !head.is_described(head.run_count(), size) {
            return None;
        }
        *about = head;
        // SAFETY: a raw read of plain bytes inside the cell; `size` was read once and is no more
        // than either has.
        unsafe {
            let from = (&raw const (*content).payload).cast::<u8>();
            copy(from, room.as_mut_ptr(), size);
        }
        Some((size, 1))
    }

    /// The part of [`Receiver::take`] for a message in several cells, the first of which is
    /// complete.
    #[inline(never)]
    fn take_spanning(
        &self,
        (source, wanted): (Tid, &Key),
        first: *const Content,
        about: &mut Head,
        room: &mut [u8],
    ) -> Option<usize> {
        // SAFETY: as in `peek`. What is read here is all that counts, whatever was read before.
        let (head, extent) = unsafe {
            let extent = (&raw const (*first).payload).cast::<Extent>();
            ((&raw const (*first).head).read_unaligned(), extent.read_unaligned())
        };
        let Extent { data_size, run_count } = extent;
        let size = usize::try_from(data_size).ok()?;
        let is_wanted = head.source == source.0 && wanted.fits(&head);
        let is_plain = head.shape.is_plain(Kind::Spanning) && run_count <= 1;
        let fits = self.may_span(size) && size <= room.len();
        if !is_wanted || !is_plain || !fits || !head.is_described(run_count, size) {
            return None;
        }
        *about = head;
        self.copy_spanning(first, room.get_mut(..size)?);
        Some(size)
    }

    /// The caller has done with the oldest message that [`Receiver::pop_ahead`] gave, which took
    /// `cells` cells.
    pub fn confirm(&mut self, cells: usize) {
        if self.reported < self.position {
            self.note_reported(self.reported + cells as u64);
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.walk.header().consumed.0.store(self.reported, Ordering::Release);
        }
    }

    /// Tells the sender how far this end has read.
    pub(crate) fn report(&mut self) {
        if self.reported != self.position {
            self.note_reported(self.position);
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.walk.header().consumed.0.store(self.position, Ordering::Release);
        }
    }

    #[inline]
    const fn note_reported(&mut self, position: u64) {
        self.reported = position;
        self.due = position + self.walk.cells as u64 / 4 + 1;
    }

    /// From now on the sender need not tell of its messages; [`Receiver::unwatch`] ends it.
    pub fn watch(&self) {
        self.walk.header().watched.0.store(1, Ordering::Relaxed);
    }

    /// The sender tells again; true if it has published something meanwhile. PAIRS WITH:
    /// `Sender::is_watched`.
    pub fn unwatch(&self) -> bool {
        self.walk.header().watched.0.store(0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.is_ready()
    }
}
