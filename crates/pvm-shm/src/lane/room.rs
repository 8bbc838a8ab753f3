//! Memory for a message out of its lane.

use crate::lane::kind::INLINE_MAX;
use std::ops::{Deref, DerefMut};

/// At least [`INLINE_MAX`] bytes, so that the payload of any one cell is copied there without a
/// question. Only [`room_for`] and [`try_room_for`] make one, and none becomes shorter.
#[derive(Clone, Debug)]
pub struct Room(Box<[u8]>);

/// Room for `size` bytes and the payload of any cell.
pub fn room_for(size: usize) -> Room {
    Room(vec![0; whole(size)].into_boxed_slice())
}

/// Like `room_for`; none without memory.
pub fn try_room_for(size: usize) -> Option<Room> {
    let size = whole(size);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).ok()?;
    bytes.resize(size, 0);
    Some(Room(bytes.into_boxed_slice()))
}

const fn whole(size: usize) -> usize {
    if size <= INLINE_MAX { INLINE_MAX } else { size.next_power_of_two() }
}

impl Deref for Room {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Room {
    #[inline]
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
            let rooms = [Some(room_for(size)), try_room_for(size)];
            let is_enough = |room: &Room| room.len() >= size.max(INLINE_MAX);
            assert!(rooms.iter().flatten().filter(|room| is_enough(room)).count() == 2, "{size}");
        }
    }
}
