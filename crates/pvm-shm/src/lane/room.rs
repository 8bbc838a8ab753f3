//! Memory for a message out of its lane.

use crate::lane::kind::INLINE_MAX;
use std::ops::{Deref, DerefMut};

/// At least [`INLINE_MAX`] bytes, so that the payload of any one cell is copied there without a
/// question. Only [`room_for`] makes one, and none becomes shorter.
#[derive(Clone, Debug)]
pub struct Room(Box<[u8]>);

/// Room for `size` bytes and the payload of any cell.
pub fn room_for(size: usize) -> Room {
    let size = if size <= INLINE_MAX { INLINE_MAX } else { size.next_power_of_two() };
    Room(vec![0; size].into_boxed_slice())
}

impl Deref for Room {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Room {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_room_is_shorter_than_what_a_cell_holds() {
        for size in [0, 1, INLINE_MAX - 1, INLINE_MAX, INLINE_MAX + 1, 4096, 5000] {
            assert!(room_for(size).len() >= size.max(INLINE_MAX), "{size}");
        }
    }
}
