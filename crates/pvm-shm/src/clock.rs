//! The order of messages within a host: Lamport's clock, in a word of each cell.
//!
//! A task sends a message at its clock's *moment*; a receiver that takes it in sets its own clock
//! behind that. So a message that was sent because of another one has the later moment, whatever
//! tasks sent and received the two, and a receiver that finds messages in several lanes takes the
//! earliest first.
//!
//! The host has a clock as well, in the activity segment. No task's clock is behind it, and none is
//! further ahead of it than `AHEAD`. Setting it forward orders events that no message orders:
//! before a task arrives at a barrier or asks the host for something it sets the host's clock
//! behind its own, and the host itself speaks at a moment behind all that tasks can have reached. A
//! receiver sets it to the latest moment that waits for it, so that no lane is the earlier one for
//! ever.

use crate::activity::{Activity, is_later};
use crate::sync::Ordering;
use pvm_wire::Tid;

/// A task's clock is at most this far ahead of the host's.
const AHEAD: u64 = 1024;
/// No message has this moment.
pub(crate) const BEFORE_ALL: u64 = 0;
/// A moment this far ahead of the host's clock is behind all that anybody has sent.
pub(crate) const BEHIND_ALL: u64 = 2 * (AHEAD + 1) + 1;
/// Clocks begin here, so that differences of their lower halves lead to no negative moment.
pub(crate) const START: u64 = 1 << 32;

/// The clock of a sender.
#[derive(Debug)]
pub(crate) struct Clock {
    activity: Activity,
    own: u64,
    /// The distance of the host's own messages in front of its clock; 0 for a task.
    lead: u64,
}

impl Clock {
    pub(crate) const fn new(activity: Activity) -> Self {
        Self { activity, own: START, lead: 0 }
    }

    pub(crate) const fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Sets the owner of this clock. The daemon's messages come behind those that tasks have sent
    /// by then; the parent's (a death, for one) also come behind those that the daemon has handed
    /// on.
    pub(crate) fn belongs_to(&mut self, owner: Tid) {
        self.lead = match owner {
            Tid::NONE => 2 * (AHEAD + 1),
            owner if owner.is_daemon() => AHEAD + 1,
            _ => 0,
        };
    }

    /// The moment of a message that a task sends now.
    #[inline]
    pub(crate) fn moment(&mut self) -> u32 {
        let host = self.activity.clock().load(Ordering::Relaxed);
        if self.own.wrapping_sub(host) > AHEAD {
            self.adjust(host);
        }
        self.own as u32
    }

    /// [`Clock::moment`] where neither clock is to be set; else none.
    #[inline]
    pub(crate) fn moment_at_hand(&self) -> Option<u32> {
        let host = self.activity.clock().load(Ordering::Relaxed);
        (self.own.wrapping_sub(host) <= AHEAD).then_some(self.own as u32)
    }

    #[cold]
    fn adjust(&mut self, host: u64) {
        if is_later(host, self.own) {
            self.own = host;
        } else {
            self.activity.set_clock(self.own);
        }
    }

    /// The moment of a message of any sender.
    pub(crate) fn moment_of_any(&mut self) -> u32 {
        if self.lead == 0 {
            return self.moment();
        }
        let moment = self.activity.clock().load(Ordering::Acquire).wrapping_add(self.lead);
        // A task that the host starts or answers after this has heard of it by no message. This is
        // not done for each message of other hosts, as moments would come again if there are many.
        if self.lead > AHEAD + 1 {
            self.activity.set_clock(moment.wrapping_add(1));
        }
        moment as u32
    }

    /// All messages that were taken in were sent before `seen`.
    #[inline]
    pub(crate) fn follow(&mut self, seen: u64) {
        if is_later(seen, self.own) {
            self.own = seen;
        }
    }

    /// Messages that others send because of what this task does next come behind those that it has
    /// sent so far.
    pub(crate) fn tell(&mut self) {
        self.moment();
        self.activity.set_clock(self.own.wrapping_add(1));
    }
}

/// The moment whose lower half a cell has: the one nearest to `near`.
#[inline]
pub(crate) const fn widen(half: u32, near: u64) -> u64 {
    let ahead = half.wrapping_sub(near as u32).cast_signed();
    near.wrapping_add_signed(ahead as i64)
}

/// Looks until two looks in a row have found the same, at most `most` times, as others may change
/// what there is. A single look may find a message in a place that it visits late, and miss the
/// cause of that message in a place that it has visited too early.
pub fn settle<T: Copy + PartialEq>(most: usize, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut last = None;
    for _ in 0..most {
        let found = look();
        if found == last {
            break;
        }
        last = found;
    }
    last
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::segment::Mapping;
    use std::sync::Arc;

    fn activity() -> Activity {
        Activity::new(Arc::new(Mapping::of_a_test(Activity::SIZE).expect("memory")))
    }

    #[test]
    fn an_effect_is_later_than_its_cause_and_what_the_host_says_than_both() {
        let activity = activity();
        let clock = |owner| {
            let mut clock = Clock::new(activity.clone());
            clock.belongs_to(owner);
            clock
        };
        let (mut a, mut c) = (clock(Tid(0x40001)), clock(Tid(0x40002)));
        let (mut daemon, mut parent) = (clock(Tid(0x8004_0000)), clock(Tid::NONE));
        // Miri is slow.
        for _ in 0..if cfg!(miri) { 40 } else { 3 * AHEAD } {
            let cause = a.moment_of_any();
            c.follow(widen(cause, START).wrapping_add(1));
            let effect = c.moment_of_any();
            assert!(effect > cause);
            a.follow(widen(effect, START).wrapping_add(1));
            let remote = daemon.moment_of_any();
            assert!(remote > effect && parent.moment_of_any() > remote);
        }
        // One that the parent starts behind what it says to others comes behind that.
        let said = parent.moment_of_any();
        let mut started = clock(Tid(0x40004));
        assert!(started.moment_of_any() > said);
        // One that was idle is not behind what others were told by other means than messages.
        let mut idle = clock(Tid(0x40003));
        let sent = a.moment();
        a.tell();
        assert!(idle.moment() > sent);
    }

    #[test]
    fn a_moment_is_told_by_its_lower_half() {
        for near in [START, START + 0x7fff_ffff, START + 0xffff_fff0, 5 * START] {
            for ahead in [-0x7fff_0000, -1, 0, 1, 0x7fff_0000] {
                let moment = near.wrapping_add_signed(ahead);
                assert_eq!(widen(moment as u32, near), moment);
                assert_eq!(is_later(moment, near), ahead > 0);
            }
        }
    }
}
