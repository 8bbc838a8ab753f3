//! A keeper that fails a few times.

use pvm_shm::Broker;
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;

/// A keeper whose next answers cannot be used: the first number counts lists, the second one
/// segments and files.
pub(crate) struct Lacking<'a>(
    pub(crate) &'a mut dyn Broker,
    pub(crate) [usize; 2],
    pub(crate) Code,
);

impl Lacking<'_> {
    fn answer<T>(&mut self, which: usize, answer: Result<T, Code>) -> Result<T, Code> {
        let lacks = self.1[which] > 0;
        self.1[which] -= usize::from(lacks);
        if lacks { Err(self.2) } else { answer }
    }
}

impl Broker for Lacking<'_> {
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.0.open_lane(to, cells)
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.0.open_slab(bytes)
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.0.open_spill(bytes)
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        let answer = self.0.map_spill(id);
        self.answer(1, answer)
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        let answer = self.0.map(id);
        self.answer(1, answer)
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        let answer = self.0.list_lanes(after);
        self.answer(0, answer)
    }
    fn drop_segment(&mut self, id: SegmentId) {
        self.0.drop_segment(id);
    }
}
