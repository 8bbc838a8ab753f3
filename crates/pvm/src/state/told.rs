//! The count of messages that nobody has asked for, as senders are told it.

use pvm_shm::Inlet;

/// The number of thousands of such messages that senders were told last.
#[derive(Debug, Default)]
pub(super) struct BacklogReport(u32);

impl BacklogReport {
    /// Tells senders roughly how many there are, if that has changed.
    #[inline]
    pub(super) fn tell(&mut self, unmatched: usize, inlet: &Inlet) {
        let thousands = (unmatched >> 10) as u32;
        if thousands != self.0 {
            self.0 = thousands;
            inlet.inbox().tell_unmatched(thousands << 10);
        }
    }
}
