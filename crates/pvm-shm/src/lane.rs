//! A ring of cells that one sender fills and one receiver empties.
//!
//! ```text
//! segment:  0  consumed   64  watched   256 + 256 k  cell k
//! cell:     0 stamp u32   4 head (44 bytes)   48 payload (208 bytes)
//! ```
//! A cell begins with what a receive looks at first, so that a message of up to 16 bytes is one
//! cache line.
//!
//! The stamp of the cell for position `p` becomes `p + 1` when the cell is complete, and the
//! receiver reads nothing before. A sender that dies before that has sent nothing. One cell is
//! always kept back: when the ring is full, the sender writes *moved* into it and goes on in a
//! larger ring, so that a send neither waits for its receiver nor overtakes an earlier one.

use crate::segment::Mapping;
use crate::sync::{AtomicU32, AtomicU64, Ordering, Shared, fence};
use pvm_wire::{Encoding, Envelope, Layout, Tid};
use std::sync::Arc;

/// Bytes of data that ride in a cell.
pub const INLINE_MAX: usize = 208;
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

/// In front of the cells, each part on a cache line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// Written by the receiver: how far it has read. Exact whenever it found the ring empty.
    consumed: Line<AtomicU64>,
    /// Written by the receiver: 1 while it looks at the cells by itself and need not be told.
    watched: Line<AtomicU32>,
    /// For the lane of a direct route: not 0 once the daemon is to read it.
    released: Line<AtomicU32>,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Line<T>(T);

/// A place for one message.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    stamp: AtomicU32,
    content: Shared<Content>,
}

/// The envelope in a cell, and what the cell holds. Both ends are on one host, so the numbers are
/// as its processor has them.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Head {
    kind: u8,
    encoding: u8,
    layout: u8,
    flags: u8,
    /// Bytes of the payload; of a message that rides in the cell, those that are data; its runs.
    size: u8,
    data_size: u8,
    run_count: u16,
    tag: i32,
    context: i32,
    src: u32,
    dst: u32,
    wait_id: i32,
    first_run: u64,
    sequence: u64,
}

/// Of a message that does not ride in its cell: in front of the payload.
type Extent = [u8; EXTENT_SIZE];
const EXTENT_SIZE: usize = 12;
/// Longest payload of a message that does not ride in its cell.
pub const SLAB_PAYLOAD_MAX: usize = INLINE_MAX - EXTENT_SIZE;

/// What a cell holds but the stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Content {
    head: Head,
    payload: [u8; INLINE_MAX],
}

const _: () = assert!(cfg!(loom) || size_of::<Cell>() == CELL_SIZE);

impl Head {
    const EMPTY: Self = Self {
        kind: 0,
        encoding: 0,
        layout: 0,
        flags: 0,
        size: 0,
        data_size: 0,
        run_count: 0,
        tag: 0,
        context: 0,
        src: 0,
        dst: 0,
        wait_id: 0,
        first_run: 0,
        sequence: 0,
    };

    /// Of a message that rides in its cell.
    fn inline(kind: Kind, envelope: &Envelope, size: usize) -> Self {
        Self {
            kind: kind as u8,
            encoding: envelope.encoding as u8,
            layout: envelope.layout as u8,
            flags: envelope.flags as u8,
            size: size as u8,
            data_size: envelope.data_size as u8,
            run_count: envelope.run_count as u16,
            tag: envelope.tag,
            context: envelope.context,
            src: envelope.src.0,
            dst: envelope.dst.0,
            wait_id: envelope.wait_id,
            first_run: envelope.first_run,
            sequence: envelope.sequence,
        }
    }

    /// None if it is nonsense.
    fn envelope(&self) -> Option<Envelope> {
        Some(Envelope {
            src: Tid(self.src),
            dst: Tid(self.dst),
            tag: self.tag,
            context: self.context,
            encoding: Encoding::from_number(self.encoding.into())?,
            layout: Layout::from_number(self.layout)?,
            flags: self.flags.into(),
            run_count: self.run_count.into(),
            wait_id: self.wait_id,
            data_size: self.data_size.into(),
            first_run: self.first_run,
            sequence: self.sequence,
        })
    }
}

