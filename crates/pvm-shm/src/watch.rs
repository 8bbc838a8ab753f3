//! The rings that a receiver looks at by itself.
//!
//! A sender whose ring is watched only publishes its cell: it neither marks the inbox nor reads
//! whether the receiver sleeps, so that a message costs the two of them one cache line. Before
//! the receiver sleeps it ends all watches and looks once more (`Receiver::unwatch`).
//!
//! The thread that waits reads the stamps without the lock on the lanes. A ring that is let go of
//! while such a thread is looking is kept until none is, or until another ring takes its place.

use crate::broker::{self, Broker};
use crate::lane::{Receiver, Ring};
use crate::segment::Mapping;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};
use crate::users::Users;
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;
use std::ptr;
use std::sync::Arc;

/// The number of rings that are watched at once: each costs a look.
pub(crate) const SLOTS: usize = if cfg!(loom) { 1 } else { 4 };

/// One watched ring: where its next stamp will be, what it will be, and where the sender reads that
/// it is watched.
#[derive(Debug)]
struct Slot {
    stamp: AtomicPtr<AtomicU32>,
    next: AtomicU32,
    flag: AtomicPtr<AtomicU32>,
    /// The number of its sender.
    sender: AtomicU32,
}

/// The words by which the lanes tell the waiting thread what has come. Shared between the two.
#[derive(Debug)]
pub struct Watch {
    slots: [Slot; SLOTS],
    /// Threads that look at the stamps just now.
    looking: Users,
    /// The thread that waited has ended all watches.
    rested: AtomicBool,
    /// The number of the only slot that concerns the waiting thread, plus one; 0 if there is no
    /// such slot.
    sole: AtomicU32,
    /// See [`Watch::take_lack`].
    lacking: AtomicBool,
    /// See [`Watch::tell_soon`].
    soon: AtomicBool,
}

impl Slot {
    /// The next cell is complete. Only asked while `looking` is used.
    #[inline]
    fn is_ready(&self) -> bool {
        let stamp = self.stamp.load(Ordering::SeqCst);
        // SAFETY: the ring behind it is kept while `looking` is used.
        !stamp.is_null()
            && unsafe { &*stamp }.load(Ordering::Acquire) == self.next.load(Ordering::Relaxed)
    }
}

impl Slot {
    fn may_be_of(&self, source: Option<Tid>) -> bool {
        source.is_none_or(|source| self.sender.load(Ordering::Relaxed) == source.0)
    }
}

impl Watch {
    /// Nothing is watched.
    pub fn new() -> Self {
        let slot = || Slot {
            stamp: AtomicPtr::new(ptr::null_mut()),
            next: AtomicU32::new(0),
            flag: AtomicPtr::new(ptr::null_mut()),
            sender: AtomicU32::new(0),
        };
        Self {
            slots: std::array::from_fn(|_| slot()),
            looking: Users::new(),
            rested: AtomicBool::new(false),
            sole: AtomicU32::new(0),
            lacking: AtomicBool::new(false),
            soon: AtomicBool::new(false),
        }
    }

    /// A look could not see the messages of some lane, and has marked that lane to be looked at
    /// again.
    #[cold]
    pub(crate) fn lack(&self) {
        self.lacking.store(true, Ordering::Relaxed);
    }

    /// True if a look since the last question could not see the messages of some lane, for want of
    /// memory or descriptors. Nothing tells when there is room again. So a look that has found
    /// nothing reports this, and a thread that waits for something else tries again after a while,
    /// not all the time.
    #[inline]
    pub fn take_lack(&self) -> bool {
        self.lacking.load(Ordering::Relaxed) && self.lacking.swap(false, Ordering::Relaxed)
    }

    /// Like `take_lack`, but the next question has the same answer.
    pub fn is_lacking(&self) -> bool {
        self.lacking.load(Ordering::Relaxed)
    }

    /// The waiting thread tells whether its message came within a few looks.
    #[inline]
    pub fn tell_soon(&self, soon: bool) {
        self.soon.store(soon, Ordering::Relaxed);
    }

