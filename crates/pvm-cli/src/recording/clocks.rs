//! The hosts' clocks beside each other: each recorder is asked what its clock shows, and the answer
//! lies within the time that question and answer took. Both cross the daemons' links.

use pvm_wire::record::frames::{Ask, ClockPair};
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two questions.
const ASK: Duration = Duration::from_millis(50);
/// The best answer of so long a time is told.
const TELL: Duration = Duration::from_secs(2);

/// What one answer tells: our clock in the middle of question and answer, how far the other one is
/// ahead of it, give or take the error.
#[derive(Clone, Copy, Debug)]
struct Answer {
    at: u64,
    ahead: i64,
    error: u64,
}

/// All comparisons.
#[derive(Debug)]
pub(super) struct Comparisons {
    /// From the monotonic clock to the time of day, when recording began.
    behind: u64,
    number: u64,
    asked: BTreeMap<(Tid, u64), u64>,
    best: BTreeMap<HostIndex, Answer>,
    next: Option<Instant>,
    told: Option<Instant>,
    /// The first comparison is told at once: a short trace has no other.
    hosts: usize,
}

impl Comparisons {
    pub(super) fn new() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let day = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        let behind = day.saturating_sub(pvm::record_clock());
        let (asked, best) = (BTreeMap::new(), BTreeMap::new());
        Self { behind, number: 0, asked, best, next: None, told: None, hosts: 0 }
    }

    /// Our clock.
    pub(super) fn now(&self) -> u64 {
        pvm::record_clock().saturating_add(self.behind)
    }

    /// Asks all, if it is time.
    pub(super) fn ask(&mut self, all: impl Iterator<Item = Tid>, mut say: impl FnMut(Tid, &Ask)) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next > now) {
            return;
        }
        self.next = Some(now + ASK);
        // What was not answered by now tells nothing any more.
        self.asked.clear();
        self.number += 1;
        for recorder in all {
            self.asked.insert((recorder, self.number), self.now());
            say(recorder, &Ask::Clock { number: self.number });
        }
    }

    /// An answer.
    pub(super) fn heard(&mut self, from: Tid, number: u64, shown: u64) {
        let now = self.now();
        let Some(asked) = self.asked.remove(&(from, number)) else { return };
        let error = now.saturating_sub(asked).div_ceil(2);
        let at = asked + error;
        let ahead = shown.wrapping_sub(at).cast_signed();
        let answer = Answer { at, ahead, error };
        let best = self.best.entry(from.host()).or_insert(answer);
        if answer.error <= best.error {
            *best = answer;
        }
    }

    /// Comparisons of the other hosts with `first`, from time to time.
    pub(super) fn take(&mut self, first: HostIndex) -> Vec<(HostIndex, ClockPair)> {
        let new = self.best.len() > self.hosts;
        let due = self.told.is_none_or(|told| told.elapsed() > TELL);
        if !(new || due) || !self.best.contains_key(&first) {
            return Vec::new();
        }
        self.hosts = self.hosts.max(self.best.len());
        self.told = Some(Instant::now());
        let best = std::mem::take(&mut self.best);
        let own = best[&first];
        let pair = |(other, answer): (&HostIndex, &Answer)| ClockPair {
            other: *other,
            at: answer.at.wrapping_add_signed(own.ahead),
            offset: answer.ahead - own.ahead,
            error: answer.error + own.error,
        };
        let others = best.iter().filter(|(other, _)| **other != first);
        others.map(|other| (first, pair(other))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_answer_of_each_host_is_told_with_both_errors() {
        let mut clocks = Comparisons::new();
        let (first, other) = (Tid::host_id(HostIndex(1)), Tid::host_id(HostIndex(2)));
        let now = clocks.now();
        for (recorder, number, asked, shown) in [
            (first, 1, now - 2000, now + 4000),
            (other, 1, now - 900_000, now + 100_000),
            (other, 2, now - 1_000_000_000, now + 7_000_000),
        ] {
            clocks.asked.insert((recorder, number), asked);
            clocks.heard(recorder, number, shown);
        }
        let told = clocks.take(HostIndex(1));
        let [(host, pair)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((*host, pair.other), (HostIndex(1), HostIndex(2)));
        let expected = 545_000i64;
        assert!((pair.offset - expected).unsigned_abs() < pair.error, "{pair:?}");
        assert!(pair.error > 450_000 && pair.error < 100_000_000);
        assert!(clocks.take(HostIndex(1)).is_empty());
    }
}
