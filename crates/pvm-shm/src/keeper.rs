//! The host's book of segments: their owners, and the tasks that may still need them.
//!
//! Kept by the parent process. It makes every segment, so that the death of a task at any
//! instruction leaves no unknown segment behind: the inbox and the incoming lanes go with the task;
//! a lane out of it stays until the receiver has read it; its slabs stay until every reader has
//! struck itself out (or died).

mod asked;
mod boxes;
mod ends;
mod kept;
mod lanes;
mod memory;
mod owned;
mod recording;
mod rings;

use crate::activity::Activity;
use crate::bells;
use crate::credit::{Account, Limits};
use crate::roster::Roster;
use crate::segment::{self, Mapping, PAGE};
use boxes::Box_;
use kept::{Kept, Use};
use pvm_wire::request::{ACTIVITY_SEGMENT, Segment, SegmentId};
use pvm_wire::{Blob, Code, Tid};
use rings::Rings;
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The book.
#[derive(Debug)]
pub struct Keeper {
    segments: BTreeMap<SegmentId, Kept>,
    next: SegmentId,
    boxes: BTreeMap<Tid, Box_>,
    /// The daemon: its inbox takes the lanes to other hosts.
    daemon: Tid,
    /// Slabs whose owner is gone.
    orphans: BTreeSet<SegmentId>,
    slabs: BTreeMap<Tid, BTreeSet<SegmentId>>,
    rosters: BTreeMap<Blob, SegmentId>,
    activity: Activity,
    /// Rings for senders that are gone.
    bell: OwnedFd,
    bytes: u64,
    bytes_max: u64,
    account: Account,
    /// The folders in which files are made.
    folders: Vec<PathBuf>,
    rings: Rings,
}

