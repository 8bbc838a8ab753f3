//! The fast path of a send: a small message to a task of this host, by a lane that stands and has room.

use super::{Outbox, Sent};
use crate::lane::Small;
use pvm_wire::Tid;

impl Outbox {
    /// Puts a message with its number into the lane to `to`. False if there is no such lane, it has no room, or its receiver is
    /// gone: then [`Outbox::send`] must do it.
    #[inline(always)]
    pub fn send_small(&mut self, to: Tid, small: Small<'_>, sequence: u64) -> bool {
        let Some(lane) = self.lanes.get_mut(to) else { return false };
        let moment = self.clock.moment();
        lane.sender.push_small(small, (sequence, moment))
            && (lane.is_watched() || self.tell_unwatched(to) == Sent::Delivered)
    }
}
