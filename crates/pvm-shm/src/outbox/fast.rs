//! The fast path of a send: a small message to a task of this host, by a lane that stands and has room.

use super::{Outbox, Sent};
use crate::lane::Head;
use pvm_wire::Tid;

impl Outbox {
    /// Puts a message of `source`, with this number, into the lane to its receiver, under a tag and in a context. False if
    /// there is no such lane, it has no room, or its receiver is gone: then [`Outbox::send`] must do it. The head says where
    /// it goes from then on, if there is such a lane: then it is one to a task of this host, and to another one than this.
    #[inline(always)]
    pub fn send_small(
        &mut self,
        (source, sequence): (Tid, u64),
        to: (Tid, i32, i32),
        head: &mut Head,
        data: &[u8],
    ) -> bool {
        let Some(lane) = self.lanes.again(to.0).filter(|lane| lane.to_task) else { return false };
        head.address(to);
        head.set_sequence(sequence);
        let moment = self.clock.moment();
        lane.sender.push_small(head, (source, moment), data)
            && (lane.is_watched() || self.tell_unwatched(to.0) == Sent::Delivered)
    }
}