    /// True if the last wait behind a look in vain was over within a few looks.
    #[inline]
    pub(crate) fn came_soon(&self) -> bool {
        self.soon.load(Ordering::Relaxed)
    }

    /// Looks at the stamps while `body` runs; its argument tells whether something has come: of
    /// this sender, if one is given. The messages of others may lie there unread
    /// ([`Inlet::next_from`](crate::Inlet::next_from)).
    #[inline]
    pub fn look<T>(&self, source: Option<Tid>, body: impl FnOnce(&dyn Fn() -> bool) -> T) -> T {
        // PAIRS WITH: `clear`. Either the pointer is seen to be gone, or this is seen.
        self.looking.enter();
        let result =
            body(&|| self.slots.iter().any(|slot| slot.may_be_of(source) && slot.is_ready()));
        self.looking.leave();
        result
    }

    /// [`Watch::look`] for a thread that has told what it looks for
    /// ([`Inlet::take_small`](crate::Inlet::take_small)): where only one ring can bring it, the
    /// others are not looked at. The second argument of `body` tells whether this is so. It needs
    /// `is_alone` to say that the process has one thread: otherwise the last look may have been
    /// another thread's.
    #[inline]
    pub fn look_for<T>(
        &self,
        is_alone: impl Fn() -> bool,
        body: impl FnOnce(&dyn Fn() -> bool, bool) -> T,
    ) -> T {
        let sole = self.sole.load(Ordering::Relaxed) as usize;
        let slot = sole.checked_sub(1).and_then(|slot| self.slots.get(slot));
        let Some(slot) = slot.filter(|_| self.looking.enter_alone(is_alone)) else {
            return self.look(None, |has_come| body(has_come, false));
        };
        let result = body(&|| slot.is_ready(), true);
        self.looking.leave_alone();
        result
    }

    /// The awaited message comes by the ring in this slot, or by any.
    #[inline]
    pub(crate) fn look_only_at(&self, slot: Option<usize>) {
        self.sole.store(slot.map_or(0, |slot| slot as u32 + 1), Ordering::Relaxed);
    }

    /// Ends all watches, before a sleep. True if a message has come, of `source` if that is given.
    /// Other threads know of the sleep
    /// ([`LockWord::lie_down`](crate::lock_word::LockWord::lie_down)), so they do nothing to the
    /// slots meanwhile but clear them.
    pub fn rest(&self, source: Option<Tid>) -> bool {
        self.look(source, |has_come| {
            for slot in &self.slots {
                let flag = slot.flag.load(Ordering::SeqCst);
                if !flag.is_null() {
                    self.rested.store(true, Ordering::Relaxed);
                    // SAFETY: as in `Slot::is_ready`.
                    unsafe { &*flag }.store(0, Ordering::Relaxed);
                }
            }
            // PAIRS WITH: `Sender::is_watched`.
            fence(Ordering::SeqCst);
            has_come()
        })
    }

    /// True until [`Watch::take_rested`] has told so.
    #[inline]
    pub(crate) fn has_rested(&self) -> bool {
        self.rested.load(Ordering::Relaxed)
    }

    /// True once after [`Watch::rest`].
    #[inline]
    pub(crate) fn take_rested(&self) -> bool {
        self.rested.load(Ordering::Relaxed) && self.rested.swap(false, Ordering::Relaxed)
    }

    /// The ring in this slot will be this sender's.
    pub fn set_sender(&self, slot: usize, sender: Tid) {
        self.slots[slot].sender.store(sender.0, Ordering::Relaxed);
    }

    /// Sets the place of a watched ring's next cell.
    // Twelve instructions of a receive if it is called.
    #[inline(always)]
    pub fn set(&self, slot: usize, receiver: &Receiver) {
        let (stamp, next) = receiver.next_stamp();
        let slot = &self.slots[slot];
        slot.next.store(next, Ordering::Relaxed);
        slot.stamp.store(ptr::from_ref(stamp).cast_mut(), Ordering::Relaxed);
        slot.flag.store(ptr::from_ref(receiver.watch_flag()).cast_mut(), Ordering::Relaxed);
    }

