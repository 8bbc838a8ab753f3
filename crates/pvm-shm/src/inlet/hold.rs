//! The pause of a receive before its first look for an answer.
//!
//! A look takes the cache line of the next cell from the sender that is about to write it, and the
//! sender must fetch it back first: a look that is too early costs two more transfers between
//! cores. So a receive that follows a send waits for some pauses before its first look. Their
//! number is learned from earlier answers. Two answers in a row that came soon after a look in vain
//! make the wait longer, some that were there at the first look make it shorter, and one that took
//! long ends it. (One late answer says nothing: both ends wait in this way, and each would make the
//! other one later.)

use std::hint::spin_loop;

/// Most pauses of the processor before the first look, of 10 ns each here. Where some answers are
/// there at once and others come soon, those at once are read later by at most this.
const PAUSES_MAX: u32 = 32;
/// After this many answers in a row that were there at the first look, the wait is a pause shorter.
const HITS: u32 = 16;

/// The learned wait.
#[derive(Debug, Default)]
pub(super) struct Hold {
    pauses: u32,
    /// Answers since the last miss, or since one that made the wait shorter.
    hits: u32,
    /// The look behind the pauses was in vain.
    missed: bool,
}

impl Hold {
    /// The wait before the first look behind a send.
    #[inline]
    pub(super) fn wait(&mut self) {
        self.missed = false;
        for _ in 0..self.pauses {
            spin_loop();
        }
    }

    /// The first look was in vain.
    pub(super) const fn missed(&mut self) {
        self.missed = true;
    }

    /// The answer is there; if the first look was in vain, `came_soon` says how long it took then.
    // Inlined: pvm_recv of 8 bytes takes 33 instructions less, with `Receiver::take_few`.
    #[inline(always)]
    pub(super) fn found(&mut self, came_soon: impl FnOnce() -> bool) {
        if self.missed {
            self.pauses = match came_soon() {
                true if self.hits == 0 => PAUSES_MAX.min(self.pauses + 1),
                true => self.pauses,
                false => 0,
            };
            self.hits = 0;
            return;
        }
        self.hits += 1;
        if self.hits > HITS {
            self.hits = 1;
            self.pauses = self.pauses.saturating_sub(1);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{HITS, Hold, PAUSES_MAX};

    /// An answer that is due after `due` pauses.
    fn answer(hold: &mut Hold, due: u32) {
        hold.wait();
        if hold.pauses < due {
            hold.missed();
        }
        hold.found(|| true);
    }

    #[test]
    fn the_first_look_is_nearly_always_when_the_answer_is_there() {
        // Miri is slow: each pause is a call there.
        for &due in if cfg!(miri) { &[0, 1][..] } else { &[0, 1, 5, PAUSES_MAX] } {
            let mut hold = Hold::default();
            (0..100).for_each(|_| answer(&mut hold, due));
            let misses = (0..900).filter(|_| {
                answer(&mut hold, due);
                hold.missed
            });
            let (misses, most) = (misses.count(), 900 * 2 / HITS as usize);
            assert!(misses <= most, "{misses} of 900 where it is due after {due} pauses");
            assert!(hold.pauses.abs_diff(due) <= 1, "{} pauses for {due}", hold.pauses);
        }
    }

    #[test]
    fn an_answer_that_takes_long_is_not_waited_for_without_looking() {
        let mut hold = Hold::default();
        (0..100).for_each(|_| answer(&mut hold, u32::MAX));
        assert_eq!(hold.pauses, PAUSES_MAX);
        hold.wait();
        hold.missed();
        hold.found(|| false);
        assert_eq!(hold.pauses, 0);
    }
}
