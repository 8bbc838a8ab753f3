//! The contents of `sequence` in a message between hosts: its number, and the life of its sender.
//!
//! ```text
//! bit 0-45 number of the pair, from 1   46 written for a direct route   47-63 life of the sender
//! ```
//! 2^46 messages of one pair are two years of a million a second.

use std::time::{SystemTime, UNIX_EPOCH};

const NUMBER_BITS: u32 = 46;
const DIRECT: u64 = 1 << NUMBER_BITS;
const LIFE_SHIFT: u32 = NUMBER_BITS + 1;
const LIVES: u64 = 1 << (u64::BITS - LIFE_SHIFT);

/// Tells apart the tasks that have one id, one after the other: the second at which each became a
/// task, of a day and a half. An id is used again only after 262 143 others, so two lives of one id
/// begin in different seconds; those that lie further apart are taken for one in one case of 131
/// 072.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Life(u32);

impl Life {
    /// The life of a task that begins now.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of_second(since.as_secs())
    }

    pub(super) const fn of_second(second: u64) -> Self {
        Self((second % LIVES) as u32)
    }
}

/// The number of a message between hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// The stamp as it came.
    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// The message of this number that goes by the daemons.
    pub(crate) const fn new(life: Life, number: u64) -> Self {
        Self((life.0 as u64) << LIFE_SHIFT | number & (DIRECT - 1))
    }

    /// Like `new`, for a message that was written for a direct route, even if the daemons carry it
    /// in the end.
    pub(crate) const fn direct(self) -> Self {
        Self(self.0 | DIRECT)
    }

    /// The stamp of a message that has come, for a trace: its number, and whether it really came by
    /// a direct route.
    pub(crate) const fn of_arrived(number: u64, by_route: bool) -> Self {
        Self(number | if by_route { DIRECT } else { 0 })
    }

    /// The stamp as it goes.
    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// The number alone.
    pub(crate) const fn number(self) -> u64 {
        self.0 & (DIRECT - 1)
    }

    /// The life of its sender.
    pub(crate) const fn life(self) -> Life {
        Life((self.0 >> LIFE_SHIFT) as u32)
    }

    /// True where it was written for a direct route.
    pub(crate) const fn is_direct(self) -> bool {
        self.0 & DIRECT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_number_and_way_come_back() {
        for second in [0, 1, LIVES - 1, LIVES, 1_795_000_000] {
            for number in [0, 1, 77, DIRECT - 1] {
                let life = Life::of_second(second);
                let stamp = Stamp::new(life, number);
                assert_eq!((stamp.life(), stamp.number()), (life, number));
                assert!(!stamp.is_direct() && stamp.direct().is_direct());
                let direct = Stamp::from_raw(stamp.direct().raw());
                assert_eq!((direct.life(), direct.number()), (life, number));
            }
        }
        assert_ne!(Life::of_second(LIVES), Life::of_second(LIVES + 1));
    }
}
