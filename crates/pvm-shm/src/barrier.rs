//! A barrier of tasks of one host: one word, in which each member has a bit.
//!
//! ```text
//!  63 ...... 48  47 ...... 40   39     38    37 ... 32   31 ............ 0
//! +------------+------------+--------+------+-----------+----------------+
//! | generation | last ends  |   -    | away |   count   | arrived        |
//! +------------+------------+--------+------+-----------+----------------+
//! ```
//! A member arrives by setting the bit of its instance number; the member that makes the bits as
//! many as the *count* (which the first one sets) begins the next *generation* in the same step,
//! and wakes the others. Bits are names: where a member is killed, its daemon strikes it out, which
//! nobody could do with a number. All of it is one word, so a member that is killed or stopped at
//! any instruction has arrived or has not.
//!
//! The *last ends* are two bits for each of the last four generations (the latest lowest): how it
//! ended. *away*: the barrier is kept by the machine, because members are on other hosts or have
//! too high numbers; that stays so for as long as the group is.

use crate::sync::{AtomicU64, Ordering, fence};

/// Instance numbers that have a bit; no count may be higher.
pub const PLACES: u32 = 32;

const ARRIVED: u64 = (1 << PLACES) - 1;
const COUNT_SHIFT: u32 = 32;
const COUNT: u64 = 0x3f << COUNT_SHIFT;
const AWAY: u64 = 1 << 38;
const ENDS_SHIFT: u32 = 40;
const ENDS: u64 = 0xff << ENDS_SHIFT;
const GENERATION_SHIFT: u32 = 48;

/// The number of ends that are remembered.
const REMEMBERED: u16 = 4;

/// The result of a generation, in two bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Met = 0,
    Broken = 1,
    Moved = 2,
}

/// The word.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word(AtomicU64);

/// The generation in which a member waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u16);

/// The result of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Others are missing.
    Waits(Ticket),
    /// All are there: these, by the bits of their instances, are to be woken.
    Last(u32),
    /// Others wait for another count.
    Mismatch,
    /// The machine keeps this barrier.
    Away,
}

/// The outcome of a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Others are missing still.
    Waits,
    /// All came.
    Met,
    /// It could not be met any more: a member died, or the group is of no more use.
    Broken,
    /// The machine keeps this barrier: go there.
    Moved,
}

/// The list of members was written. PAIRS WITH: `Table::has_changed`: a member that has arrived by
/// the old list sees that it is old, or is seen here.
fn behind_the_list() {
    fence(Ordering::SeqCst);
}

const fn generation(word: u64) -> u16 {
    (word >> GENERATION_SHIFT) as u16
}

const fn count(word: u64) -> u32 {
    ((word & COUNT) >> COUNT_SHIFT) as u32
}

/// The word of the next generation: nobody has arrived.
const fn next(word: u64, end: End) -> u64 {
    let ends = ((word & ENDS) << 2 | (end as u64) << ENDS_SHIFT) & ENDS;
    let generation = generation(word).wrapping_add(1) as u64;
    generation << GENERATION_SHIFT | ends | word & AWAY
}

impl Word {
    /// Nobody has arrived.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The word and what of it to compare, for a thread that waits for the end of a generation.
    pub const fn watch(&self, ticket: Ticket) -> (&AtomicU64, u64, u64) {
        (&self.0, !0 << GENERATION_SHIFT, (ticket.0 as u64) << GENERATION_SHIFT)
    }

