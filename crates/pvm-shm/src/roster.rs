//! The members of a group, as all tasks of a host see them: a page that its daemon writes.
//!
//! ```text
//!  0  barrier u64 (see `barrier`)
//! 64  version u64   odd while it is being written, 0 before the first time
//! 72  state u32     1 frozen | 2 defunct | 4 gone | 8 larger than this page
//! 76  size u32      members listed, holes included
//! 80  lost u32      members that died and whose places nobody has taken
//! 84  members       u32 each, by instance; 0 is a hole
//! ```
//! A sequence lock: a reader that finds the same even version before and after its look has a list
//! that was true at one moment. A daemon that is killed while it writes leaves an odd version;
//! readers then ask the machine until the next daemon has written. Its contents are checked like
//! all shared memory: a lie costs messages to wrong tasks, no more.

use crate::barrier::Word;
use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use pvm_wire::Tid;
use std::sync::Arc;

/// Members that fit. Larger groups are asked for at the machine.
pub const MEMBERS_MAX: usize = 1003;
/// Looks at a page that is being written before the reader gives up.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 64 };

const FROZEN: u32 = 1;
const DEFUNCT: u32 = 2;
const GONE: u32 = 4;
const LARGE: u32 = 8;

/// The list and its version.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Table<const N: usize> {
    version: AtomicU64,
    state: AtomicU32,
    size: AtomicU32,
    lost: AtomicU32,
    members: [AtomicU32; N],
}

const _: () = assert!(cfg!(loom) || 64 + size_of::<Table<MEMBERS_MAX>>() <= PAGE);

/// A group at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listed {
    /// The members by instance; [`Tid::NONE`] marks a hole.
    pub members: Vec<Tid>,
    /// True once frozen.
    pub frozen: bool,
    /// True once a member of a frozen group has gone: no barrier of it can be met again.
    pub defunct: bool,
    /// Members that died and whose places nobody has taken.
    pub lost: u32,
}

impl Listed {
    /// The number of members.
    pub fn size(&self) -> usize {
        self.members.iter().filter(|&&tid| tid != Tid::NONE).count()
    }
}

/// The result of a look at the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Read {
    /// The group, and the version of the page that says so.
    Group(u64, Listed),
    /// The group is no more, or has no members here: this page says nothing any more.
    Gone,
    /// The daemon is writing the page, whose version is this one meanwhile.
    Unfinished(u64),
    /// The group is too large for the page: ask the machine.
    Unsure,
}

impl<const N: usize> Table<N> {
    /// On the heap, for models.
    pub fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            state: AtomicU32::new(0),
            size: AtomicU32::new(0),
            lost: AtomicU32::new(0),
            members: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// The version: a list that was read is still true while it is the same.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Asked after an arrival at the barrier: true if the list that it relied on has changed since.
    /// PAIRS WITH: the fences of the daemon's calls in `barrier`, behind `write`.
    pub fn has_changed(&self, version: u64) -> bool {
        fence(Ordering::SeqCst);
        self.version.load(Ordering::Acquire) != version
    }

    /// The word itself, for a thread that waits for it to change.
    pub const fn version_word(&self) -> &AtomicU64 {
        &self.version
    }

    /// Daemon: writes the group, or that it is gone. Only one daemon writes at a time.
    pub fn write(&self, group: Option<&Listed>) {
        // PAIRS WITH: `read`. A daemon before this one may have left it odd.
        let odd = self.version.load(Ordering::Relaxed) | 1;
        self.version.store(odd, Ordering::Relaxed);
        fence(Ordering::Release);
        let mut state = GONE;
        if let Some(group) = group {
            let fits = group.members.len() <= N;
            let bit = |set: bool, bit| if set { bit } else { 0 };
            state = bit(group.frozen, FROZEN) | bit(group.defunct, DEFUNCT) | bit(!fits, LARGE);
            let listed = if fits { &group.members[..] } else { &[] };
            for (place, tid) in self.members.iter().zip(listed) {
                place.store(tid.0, Ordering::Relaxed);
            }
            self.size.store(listed.len() as u32, Ordering::Relaxed);
            self.lost.store(group.lost, Ordering::Relaxed);
        }
        self.state.store(state, Ordering::Relaxed);
        self.version.store(odd.wrapping_add(1), Ordering::Release);
    }

