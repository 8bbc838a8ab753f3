//! The hosts' clocks beside each other: each recorder is asked what its clock shows, and the answer
//! lies within the time that question and answer took. Both cross the daemons' links.
//!
//! How far the other clock is ahead is bounded from below by the quickest answer and from above by
//! the quickest question, which need not belong together. So of each stretch of time the best of
//! both kinds are told, and whoever reads the trace cuts all of them (`pvm_trace::clocks`).

use pvm_wire::record::frames::{Ask, ClockPair};
use pvm_wire::{HostIndex, Tid};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two questions.
const ASK: Duration = Duration::from_millis(50);
/// The number of questions that follow one another quickly at the beginning: a short trace has no
/// others.
const FIRST_ASKS: u64 = 20;
const FIRST_ASK: Duration = Duration::from_millis(5);
/// The most questions that wait for an answer; older answers say little.
const OPEN_MAX: u64 = 32;
/// The best answers of such spans are written: of a short one first, then of spans that double.
const FIRST_TELL: Duration = Duration::from_millis(50);
const TELL: Duration = Duration::from_secs(2);

/// One answer of a recorder: our clock in the middle of question and answer, how far the other one
/// is ahead of it, give or take the error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Answer {
    at: u64,
    ahead: i64,
    error: u64,
}

impl Answer {
    const fn least(&self) -> i64 {
        self.ahead.saturating_sub_unsigned(self.error)
    }

    const fn most(&self) -> i64 {
        self.ahead.saturating_add_unsigned(self.error)
    }
}

/// The best answers of a host: the one with the smallest error, the one that bounds its clock from
/// below, and the one that does from above.
#[derive(Clone, Copy, Debug)]
struct Best([Answer; 3]);

impl Best {
    fn take(&mut self, new: Answer) {
        let [narrowest, low, high] = &mut self.0;
        if new.error <= narrowest.error {
            *narrowest = new;
        }
        if new.least() > low.least() {
            *low = new;
        }
        if new.most() < high.most() {
            *high = new;
        }
    }

    /// Each of them once.
    fn all(&self) -> Vec<Answer> {
        let mut all = self.0.to_vec();
        all.sort_unstable_by_key(|answer| answer.at);
        all.dedup();
        all
    }
}

/// All comparisons.
#[derive(Debug)]
pub(super) struct Comparisons {
    /// From the monotonic clock to the time of day, when recording began.
    behind: u64,
    number: u64,
    asked: BTreeMap<(Tid, u64), u64>,
    best: BTreeMap<HostIndex, Best>,
    /// Our own host's recorder has our clock but for a constant, which all answers bound.
    own: Option<(i64, i64)>,
    next: Option<Instant>,
    told: Option<Instant>,
    pause: Duration,
    /// The number of hosts that are compared; the first comparison of a host is written at once.
    hosts: usize,
}