    /// Changes the word to what `change` makes of it, and gives back both; the old word if that
    /// wants none.
    fn update(&self, change: impl Fn(u64) -> Option<u64>) -> Result<(u64, u64), u64> {
        let mut old = self.0.load(Ordering::Acquire);
        loop {
            let new = change(old).ok_or(old)?;
            match self.0.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok((old, new)),
                Err(now) => old = now,
            }
        }
    }

    /// A member arrives and wants `wanted` members, at least one. It may arrive again while it
    /// waits (it left the wait by `longjmp`): that changes nothing.
    pub fn arrive(&self, instance: u32, wanted: u32) -> Arrival {
        if instance >= PLACES || wanted > PLACES || wanted == 0 {
            return Arrival::Away;
        }
        let updated = self.update(|old| {
            let waiting = old & ARRIVED;
            if old & AWAY != 0 || (waiting != 0 && count(old) != wanted) {
                return None;
            }
            let arrived = waiting | 1 << instance;
            if arrived.count_ones() >= wanted {
                return Some(next(old, End::Met));
            }
            Some(old & !(COUNT | ARRIVED) | u64::from(wanted) << COUNT_SHIFT | arrived)
        });
        match updated {
            Ok((old, new)) if generation(old) == generation(new) => {
                Arrival::Waits(Ticket(generation(old)))
            }
            Ok((old, _)) => Arrival::Last((old & ARRIVED) as u32 & !(1 << instance)),
            Err(old) if old & AWAY != 0 => Arrival::Away,
            Err(_) => Arrival::Mismatch,
        }
    }

    /// The outcome of the generation in which the member waits.
    #[inline]
    pub fn outcome(&self, ticket: Ticket) -> Outcome {
        let word = self.0.load(Ordering::Acquire);
        match generation(word).wrapping_sub(ticket.0) {
            0 => Outcome::Waits,
            // More barriers than are remembered have been met since without this member.
            passed if passed > REMEMBERED => Outcome::Met,
            passed => match (word & ENDS) >> (ENDS_SHIFT + 2 * (u32::from(passed) - 1)) & 3 {
                1 => Outcome::Broken,
                2 => Outcome::Moved,
                _ => Outcome::Met,
            },
        }
    }

    /// A member does not want to wait any more; false if the generation has ended.
    pub fn withdraw(&self, ticket: Ticket, instance: u32) -> bool {
        self.strike(|old| (generation(old) == ticket.0).then_some(1 << (instance % PLACES))).is_ok()
    }

    fn strike(&self, bits: impl Fn(u64) -> Option<u64>) -> Result<(u64, u64), u64> {
        self.update(|old| {
            let new = old & !(bits(old)? & ARRIVED);
            Some(if new & ARRIVED == 0 { new & !COUNT } else { new })
        })
    }

    /// Daemon: these instances are no members any more.
    pub fn strike_out(&self, instances: u32) {
        behind_the_list();
        let _ = self.strike(|old| Some(u64::from(instances)).filter(|bits| bits & old != 0));
    }

    /// Daemon: one member has died, and `size` are left. Breaks the barrier if its members wait for
    /// more. Returns the bits of the members to wake.
    pub fn break_above(&self, size: u32) -> u32 {
        behind_the_list();
        self.end(End::Broken, |old| count(old) > size)
    }

    /// From now on the machine keeps this barrier. Returns the bits of the members to wake.
    pub fn move_away(&self) -> u32 {
        behind_the_list();
        let updated = self.update(|old| {
            let new = if old & ARRIVED == 0 { old } else { next(old, End::Moved) };
            (old & AWAY == 0).then_some(new & !COUNT | AWAY)
        });
        updated.map_or(0, |(old, _)| (old & ARRIVED) as u32)
    }

    fn end(&self, end: End, when: impl Fn(u64) -> bool) -> u32 {
        let updated = self.update(|old| (old & ARRIVED != 0 && when(old)).then(|| next(old, end)));
        updated.map_or(0, |(old, _)| (old & ARRIVED) as u32)
    }

    /// True once the machine keeps this barrier.
    pub fn is_away(&self) -> bool {
        self.0.load(Ordering::Acquire) & AWAY != 0
    }

    /// The number of members that wait.
    pub fn waiting(&self) -> u32 {
        (self.0.load(Ordering::Acquire) & ARRIVED).count_ones()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn waits(arrival: Arrival) -> Ticket {
        match arrival {
            Arrival::Waits(ticket) => ticket,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_one_wakes_the_others_and_the_next_count_is_free() {
        let word = Word::new();
        let first = waits(word.arrive(0, 3));
        assert_eq!(word.arrive(1, 2), Arrival::Mismatch);
        let second = waits(word.arrive(5, 3));
        assert_eq!((first, word.outcome(first)), (second, Outcome::Waits));
        assert_eq!(waits(word.arrive(5, 3)), second, "the same one again");
        assert_eq!(word.arrive(2, 3), Arrival::Last(1 << 5 | 1));
        assert_eq!(word.outcome(first), Outcome::Met);
        assert_eq!(word.arrive(1, 1), Arrival::Last(0));
        waits(word.arrive(0, 2));
    }

    #[test]
    fn a_member_that_died_is_struck_out_and_those_who_wait_in_vain_are_told() {
        let word = Word::new();
        let ticket = waits(word.arrive(0, 3));
        waits(word.arrive(1, 3));
        word.strike_out(1 << 1);
        assert_eq!((word.waiting(), word.break_above(3)), (1, 0));
        assert_eq!(word.break_above(2), 1);
        assert_eq!(word.outcome(ticket), Outcome::Broken);
        // Nobody waits: the count goes with the last one.
        waits(word.arrive(0, 3));
        word.strike_out(1);
        assert_eq!(word.break_above(1), 0);
        waits(word.arrive(0, 2));
    }

    #[test]
    fn those_who_wait_go_to_the_machine_when_the_barrier_moves() {
        let word = Word::new();
        let met = waits(word.arrive(0, 2));
        word.arrive(1, 2);
        let moved = waits(word.arrive(3, 2));
        assert_eq!(word.move_away(), 1 << 3);
        assert_eq!(word.move_away(), 0);
        assert_eq!((word.outcome(met), word.outcome(moved)), (Outcome::Met, Outcome::Moved));
        assert_eq!(word.arrive(0, 2), Arrival::Away);
        assert_eq!(Word::new().arrive(PLACES, 2), Arrival::Away);
        assert_eq!(Word::new().arrive(0, PLACES + 1), Arrival::Away);
    }

    #[test]
    fn who_withdraws_is_not_counted() {
        let word = Word::new();
        let ticket = waits(word.arrive(0, 2));
        assert!(word.withdraw(ticket, 0));
        let ticket = waits(word.arrive(1, 2));
        assert_eq!(word.arrive(0, 2), Arrival::Last(1 << 1));
        assert!(!word.withdraw(ticket, 1));
    }

    #[test]
    fn generations_go_round() {
        // Shortly before the number of the generation comes round.
        let word = Word(AtomicU64::new(((1 << 16) - 50) << GENERATION_SHIFT));
        let mut last = waits(word.arrive(0, 2));
        word.arrive(1, 2);
        for _ in 0..100 {
            let ticket = waits(word.arrive(0, 2));
            assert_ne!(ticket, last);
            assert_eq!(word.arrive(1, 2), Arrival::Last(1));
            assert_eq!(word.outcome(ticket), Outcome::Met);
            last = ticket;
        }
    }
}
