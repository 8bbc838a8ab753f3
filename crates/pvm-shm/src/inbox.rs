//! The word that says where messages wait, and whether the owner sleeps.
//!
//! ```text
//!  bit 63    62      61 ............................ 0
//! +-------+--------+---------------------------------+
//! | armed | closed | lanes: bit (lane mod 62)        |
//! +-------+--------+---------------------------------+
//! ```
//! A sender publishes its cell, then sets its lane's bit: one read-modify-write that at the same
//! time tells it whether the owner sleeps (*armed*) and must be woken, and whether it is gone
//! (*closed*). The owner clears the bits, then reads the lanes. Since all of it is one location,
//! no fence is needed and no wake-up can be lost.

use crate::activity::Activity;
use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use pvm_wire::{Envelope, Tid};
use std::ptr::NonNull;
use std::sync::Arc;

/// Lanes share the 62 bits by their place modulo this.
pub const LANE_BITS: u32 = 62;
const LANES: u64 = (1 << LANE_BITS) - 1;
const CLOSED: u64 = 1 << 62;
const ARMED: u64 = 1 << 63;
/// Where the word of the probe points lies: behind the header.
const PROBES_AT: usize = 64;
/// Where the owner's wish lies.
const WISH_AT: usize = 192;

/// What lies at the start of an inbox's segment. All on one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    pending: AtomicU64,
    /// How many lanes were ever opened: the owner asks for those that it does not know.
    opened: AtomicU32,
    /// 1 once the owner counts among the awake.
    counted: AtomicU32,
}

/// What the owner waits for, on a cache line of its own behind the header. A hint: who believes one that is
/// out of date loses time, nothing else.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Wish {
    /// 0 none | bit 32: waits | bit 33: any tag | bits 0-31: the sender, 0 any.
    from: AtomicU64,
    /// The context in the upper half, the tag in the lower.
    what: AtomicU64,
}

const WAITS: u64 = 1 << 32;
const ANY_TAG: u64 = 1 << 33;

impl Wish {
    /// Owner: waits for such a message, or for none (any more).
    pub fn set(&self, wanted: Option<(i32, Option<Tid>, Option<i32>)>) {
        let Some((context, from, tag)) = wanted else {
            return self.from.store(0, Ordering::Relaxed);
        };
        let any = if tag.is_none() { ANY_TAG } else { 0 };
        let what =
            u64::from(context.cast_unsigned()) << 32 | u64::from(tag.unwrap_or(0).cast_unsigned());
        self.what.store(what, Ordering::Relaxed);
        self.from.store(WAITS | any | from.map_or(0, |tid| tid.0.into()), Ordering::Relaxed);
    }

    /// Sender: true if this message is waited for.
    pub fn fits(&self, envelope: &Envelope) -> bool {
        let (from, what) = (self.from.load(Ordering::Relaxed), self.what.load(Ordering::Relaxed));
        from & WAITS != 0
            && (from as u32 == 0 || from as u32 == envelope.src.0)
            && (what >> 32) as u32 == envelope.context.cast_unsigned()
            && (from & ANY_TAG != 0 || what as u32 == envelope.tag.cast_unsigned())
    }
}
/// Behind it, on a cache line of its own: what a sender looks at only when its ring is full.
const UNMATCHED_OFFSET: usize = 128;

/// What became of the wish to sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Armed {
    /// Armed by this call.
    Now,
    /// It was armed already.
    Before,
    /// Something waits.
    Not,
    /// Something waits, and it was armed until now.
    NoMore,
}

/// What a sender learns when it marks its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    /// The owner is awake.
    Awake,
    /// The owner sleeps, and it is this sender's part to wake it.
    Wake,
    /// The owner is gone.
    Closed,
}

impl Header {
    /// For tests on the heap.
    pub fn new() -> Self {
        Self { pending: AtomicU64::new(0), opened: AtomicU32::new(0), counted: AtomicU32::new(0) }
    }

    /// Sender: something was published in `lane`. PAIRS WITH: `take`, `arm`.
    pub fn mark(&self, lane: u32) -> Marked {
        let old = self.pending.fetch_or(1 << (lane % LANE_BITS), Ordering::AcqRel);
        if old & CLOSED != 0 {
            return Marked::Closed;
        }
        if old & ARMED != 0 && self.pending.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0 {
            return Marked::Wake;
        }
        Marked::Awake
    }

    /// Something changed that is no message and that the owner may wait for: true if it sleeps and it is the
    /// caller's part to ring. PAIRS WITH: the owner's fence between `arm` and its last look.
    pub fn wake(&self) -> bool {
        fence(Ordering::SeqCst);
        self.is_armed() && self.pending.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0
    }

    /// Owner: between `arm` and a last look at what is no message. PAIRS WITH: `wake`.
    pub fn look_again() {
        fence(Ordering::SeqCst);
    }

    /// Sender: the owner is gone.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.pending.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Owner: something waits. One read, for spinning.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) & LANES != 0
    }

    /// Owner: takes the bits. PAIRS WITH: `mark`.
    pub fn take(&self) -> u64 {
        if !self.has_pending() {
            return 0;
        }
        self.pending.fetch_and(!LANES, Ordering::AcqRel) & LANES
    }

    /// Owner: sets bits again, for lanes that were not read to their end.
    pub fn put_back(&self, bits: u64) {
        self.pending.fetch_or(bits & LANES, Ordering::AcqRel);
    }

    /// Owner: about to sleep, unless something waits.
    pub fn arm(&self) -> Armed {
        let old = self.pending.fetch_or(ARMED, Ordering::AcqRel);
        if old & CLOSED != 0 {
            // The keeper has counted this owner out for good.
            self.pending.fetch_and(!ARMED, Ordering::AcqRel);
            return Armed::Not;
        }
        match (old & LANES == 0, old & ARMED != 0) {
            (true, false) => Armed::Now,
            (true, true) => Armed::Before,
            (false, was) => {
                let still = self.pending.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0;
                if was && still { Armed::NoMore } else { Armed::Not }
            }
        }
    }

    /// Owner: awake. True if no sender has disarmed it.
    pub fn disarm(&self) -> bool {
        self.pending.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0
    }

    /// Keeper: the owner is gone. True if it was asleep; it is woken by nobody's count.
    pub fn close(&self) -> bool {
        self.pending.fetch_or(CLOSED, Ordering::AcqRel);
        self.pending.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0
    }

    fn is_armed(&self) -> bool {
        self.pending.load(Ordering::Acquire) & ARMED != 0
    }
}

