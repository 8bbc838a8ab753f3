//! The lane of a direct route: messages that its receiver on another host has not confirmed.
//!
//! The sender writes each message here before it goes over the socket, and moves the mark itself
//! when the other task confirms. When the route breaks or the sender ends, the lane is
//! *released*: from then on the daemon reads it from the mark. Whether a message went one way or
//! both, its receiver takes it once, by its number.

use crate::inbox::Inbox;
use crate::lane::{self, Ring};
use crate::slab::Hold;
use rustix::net::SocketAddrUnix;
use std::collections::VecDeque;

/// Cells of such a lane: 64 KiB for a pair of tasks with a route.
pub(crate) const CELLS: u32 = 256;
/// Bytes in slabs that may wait to be confirmed.
const BYTES_MAX: usize = 4 << 20;

#[derive(Debug)]
struct Unconfirmed {
    number: u64,
    size: usize,
    /// Holds the data in their slab until this is dropped.
    hold: Option<Hold>,
}

/// The sender's end.
#[derive(Debug)]
pub struct PairLane {
    pub(crate) sender: lane::Sender,
    pub(crate) place: u32,
    pub(crate) inbox: Inbox,
    pub(crate) doorbell: Option<SocketAddrUnix>,
    unconfirmed: VecDeque<Unconfirmed>,
    bytes: usize,
}

impl PairLane {
    pub(crate) const fn new(
        sender: lane::Sender,
        place: u32,
        inbox: Inbox,
        doorbell: Option<SocketAddrUnix>,
    ) -> Self {
        Self { sender, place, inbox, doorbell, unconfirmed: VecDeque::new(), bytes: 0 }
    }

    fn ring(&self) -> &Ring {
        self.sender.ring()
    }

    /// True once the daemon reads this lane.
    pub fn is_released(&self) -> bool {
        self.ring().is_released()
    }

    pub(crate) fn has_room(&self, size: usize) -> bool {
        self.unconfirmed.is_empty() || self.bytes.saturating_add(size) <= BYTES_MAX
    }

    pub(crate) fn note(&mut self, number: u64, size: usize, hold: Option<Hold>) {
        self.bytes += size;
        self.unconfirmed.push_back(Unconfirmed { number, size, hold });
    }

    pub(crate) fn release(&self) {
        self.ring().release();
    }

    /// The other task has everything up to this number. True if that is news.
    pub fn confirm(&mut self, through: u64) -> bool {
        let before = self.unconfirmed.len();
        while !self.is_released()
            && let Some(done) = self.unconfirmed.pop_front_if(|first| first.number <= through)
        {
            self.bytes -= done.size;
            // First the data are let go of, then the mark moves.
            drop(done);
            self.sender.confirm();
        }
        self.unconfirmed.len() < before
    }
}

impl Drop for PairLane {
    fn drop(&mut self) {
        // Unconfirmed messages are the daemon's now: the notes in the slabs stay.
        for unconfirmed in self.unconfirmed.drain(..) {
            std::mem::forget(unconfirmed.hold);
        }
    }
}
