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
//!
//! Nobody but the owner clears *armed*. So a waker that is killed or stopped before it has rung has
//! taken nothing away: each sender whose bit was not set rings, and the keeper rings for senders
//! that are gone.

mod wish;

pub use wish::Wish;

use crate::activity::{Activity, core_now};
use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use std::ptr::NonNull;
use std::sync::Arc;

/// Lanes share the 62 bits by their place modulo this.
pub const LANE_BITS: u32 = 62;
const LANES: u64 = (1 << LANE_BITS) - 1;
const CLOSED: u64 = 1 << 62;
const ARMED: u64 = 1 << 63;
/// The offset of the word of the probe points: behind the header.
const PROBES_AT: usize = 64;
/// In that word: calls note records.
pub const RECORDS: u32 = 1;
/// In that word: the owner is never recorded, as its work is a part of recording.
pub const UNRECORDED: u32 = 4;
/// The offset of the owner's wish.
const WISH_AT: usize = 192;

/// The words at the start of an inbox's segment, all on one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Header {
    pending: AtomicU64,
    /// The number of lanes that were ever opened; the owner asks for those that it does not know.
    opened: AtomicU32,
    /// Whether the owner counts among the awake ([`NOT_COUNTED`]) in bits 0 and 1, and on which
    /// core in the others.
    counted: AtomicU32,
    /// 1 once the inbox has more lanes than bits, so that lanes share bits.
    shared: AtomicU32,
}

/// The owner does not count yet, or no more.
const NOT_COUNTED: u32 = 0;
/// It counts among the awake.
const AWAKE: u32 = 1;
/// It sleeps and was taken off the count. Its waker, or the owner itself, counts it again.
const ASLEEP: u32 = 2;
const STATE: u32 = 3;
const CORE_SHIFT: u32 = 2;

/// The offset of the count of unmatched messages, on a cache line of its own: the keeper reads it
/// only when a sender asks for a larger ring.
const UNMATCHED_OFFSET: usize = 128;

/// The result of the wish to sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Armed {
    /// Armed by this call.
    Now,
    /// It was armed already.
    Before,
    /// Something waits.
    Not,
}

/// The answer to a sender that marks its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    /// The owner is awake.
    Awake,
    /// The owner sleeps, and this sender must ring. Others may ring as well.
    Wake,
    /// The owner is gone.
    Closed,
}

impl Header {
    /// For tests on the heap.
    pub fn new() -> Self {
        Self {
            pending: AtomicU64::new(0),
            opened: AtomicU32::new(0),
            counted: AtomicU32::new(NOT_COUNTED),
            shared: AtomicU32::new(0),
        }
    }

    /// Sender: something was published in `lane`. PAIRS WITH: `take`, `arm`.
    ///
    /// The owner arms only when no bit is set. So a bit that is set was set after that, by a sender
    /// that rings or whose end [`Header::remind`] reports. Where lanes share bits, it may be the
    /// bit of another sender, which may stand still for ever before it rings.
    pub fn mark(&self, lane: u32) -> Marked {
        let bit = 1 << (lane % LANE_BITS);
        let old = self.pending.fetch_or(bit, Ordering::AcqRel);
        if old & CLOSED != 0 {
            return Marked::Closed;
        }
        let rings = old & ARMED != 0 && (old & bit == 0 || self.shares_bits());
        if rings { Marked::Wake } else { Marked::Awake }
    }

    /// Keeper: the sender of `lane` is gone, at whatever instruction. True if the owner sleeps and
    /// must be rung for.
    pub fn remind(&self, lane: u32) -> bool {
        let old = self.pending.fetch_or(1 << (lane % LANE_BITS), Ordering::AcqRel);
        old & CLOSED == 0 && old & ARMED != 0
    }

    /// Keeper: from now on lanes share bits. A sender reads this flag only after it has found its
    /// bit set; another sender that has set the bit knew of the flag.
    pub fn share_bits(&self) {
        self.shared.store(1, Ordering::Relaxed);
    }

    fn shares_bits(&self) -> bool {
        self.shared.load(Ordering::Relaxed) != 0
    }

    /// Something changed that is no message and that the owner may wait for: true if it sleeps and
    /// must be rung for, by everybody who asks. PAIRS WITH: the owner's fence between `arm` and its
    /// last look.
    pub fn wake(&self) -> bool {
        fence(Ordering::SeqCst);
        self.is_armed()
    }

    /// Owner: between `arm` and a last look at what is no message. PAIRS WITH: `wake`.
    pub fn look_again() {
        fence(Ordering::SeqCst);
    }