impl Default for Header {
    fn default() -> Self {
        Self::new()
    }
}

/// A mapped inbox.
#[derive(Clone, Debug)]
pub struct Inbox {
    mapping: Arc<Mapping>,
    /// Its start: every send looks there.
    header: NonNull<Header>,
}

// SAFETY: the pointer leads into the mapping that is kept beside it, to atomics.
unsafe impl Send for Inbox {}
// SAFETY: as above.
unsafe impl Sync for Inbox {}

impl Inbox {
    /// Bytes of the segment.
    pub const SIZE: usize = PAGE;

    /// The inbox in this segment.
    pub fn new(mapping: Arc<Mapping>) -> Self {
        // SAFETY: atomics only.
        let header = NonNull::from(unsafe { mapping.view::<Header>(0) });
        Self { mapping, header }
    }

    /// The word and its neighbours.
    #[inline(always)]
    pub const fn header(&self) -> &Header {
        // SAFETY: it lies in `mapping`, which neither moves nor goes before this does.
        unsafe { self.header.as_ref() }
    }

    /// What the owner waits for.
    pub fn wish(&self) -> &Wish {
        // SAFETY: atomics only.
        unsafe { self.mapping.view(WISH_AT) }
    }

    /// The word that the owner's probe points look at: 0 while they note nothing. On a cache line
    /// that nobody writes otherwise.
    pub fn probes(&self) -> &AtomicU32 {
        // SAFETY: an atomic, valid for any bits.
        unsafe { self.mapping.view(PROBES_AT) }
    }

    /// Anybody: from now on the owner's probe points note something, or nothing (0).
    pub fn set_probes(&self, mask: u32) {
        self.probes().store(mask, Ordering::Relaxed);
    }

    /// Lanes ever opened.
    pub fn opened(&self) -> u32 {
        self.header().opened.load(Ordering::Acquire)
    }

    fn unmatched_word(&self) -> &AtomicU32 {
        // SAFETY: an atomic, valid for any bits.
        unsafe { self.mapping.view(UNMATCHED_OFFSET) }
    }

    /// Owner: so many messages wait outside of their lanes, roughly.
    pub fn tell_unmatched(&self, count: u32) {
        self.unmatched_word().store(count, Ordering::Relaxed);
    }

    /// Keeper: how many messages wait outside of their lanes. Who lies here slows its own senders.
    pub fn unmatched(&self) -> u32 {
        self.unmatched_word().load(Ordering::Relaxed)
    }

    /// Keeper: one more lane was opened. PAIRS WITH: `opened` behind the bit of that lane.
    pub(crate) fn count_lane(&self, opened: u32) {
        self.header().opened.store(opened, Ordering::Release);
    }

    /// Owner: counts among the awake from now on.
    pub fn start(&self, activity: &Activity) {
        if self.header().counted.swap(1, Ordering::AcqRel) == 0 {
            activity.woke();
        }
    }

    /// Owner: about to sleep; false if something waits.
    pub fn arm(&self, activity: &Activity) -> bool {
        match self.header().arm() {
            Armed::Now => activity.slept(),
            Armed::NoMore => activity.woke(),
            Armed::Before | Armed::Not => {}
        }
        self.header().is_armed()
    }

    /// Owner: awake again, by whatever reason.
    pub fn disarm(&self, activity: &Activity) {
        if self.header().disarm() {
            activity.woke();
        }
    }

    /// Keeper: the owner is gone, and counts no more.
    pub(crate) fn close(&self, activity: &Activity) {
        let asleep = self.header().close();
        if self.header().counted.swap(0, Ordering::AcqRel) == 1 && !asleep {
            activity.slept();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_sender_wakes_a_sleeper() {
        let header = Header::new();
        assert_eq!(header.mark(3), Marked::Awake);
        assert_eq!(header.arm(), Armed::Not);
        assert_eq!(header.take(), 1 << 3);
        assert_eq!(header.arm(), Armed::Now);
        assert_eq!(header.arm(), Armed::Before);
        assert_eq!(header.mark(62), Marked::Wake);
        assert_eq!(header.mark(1), Marked::Awake);
        assert!(!header.disarm(), "a sender did it");
        assert_eq!(header.take(), 0b11);
        assert!(!header.close(), "awake");
        assert_eq!(header.mark(1), Marked::Closed);
    }

    #[test]
    fn a_task_that_leaves_asleep_is_not_counted_awake_for_ever() {
        let segment = |size| Arc::new(Mapping::of_a_test(size).expect("memory"));
        let activity = Activity::new(segment(Activity::SIZE));
        let inbox = Inbox::new(segment(Inbox::SIZE));
        inbox.start(&activity);
        assert!(inbox.arm(&activity));
        inbox.close(&activity);
        inbox.disarm(&activity);
        assert!(!inbox.arm(&activity));
        inbox.disarm(&activity);
        assert_eq!(activity.count(), 0);
    }
}
