//! The end of a lane that empties it.

use crate::bytes::{copy, prefetch_to_read};
use crate::lane::cell::{
    Content, EXTENT_SIZE, Extent, FOLLOWING, Head, INLINE_MAX, Kind, SLAB_PAYLOAD_MAX,
    SPANNING_MAX, spanned,
};
use crate::lane::ring::{Ring, Walk};
use crate::lane::room::{Room, room_for};
use crate::sync::{AtomicU32, Ordering, fence, read_shared};
use pvm_wire::Envelope;

/// The end of a lane that empties it.
#[derive(Debug)]
pub struct Receiver {
    walk: Walk,
    position: u64,
    reported: u64,
}

/// What a short way looks for.
pub trait Wanted {
    /// What is made of the envelope of a message that is wanted.
    type Found;
    /// None if it is not wanted.
    fn find(&self, envelope: &Envelope) -> Option<Self::Found>;
}

/// What came out of a cell, besides the payload. Nothing of it is checked but the size.
#[derive(Clone, Copy, Debug)]
pub struct Popped {
    /// What it is: see [`Kind`].
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
        Self { walk: Walk::new(ring, position), position, reported: position }
    }

    /// The stamp that the next cell will have when it is complete, and where it is.
    pub(crate) fn next_stamp(&self) -> Option<(&AtomicU32, u32)> {
        let cell = self.walk.next()?;
        Some((&cell.stamp, (self.position as u32).wrapping_add(1)))
    }

    /// Where the sender reads whether this ring is watched.
    pub(crate) fn watch_flag(&self) -> &AtomicU32 {
        &self.walk.header().watched.0
    }

    /// The ring.
    pub(crate) const fn ring(&self) -> &Ring {
        self.walk.ring()
    }

    /// Which cell is next.
    #[cfg(test)]
    pub(super) const fn at(&self) -> usize {
        self.walk.at
    }

    /// True if a cell is complete.
    #[inline]
    pub fn is_ready(&self) -> bool {
        // PAIRS WITH: `Sender::publish`.
        self.next_stamp().is_some_and(|(stamp, next)| stamp.load(Ordering::Acquire) == next)
    }

    /// What the next complete cell is, and its moment.
    #[inline]
    pub fn next_head(&self) -> Option<(u8, u32)> {
        if !self.is_ready() {
            return None;
        }
        let cell = self.walk.next()?;
        // SAFETY: raw reads of plain bytes inside the cell.
        Some(read_shared!(cell.content, |content| unsafe {
            let head = &raw const (*content).head;
            ((&raw const (*head).kind).read(), (&raw const (*head).dst).read_unaligned())
        }))
    }

    /// The next complete cell; its payload goes to `room`. The sender learns now and then how far this
    /// end is.
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
        if self.position - self.reported > self.walk.cells as u64 / 4 {
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

    /// The next complete cell, which stays the next one; where the payload is longer than `room`, that grows.
    #[inline]
    pub fn peek(&self, room: &mut Room) -> Option<Popped> {
        let cell = self.walk.next()?;
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != (self.position as u32).wrapping_add(1) {
            return None;
        }
        Some(cell.content.with(|content| {
            // SAFETY: raw reads of plain bytes inside the cell, no more than any `Room` has. A sender that writes
            // although the cell is published spoils its own message.
            unsafe {
                let head = (&raw const (*content).head).read_unaligned();
                let from = (&raw const (*content).payload).cast::<u8>();
                let mut size = usize::from(head.size).min(INLINE_MAX);
                if !Kind::has_extent(head.kind) {
                    copy(from, room.as_mut_ptr(), size);
                    return Popped { kind: head.kind, envelope: head.envelope(), size, cells: 1 };
                }
                let envelope = head.envelope_of(&from.cast::<Extent>().read_unaligned());
                if head.kind == Kind::Spanning as u8 {
                    return self.peek_spanning(content, envelope, room);
                }
                size = size.saturating_sub(EXTENT_SIZE);
                copy(from.add(EXTENT_SIZE), room.as_mut_ptr(), size);
                Popped { kind: head.kind, envelope, size, cells: 1 }
            }
        }))
    }

    #[cold]
    fn peek_spanning(
        &self,
        first: *const Content,
        envelope: Option<Envelope>,
        room: &mut Room,
    ) -> Popped {
        let kind = Kind::Spanning as u8;
        let sound = envelope.zip(envelope.and_then(|envelope| self.size_of(&envelope)));
        let Some((envelope, size)) = sound else {
            return Popped { kind, envelope: None, size: 0, cells: 1 };
        };
        if room.len() < size {
            *room = room_for(size);
        }
        self.copy_spanning(first, &mut room[..size]);
        Popped { kind, envelope: Some(envelope), size, cells: spanned(size) }
    }

    /// Bytes of a spanning message's body; none if it is no such message's.
    #[inline(always)]
    fn size_of(&self, envelope: &Envelope) -> Option<usize> {
        let size = usize::try_from(envelope.body_size()).ok()?;
        let is_spanning = size > INLINE_MAX && size <= SPANNING_MAX;
        (is_spanning && spanned(size) <= self.walk.cells).then_some(size)
    }

    /// Copies as much of the spanning message that begins in `first` as `room` has place for.
    #[inline(always)]
    fn copy_spanning(&self, first: *const Content, room: &mut [u8]) {
        let (front, behind) = room.split_at_mut(room.len().min(SLAB_PAYLOAD_MAX));
        // SAFETY: as in `peek`; the payload has so many bytes behind the extent.
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

    /// Goes on behind what [`Receiver::peek`] gave.
    #[inline]
    pub fn step(&mut self, cells: usize) {
        self.position += cells as u64;
        self.walk.advance_by(cells);
    }

    /// Takes the next message if it lies whole in this ring, is no longer than `room` and is `wanted`; its
    /// payload goes to `room`, and what was found in it is given out. Whatever else is there stays.
    #[inline(always)]
    pub fn pop_wanted<W: Wanted>(
        &mut self,
        wanted: &W,
        room: &mut [u8],
    ) -> Option<(Envelope, usize, W::Found)> {
        let cell = self.walk.next()?;
        let next = self.position + 1;
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != next as u32 {
            return None;
        }
        let (envelope, size, found) = read_shared!(cell.content, |content| {
            // SAFETY: a raw read of plain bytes inside the cell.
            let head = unsafe { (&raw const (*content).head).read_unaligned() };
            if head.kind == Kind::Spanning as u8 {
                self.pop_wanted_spanning(&head, content, wanted, room)
            } else {
                Self::pop_wanted_inline(&head, content, wanted, room)
            }
        })?;
        if size > INLINE_MAX {
            self.step(spanned(size));
        } else {
            self.position = next;
            self.walk.advance();
        }
        // Of a stream the next one is there; else it is looked at soon anyway.
        if let Some(soon) = self.walk.next() {
            prefetch_to_read(soon);
        }
        if self.position - self.reported > self.walk.cells as u64 / 4 {
            self.report();
        }
        Some((envelope, size, found))
    }

    /// What [`Receiver::pop_wanted`] finds in one cell.
    #[inline(always)]
    fn pop_wanted_inline<W: Wanted>(
        head: &Head,
        content: *const Content,
        wanted: &W,
        room: &mut [u8],
    ) -> Option<(Envelope, usize, W::Found)> {
        let size = usize::from(head.size);
        if head.kind != Kind::Inline as u8 || size > room.len().min(INLINE_MAX) {
            return None;
        }
        let envelope = head.envelope()?;
        if envelope.body_size() != u64::from(head.size) {
            return None;
        }
        let found = wanted.find(&envelope)?;
        // SAFETY: a raw read of plain bytes inside the cell; `size` was read once and is no more than either has.
        unsafe {
            let from = (&raw const (*content).payload).cast::<u8>();
            copy(from, room.as_mut_ptr(), size);
        }
        Some((envelope, size, found))
    }

    /// What [`Receiver::pop_wanted`] finds of a message in several cells, of which the first one is complete.
    #[inline(never)]
    fn pop_wanted_spanning<W: Wanted>(
        &self,
        head: &Head,
        first: *const Content,
        wanted: &W,
        room: &mut [u8],
    ) -> Option<(Envelope, usize, W::Found)> {
        // SAFETY: as in `peek`.
        let extent = unsafe { (&raw const (*first).payload).cast::<Extent>().read_unaligned() };
        let envelope = head.envelope_of(&extent)?;
        let size = self.size_of(&envelope)?;
        let found = wanted.find(&envelope)?;
        self.copy_spanning(first, room.get_mut(..size)?);
        Some((envelope, size, found))
    }

    /// The oldest message that [`Receiver::pop_ahead`] gave, of so many cells, is done with.
    pub fn confirm(&mut self, cells: usize) {
        if self.reported < self.position {
            self.reported += cells as u64;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.walk.header().consumed.0.store(self.reported, Ordering::Release);
        }
    }

    /// Tells the sender how far this end has read.
    pub(crate) fn report(&mut self) {
        if self.reported != self.position {
            self.reported = self.position;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.walk.header().consumed.0.store(self.position, Ordering::Release);
        }
    }

    /// From now on the sender need not tell of what it publishes; [`Receiver::unwatch`] ends it.
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
