//! A planned event.

use crate::unit::Time;

/// An event with its time, and with its number among all events that were planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<E> {
    pub(super) at: Time,
    pub(super) number: u64,
    pub(super) event: E,
}

impl<E> Entry<E> {
    /// The order of events, as one number: it is compared without a branch.
    pub(super) const fn key(&self) -> u128 {
        (self.at.0 as u128) << 64 | self.number as u128
    }
}