impl Comparisons {
    pub(super) fn new() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let day = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        Self {
            behind: day.saturating_sub(pvm::record_clock()),
            number: 0,
            asked: BTreeMap::new(),
            best: BTreeMap::new(),
            own: None,
            next: None,
            told: None,
            pause: FIRST_TELL,
            hosts: 0,
        }
    }

    /// Our clock.
    pub(super) fn now(&self) -> u64 {
        pvm::record_clock().saturating_add(self.behind)
    }

    /// When it is time to ask again.
    pub(super) fn until_next(&self) -> Duration {
        self.next.map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now()))
    }

    /// Asks all, if it is time.
    pub(super) fn ask(&mut self, all: impl Iterator<Item = Tid>, mut say: impl FnMut(Tid, &Ask)) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next > now) {
            return;
        }
        self.next = Some(now + if self.number < FIRST_ASKS { FIRST_ASK } else { ASK });
        self.number += 1;
        let oldest = self.number.saturating_sub(OPEN_MAX);
        self.asked.retain(|(_, number), _| *number > oldest);
        for recorder in all {
            self.asked.insert((recorder, self.number), self.now());
            say(recorder, &Ask::Clock { number: self.number });
        }
    }

    /// An answer; `first` is our own host.
    pub(super) fn heard(&mut self, from: Tid, number: u64, shown: u64, first: HostIndex) {
        let now = self.now();
        let Some(asked) = self.asked.remove(&(from, number)) else { return };
        let error = now.saturating_sub(asked).div_ceil(2);
        let at = asked + error;
        let ahead = shown.wrapping_sub(at).cast_signed();
        let answer = Answer { at, ahead, error };
        if from.host() == first {
            let (least, most) = self.own.unwrap_or((i64::MIN, i64::MAX));
            let cut = (least.max(answer.least()), most.min(answer.most()));
            // One that was set meanwhile begins anew.
            let is_sound = cut.0 <= cut.1;
            self.own = Some(if is_sound { cut } else { (answer.least(), answer.most()) });
        } else {
            self.best.entry(from.host()).or_insert(Best([answer; 3])).take(answer);
        }
    }

    /// Takes comparisons of the other hosts with `first`, from time to time; at the end of the
    /// recording all that were not written.
    pub(super) fn take(&mut self, first: HostIndex, at_end: bool) -> Vec<(HostIndex, ClockPair)> {
        let new = self.best.len() > self.hosts;
        let due = self.told.is_none_or(|told| told.elapsed() > self.pause);
        let Some((least, most)) = self.own.filter(|_| new || due || at_end) else {
            return Vec::new();
        };
        self.hosts = self.hosts.max(self.best.len());
        self.told = Some(Instant::now());
        self.pause = (self.pause * 2).min(TELL);
        let own = least.midpoint(most);
        let own_error = most.abs_diff(least).div_ceil(2);
        let pair = |other: HostIndex, answer: Answer| ClockPair {
            other,
            at: answer.at.wrapping_add_signed(own),
            offset: answer.ahead.saturating_sub(own),
            error: answer.error.saturating_add(own_error),
        };
        let best = std::mem::take(&mut self.best).into_iter();
        best.flat_map(|(other, best)| {
            best.all().into_iter().map(move |answer| (first, pair(other, answer)))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: HostIndex = HostIndex(1);

    fn heard(clocks: &mut Comparisons, answers: &[(u16, u64, u64, u64)]) {
        for (host, number, asked, shown) in answers {
            let recorder = Tid::host_id(HostIndex(*host));
            clocks.asked.insert((recorder, *number), *asked);
            clocks.heard(recorder, *number, *shown, FIRST);
        }
    }

    #[test]
    fn the_best_answers_of_each_host_are_told_with_both_errors() {
        let mut clocks = Comparisons::new();
        let now = clocks.now();
        let answers = [
            (1, 1, now - 2000, now + 4000),
            (2, 1, now - 900_000, now + 100_000),
            (2, 2, now - 1_000_000_000, now + 7_000_000),
        ];
        heard(&mut clocks, &answers);
        let told = clocks.take(FIRST, false);
        let [(host, pair), (_, other)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((*host, pair.other), (FIRST, HostIndex(2)));
        let (narrow, wide) = if pair.error < other.error { (pair, other) } else { (other, pair) };
        assert!((narrow.offset - 545_000i64).unsigned_abs() < narrow.error, "{narrow:?}");
        assert!(narrow.error > 450_000 && narrow.error < 100_000_000);
        // Its question took long, but its answer came at once.
        let least = |pair: &ClockPair| pair.offset - pair.error.cast_signed();
        assert!(least(wide) > least(narrow), "{told:?}");
        assert!(clocks.take(FIRST, false).is_empty());
    }

    #[test]
    fn late_answers_of_the_own_host_widened_the_errors_of_all_others() {
        let mut clocks = Comparisons::new();
        let now = clocks.now();
        heard(&mut clocks, &[(1, 1, now - 1000, now + 50)]);
        clocks.told = Some(Instant::now());
        let late = [(1, 2, now - 900_000_000, now + 50), (2, 3, now - 1000, now + 20)];
        heard(&mut clocks, &late);
        let told = clocks.take(FIRST, true);
        // This test may be held up itself.
        let spent = clocks.now() - now;
        assert!(told.iter().all(|(_, pair)| pair.error < 2000 + 2 * spent), "{told:?}, {spent}");
    }
}
