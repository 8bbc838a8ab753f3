//! A place for one message, and what lies in it.

use crate::sync::{AtomicU32, Shared};
use pvm_wire::{Encoding, Envelope, Layout, Tid};

/// Bytes of data that ride in a cell.
pub const INLINE_MAX: usize = 208;
/// Bytes of a cell.
pub const CELL_SIZE: usize = 256;
/// Longest body of a message that lies in its cell and those behind it: beyond this a slab costs less than two
/// copies more.
pub const SPANNING_MAX: usize = 4096;
/// What a cell holds behind its head.
pub(super) type Payload = [u8; INLINE_MAX];

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
    /// A message whose body lies in a slab that may still be written; the payload is a descriptor and the
    /// number of the slot.
    Stream = 4,
    /// A whole message, of which the body goes on in the cells behind. Those have no stamp of their own: the first one's
    /// is written last.
    Spanning = 5,
}

impl Kind {
    /// True if the size of the message does not stand in the head.
    #[inline(always)]
    pub(super) const fn has_extent(kind: u8) -> bool {
        kind == Self::Slab as u8 || kind == Self::Stream as u8 || kind == Self::Spanning as u8
    }
}

/// A place for one message.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    pub(super) stamp: AtomicU32,
    pub(super) content: Shared<Content>,
}

/// The envelope in a cell, and what the cell holds. Both ends are on one host, so the numbers are
/// as its processor has them.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Head {
    pub(super) kind: u8,
    encoding: u8,
    layout: u8,
    pub(super) flags: u8,
    /// Bytes of the payload; of a message that rides in the cell, those that are data; its runs.
    pub(super) size: u8,
    data_size: u8,
    run_count: u16,
    pub(super) tag: i32,
    pub(super) context: i32,
    pub(super) src: u32,
    /// In lanes to tasks, which know their own names, the lower half of the moment ([`crate::clock`]).
    pub(super) dst: u32,
    wait_id: i32,
    first_run: u64,
    sequence: u64,
}

/// Of a message that does not ride in its cell: in front of the payload.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Extent {
    data_size: u64,
    run_count: u32,
}
pub(super) const EXTENT_SIZE: usize = size_of::<Extent>();
/// Longest payload of a message that does not ride in its cell.
pub const SLAB_PAYLOAD_MAX: usize = INLINE_MAX - EXTENT_SIZE;
/// Bytes of a spanning message in each cell but the first: all but the stamp.
pub(super) const FOLLOWING: usize = CELL_SIZE - 4;

/// The cells of a spanning message with a body of so many bytes.
#[inline(always)]
pub(super) const fn spanned(size: usize) -> usize {
    1 + size.saturating_sub(SLAB_PAYLOAD_MAX).div_ceil(FOLLOWING)
}

/// What a cell holds but the stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Content {
    pub(super) head: Head,
    pub(super) payload: Payload,
}

const _: () = assert!(cfg!(loom) || size_of::<Cell>() == CELL_SIZE);
const _: () = assert!(size_of::<Content>() == FOLLOWING && EXTENT_SIZE == 12);

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

    /// Of the last cell of a ring: its payload is the number of a segment.
    pub(super) const MOVED: Self = Self { kind: Kind::Moved as u8, size: 4, ..Self::EMPTY };

    /// Of a message of which so many bytes are in the cell.
    #[inline(always)]
    pub(super) fn inline(kind: Kind, envelope: &Envelope, size: usize) -> Self {
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
    #[inline(always)]
    pub(super) fn envelope(&self) -> Option<Envelope> {
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

    /// The envelope where size and runs stand in front of the payload.
    #[inline(always)]
    pub(super) fn envelope_of(&self, extent: &Extent) -> Option<Envelope> {
        let Extent { data_size, run_count } = *extent;
        Some(Envelope { data_size, run_count, ..self.envelope()? })
    }
}

impl Extent {
    /// What [`Head::envelope_of`] reads.
    #[inline(always)]
    pub(super) const fn of(envelope: &Envelope) -> Self {
        Self { data_size: envelope.data_size, run_count: envelope.run_count }
    }
}

impl Content {
    pub(super) const EMPTY: Self = Self { head: Head::EMPTY, payload: [0; _] };
}
