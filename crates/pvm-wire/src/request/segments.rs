//! Shared memory, as it is told of.

use crate::{Blob, Tid, choice, record};

/// The number of a shared segment on one host.
pub type SegmentId = u32;

/// The segment that every host has from the start: what its tasks share about waiting.
pub const ACTIVITY_SEGMENT: SegmentId = 1;

/// Bytes of exposed memory that cross between hosts in one piece.
pub const MEMORY_BYTES_MAX: usize = 128 << 10;

record! {
    /// A segment whose descriptor comes beside the answer.
    pub struct Segment {
        /// Its number on this host.
        pub id: SegmentId,
        /// Its size in bytes.
        pub size: u64,
        /// For a lane: its place among the receiver's lanes.
        pub lane: u32,
        /// For a lane: the sender. For a slab: the owner.
        pub owner: Tid,
        /// For a lane: the receiver, or the host that it leads to.
        pub to: Tid,
        /// For a lane: the receiver's inbox, which says that something waits.
        pub inbox: SegmentId,
        /// For a lane: where the receiver's doorbell is.
        pub doorbell: Blob,
    }
}

record! {
    /// The trace ring of a task.
    #[derive(Copy)]
    pub struct Ring {
        /// Its segment.
        pub id: SegmentId,
        /// The owner, also of a segment whose owner has gone.
        pub owner: Tid,
        /// The task is gone: nothing more will be noted.
        pub ended: bool,
        /// As `wait` tells it, -1 if it is not known.
        pub status: i32,
        /// There was no place to keep it for the reader: what was in it.
        pub dropped: Option<Dropped>,
    }

    /// The unread rest of a trace ring. A ring of [`Tid`] 0 stands for several.
    #[derive(Copy)]
    pub struct Dropped {
        /// The task that spawned the task, [`Tid`] 0 if that is not known.
        pub parent: Tid,
        /// Between these two moments of the monotonic clock, in nanoseconds.
        pub from: u64,
        /// The later one.
        pub to: u64,
        /// Records that the task noted.
        pub noted: u64,
        /// Records among them that no reader passed on.
        pub lost: u64,
    }
}

choice! {
    /// One indivisible change of a word of exposed memory.
    pub enum Change {
        /// Adds to four bytes, modulo 2^32.
        1 => Add4 {
            /// The number that is added.
            add: u32,
        },
        /// Adds to eight bytes, modulo 2^64.
        2 => Add8 {
            /// The number that is added.
            add: u64,
        },
        /// Sets four bytes if they have the expected value.
        3 => Exchange4 {
            /// The value that they must have.
            expected: u32,
            /// The value that they get.
            wanted: u32,
        },
        /// Sets eight bytes if they have the expected value.
        4 => Exchange8 {
            /// The value that they must have.
            expected: u64,
            /// The value that they get.
            wanted: u64,
        },
    }
}
