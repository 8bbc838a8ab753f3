//! A send that hands its messages over, one receiver after the other.

use super::inbox::Message;
use crate::action::TaskNumber;
use crate::blame::Chain;
use crate::unit::Time;

/// A send between its begin and its end.
#[derive(Debug)]
pub(super) struct Send {
    pub(super) to: Box<[TaskNumber]>,
    /// The index of the present receiver, and the bytes that it has not got.
    pub(super) at: usize,
    pub(super) left: u64,
    pub(super) bytes: u64,
    pub(super) tag: i32,
    pub(super) began: Time,
    pub(super) chain: Chain,
    pub(super) serial: u64,
}

impl Send {
    /// The message to the present receiver.
    pub(super) fn message(&self, handed: Time) -> Message {
        let (bytes, tag, began, chain) = (self.bytes, self.tag, self.began, self.chain);
        let serial = self.serial + self.at as u64;
        Message { serial, bytes, tag, began, handed, chain }
    }
}
