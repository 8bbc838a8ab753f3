//! The kinds of cells, and the sizes in front of a payload that is no message by itself.

use pvm_wire::Envelope;

/// Bytes of data that ride in a cell.
pub const INLINE_MAX: usize = 208;

/// The kind of a cell's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A whole message.
    Inline = 1,
    /// A message whose body lies in a slab; the payload is a descriptor.
    Slab = 2,
    /// No message: the lane goes on in the segment that the payload names.
    Moved = 3,
    /// A message whose body lies in a slab that may still be written; the payload is a descriptor
    /// and the number of the slot.
    Stream = 4,
    /// A whole message, of which the body goes on in the cells behind. Those have no stamp of their
    /// own: the first one's is written last.
    Spanning = 5,
}

impl Kind {
    /// True if the size of the message does not stand in the head.
    #[inline]
    pub(super) const fn has_extent(kind: u8) -> bool {
        kind == Self::Slab as u8 || kind == Self::Stream as u8 || kind == Self::Spanning as u8
    }
}

/// The extent of a message that does not ride in its cell; it stands in front of the payload.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Extent {
    pub(super) data_size: u64,
    pub(super) run_count: u32,
}
pub(super) const EXTENT_SIZE: usize = size_of::<Extent>();

impl Extent {
    /// The sizes that `Head::envelope_of` reads.
    #[inline]
    pub(super) const fn of(envelope: &Envelope) -> Self {
        Self { data_size: envelope.data_size, run_count: envelope.run_count }
    }
}
