//! A ring of cells that one sender fills and one receiver empties.
//!
//! ```text
//! segment:  0        header (256 bytes)    256 + 256 k   cell k
//! cell:     0 stamp u32   4 kind u16   6 inline size u16   8 envelope (56)   64 payload (192)
//! ```
//! The stamp of the cell for position `p` becomes `p + 1` when the cell is complete, and the
//! receiver reads nothing before. A sender that dies before that has sent nothing. One cell is
//! always kept back: when the ring is full, the sender writes *moved* into it and goes on in a
//! larger ring, so that a send neither waits for its receiver nor overtakes an earlier one.

use crate::segment::Mapping;
use crate::sync::{AtomicU32, AtomicU64, Ordering, Shared};
use pvm_wire::Envelope;
use std::sync::Arc;

/// Bytes of data that ride in a cell.
pub const INLINE_MAX: usize = 192;
/// Bytes in front of the cells.
pub const HEADER_SIZE: usize = 256;
/// Bytes of a cell.
pub const CELL_SIZE: usize = 256;
/// Cells of a new lane: 16 KiB for a pair of tasks that talk.
pub const CELLS_FIRST: u32 = 64;
/// A ring that is full is followed by one this many times as large.
pub const GROWTH: u32 = 8;
/// No ring is larger: 16 MiB.
pub const CELLS_MAX: u32 = 1 << 16;

/// What a cell holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Kind {
    /// A whole message.
    Inline = 1,
    /// A message whose body lies in a slab; the payload is a descriptor.
    Slab = 2,
    /// No message: the lane goes on in the segment that the payload names.
    Moved = 3,
}

/// In front of the cells.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// Written by the receiver: how far it has read. Exact whenever it found the ring empty.
    consumed: AtomicU64,
    /// For the lane of a direct route: not 0 once the daemon is to read it.
    released: AtomicU32,
}

/// A place for one message.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    stamp: AtomicU32,
    content: Shared<Content>,
}

/// What a cell holds but the stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Content {
    kind: u16,
    size: u16,
    envelope: [u8; Envelope::SIZE],
    payload: [u8; INLINE_MAX],
}

const _: () = assert!(cfg!(loom) || size_of::<Cell>() == CELL_SIZE);

impl Content {
    const EMPTY: Self = Self { kind: 0, size: 0, envelope: [0; _], payload: [0; _] };
}

/// Bytes of a segment for a ring of `cells`.
pub const fn segment_size(cells: u32) -> usize {
    HEADER_SIZE + cells as usize * CELL_SIZE
}

/// Where a ring lies.
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
        let header = Header { consumed: AtomicU64::new(0), released: AtomicU32::new(0) };
        Self::Heap(Arc::new((header, (0..cells).map(|_| cell()).collect())))
    }

    fn header(&self) -> &Header {
        match self {
            // SAFETY: an atomic, valid for any bits.
            Self::Shared(mapping) => unsafe { mapping.view(0) },
            Self::Heap(heap) => &heap.0,
        }
    }

    fn cells(&self) -> &[Cell] {
        match self {
            Self::Shared(mapping) => {
                let cells = (mapping.size() - HEADER_SIZE) / CELL_SIZE;
                // SAFETY: an atomic and bytes behind `Shared`, valid for any bits.
                unsafe { mapping.views(HEADER_SIZE, cells) }
            }
            Self::Heap(heap) => &heap.1,
        }
    }

    /// From now on the daemon reads the lane of a direct route, from the mark on. For any of
    /// those who have it mapped. PAIRS WITH: `is_released` behind a publication.
    pub fn release(&self) {
        self.header().released.store(1, Ordering::SeqCst);
    }

    /// True once [`Ring::release`] was called.
    pub fn is_released(&self) -> bool {
        self.header().released.load(Ordering::SeqCst) != 0
    }

    /// Keeper: true if everything that was published has been read. Only to be asked when the
    /// sender is gone.
    pub fn is_drained(&self) -> bool {
        let cells = self.cells();
        let consumed = self.header().consumed.load(Ordering::Acquire);
        let index = (consumed % cells.len().max(1) as u64) as usize;
        cells.get(index).is_none_or(|cell| {
            cell.stamp.load(Ordering::Acquire) != (consumed as u32).wrapping_add(1)
        })
    }
}

/// The end of a lane that fills it.
#[derive(Debug)]
pub struct Sender {
    ring: Ring,
    position: u64,
    consumed: u64,
}