impl Keeper {
    /// An empty book; all segments together will have at most `bytes_max` bytes.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn new(bytes_max: u64) -> Result<Self, Code> {
        let fd = segment::create(Activity::SIZE).map_err(|_| Code::NoMem)?;
        let mapping = Mapping::new(&fd, Activity::SIZE, true).map_err(|_| Code::NoMem)?;
        let kept = Kept { fd, size: Activity::SIZE, purpose: Use::Activity };
        let bell = bells::bell().map_err(|_| Code::NoMem)?;
        Ok(Self {
            segments: BTreeMap::from([(ACTIVITY_SEGMENT, kept)]),
            next: ACTIVITY_SEGMENT + 1,
            boxes: BTreeMap::new(),
            daemon: Tid::NONE,
            orphans: BTreeSet::new(),
            slabs: BTreeMap::new(),
            rosters: BTreeMap::new(),
            activity: Activity::new(Arc::new(mapping)),
            bell,
            bytes: Activity::SIZE as u64,
            bytes_max,
            account: Account::default(),
            folders: Vec::new(),
            rings: Rings::default(),
        })
    }

    /// Sets what may be taken, and the folders for messages that find no memory: a file goes into
    /// the first of them in which it can be made.
    pub fn limit(&mut self, limits: Limits, folders: Vec<PathBuf>) {
        self.account.limit(limits);
        self.folders = folders;
    }

    /// The resources taken now: bytes of slabs, bytes of files, cells of lanes.
    pub fn taken(&self) -> (u64, u64, u64) {
        self.account.taken()
    }

    /// The host's count of awake tasks, and its clock.
    pub const fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Bytes of all segments.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    fn create(
        &mut self,
        size: usize,
        purpose: impl FnOnce(&OwnedFd) -> Result<Use, Code>,
    ) -> Result<SegmentId, Code> {
        let size = size.checked_next_multiple_of(PAGE).ok_or(Code::NoMem)?;
        self.check_room(size as u64)?;
        let fd = segment::create(size).map_err(|_| Code::NoMem)?;
        let purpose = purpose(&fd)?;
        self.adopt(fd, size, purpose)
    }

    fn check_room(&mut self, bytes: u64) -> Result<(), Code> {
        if self.bytes.saturating_add(bytes) > self.bytes_max {
            self.sweep();
        }
        if self.bytes.saturating_add(bytes) > self.bytes_max {
            return Err(Code::NoMem);
        }
        Ok(())
    }

    fn adopt(&mut self, fd: OwnedFd, size: usize, purpose: Use) -> Result<SegmentId, Code> {
        self.check_room(purpose.bytes(size))?;
        let id = self.next;
        self.next += 1;
        self.bytes += purpose.bytes(size);
        self.segments.insert(id, Kept { fd, size, purpose });
        Ok(id)
    }

    fn delete(&mut self, id: SegmentId) {
        if let Some(kept) = self.segments.remove(&id) {
            self.bytes -= kept.purpose.bytes(kept.size);
            if let Some(charge) = kept.purpose.charge(kept.size) {
                self.account.give_back(charge);
            }
        }
    }

    fn segment(&self, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        let kept = self.segments.get(&id).ok_or(Code::NotFound)?;
        let mut segment = Segment {
            id,
            size: kept.size as u64,
            lane: 0,
            owner: Tid::NONE,
            to: Tid::NONE,
            inbox: 0,
            doorbell: Blob::default(),
        };
        match kept.purpose {
            Use::Lane(from, to, place) => {
                segment.owner = from;
                segment.to = to;
                segment.lane = place;
                if let Some(receiver) = self.boxes.get(&self.box_for(to)) {
                    segment.inbox = receiver.segment;
                    segment.doorbell = receiver.doorbell.clone();
                }
            }
            Use::Slab(owner, _)
            | Use::Spill(owner, ..)
            | Use::Recorder(owner, ..)
            | Use::Exposed(owner, ..) => {
                segment.owner = owner;
            }
            Use::Activity | Use::Inbox | Use::Roster(_) => {}
        }
        Ok((segment, &kept.fd))
    }

    /// A segment by its number: slabs and inboxes for all, a lane for its two ends.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Denied`].
    pub fn map(&self, asker: Tid, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Lane(from, to, _)) if *from != asker && self.box_for(*to) != asker => {
                Err(Code::Denied)
            }
            // These have names of their own, and rights.
            Some(Use::Exposed(..)) => Err(Code::Denied),
            _ => self.segment(id),
        }
    }

    /// The roster of a group.
    ///
    /// # Errors
    /// [`Code::NoGroup`]: it has no members here, or none at all.
    pub fn map_group(&self, name: &Blob) -> Result<(Segment, &OwnedFd), Code> {
        self.segment(*self.rosters.get(name).ok_or(Code::NoGroup)?)
    }

    /// A roster for a group, or the one that it has. Only the daemon writes rosters.
    ///
    /// # Errors
    /// [`Code::Denied`], [`Code::NoMem`].
    pub fn open_group(&mut self, asker: Tid, name: &Blob) -> Result<(Segment, &OwnedFd), Code> {
        if !asker.is_daemon() {
            return Err(Code::Denied);
        }
        if !self.rosters.contains_key(name) {
            let id = self.create(Roster::SIZE, |_| Ok(Use::Roster(name.clone())))?;
            self.rosters.insert(name.clone(), id);
        }
        self.map_group(name)
    }

    /// A task needs a segment no more: a receiver has left a ring, an owner gives back slabs, a
    /// sender has not begun a ring that was opened for it.
    pub fn drop_segment(&mut self, asker: Tid, id: SegmentId) {
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Lane(from, to, place)) if *from == asker => {
                self.forget_ring((*from, *to), *place, id);
            }
            Some(Use::Lane(_, to, place)) if self.box_for(*to) == asker => {
                let place = *place as usize;
                let Some(own) = self.boxes.get_mut(&asker) else { return };
                if let Some(Some(lane)) = own.lanes.get_mut(place) {
                    lane.segments.retain(|segment| *segment != id);
                }
                self.delete(id);
            }
            Some(Use::Slab(owner, _) | Use::Spill(owner, ..)) if *owner == asker => {
                if let Some(own) = self.slabs.get_mut(&asker) {
                    own.remove(&id);
                }
                // A reader may still hold the descriptor, if not the mapping.
                self.orphans.insert(id);
                self.sweep();
            }
            Some(Use::Roster(name)) if asker.is_daemon() => {
                self.rosters.remove(&name.clone());
                self.delete(id);
            }
            _ => {}
        }
    }
}
