//! The end of a lane that fills it.

use crate::bytes::{copy, prefetch_to_write};
use crate::lane::cell::{EXTENT_SIZE, Extent, Head, INLINE_MAX, Kind};
use crate::lane::ring::{Ring, Walk};
use crate::sync::{Ordering, fence, write_shared};
use pvm_wire::Envelope;

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

    /// How many cells the ring has.
    pub const fn cells(&self) -> u32 {
        self.walk.cells as u32
    }

    #[inline(always)]
    fn has_room(&mut self, kept: u64) -> bool {
        let room = (self.walk.cells as u64).saturating_sub(kept);
        if self.position - self.consumed < room {
            return true;
        }
        // PAIRS WITH: `Receiver::report`. What it claims beyond our own position is a lie.
        let consumed = self.walk.header().consumed.0.load(Ordering::Acquire);
        if consumed > self.consumed && consumed <= self.position {
            self.consumed = consumed;
        }
        self.position - self.consumed < room
    }

    /// Publishes a message or a descriptor; `payload` is at most [`INLINE_MAX`] long, or
    /// [`SLAB_PAYLOAD_MAX`] where the message does not ride in the cell.
    ///
    /// # Errors
    /// The ring is full; the lane must move.
    #[inline(always)]
    pub fn push(&mut self, kind: Kind, envelope: &Envelope, payload: &[u8]) -> Result<(), Full> {
        if !self.has_room(1) {
            return Err(Full);
        }
        if kind == Kind::Inline {
            self.publish(&Head::inline(kind, envelope, payload.len()), &[], payload);
        } else {
            let mut extent: Extent = [0; _];
            extent[..8].copy_from_slice(&envelope.data_size.to_ne_bytes());
            extent[8..].copy_from_slice(&envelope.run_count.to_ne_bytes());
            let size = EXTENT_SIZE + payload.len();
            self.publish(&Head::inline(kind, envelope, size), &extent, payload);
        }
        Ok(())
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
        self.publish(&Head::MOVED, &[], &segment.to_ne_bytes());
    }

    #[inline(always)]
    fn publish(&mut self, head: &Head, extent: &[u8], payload: &[u8]) {
        let Some(cell) = self.walk.next() else { return };
        assert!(extent.len() + payload.len() <= INLINE_MAX);
        write_shared!(cell.content, |content| {
            // SAFETY: the receiver does not read this cell before its stamp says so, and it has
            // reported that it is done with the former message in it; raw writes of plain bytes.
            unsafe {
                (&raw mut (*content).head).write_unaligned(*head);
                let to = (&raw mut (*content).payload).cast::<u8>();
                copy(extent.as_ptr(), to, extent.len());
                let to = to.add(extent.len());
                copy(payload.as_ptr(), to, payload.len());
            }
        });
        self.position += 1;
        // PAIRS WITH: `Receiver::pop`.
        cell.stamp.store(self.position as u32, Ordering::Release);
        self.walk.advance();
        // The receiver looks at the next one; the one behind that can come here meanwhile.
        if let Some(soon) = self.walk.second() {
            prefetch_to_write(soon);
        }
    }

    /// Asked behind a [`Sender::push`]: true if the receiver looks at this ring by itself, so
    /// that it need not be told. PAIRS WITH: `Receiver::unwatch`. Either the receiver that ends its
    /// watch sees the cell, or this sees that the watch has ended.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        fence(Ordering::SeqCst);
        self.walk.header().watched.0.load(Ordering::Relaxed) != 0
    }
}
