//! The fast path of a send: a small message to a task of this host, by a lane that stands and has
//! room.

use super::{Outbox, Sent};
use crate::lane::Head;
use pvm_wire::{Address, Tid};

impl Outbox {
    /// Puts a message of `source` into the lane to its receiver, under a tag and in a context;
    /// returns its number. None if there is no such lane, it has no room, or its receiver is gone:
    /// then [`Outbox::send`] must do it. If there is such a lane, it leads to another task of this
    /// host, and the head has that receiver from then on.
    #[inline]
    pub fn send_small(
        &mut self,
        source: Tid,
        to: Address,
        head: &mut Head,
        data: &[u8],
    ) -> Option<u64> {
        let lane = self.lanes.again(to.to).filter(|lane| lane.to_task)?;
        let number = lane.number + 1;
        head.address(to);
        head.set_sequence(number);
        let moment = self.clock.moment();
        if !lane.sender.push_small(head, (source, moment), data) {
            return None;
        }
        lane.number = number;
        let is_sent = lane.is_watched() || self.tell_unwatched(to.to) == Sent::Delivered;
        is_sent.then_some(number)
    }

    /// [`Outbox::send_small`] of at most [`FEW`](crate::bytes::FEW) bytes to the receiver of the
    /// last send, where that takes no call. `seen` is a moment after all messages that were taken
    /// in. If the message was published, the answer is whether the receiver looks there by itself;
    /// if it does not, [`Outbox::tell_of_few`] must follow.
    #[inline]
    pub fn send_few<'a>(
        &mut self,
        (source, seen): (Tid, u64),
        to: Address,
        message: impl FnOnce() -> Option<(&'a mut Head, &'a [u8])>,
    ) -> Option<bool> {
        let lane = self.lanes.last(to.to).filter(|lane| lane.to_task)?;
        let (head, data) = message()?;
        self.clock.follow(seen);
        let moment = self.clock.moment_at_hand()?;
        let number = lane.number + 1;
        head.address(to);
        head.set_sequence(number);
        if !lane.sender.push_few(head, (source, moment), data) {
            return None;
        }
        lane.number = number;
        Some(lane.is_watched())
    }

    /// Tells a receiver of a message that [`Outbox::send_few`] has published; false if it is gone.
    pub fn tell_of_few(&mut self, to: Tid) -> bool {
        self.tell_unwatched(to) == Sent::Delivered
    }
}
