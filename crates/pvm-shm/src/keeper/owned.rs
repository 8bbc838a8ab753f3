//! Segments that are a task's own and go with it: its exposed memory.

use super::Keeper;
use super::kept::Use;
use crate::exposed::{self, Exposed};
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;

impl Keeper {
    fn find_use(&self, wanted: impl Fn(&Use) -> bool) -> Option<SegmentId> {
        self.segments.iter().find(|(_, kept)| wanted(&kept.purpose)).map(|(id, _)| *id)
    }

    /// Memory for a task to expose: for nobody else before its owner has sealed it.
    ///
    /// # Errors
    /// [`Code::NoMem`]; [`Code::Already`] if it exposes some under this number.
    pub fn expose(
        &mut self,
        owner: Tid,
        number: u32,
        bytes: u64,
    ) -> Result<(Segment, &OwnedFd), Code> {
        if self.exposed_as(owner, number).is_some() {
            return Err(Code::Already);
        }
        // A segment that would not fit is not made first.
        if self.bytes.saturating_add(bytes) > self.bytes_max {
            return Err(Code::NoMem);
        }
        let (fd, head, size) = exposed::create(bytes)?;
        let id = self.adopt(fd, size, Use::Exposed(owner, number, head))?;
        self.segment(id)
    }

    /// Exposed memory, for another task of this host.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn map_exposed(&self, owner: Tid, number: u32) -> Result<(Segment, &OwnedFd), Code> {
        let id = self.exposed_as(owner, number).ok_or(Code::NotFound)?;
        let (segment, fd) = self.segment(id)?;
        if exposed::rights(fd).is_none() {
            return Err(Code::NotFound);
        }
        Ok((segment, fd))
    }

    /// Like `map_exposed`, mapped here: for a task of another host that asks.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::NoMem`].
    pub fn exposed(&self, owner: Tid, number: u32) -> Result<Exposed, Code> {
        let (segment, fd) = self.map_exposed(owner, number)?;
        Exposed::map(fd, segment.size)
    }

    /// Memory is not exposed any more. Tasks that have it mapped are told.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn withdraw(&mut self, owner: Tid, number: u32) -> Result<(), Code> {
        let id = self.exposed_as(owner, number).ok_or(Code::NotFound)?;
        self.end_owned(id, exposed::WITHDRAWN);
        Ok(())
    }

    fn exposed_as(&self, owner: Tid, number: u32) -> Option<SegmentId> {
        self.find_use(
            |purpose| matches!(purpose, Use::Exposed(of, as_, _) if (*of, *as_) == (owner, number)),
        )
    }

    fn end_owned(&mut self, id: SegmentId, state: u32) {
        if let Some(Use::Exposed(_, _, head)) = self.segments.get(&id).map(|kept| &kept.purpose) {
            exposed::end(head, state);
        }
        self.delete(id);
    }

    /// The task is gone.
    pub(super) fn remove_owned(&mut self, tid: Tid) {
        let is_own = |purpose: &Use| match purpose {
            Use::Exposed(owner, ..) => *owner == tid,
            _ => false,
        };
        while let Some(id) = self.find_use(is_own) {
            self.end_owned(id, exposed::OWNERLESS);
        }
        self.end_ring(tid);
    }
}
