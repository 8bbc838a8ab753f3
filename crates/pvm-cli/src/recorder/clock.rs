//! The host's clock as traces have it.

/// The host's clock as traces have it: monotonic, but from 1970 on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(u64);

impl Clock {
    /// A clock for a monotonic clock that is this much behind the time of day.
    pub(super) const fn new(behind: u64) -> Self {
        Self(behind)
    }

    /// The time of day at that moment of the monotonic clock.
    pub(super) const fn at(self, monotonic: u64) -> u64 {
        monotonic.saturating_add(self.0)
    }

    /// The time of day.
    pub(super) fn now(self) -> u64 {
        self.at(pvm::record_clock())
    }
}
