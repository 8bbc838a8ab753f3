//! The host's book of segments: their owners, and the tasks that may still need them.
//!
//! Kept by the parent process. It makes every segment, so that the death of a task at any
//! instruction leaves no unknown segment behind: the inbox and the incoming lanes go with the task;
//! a lane out of it stays until the receiver has read it; its slabs stay until every reader has
//! struck itself out (or died).

mod asked;
mod ends;
mod owned;
mod recording;
mod rings;

use crate::activity::Activity;
use crate::bells;
use crate::credit::{Account, Charge, Limits};
use crate::inbox::Inbox;
use crate::lane::{CELL_SIZE, CELLS_FIRST, CELLS_MAX, HEADER_SIZE, segment_size};
use crate::roster::Roster;
use crate::segment::{self, Mapping, PAGE};
use crate::slab;
use crate::spill::HOLDER_BYTES;
use pvm_wire::request::{ACTIVITY_SEGMENT, Segment, SegmentId};
use pvm_wire::{Blob, Code, Tid};
use rings::Rings;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Drained lanes of dead senders are dropped when an inbox has this many lanes of dead senders.
const ORPHANS_MAX: usize = 8;

#[derive(Debug)]
enum Use {
    Activity,
    Inbox,
    /// A lane: its sender, its receiver, its place.
    Lane(Tid, Tid, u32),
    /// A segment of slabs: its owner, and the page of holders.
    Slab(Tid, Arc<Mapping>),
    /// The roster of the group with this name.
    Roster(Blob),
    /// A trace ring: its owner, its first page, and the bytes that have memory from the start.
    Recorder(Tid, Arc<Mapping>, u64),
    /// Exposed memory: its owner, its number, and the page in front of it.
    Exposed(Tid, u32, Arc<Mapping>),
    /// A task's segment of holders, and the file beside it.
    Spill(Tid, Arc<Mapping>, File),
}

/// A file: to be written by its owner, and to be read by others.
#[derive(Debug)]
struct File {
    writer: OwnedFd,
    reader: OwnedFd,
    bytes: u64,
}

impl Use {
    /// The owner and the holders of a segment that a sender owns.
    const fn holders(&self) -> Option<(Tid, &Arc<Mapping>)> {
        match self {
            Self::Slab(owner, holders) | Self::Spill(owner, holders, _) => Some((*owner, holders)),
            Self::Activity
            | Self::Inbox
            | Self::Lane(..)
            | Self::Recorder(..)
            | Self::Exposed(..)
            | Self::Roster(_) => None,
        }
    }

    /// Memory behind a segment of this size.
    const fn bytes(&self, size: usize) -> u64 {
        match self {
            Self::Recorder(_, _, bytes) => *bytes,
            _ => size as u64,
        }
    }

    /// The charge for it.
    const fn charge(&self, size: usize) -> Option<Charge> {
        match self {
            Self::Slab(owner, _) => Some(Charge::Slab(*owner, size as u64)),
            Self::Spill(_, _, file) => Some(Charge::File(file.bytes)),
            Self::Lane(_, to, _) => Some(Charge::Cells(*to, cells_of(size))),
            Self::Activity
            | Self::Inbox
            | Self::Recorder(..)
            | Self::Exposed(..)
            | Self::Roster(_) => None,
        }
    }
}

/// Cells of a ring in a segment of this size.
const fn cells_of(size: usize) -> u64 {
    ((size - HEADER_SIZE) / CELL_SIZE) as u64
}

#[derive(Debug)]
struct Kept {
    fd: OwnedFd,
    size: usize,
    purpose: Use,
}

#[derive(Debug)]
struct Lane {
    from: Tid,
    /// The segments that the receiver has not left yet, oldest first.
    segments: Vec<SegmentId>,
    /// The opening's number.
    opening: u32,
    orphan: bool,
}