/// The ring has no free cell but the one that is kept back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl Sender {
    /// The only sender of this ring.
    pub const fn new(ring: Ring) -> Self {
        Self { ring, position: 0, consumed: 0 }
    }

    /// How many cells the ring has.
    pub fn cells(&self) -> u32 {
        self.ring.cells().len() as u32
    }

    fn has_room(&mut self, kept: u64) -> bool {
        let room = (self.ring.cells().len() as u64).saturating_sub(kept);
        if self.position - self.consumed < room {
            return true;
        }
        // PAIRS WITH: `Receiver::report`. What it claims beyond our own position is a lie.
        let consumed = self.ring.header().consumed.load(Ordering::Acquire);
        if consumed > self.consumed && consumed <= self.position {
            self.consumed = consumed;
        }
        self.position - self.consumed < room
    }

    /// Publishes a message or a descriptor; `payload` is at most [`INLINE_MAX`] long.
    ///
    /// # Errors
    /// The ring is full; the lane must move.
    pub fn push(&mut self, kind: Kind, envelope: &Envelope, payload: &[u8]) -> Result<(), Full> {
        if !self.has_room(1) {
            return Err(Full);
        }
        self.publish(kind, &envelope.to_array(), payload);
        Ok(())
    }

    /// The ring.
    pub const fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The oldest message is done with: only where the sender itself moves the mark.
    pub fn confirm(&mut self) {
        if self.consumed < self.position {
            self.consumed += 1;
            self.ring.header().consumed.store(self.consumed, Ordering::Release);
        }
    }

    /// Ends this ring: the lane goes on in `segment`.
    pub fn push_moved(&mut self, segment: u32) {
        debug_assert!(self.has_room(0), "the cell was kept back");
        self.publish(Kind::Moved, &[0; _], &segment.to_le_bytes());
    }

    fn publish(&mut self, kind: Kind, envelope: &[u8; Envelope::SIZE], payload: &[u8]) {
        let cells = self.ring.cells();
        let cell = &cells[(self.position % cells.len() as u64) as usize];
        assert!(payload.len() <= INLINE_MAX);
        cell.content.with_mut(|content| {
            // SAFETY: the receiver does not read this cell before its stamp says so, and it has
            // reported that it is done with the former message in it; raw writes of plain bytes.
            unsafe {
                (&raw mut (*content).kind).write(kind as u16);
                (&raw mut (*content).size).write(payload.len() as u16);
                (&raw mut (*content).envelope).write(*envelope);
                let to = (&raw mut (*content).payload).cast::<u8>();
                std::ptr::copy_nonoverlapping(payload.as_ptr(), to, payload.len());
            }
        });
        self.position += 1;
        // PAIRS WITH: `Receiver::pop`.
        cell.stamp.store(self.position as u32, Ordering::Release);
    }
}

/// The end of a lane that empties it.
#[derive(Debug)]
pub struct Receiver {
    ring: Ring,
    position: u64,
    reported: u64,
}

/// What came out of a cell. Nothing of it is checked but the size.
#[derive(Clone, Copy, Debug)]
pub struct Popped {
    /// What it is: see [`Kind`].
    pub kind: u16,
    /// The envelope's bytes.
    pub envelope: [u8; Envelope::SIZE],
    /// Bytes of the payload.
    pub size: usize,
    /// The payload.
    pub payload: [u8; INLINE_MAX],
}

impl Receiver {
    /// The only receiver of this ring. It goes on where the one before it stopped: a daemon that
    /// is replaced has its inbox read by the next one.
    pub fn new(ring: Ring) -> Self {
        // PAIRS WITH: `report`. The top bit is cut off so that no lie overflows a position.
        let position = ring.header().consumed.load(Ordering::Acquire) & (u64::MAX >> 1);
        Self { ring, position, reported: position }
    }

    /// The next complete cell. The sender learns now and then how far this end is.
    pub fn pop(&mut self) -> Option<Popped> {
        let popped = self.pop_ahead();
        if popped.is_none() || self.position - self.reported > self.ring.cells().len() as u64 / 4 {
            self.report();
        }
        popped
    }

