//! A place for one message, and its content.

use crate::lane::head::Head;
use crate::lane::kind::{EXTENT_SIZE, INLINE_MAX};
use crate::sync::{AtomicU32, Shared};

/// Bytes of a cell.
pub const CELL_SIZE: usize = 256;
/// Longest body of a message that lies in several cells: beyond this a slab costs less than the two
/// copies.
pub const SPANNING_MAX: usize = 4096;
/// The content of a cell behind its head.
pub(super) type Payload = [u8; INLINE_MAX];

/// A place for one message.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    pub(super) stamp: AtomicU32,
    pub(super) content: Shared<Content>,
}

/// Longest payload that lies in the cache line of its head.
pub const LINE_MAX: usize = 64 - (CELL_SIZE - INLINE_MAX);
/// Longest payload of a message that does not ride in its cell.
pub const SLAB_PAYLOAD_MAX: usize = INLINE_MAX - EXTENT_SIZE;
/// Bytes of a spanning message in each cell but the first: all but the stamp.
pub(super) const FOLLOWING: usize = CELL_SIZE - 4;

/// The cells of a spanning message with a body of `size` bytes.
#[inline]
pub(super) const fn spanned(size: usize) -> usize {
    1 + size.saturating_sub(SLAB_PAYLOAD_MAX).div_ceil(FOLLOWING)
}

/// All of a cell but the stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Content {
    pub(super) head: Head,
    pub(super) payload: Payload,
}

const _: () = assert!(cfg!(loom) || size_of::<Cell>() == CELL_SIZE);
const _: () = assert!(size_of::<Content>() == FOLLOWING && EXTENT_SIZE == 12);

impl Content {
    pub(super) const EMPTY: Self = Self { head: Head::NONE, payload: [0; _] };
}
