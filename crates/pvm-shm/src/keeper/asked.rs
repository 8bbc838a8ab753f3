//! The book as one process sees it.

use super::Keeper;
use crate::broker::Broker;
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Blob, Code, Tid};
use rustix::fd::OwnedFd;

/// A broker that asks the keeper directly: for the parent itself, and for tests.
#[derive(Debug)]
pub struct KeeperBroker<'a> {
    keeper: &'a mut Keeper,
    tid: Tid,
}

impl Keeper {
    /// The book as `tid` sees it.
    pub const fn broker(&mut self, tid: Tid) -> KeeperBroker<'_> {
        KeeperBroker { keeper: self, tid }
    }
}

fn owned((segment, fd): (Segment, &OwnedFd)) -> Result<(Segment, OwnedFd), Code> {
    Ok((segment, fd.try_clone().map_err(|_| Code::OutOfRes)?))
}

impl Broker for KeeperBroker<'_> {
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.open_lane(self.tid, to, cells).and_then(owned)
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.open_slab(self.tid, bytes).and_then(owned)
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.open_spill(self.tid, bytes).and_then(owned)
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.map_spill(self.tid, id).and_then(owned)
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.map(self.tid, id).and_then(owned)
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        self.keeper.list_lanes(self.tid, after)
    }
    fn drop_segment(&mut self, id: SegmentId) {
        self.keeper.drop_segment(self.tid, id);
    }
    fn map_inbox(&mut self, of: Tid) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.map_inbox(of).and_then(owned)
    }
    fn map_group(&mut self, name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.map_group(name).and_then(owned)
    }
    fn open_group(&mut self, name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        self.keeper.open_group(self.tid, name).and_then(owned)
    }
}