    /// The next complete cell, which stays the sender's until it is confirmed: a receiver that
    /// takes over from this one gets it again.
    pub fn pop_ahead(&mut self) -> Option<Popped> {
        let cells = self.ring.cells();
        let cell = cells.get((self.position % cells.len().max(1) as u64) as usize)?;
        let next = self.position + 1;
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != next as u32 {
            return None;
        }
        let popped = cell.content.with(|content| {
            let mut popped =
                Popped { kind: 0, envelope: [0; _], size: 0, payload: [0; INLINE_MAX] };
            // SAFETY: raw reads of plain bytes inside the cell. A sender that writes although
            // the cell is published spoils its own message.
            unsafe {
                popped.kind = (&raw const (*content).kind).read();
                popped.size = usize::from((&raw const (*content).size).read()).min(INLINE_MAX);
                popped.envelope = (&raw const (*content).envelope).read();
                let from = (&raw const (*content).payload).cast::<u8>();
                let to = popped.payload.as_mut_ptr();
                std::ptr::copy_nonoverlapping(from, to, popped.size);
            }
            popped
        });
        self.position = next;
        Some(popped)
    }

    /// The oldest of the cells that [`Receiver::pop_ahead`] gave is done with.
    pub fn confirm(&mut self) {
        if self.reported < self.position {
            self.reported += 1;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.ring.header().consumed.store(self.reported, Ordering::Release);
        }
    }

    /// Tells the sender how far this end has read.
    fn report(&mut self) {
        if self.reported != self.position {
            self.reported = self.position;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.ring.header().consumed.store(self.position, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use pvm_wire::Tid;

    fn envelope(sequence: u64) -> Envelope {
        let mut envelope = Envelope::new(Tid(1), Tid(2), 3, 0);
        envelope.sequence = sequence;
        envelope
    }

    fn sequence(popped: &Popped) -> u64 {
        Envelope::from_array(&popped.envelope).expect("our own").sequence
    }

    #[test]
    fn messages_come_out_in_order_over_many_laps() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        let (mut sent, mut received) = (0, 0);
        for step in 0..1000u64 {
            for _ in 0..step % 9 {
                sent += u64::from(sender.push(Kind::Inline, &envelope(sent), b"x").is_ok());
            }
            for _ in 0..step % 7 {
                let Some(popped) = receiver.pop() else { break };
                assert_eq!((sequence(&popped), popped.size), (received, 1));
                received += 1;
            }
        }
        while receiver.pop().is_some() {
            received += 1;
        }
        assert_eq!(sent, received);
        assert!(ring.is_drained());
    }

    #[test]
    fn a_full_ring_still_has_the_cell_to_say_where_it_goes_on() {
        let ring = Ring::on_heap(4);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for i in 0..3 {
            assert_eq!(sender.push(Kind::Inline, &envelope(i), &[]), Ok(()));
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
        sender.push_moved(77);
        assert!(!ring.is_drained());
        for i in 0..3 {
            assert_eq!(sequence(&receiver.pop().expect("sent")), i);
        }
        let moved = receiver.pop().expect("moved");
        assert_eq!(
            (moved.kind, &moved.payload[..4]),
            (Kind::Moved as u16, &77u32.to_le_bytes()[..])
        );
        assert!(receiver.pop().is_none() && ring.is_drained());
    }

    #[test]
    fn a_second_receiver_goes_on_where_the_first_one_stopped() {
        let ring = Ring::on_heap(8);
        let mut sender = Sender::new(ring.clone());
        for i in 0..5 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        let mut first = Receiver::new(ring.clone());
        while first.pop().is_some() {}
        sender.push(Kind::Inline, &envelope(5), &[]).expect("room");
        let popped = Receiver::new(ring).pop().expect("one more");
        assert_eq!(sequence(&popped), 5);
    }

    #[test]
    fn what_was_read_ahead_and_not_confirmed_is_read_again_by_the_next_receiver() {
        let ring = Ring::on_heap(4);
        let (mut sender, mut first) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for i in 0..3 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        while first.pop_ahead().is_some() {}
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
        first.confirm();
        sender.push(Kind::Inline, &envelope(3), &[]).expect("one is done with");
        let mut second = Receiver::new(ring.clone());
        for i in 1..4 {
            assert_eq!(sequence(&second.pop_ahead().expect("not confirmed")), i);
            second.confirm();
        }
        second.confirm();
        assert!(second.pop_ahead().is_none() && ring.is_drained());
    }

    #[test]
    fn a_receiver_that_lies_about_its_progress_gets_nothing_overwritten() {
        let ring = Ring::on_heap(4);
        let mut sender = Sender::new(ring.clone());
        ring.header().consumed.store(u64::MAX, Ordering::Relaxed);
        for i in 0..3 {
            assert_eq!(sender.push(Kind::Inline, &envelope(i), &[]), Ok(()));
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
    }
}
