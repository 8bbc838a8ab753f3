//! Segments on their way.

use crate::unit::Time;

/// A segment that was sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flying {
    pub(super) begin: u64,
    pub(super) bytes: u32,
    pub(super) first_sent: Time,
    pub(super) sent: Time,
    /// All memory that the connection has handed to its host's queue, this segment included.
    pub(super) handed: u64,
    /// All segments that were delivered when it was sent, and the time of the last of these
    /// deliveries.
    pub(super) delivered: f64,
    pub(super) delivered_at: Time,
    /// The time at which the segment had been sent that was delivered last then.
    pub(super) first_delivered: Time,
    pub(super) app_limited: bool,
    pub(super) again: bool,
    pub(super) state: State,
}

// Each acknowledgement looks at one at least: it fills a cache line, and no more.
const _: () = assert!(size_of::<Flying>() == 64);

impl Flying {
    pub(super) const fn end(&self) -> u64 {
        self.begin + self.bytes as u64
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Flying,
    /// It has arrived, but a segment before it has not.
    Beyond,
    Lost,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) delivered: f64,
    pub(super) last: Option<Flying>,
}