#[derive(Debug)]
struct Box_ {
    segment: SegmentId,
    inbox: Inbox,
    doorbell: Blob,
    lanes: Vec<Option<Lane>>,
    /// Places by sender, and by what the lane leads to: the daemon has a lane for each host.
    by_sender: BTreeMap<(Tid, Tid), u32>,
    opened: u32,
}

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

    /// An inbox for a task, before it exists. The task will bind `doorbell`. Asked again, the
    /// same inbox.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn create_inbox(&mut self, tid: Tid, doorbell: Blob) -> Result<(Segment, &OwnedFd), Code> {
        if let Some(old) = self.boxes.get(&tid) {
            return self.segment(old.segment);
        }
        let mut mapped = None;
        let id = self.create(Inbox::SIZE, |fd| {
            mapped = Mapping::new(fd, Inbox::SIZE, true).ok();
            Ok(Use::Inbox)
        })?;
        let inbox = Inbox::new(Arc::new(mapped.ok_or(Code::NoMem)?));
        if self.rings.all() && tid.is_task() {
            inbox.note_records(true);
        }
        if tid.is_daemon() {
            self.daemon = tid;
        }
        // The host's own lane is the first: notices are told apart by their place.
        let lanes = vec![None];
        let by_sender = BTreeMap::new();
        self.boxes.insert(tid, Box_ { segment: id, inbox, doorbell, lanes, by_sender, opened: 0 });
        self.segment(id)
    }

    /// The task whose inbox has the lanes to `to`: lanes to another host lie in the daemon's.
    fn box_for(&self, to: Tid) -> Tid {
        if to.is_host() || self.is_elsewhere(to) { self.daemon } else { to }
    }

    /// True for a task of another host: a lane to it is that of a direct route.
    fn is_elsewhere(&self, to: Tid) -> bool {
        to.is_task() && self.daemon != Tid::NONE && to.host() != self.daemon.host()
    }

    /// A lane from one task (or the host itself, `Tid::NONE`) to a task of this host, or to
    /// another host by way of this one's daemon; if there is one, the segment in which it goes on.
    ///
    /// # Errors
    /// [`Code::NoTask`] if there is no such receiver, [`Code::NoMem`].
    pub fn open_lane(
        &mut self,
        from: Tid,
        to: Tid,
        cells: u32,
    ) -> Result<(Segment, &OwnedFd), Code> {
        let owner = self.box_for(to);
        if self.is_elsewhere(to) {
            // A route before this one broke; its lane is the daemon's.
            self.orphan_lanes(|lane| lane == (from, to));
        }
        let receiver = self.boxes.get(&owner).ok_or(Code::NoTask)?;
        let orphans = receiver.lanes.iter().flatten().filter(|lane| lane.orphan).count();
        if orphans >= ORPHANS_MAX {
            self.drop_drained_lanes(owner);
        }
        let receiver = &self.boxes[&owner];
        let place = match receiver.by_sender.get(&(from, to)) {
            Some(place) => *place,
            None if from == Tid::NONE => 0,
            None => {
                let free = receiver.lanes.iter().skip(1).position(Option::is_none);
                free.map_or(receiver.lanes.len(), |free| free + 1) as u32
            }
        };
        let size = segment_size(cells.clamp(4, CELLS_MAX));
        // `create` rounds the size up to whole pages.
        let charge = Charge::Cells(to, cells_of(size.next_multiple_of(PAGE)));
        if cells <= CELLS_FIRST || from == Tid::NONE {
            // Every sender gets its first ring, and the host itself is never held up.
            self.account.charge(charge);
        } else {
            self.account.take(charge, receiver.inbox.unmatched().into())?;
        }
        let id = match self.create(size, |_| Ok(Use::Lane(from, to, place))) {
            Ok(id) => id,
            Err(code) => {
                self.account.give_back(charge);
                return Err(code);
            }
        };
        let receiver = self.boxes.get_mut(&owner).expect("found above");
        if receiver.by_sender.insert((from, to), place).is_some() {
            let lane = receiver.lanes[place as usize].as_mut().expect("known by its sender");
            lane.segments.push(id);
        } else {
            receiver.opened += 1;
            let opening = receiver.opened;
            let lane = Some(Lane { from, segments: vec![id], opening, orphan: false });
            if place as usize == receiver.lanes.len() {
                receiver.lanes.push(lane);
            } else {
                receiver.lanes[place as usize] = lane;
            }
            receiver.inbox.count_lane(opening, place);
        }
        self.segment(id)
    }

    /// A segment for the slabs of a task.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now, [`Code::NoMem`].
    pub fn open_slab(&mut self, owner: Tid, bytes: u64) -> Result<(Segment, &OwnedFd), Code> {
        let size = usize::try_from(bytes).map_err(|_| Code::NoMem)?.max(2 * PAGE);
        let size = size.checked_next_multiple_of(PAGE).ok_or(Code::NoMem)?;
        let charge = Charge::Slab(owner, size as u64);
        if owner == Tid::NONE {
            // The host itself is never held up.
            self.account.charge(charge);
        } else if self.account.take(charge, 0).is_err() {
            self.sweep();
            self.account.take(charge, 0)?;
        }
        let made = self.create(size, |fd| {
            let holders = Mapping::new(fd, PAGE, true).map_err(|_| Code::NoMem)?;
            Ok(Use::Slab(owner, Arc::new(holders)))
        });
        self.owned(owner, made, charge)
    }

    /// A file for messages of a task, and the segment with the holders beside it.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now, or no folder for files at all.
    /// [`Code::Overflow`] if the disk is full. [`Code::NoMem`].
    pub fn open_spill(&mut self, owner: Tid, bytes: u64) -> Result<(Segment, &OwnedFd), Code> {
        let bytes = bytes.checked_next_multiple_of(PAGE as u64).ok_or(Code::Overflow)?;
        let charge = Charge::File(bytes);
        if self.account.take(charge, 0).is_err() {
            self.sweep();
            self.account.take(charge, 0)?;
        }
        let made = self.create_file(bytes).and_then(|(writer, reader)| {
            self.create(HOLDER_BYTES, |fd| {
                let holders = Mapping::new(fd, HOLDER_BYTES, false).map_err(|_| Code::NoMem)?;
                Ok(Use::Spill(owner, Arc::new(holders), File { writer, reader, bytes }))
            })
        });
        self.owned(owner, made, charge)
    }

    /// A segment that was charged is its owner's now, if it was made.
    fn owned(
        &mut self,
        owner: Tid,
        made: Result<SegmentId, Code>,
        charge: Charge,
    ) -> Result<(Segment, &OwnedFd), Code> {
        let id = made.inspect_err(|_| self.account.give_back(charge))?;
        self.slabs.entry(owner).or_default().insert(id);
        self.segment(id)
    }

    fn create_file(&self, bytes: u64) -> Result<(OwnedFd, OwnedFd), Code> {
        let mut answer = Code::OutOfRes;
        for folder in &self.folders {
            match segment::create_file(folder, bytes) {
                Ok(file) => return Ok(file),
                Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => answer = Code::Overflow,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Err(Code::NoMem),
                // Another folder may do.
                Err(_) => {}
            }
        }
        Err(answer)
    }

    /// The file beside a segment.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn map_spill(&self, asker: Tid, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Spill(owner, _, file)) => {
                let (segment, _) = self.segment(id)?;
                let fd = if *owner == asker { &file.writer } else { &file.reader };
                Ok((Segment { size: file.bytes, ..segment }, fd))
            }
            _ => Err(Code::NotFound),
        }
    }

    /// The tasks that have to read before a send finds credit again: the readers of the sender's
    /// own memory, or those of all senders' memory and files.
    pub fn readers(&self, sender: Option<Tid>) -> BTreeSet<Tid> {
        let mut readers = BTreeSet::new();
        for kept in self.segments.values() {
            if let Some((owner, holders)) = kept.purpose.holders()
                && sender.is_none_or(|sender| sender == owner)
            {
                slab::holders::readers(holders, &mut readers);
            }
        }
        readers
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

    /// The inbox of a task, and its doorbell: for a task that wakes it.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn map_inbox(&self, of: Tid) -> Result<(Segment, &OwnedFd), Code> {
        let found = self.boxes.get(&of).ok_or(Code::NoTask)?;
        let (segment, fd) = self.segment(found.segment)?;
        Ok((Segment { doorbell: found.doorbell.clone(), ..segment }, fd))
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

    /// The lanes into a task's inbox that were opened after the `after`-th.
    ///
    /// # Errors
    /// [`Code::NoTask`].
    pub fn list_lanes(&self, asker: Tid, after: u32) -> Result<Vec<Segment>, Code> {
        let own = self.boxes.get(&asker).ok_or(Code::NoTask)?;
        own.lanes
            .iter()
            .flatten()
            .filter(|lane| lane.opening > after)
            .filter_map(|lane| lane.segments.first())
            .map(|id| self.segment(*id).map(|(segment, _)| segment))
            .collect()
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
