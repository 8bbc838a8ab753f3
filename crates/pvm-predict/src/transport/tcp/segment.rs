//! The segments that cross the network.

use crate::unit::Time;

/// The most ranges beyond a gap in an acknowledgement.
pub(crate) const RANGES: usize = 3;

/// Data, an acknowledgement, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment {
    /// The first byte and the number of bytes; 0 in a mere acknowledgement.
    pub(crate) begin: u64,
    pub(crate) bytes: u64,
    /// The bytes in front of the data.
    pub(crate) header: u64,
    /// The time at which these bytes were first sent, and the time at which this segment was.
    pub(crate) first_sent: Time,
    pub(crate) sent: Time,
    /// The stamp of the last segment from the other end, and the window that this end offers.
    pub(crate) echo: u32,
    pub(crate) window: u16,
    /// All bytes up to here have arrived in the other direction; and ranges beyond.
    pub(crate) acknowledged: u64,
    pub(crate) ranges: [(u64, u64); RANGES],
}