impl Content {
    const EMPTY: Self = Self { head: Head::EMPTY, payload: [0; _] };
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
        let header = Header {
            consumed: Line(AtomicU64::new(0)),
            watched: Line(AtomicU32::new(0)),
            released: Line(AtomicU32::new(0)),
        };
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

/// The end of a lane that fills it.
#[derive(Debug)]
pub struct Sender {
    ring: Ring,
    /// How many cells, and the one for `position`.
    cells: usize,
    at: usize,
    position: u64,
    consumed: u64,
}

/// The ring has no free cell but the one that is kept back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl Sender {
    /// The only sender of this ring.
    pub fn new(ring: Ring) -> Self {
        Self { cells: ring.cells().len(), ring, at: 0, position: 0, consumed: 0 }
    }

    /// How many cells the ring has.
    pub const fn cells(&self) -> u32 {
        self.cells as u32
    }

    fn has_room(&mut self, kept: u64) -> bool {
        let room = (self.cells as u64).saturating_sub(kept);
        if self.position - self.consumed < room {
            return true;
        }
        // PAIRS WITH: `Receiver::report`. What it claims beyond our own position is a lie.
        let consumed = self.ring.header().consumed.0.load(Ordering::Acquire);
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
    #[inline]
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
        &self.ring
    }

    /// The oldest message is done with: only where the sender itself moves the mark.
    pub fn confirm(&mut self) {
        if self.consumed < self.position {
            self.consumed += 1;
            self.ring.header().consumed.0.store(self.consumed, Ordering::Release);
        }
    }

    /// True if the receiver has reported that it has read all of it.
    pub(crate) fn is_read(&mut self) -> bool {
        // Looks at the mark, as no ring has that much room.
        self.has_room(self.cells as u64);
        self.consumed == self.position
    }

    /// Ends this ring: the lane goes on in `segment`.
    pub fn push_moved(&mut self, segment: u32) {
        debug_assert!(self.has_room(0), "the cell was kept back");
        let head = Head { kind: Kind::Moved as u8, size: 4, ..Head::EMPTY };
        self.publish(&head, &[], &segment.to_ne_bytes());
    }

    #[inline]
    fn publish(&mut self, head: &Head, extent: &[u8], payload: &[u8]) {
        let Some(cell) = self.ring.cells().get(self.at) else { return };
        assert!(extent.len() + payload.len() <= INLINE_MAX);
        cell.content.with_mut(|content| {
            // SAFETY: the receiver does not read this cell before its stamp says so, and it has
            // reported that it is done with the former message in it; raw writes of plain bytes.
            unsafe {
                (&raw mut (*content).head).write_unaligned(*head);
                let to = (&raw mut (*content).payload).cast::<u8>();
                std::ptr::copy_nonoverlapping(extent.as_ptr(), to, extent.len());
                let to = to.add(extent.len());
                std::ptr::copy_nonoverlapping(payload.as_ptr(), to, payload.len());
            }
        });
        self.position += 1;
        self.at = if self.at + 1 == self.cells { 0 } else { self.at + 1 };
        // PAIRS WITH: `Receiver::pop`.
        cell.stamp.store(self.position as u32, Ordering::Release);
    }

    /// Asked behind a [`Sender::push`]: true if the receiver looks at this ring by itself, so
    /// that it need not be told. PAIRS WITH: `Receiver::unwatch`. Either the receiver that ends its
    /// watch sees the cell, or this sees that the watch has ended.
    #[inline]
    pub fn is_watched(&self) -> bool {
        fence(Ordering::SeqCst);
        self.ring.header().watched.0.load(Ordering::Relaxed) != 0
    }
}

/// The end of a lane that empties it.
#[derive(Debug)]
pub struct Receiver {
    ring: Ring,
    /// How many cells, and the one for `position`.
    cells: usize,
    at: usize,
    position: u64,
    reported: u64,
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
}

/// Room for the payload of any cell.
pub type Room = [u8; INLINE_MAX];

