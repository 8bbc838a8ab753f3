//! The segments that cross the network.

use crate::unit::Time;

/// The most ranges beyond a gap that an acknowledgement tells.
pub(super) const RANGES: usize = 3;

/// Data, an acknowledgement, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment {
    /// Its first byte and how many there are; none in a mere acknowledgement.
    pub(crate) begin: u64,
    pub(crate) bytes: u64,
    /// Bytes in front of them.
    pub(crate) header: u64,
    /// When these bytes were first sent, and when this time.
    pub(crate) first_sent: Time,
    pub(crate) sent: Time,
    /// Up to here all has come the other way; and ranges beyond.
    pub(crate) acknowledged: u64,
    pub(crate) ranges: [(u64, u64); RANGES],
}