    /// [`Watch::set`] of the ring that is watched in this slot already: its receiver has gone on.
    #[inline]
    pub(crate) fn advance(&self, slot: usize, receiver: &Receiver) {
        let (stamp, next) = receiver.next_stamp();
        let Some(slot) = self.slots.get(slot) else { return };
        slot.next.store(next, Ordering::Relaxed);
        slot.stamp.store(ptr::from_ref(stamp).cast_mut(), Ordering::Relaxed);
    }

    /// The ring in this slot is watched no more.
    pub fn clear(&self, slot: usize) {
        self.look_only_at(None);
        self.slots[slot].stamp.store(ptr::null_mut(), Ordering::SeqCst);
        self.slots[slot].flag.store(ptr::null_mut(), Ordering::SeqCst);
    }

    fn is_looked_at(&self) -> bool {
        self.looking.is_used()
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

/// Rings that were let go of while somebody might look at them.
#[derive(Debug)]
pub(crate) struct Retired {
    watch: Arc<Watch>,
    rings: Vec<Ring>,
}

impl Retired {
    pub(crate) const fn new(watch: Arc<Watch>) -> Self {
        Self { watch, rings: Vec::new() }
    }

    /// Keeps the ring of a slot that was cleared for as long as it is looked at.
    pub(crate) fn keep(&mut self, ring: Ring) {
        if self.watch.is_looked_at() {
            self.rings.push(ring);
        } else {
            self.rings.clear();
        }
    }

    /// Maps the ring of a lane, in place of one that is kept if there is one of its size.
    pub(crate) fn map(
        &mut self,
        broker: &mut dyn Broker,
        id: SegmentId,
    ) -> Result<(Segment, Ring), Code> {
        let (found, fd) = broker.map(id)?;
        let size = usize::try_from(found.size).map_err(|_| Code::NoMem)?;
        if let Some(mapping) = self.use_again(&fd, size) {
            return Ok((found, Ring::Shared(mapping)));
        }
        let (found, mapping) = broker::map((found, fd))?;
        Ok((found, Ring::Shared(mapping)))
    }

    /// Maps a segment in place of a ring that is kept only because somebody may look at its stamps;
    /// there it sees other stamps. A thread that has left its look by longjmp counts for ever, and
    /// so the rings of all senders would stay.
    fn use_again(&mut self, fd: &OwnedFd, size: usize) -> Option<Arc<Mapping>> {
        let renewed = |ring: &mut Ring| match ring {
            Ring::Shared(mapping) if mapping.size() == size => mapping.become_another(fd).is_ok(),
            Ring::Shared(_) | Ring::Heap(_) => false,
        };
        let place = self.rings.iter_mut().position(renewed)?;
        match self.rings.swap_remove(place) {
            Ring::Shared(mapping) => Some(mapping),
            Ring::Heap(_) => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::segment;

    fn segment(size: usize) -> OwnedFd {
        segment::create(size).expect("a segment")
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no memory files")]
    fn a_look_that_was_left_by_longjmp_kept_every_ring() {
        let size = crate::lane::segment_size(60);
        let watch = Arc::new(Watch::new());
        let mut retired = Retired::new(watch.clone());
        watch.looking.enter();
        let mapping = Mapping::new(segment(size), size, true).expect("mapped");
        let mut ring = Ring::Shared(Arc::new(mapping));
        for _ in 0..100 {
            retired.keep(ring.clone());
            assert!(retired.use_again(&segment(size), size).is_none(), "its lane is open still");
            drop(ring);
            assert!(retired.use_again(&segment(size), 2 * size).is_none(), "another size");
            ring = Ring::Shared(retired.use_again(&segment(size), size).expect("its place"));
            assert!(retired.rings.is_empty());
        }
    }
}