impl Receiver {
    /// The only receiver of this ring. It goes on where the one before it stopped: a daemon that
    /// is replaced has its inbox read by the next one.
    pub fn new(ring: Ring) -> Self {
        // PAIRS WITH: `report`. The top bit is cut off so that no lie overflows a position.
        let position = ring.header().consumed.0.load(Ordering::Acquire) & (u64::MAX >> 1);
        let cells = ring.cells().len();
        let at = (position % cells.max(1) as u64) as usize;
        Self { ring, cells, at, position, reported: position }
    }

    /// The stamp that the next cell will have when it is complete, and where it is.
    pub(crate) fn next_stamp(&self) -> Option<(&AtomicU32, u32)> {
        let cell = self.ring.cells().get(self.at)?;
        Some((&cell.stamp, (self.position as u32).wrapping_add(1)))
    }

    /// Where the sender reads whether this ring is watched.
    pub(crate) fn watch_flag(&self) -> &AtomicU32 {
        &self.ring.header().watched.0
    }

    /// The ring.
    pub(crate) const fn ring(&self) -> &Ring {
        &self.ring
    }

    /// True if a cell is complete.
    #[inline]
    pub fn is_ready(&self) -> bool {
        // PAIRS WITH: `Sender::publish`.
        self.next_stamp().is_some_and(|(stamp, next)| stamp.load(Ordering::Acquire) == next)
    }

    /// The next complete cell; its payload goes to `room`. The sender learns now and then how far this
    /// end is.
    #[inline]
    pub fn pop(&mut self, room: &mut Room) -> Option<Popped> {
        let popped = self.pop_ahead(room);
        if popped.is_none() || self.position - self.reported > self.cells as u64 / 4 {
            self.report();
        }
        popped
    }

    /// The next complete cell, which stays the sender's until it is confirmed: a receiver that
    /// takes over from this one gets it again.
    #[inline]
    pub fn pop_ahead(&mut self, room: &mut Room) -> Option<Popped> {
        let cell = self.ring.cells().get(self.at)?;
        let next = self.position + 1;
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != next as u32 {
            return None;
        }
        let popped = cell.content.with(|content| {
            // SAFETY: raw reads of plain bytes inside the cell. A sender that writes although
            // the cell is published spoils its own message.
            unsafe {
                let head = (&raw const (*content).head).read_unaligned();
                let mut size = usize::from(head.size).min(INLINE_MAX);
                let mut from = (&raw const (*content).payload).cast::<u8>();
                let mut envelope = head.envelope();
                if head.kind == Kind::Slab as u8 {
                    let extent: Extent = from.cast::<Extent>().read();
                    size = size.saturating_sub(EXTENT_SIZE);
                    from = from.add(EXTENT_SIZE);
                    if let Some(envelope) = &mut envelope {
                        let (data_size, run_count) = extent.split_at(8);
                        envelope.data_size =
                            u64::from_ne_bytes(data_size.try_into().unwrap_or_default());
                        envelope.run_count =
                            u32::from_ne_bytes(run_count.try_into().unwrap_or_default());
                    }
                }
                std::ptr::copy_nonoverlapping(from, room.as_mut_ptr(), size);
                Popped { kind: head.kind, envelope, size }
            }
        });
        self.position = next;
        self.at = if self.at + 1 == self.cells { 0 } else { self.at + 1 };
        Some(popped)
    }

    /// The oldest of the cells that [`Receiver::pop_ahead`] gave is done with.
    pub fn confirm(&mut self) {
        if self.reported < self.position {
            self.reported += 1;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.ring.header().consumed.0.store(self.reported, Ordering::Release);
        }
    }

    /// Tells the sender how far this end has read.
    pub(crate) fn report(&mut self) {
        if self.reported != self.position {
            self.reported = self.position;
            // PAIRS WITH: `Sender::has_room`, `Ring::is_drained`.
            self.ring.header().consumed.0.store(self.position, Ordering::Release);
        }
    }

    /// From now on the sender need not tell of what it publishes; [`Receiver::unwatch`] ends it.
    pub fn watch(&self) {
        self.ring.header().watched.0.store(1, Ordering::Relaxed);
    }

