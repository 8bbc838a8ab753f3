//! The segments of an end that leave its host's queue. Mostly they leave while the end has nothing
//! to send, and it need not be told at once: an end is large, and was last used long ago.

use crate::transport::End;
use crate::transport::tcp;
use crate::unit::Time;

/// The segments of which an end has not been told.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    bytes: u64,
    segments: u64,
    /// Before this time it need not know.
    deaf_until: Time,
}

impl Leaving {
    /// A segment leaves; false if the end is to be told now.
    pub(super) fn notes(&mut self, now: Time, bytes: u64) -> bool {
        let is_deaf = now < self.deaf_until;
        if is_deaf {
            self.bytes += bytes;
            self.segments += 1;
        }
        is_deaf
    }

    /// The end gets an input: before that it is told.
    pub(super) const fn tell(&mut self, end: &mut tcp::End) {
        if self.segments > 0 {
            end.left(self.bytes, self.segments);
            (self.bytes, self.segments) = (0, 0);
        }
    }

    /// The end has handled an input.
    pub(super) fn handled(&mut self, end: &mut End) {
        self.deaf_until = end.tcp().map_or(Time::ZERO, |end| end.is_deaf_until());
    }
}