    /// Sender: the owner is gone.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.pending.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Owner: something waits. One read, for spinning.
    #[inline]
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
        if old & (CLOSED | LANES) != 0 {
            self.disarm();
            return Armed::Not;
        }
        if old & ARMED == 0 { Armed::Now } else { Armed::Before }
    }

    /// Owner: awake.
    pub fn disarm(&self) {
        self.pending.fetch_and(!ARMED, Ordering::AcqRel);
    }

    /// Keeper: the owner is gone. Nobody rings for it any more.
    pub fn close(&self) {
        self.pending.fetch_or(CLOSED, Ordering::AcqRel);
        self.disarm();
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
    #[inline]
    pub const fn header(&self) -> &Header {
        // SAFETY: it lies in `mapping`, which neither moves nor goes before this does.
        unsafe { self.header.as_ref() }
    }

    /// The mapping that it lies in.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// The message that the owner waits for.
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

    /// Anybody: from now on the owner's calls note records, or none. What it tells PVM's tracers
    /// is its own affair.
    pub fn note_records(&self, on: bool) {
        let noting = |word: u32| {
            let on = on && word & UNRECORDED == 0;
            Some(if on { word | RECORDS } else { word & !RECORDS })
        };
        let _ = self.probes().fetch_update(Ordering::Relaxed, Ordering::Relaxed, noting);
    }

    /// Lanes ever opened.
    pub fn opened(&self) -> u32 {
        self.header().opened.load(Ordering::Acquire)
    }

    fn unmatched_word(&self) -> &AtomicU32 {
        // SAFETY: an atomic, valid for any bits.
        unsafe { self.mapping.view(UNMATCHED_OFFSET) }
    }

    /// Owner: about `count` messages wait outside of their lanes.
    pub fn tell_unmatched(&self, count: u32) {
        self.unmatched_word().store(count, Ordering::Relaxed);
    }

    /// Keeper: about how many messages wait outside of their lanes. An owner that lies here slows
    /// its own senders.
    pub fn unmatched(&self) -> u32 {
        self.unmatched_word().load(Ordering::Relaxed)
    }

    /// Keeper: one more lane was opened, as the one in `place`. PAIRS WITH: `opened` behind the bit
    /// of that lane.
    pub(crate) fn count_lane(&self, opened: u32, place: u32) {
        if place >= LANE_BITS {
            self.header().share_bits();
        }
        self.header().opened.store(opened, Ordering::Release);
    }

    /// Owner: counts among the awake from now on. One before it may have died asleep.
    pub fn start(&self, activity: &Activity) {
        self.recount(activity, |_| Some(AWAKE | core_now() << CORE_SHIFT));
    }

    /// Owner: it is awake here. How many tasks are awake on this core, itself included, and which
    /// one it is.
    pub fn settle(&self, activity: &Activity) -> (i32, u32) {
        let core = core_now();
        self.settle_on(activity, core);
        (activity.count_on(core), core)
    }

    /// Owner: it is awake there, or about to be.
    pub fn settle_on(&self, activity: &Activity, core: u32) {
        let there = AWAKE | core << CORE_SHIFT;
        if self.header().counted.load(Ordering::Relaxed) != there {
            self.recount(activity, |now| (now & STATE == AWAKE).then_some(there));
        }
    }

    /// Owner: about to sleep; false if something waits.
    pub fn arm(&self, activity: &Activity) -> bool {
        if self.header().arm() == Armed::Not {
            self.count_awake(activity);
            return false;
        }
        self.recount(activity, |now| (now & STATE == AWAKE).then_some(now & !STATE | ASLEEP));
        true
    }

    /// Owner: awake again, by whatever reason.
    pub fn disarm(&self, activity: &Activity) {
        self.header().disarm();
        self.count_awake(activity);
    }

    /// A waker before it rings, or the owner: counts the owner among the awake again. Only the
    /// first of these calls has an effect.
    pub(crate) fn count_awake(&self, activity: &Activity) {
        self.recount(activity, |now| (now & STATE == ASLEEP).then_some(now & !STATE | AWAKE));
    }

    /// Keeper: the owner is gone, and counts no more.
    pub(crate) fn close(&self, activity: &Activity) {
        self.header().close();
        self.recount(activity, |_| Some(NOT_COUNTED));
    }

    /// Changes whether and where the owner counts, in one compare-and-swap; the thread that has
    /// changed it also changes the host's count.
    fn recount(&self, activity: &Activity, change: impl Fn(u32) -> Option<u32>) {
        let counted = &self.header().counted;
        let mut old = counted.load(Ordering::Relaxed);
        let new = loop {
            let Some(new) = change(old) else { return };
            match counted.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break new,
                Err(now) => old = now,
            }
        };
        match (old & STATE == AWAKE, new & STATE == AWAKE) {
            (true, true) => activity.moved(old >> CORE_SHIFT, new >> CORE_SHIFT),
            (true, false) => activity.slept(old >> CORE_SHIFT),
            (false, true) => activity.woke(new >> CORE_SHIFT),
            (false, false) => {}
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_sender_rings_once_for_a_sleeper_until_that_one_has_looked() {
        let header = Header::new();
        assert_eq!(header.mark(3), Marked::Awake);
        assert_eq!(header.arm(), Armed::Not);
        assert_eq!(header.take(), 1 << 3);
        assert_eq!(header.arm(), Armed::Now);
        assert_eq!(header.arm(), Armed::Before);
        assert_eq!(header.mark(62), Marked::Wake);
        assert_eq!(header.mark(62), Marked::Awake);
        assert_eq!(
            header.mark(1),
            Marked::Wake,
            "the first one may have been killed before it rang"
        );
        // Another thread of the owner looks while one sleeps on.
        assert_eq!(header.take(), 0b11);
        assert_eq!(header.mark(1), Marked::Wake);
        header.disarm();
        assert_eq!(header.mark(2), Marked::Awake);
        header.close();
        assert_eq!((header.mark(1), header.remind(1)), (Marked::Closed, false));
    }

    #[test]
    fn who_shares_a_bit_with_a_sender_that_stands_still_rings_all_the_same() {
        let header = Header::new();
        header.share_bits();
        header.arm();
        assert_eq!([header.mark(1), header.mark(63)], [Marked::Wake; 2]);
    }

    #[test]
    fn the_keeper_rings_for_a_sender_that_was_killed_before_it_rang() {
        let header = Header::new();
        header.arm();
        assert_eq!(header.mark(5), Marked::Wake);
        assert!(header.remind(5));
        header.disarm();
        assert!(!header.remind(5));
        assert_eq!(header.take(), 1 << 5);
    }

    fn an_inbox() -> (Inbox, Activity) {
        let segment = |size| Arc::new(Mapping::of_a_test(size).expect("memory"));
        (Inbox::new(segment(Inbox::SIZE)), Activity::new(segment(Activity::SIZE)))
    }

    #[test]
    fn a_sleeper_that_many_wake_counts_as_one() {
        let (inbox, activity) = an_inbox();
        inbox.start(&activity);
        inbox.start(&activity);
        for _ in 0..3 {
            assert!(inbox.arm(&activity) && inbox.arm(&activity));
            assert_eq!(activity.count(), 0);
            (0..3).for_each(|_| inbox.count_awake(&activity));
            assert_eq!(activity.count(), 1);
            inbox.disarm(&activity);
            assert_eq!(activity.count(), 1);
        }
        // One that is replaced in its sleep, as daemons are.
        assert!(inbox.arm(&activity));
        inbox.start(&activity);
        inbox.disarm(&activity);
        inbox.header().mark(0);
        assert!(!inbox.arm(&activity));
        assert_eq!(activity.count(), 1);
        inbox.close(&activity);
        assert_eq!(activity.count(), 0);
    }

    #[test]
    fn a_task_counts_on_the_core_where_it_says_that_it_is() {
        let (inbox, activity) = an_inbox();
        inbox.settle_on(&activity, 7);
        assert_eq!(activity.count_on(7), 0, "it has not started");
        inbox.start(&activity);
        inbox.settle_on(&activity, 7);
        inbox.settle_on(&activity, 9);
        let counts = || [activity.count(), activity.count_on(7), activity.count_on(9)];
        assert_eq!(counts(), [1, 0, 1]);
        assert!(inbox.arm(&activity));
        inbox.settle_on(&activity, 7);
        assert_eq!(counts(), [0; 3], "another thread of a sleeper is no reason");
        inbox.count_awake(&activity);
        assert_eq!(counts(), [1, 0, 1], "where it slept");
        inbox.close(&activity);
        assert_eq!(counts(), [0; 3]);
    }

    #[test]
    fn a_task_that_leaves_asleep_is_not_counted_awake_for_ever() {
        let (inbox, activity) = an_inbox();
        inbox.start(&activity);
        assert!(inbox.arm(&activity));
        inbox.close(&activity);
        inbox.disarm(&activity);
        assert!(!inbox.arm(&activity));
        inbox.disarm(&activity);
        assert_eq!(activity.count(), 0);
    }
}
