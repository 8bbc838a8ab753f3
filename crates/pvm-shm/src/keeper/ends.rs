//! The end of the segments of a task that is gone.

use super::Keeper;
use super::kept::Use;
use crate::bells;
use crate::lane::Ring;
use crate::segment::Mapping;
use crate::{slab, stream};
use pvm_wire::Tid;
use pvm_wire::request::SegmentId;
use rustix::net::SocketAddrUnix;
use std::sync::Arc;

impl Keeper {
    /// A task is gone: its inbox is closed, the slabs that it read are let go, and the messages
    /// that it sent stay readable.
    pub fn remove_task(&mut self, tid: Tid) {
        if let Some(own) = self.boxes.remove(&tid) {
            own.inbox.close(&self.activity);
            for id in own.lanes.into_iter().flatten().flat_map(|lane| lane.segments) {
                self.delete(id);
            }
            self.delete(own.segment);
        }
        self.remove_sender(tid);
        self.remove_owned(tid);
        for kept in self.segments.values() {
            if let Some((_, holders)) = kept.purpose.holders() {
                slab::holders::strike_out(holders, Some(tid));
            }
        }
        self.sweep();
    }

    /// A sender is gone, or starts anew with the same id (a daemon): its messages stay readable,
    /// and its next lanes are new ones.
    pub fn remove_sender(&mut self, tid: Tid) {
        // This comes first: a receiver that the second step wakes finds it done.
        if let Some(slabs) = self.slabs.remove(&tid) {
            for id in &slabs {
                if let Some(Use::Slab(_, page)) = self.segments.get(id).map(|kept| &kept.purpose) {
                    stream::leave(page);
                }
            }
            self.orphans.extend(slabs);
        }
        self.orphan_lanes(|(from, _)| from == tid);
    }

    /// Nobody writes into these lanes any more: they are read to their end. PAIRS WITH: the daemon
    /// releases the lanes of direct routes of a task that is gone, too; this is for the next one.
    pub(super) fn orphan_lanes(&mut self, gone: impl Fn((Tid, Tid)) -> bool) {
        let mut released = Vec::new();
        for receiver in self.boxes.values_mut() {
            let lanes = &mut receiver.lanes;
            receiver.by_sender.retain(|&(from, to), place| {
                if gone((from, to))
                    && let Some(Some(lane)) = lanes.get_mut(*place as usize)
                {
                    lane.orphan = true;
                    // It may have died before it told of its last message, or before it rang. A
                    // message that it was still writing is dropped at the next look.
                    if receiver.inbox.header().remind(*place) {
                        receiver.inbox.count_awake(&self.activity);
                        let doorbell = SocketAddrUnix::new(receiver.doorbell.0.as_slice());
                        let _ = doorbell.map(|doorbell| bells::ring(&self.bell, &doorbell));
                    }
                    released.extend(lane.segments.iter().copied().filter(|_| to.is_task()));
                }
                !gone((from, to))
            });
        }
        for id in released {
            if let Some(kept) = self.segments.get(&id)
                && matches!(kept.purpose, Use::Lane(_, to, _) if self.is_elsewhere(to))
                && let Ok(mapping) = Mapping::new(&kept.fd, kept.size, false)
            {
                Ring::Shared(Arc::new(mapping)).release();
            }
        }
    }

    /// A sender was given a ring that it could not use, and begins anew: its receiver is not to
    /// wait there.
    pub(super) fn forget_ring(&mut self, (from, to): (Tid, Tid), place: u32, id: SegmentId) {
        let owner = self.box_for(to);
        if let Some(own) = self.boxes.get_mut(&owner)
            && let Some(slot) = own.lanes.get_mut(place as usize)
            && let Some(lane) = slot
        {
            lane.segments.retain(|segment| *segment != id);
            if lane.segments.is_empty() {
                own.by_sender.remove(&(from, to));
                *slot = None;
            }
        }
        self.delete(id);
    }

    /// Frees the slabs of tasks that are gone which nobody reads any more. True if some are left.
    pub fn sweep(&mut self) -> bool {
        let unread: Vec<_> = self
            .orphans
            .iter()
            .copied()
            .filter(|id| match self.segments.get(id).map(|kept| &kept.purpose) {
                Some(purpose) => purpose
                    .holders()
                    .is_none_or(|(_, holders)| slab::holders::strike_out(holders, None)),
                None => true,
            })
            .collect();
        for id in unread {
            self.orphans.remove(&id);
            self.delete(id);
        }
        !self.orphans.is_empty()
    }

    /// Makes room among the lanes of a receiver that outlives many senders.
    pub(super) fn drop_drained_lanes(&mut self, receiver: Tid) {
        let Some(own) = self.boxes.get_mut(&receiver) else { return };
        let mut freed = Vec::new();
        for slot in &mut own.lanes {
            let drained = slot.as_ref().filter(|lane| lane.orphan).is_some_and(|lane| {
                match lane.segments[..] {
                    [] => true,
                    [last] => self.segments.get(&last).is_none_or(|kept| {
                        Mapping::new(&kept.fd, kept.size, false)
                            .is_ok_and(|mapping| Ring::Shared(Arc::new(mapping)).is_drained())
                    }),
                    _ => false,
                }
            });
            if drained && let Some(lane) = slot.take() {
                debug_assert!(lane.from != Tid::NONE);
                freed.extend(lane.segments);
            }
        }
        for id in freed {
            self.delete(id);
        }
    }
}