    /// The sender tells again; true if it has published something meanwhile. PAIRS WITH:
    /// `Sender::is_watched`.
    pub fn unwatch(&self) -> bool {
        self.ring.header().watched.0.store(0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.is_ready()
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

    fn pop(receiver: &mut Receiver) -> Option<(Popped, Room)> {
        let mut room = [0; _];
        Some((receiver.pop(&mut room)?, room))
    }

    fn sequence(popped: &Popped) -> u64 {
        popped.envelope.expect("our own").sequence
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
                let Some((popped, _)) = pop(&mut receiver) else { break };
                assert_eq!((sequence(&popped), popped.size), (received, 1));
                received += 1;
            }
        }
        while pop(&mut receiver).is_some() {
            received += 1;
        }
        assert_eq!(sent, received);
        assert!(ring.is_drained());
    }

    #[test]
    fn every_part_of_an_envelope_comes_out_of_the_cell() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring));
        let mut sent = Envelope {
            encoding: Encoding::Raw,
            layout: Layout::Big32,
            flags: 0x81,
            wait_id: -5,
            data_size: 200,
            run_count: 1,
            first_run: u64::MAX - 7,
            ..Envelope::new(Tid(u32::MAX), Tid(77), -1, i32::MIN)
        };
        sent.sequence = u64::MAX;
        sender.push(Kind::Inline, &sent, &[7; 200]).expect("room");
        let (popped, room) = pop(&mut receiver).expect("sent");
        assert_eq!((popped.envelope, popped.size, room[199]), (Some(sent), 200, 7));
        (sent.data_size, sent.run_count) = (u64::MAX, u32::MAX);
        sender.push(Kind::Slab, &sent, &[9; SLAB_PAYLOAD_MAX]).expect("room");
        let (popped, room) = pop(&mut receiver).expect("sent");
        assert_eq!((popped.envelope, popped.size), (Some(sent), SLAB_PAYLOAD_MAX));
        assert_eq!(room[..popped.size], [9; SLAB_PAYLOAD_MAX]);
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
            assert_eq!(sequence(&pop(&mut receiver).expect("sent").0), i);
        }
        let (moved, room) = pop(&mut receiver).expect("moved");
        assert_eq!((moved.kind, &room[..4]), (Kind::Moved as u8, &77u32.to_ne_bytes()[..]));
        assert!(pop(&mut receiver).is_none() && ring.is_drained());
    }

    #[test]
    fn a_second_receiver_goes_on_where_the_first_one_stopped() {
        let ring = Ring::on_heap(8);
        let mut sender = Sender::new(ring.clone());
        for i in 0..5 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        let mut first = Receiver::new(ring.clone());
        while pop(&mut first).is_some() {}
        sender.push(Kind::Inline, &envelope(5), &[]).expect("room");
        let (popped, _) = pop(&mut Receiver::new(ring)).expect("one more");
        assert_eq!(sequence(&popped), 5);
    }

    #[test]
    fn what_was_read_ahead_and_not_confirmed_is_read_again_by_the_next_receiver() {
        let ring = Ring::on_heap(4);
        let (mut sender, mut first) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for i in 0..3 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        let mut room: Room = [0; _];
        while first.pop_ahead(&mut room).is_some() {}
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
        first.confirm();
        sender.push(Kind::Inline, &envelope(3), &[]).expect("one is done with");
        let mut second = Receiver::new(ring.clone());
        for i in 1..4 {
            assert_eq!(sequence(&second.pop_ahead(&mut room).expect("not confirmed")), i);
            second.confirm();
        }
        second.confirm();
        assert!(second.pop_ahead(&mut room).is_none() && ring.is_drained());
    }

    #[test]
    fn a_receiver_that_lies_about_its_progress_gets_nothing_overwritten() {
        let ring = Ring::on_heap(4);
        let mut sender = Sender::new(ring.clone());
        ring.header().consumed.0.store(u64::MAX, Ordering::Relaxed);
        for i in 0..3 {
            assert_eq!(sender.push(Kind::Inline, &envelope(i), &[]), Ok(()));
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
    }
}
