//! The limit of what one look takes in.

use super::Inlet;
use crate::activity::is_later;
use crate::clock::BEHIND_ALL;
use crate::sync::Ordering;

impl Inlet {
    /// From now on [`Inlet::next`] gives only messages that were sent before this call. A sender
    /// that goes on while its messages are taken in would keep a look from ever ending.
    ///
    /// The host's clock is set forward for that, so this is for long looks only.
    #[cold]
    pub fn draw_line(&mut self) {
        let line = self.activity.clock().load(Ordering::Acquire).wrapping_add(BEHIND_ALL);
        self.activity.set_clock(line);
        self.line = Some(line);
    }

    /// The end of a look.
    #[inline]
    pub const fn erase_line(&mut self) {
        self.line = None;
    }

    /// True for a message that was sent at or after the line.
    #[inline]
    pub(super) fn is_beyond_line(&self, moment: u64) -> bool {
        self.line.is_some_and(|line| !is_later(line, moment))
    }
}
