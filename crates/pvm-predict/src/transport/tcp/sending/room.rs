//! The send buffer: the room for bytes that are written and not acknowledged.
//!
//! Linux counts the memory of segments, not their data. It begins with a buffer for a few windows,
//! and makes it larger when a writer waits for room while the window is not full: so the buffer
//! follows the window. A writer that waits goes on when a third of the buffer is free. A buffer of
//! a fixed size (`SO_SNDBUF`) counts bytes, and a writer goes on as soon as there is room for one.

use super::super::offer::SEGMENT_MEMORY;
use crate::planted::{self, Bug};
use crate::platform::{Buffer, Congestion, Tcp};

/// The memory of headers that comes with a segment's data before it is rounded up to a power of
/// two, and of the structure beside it that is not.
const HEADS: u64 = 588;
const STRUCTURE: u64 = 256;

/// The room of one end.
#[derive(Debug)]
pub(super) struct Room {
    /// The bytes that share one structure: those of a train.
    piece: u64,
    /// The present size: bytes if it is fixed, memory if it grows.
    size: u64,
    /// The largest size of a buffer that grows.
    most: Option<u64>,
    /// Memory for each segment of the window.
    each: u64,
    /// A writer has filled the buffer and waits.
    waits: bool,
}

impl Room {
    pub(super) fn new(tcp: &Tcp) -> Self {
        let (size, most) = match tcp.send_buffer {
            Buffer::Fixed(size) => (size, None),
            Buffer::Grows(most) => (0, Some(most)),
        };
        // bbr asks for one window more than the others.
        let windows = if tcp.congestion == Congestion::Bbr { 3 } else { 2 };
        let each = windows * ((tcp.segment + HEADS).next_power_of_two() + STRUCTURE);
        let mut room = Self { piece: tcp.segment * tcp.train, size, most, each, waits: false };
        room.grow(tcp.initial_window);
        room
    }

    /// The number of further bytes that a write may hand over, while so many are in the buffer.
    pub(super) fn left(&self, bytes: u64) -> u64 {
        if planted::is(Bug::BufferWithoutBound) {
            return u64::MAX;
        }
        if self.most.is_none() {
            return self.size.saturating_sub(bytes);
        }
        if self.waits {
            return 0;
        }
        let free = self.size.saturating_sub(self.memory(bytes));
        free.div_ceil(self.piece + SEGMENT_MEMORY) * self.piece
    }

    /// Bytes were written: so many are in the buffer now.
    pub(super) fn written(&mut self, bytes: u64) {
        self.waits |= self.most.is_some() && self.memory(bytes) >= self.size;
    }

    /// Some of the bytes were acknowledged, and what could be sent was. True if a writer that waits
    /// can go on. `window` is that of congestion control if it is not full.
    pub(super) fn freed(&mut self, bytes: u64, window: Option<u64>) -> bool {
        if self.most.is_some() && !self.waits {
            return false;
        }
        if let Some(segments) = window {
            self.grow(segments);
        }
        let used = self.memory(bytes);
        self.waits = self.most.is_some() && self.size.saturating_sub(used) < used / 2;
        !self.waits
    }

    fn grow(&mut self, segments: u64) {
        if let Some(most) = self.most {
            self.size = self.size.max((self.each * segments).min(most));
        }
    }

    fn memory(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(self.piece) * SEGMENT_MEMORY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that a kernel of Linux 6.18 told (SO_MEMINFO), without segmentation offload:
    /// `sk_sndbuf` is 69120 B at first with bbr and 46080 with cubic, 96768 at a window of 14
    /// segments and 373248 at one of 54; 43 segments fill 98040 B of it.
    #[test]
    fn a_buffer_follows_the_window_as_the_kernel_makes_it() {
        let room = |congestion| {
            let send_buffer = Buffer::Grows(4 << 20);
            Room::new(&Tcp { congestion, send_buffer, train: 1, ..Tcp::default() })
        };
        assert_eq!(room(Congestion::Cubic).size, 46_080);
        let mut room = room(Congestion::Bbr);
        assert_eq!(room.size, 69_120);
        assert_eq!(room.memory(43 * 1448), 98_040);
        let full = room.left(0);
        room.written(full);
        assert_eq!(room.left(full), 0);
        assert!(!room.freed(full - 1448, None), "a third of it must be free");
        assert!(!room.freed(full - 1448, Some(14)));
        assert_eq!(room.size, 96_768);
        assert!(room.freed(full / 2, Some(54)));
        assert_eq!(room.size, 373_248);
        assert!(room.left(full / 2) > full);
    }
}
