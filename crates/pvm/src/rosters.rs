//! The groups that a task has asked for: their rosters, and the members that these listed last.

use crate::members::Members;
use pvm_shm::roster::{Listed, Read};
use pvm_shm::segment::Mapping;
use pvm_shm::{Bells, Broker, Roster};
use pvm_wire::request::SegmentId;
use pvm_wire::{Blob, Tid};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A group as its roster said last.
#[derive(Debug)]
pub(crate) struct GroupView {
    segment: SegmentId,
    pub(crate) roster: Roster,
    pub(crate) version: u64,
    pub(crate) members: Arc<Members>,
    pub(crate) defunct: bool,
    /// Members that died and whose places nobody has taken.
    pub(crate) lost: u32,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Rosters {
    known: BTreeMap<Vec<u8>, GroupView>,
    /// Members of the groups that this task has frozen.
    frozen: BTreeMap<Vec<u8>, Arc<Members>>,
    /// Rosters that could not be read, as their groups are gone or were being written, for as long
    /// as some thread may look at them; one for each segment.
    retired: Vec<(SegmentId, Roster)>,
    pub(crate) bells: Bells,
}

impl GroupView {
    fn new((segment, roster): (SegmentId, Roster), version: u64, listed: Listed) -> Self {
        let (defunct, lost) = (listed.defunct, listed.lost);
        let members = Arc::new(Members { tids: listed.members, frozen: listed.frozen });
        Self { segment, roster, version, members, defunct, lost }
    }
}

impl Rosters {
    pub(crate) fn frozen(&self, group: &[u8]) -> Option<Arc<Members>> {
        if self.frozen.is_empty() {
            return None;
        }
        self.frozen.get(group).cloned()
    }

    pub(crate) fn freeze(&mut self, group: &[u8], members: Arc<Members>) {
        self.frozen.insert(group.to_vec(), members);
    }

    pub(crate) fn thaw(&mut self, group: &[u8]) {
        self.frozen.remove(group);
    }

    /// The group, if its roster has not changed since it was read.
    pub(crate) fn current(&self, group: &[u8]) -> Option<&GroupView> {
        let known = self.known.get(group);
        known.filter(|known| known.roster.table().version() == known.version)
    }

    /// The group as its roster says now; none where there is no roster or it cannot tell.
    /// `watched`: some thread may be looking at rosters.
    pub(crate) fn find(
        &mut self,
        broker: &mut dyn Broker,
        group: &[u8],
        watched: bool,
    ) -> Option<&GroupView> {
        if self.current(group).is_some() {
            return self.known.get(group);
        }
        if !watched {
            self.retired.clear();
        }
        if let Some(known) = self.known.remove(group) {
            self.renew(group, known.segment, known.roster);
        }
        if !self.known.contains_key(group) {
            let (segment, fd) = broker.map_group(&Blob(group.to_vec())).ok()?;
            let roster = self.map_once(segment.id, &fd)?;
            self.renew(group, segment.id, roster);
        }
        self.known.get(group)
    }

    /// After a [`Rosters::find`] in vain: the page that the daemon was writing then, and its
    /// version meanwhile.
    pub(crate) fn unfinished(&self) -> Option<(&Roster, u64)> {
        let (_, roster) = self.retired.last()?;
        match roster.table().read() {
            Read::Unfinished(version) => Some((roster, version)),
            // It is finished by now: a version that it had before, so that it counts as changed.
            Read::Group(version, _) => Some((roster, version.wrapping_sub(1))),
            Read::Gone | Read::Unsure => None,
        }
    }

    /// True if members here meet in a roster that cannot be read just now: the daemon is writing
    /// it. False where the machine keeps the barrier.
    pub(crate) fn is_being_written(&self, broker: &mut dyn Broker, group: &[u8]) -> bool {
        let Ok((_, fd)) = broker.map_group(&Blob(group.to_vec())) else { return false };
        Mapping::new(&fd, Roster::SIZE, true)
            .is_ok_and(|mapping| !Roster::new(Arc::new(mapping)).barrier().is_away())
    }

    /// Reads a roster. One that says nothing is put aside.
    fn renew(&mut self, group: &[u8], segment: SegmentId, roster: Roster) {
        match roster.table().read() {
            Read::Group(version, listed) => {
                let view = GroupView::new((segment, roster), version, listed);
                self.known.insert(group.to_vec(), view);
            }
            Read::Gone | Read::Unfinished(_) | Read::Unsure => self.retired.push((segment, roster)),
        }
    }

    /// The roster in this segment. One that was put aside is still mapped: each look at a group
    /// whose page cannot be read would map the page once more.
    fn map_once(&mut self, segment: SegmentId, fd: &OwnedFd) -> Option<Roster> {
        if let Some(at) = self.retired.iter().position(|(of, _)| *of == segment) {
            return Some(self.retired.remove(at).1);
        }
        Some(Roster::new(Arc::new(Mapping::new(fd, Roster::SIZE, true).ok()?)))
    }
}

/// The members whose bits are set.
pub(crate) fn named(members: &Members, bits: u32) -> impl Iterator<Item = Tid> {
    let tids = members.tids.iter().enumerate();
    tids.filter(move |(i, _)| *i < 32 && bits & 1 << i != 0).map(|(_, &tid)| tid)
}