    /// The group.
    pub fn read(&self) -> Read {
        let mut unfinished = 0;
        for _ in 0..LOOKS {
            // PAIRS WITH: `write`.
            let before = self.version.load(Ordering::Acquire);
            if before != 0 && before.is_multiple_of(2) {
                let read = self.copy(before);
                fence(Ordering::Acquire);
                if self.version.load(Ordering::Relaxed) == before {
                    return read;
                }
            }
            unfinished = before;
            std::hint::spin_loop();
        }
        Read::Unfinished(unfinished)
    }

    fn copy(&self, version: u64) -> Read {
        let state = self.state.load(Ordering::Relaxed);
        if state & GONE != 0 {
            return Read::Gone;
        }
        if state & LARGE != 0 {
            return Read::Unsure;
        }
        let size = (self.size.load(Ordering::Relaxed) as usize).min(N);
        let tid = |place: &AtomicU32| Tid(place.load(Ordering::Relaxed));
        let task = |tid: Tid| if tid.is_task() { tid } else { Tid::NONE };
        let members = self.members[..size].iter().map(|place| task(tid(place))).collect();
        let (frozen, defunct) = (state & FROZEN != 0, state & DEFUNCT != 0);
        Read::Group(
            version,
            Listed { members, frozen, defunct, lost: self.lost.load(Ordering::Relaxed) },
        )
    }
}

impl<const N: usize> Default for Table<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// A mapped page.
#[derive(Clone, Debug)]
pub struct Roster {
    mapping: Arc<Mapping>,
}

impl Roster {
    /// Bytes of the segment.
    pub const SIZE: usize = PAGE;

    /// The roster in this segment.
    pub const fn new(mapping: Arc<Mapping>) -> Self {
        Self { mapping }
    }

    /// The group's barrier.
    pub fn barrier(&self) -> &Word {
        // SAFETY: an atomic.
        unsafe { self.mapping.view(0) }
    }

    /// The list.
    pub fn table(&self) -> &Table<MEMBERS_MAX> {
        // SAFETY: atomics only.
        unsafe { self.mapping.view(64) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_an_unfinished_page_says_nothing() {
        let table: Table<4> = Table::new();
        assert_eq!(table.read(), Read::Unfinished(0), "nobody has written");
        let tids = [Tid(0x40001), Tid::NONE, Tid(0x80002)];
        let group = Listed { members: tids.to_vec(), frozen: true, defunct: false, lost: 1 };
        table.write(Some(&group));
        assert_eq!(table.read(), Read::Group(2, group.clone()));
        assert_eq!(group.size(), 2);
        let large = Listed { members: vec![Tid(0x40001); 5], ..Listed::default() };
        table.write(Some(&large));
        assert_eq!(table.read(), Read::Unsure, "it does not fit");
        // A daemon was killed while it wrote.
        table.version.store(5, Ordering::Relaxed);
        assert_eq!(table.read(), Read::Unfinished(5));
        table.write(Some(&group));
        assert_eq!(table.read(), Read::Group(6, group));
        table.write(None);
        assert_eq!(table.read(), Read::Gone);
    }

    #[test]
    fn a_page_that_lies_names_no_daemon_and_nothing_beyond_its_end() {
        let table: Table<4> = Table::new();
        table.write(Some(&Listed { members: vec![Tid(0x8004_0000); 2], ..Listed::default() }));
        table.size.store(u32::MAX, Ordering::Relaxed);
        let Read::Group(_, group) = table.read() else { panic!("readable") };
        assert_eq!(group.members, [Tid::NONE; 4]);
    }
}
