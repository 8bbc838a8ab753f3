//! The account of a task's records, by number: those that have arrived, and those that are missing.

use crate::tables::Ended;
use pvm_wire::record::Loss;

/// The account of one task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    /// Records in the file, and those that are missing.
    noted: u64,
    /// The number of missing ones.
    lost: u64,
    /// The number behind the last record that arrived or is missing, if there was one.
    read: Option<u64>,
    /// The number behind the last record that found no room in the ring.
    full: Option<u64>,
    /// The time of the last look at its ring.
    pub(super) at: u64,
}

impl Account {
    /// The account of a task that began at this time, all of whose records are expected.
    pub(super) fn from_the_first_record(began: u64) -> Self {
        Self { read: Some(0), full: Some(0), at: began, ..Self::default() }
    }

    /// Counts records that have arrived: `count` of them with the numbers from `first` on, of which
    /// `noted` are in the file. Returns the number of earlier records that are missing without a
    /// report: their recorder was killed before it had sent them.
    pub(super) fn came(&mut self, (first, count): (u64, u64), noted: u64) -> u64 {
        let end = first.saturating_add(count);
        let missing = first.saturating_sub(self.read.unwrap_or(first));
        self.read = self.read.max(Some(end));
        self.noted = self.noted.saturating_add(noted);
        self.miss(missing)
    }

    /// Counts records that are reported as missing: `count` of them with the numbers from `first`
    /// on. Returns the number of these, and of earlier ones, that have neither arrived nor been
    /// reported.
    pub(super) fn told(&mut self, (first, count): (u64, u64), reason: Loss) -> u64 {
        let read = if reason == Loss::Full { &mut self.full } else { &mut self.read };
        let end = first.saturating_add(count);
        let missing = end.saturating_sub(read.unwrap_or(first));
        *read = (*read).max(Some(end));
        self.miss(missing)
    }

    /// Counts records that arrived damaged.
    pub(super) fn damaged(&mut self, count: u64) {
        self.miss(count);
    }

    pub(super) const fn ended(&self, at: u64, status: i32) -> Ended {
        Ended { at, status, noted: self.noted, lost: self.lost }
    }

    fn miss(&mut self, missing: u64) -> u64 {
        self.noted = self.noted.saturating_add(missing);
        self.lost = self.lost.saturating_add(missing);
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts records of a ring with the numbers from 0 on, in the order of arrival.
    fn account(blocks: &[(u64, u64)]) -> Account {
        let mut account = Account::default();
        let came = blocks.iter().map(|block| account.came(*block, block.1)).sum::<u64>();
        assert_eq!(came, account.lost);
        account
    }

    #[test]
    fn what_came_before_its_recorder_was_killed_is_not_lost() {
        let mut account = account(&[(0, 100), (100, 50)]);
        // The recorder had marked the first block only, and had taken 30 more records that it had
        // not sent.
        assert_eq!(account.told((100, 80), Loss::Recorder), 30);
        assert_eq!(account.came((180, 20), 20), 0);
        assert_eq!((account.noted, account.lost), (200, 30));
    }

    #[test]
    fn what_nobody_tells_is_seen_by_its_numbers() {
        let mut account = account(&[(40, 10), (70, 10)]);
        assert_eq!((account.noted, account.lost), (40, 20));
        assert_eq!(account.told((85, 5), Loss::Link), 10);
        // At the task's end its ring had been read up to number 95.
        assert_eq!(account.told((95, 0), Loss::Recorder), 5);
        assert_eq!((account.noted, account.lost), (55, 35));
    }

    #[test]
    fn what_found_no_room_has_numbers_of_its_own_and_is_told_once() {
        let mut account = account(&[(0, 10)]);
        assert_eq!(account.told((0, 7), Loss::Full), 7);
        assert_eq!(account.told((0, 9), Loss::Full), 2);
        assert_eq!(account.came((10, 1), 1), 0);
        assert_eq!((account.noted, account.lost), (20, 9));
    }

    #[test]
    fn numbers_that_lie_are_harmless() {
        let mut account = account(&[(5, 1)]);
        assert_eq!(account.told((u64::MAX, u64::MAX), Loss::Link), u64::MAX - 6);
        assert_eq!(account.came((3, u64::MAX), 1), 0);
        assert_eq!(account.lost, u64::MAX - 6);
    }
}
