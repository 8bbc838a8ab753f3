//! A daemon that is there and does nothing: stopped by a signal, in an endless loop, or asleep
//! beside its work.
//!
//! While an event waits for its effects the parent looks once a second whether the daemon has said
//! anything. What it counts are its own looks, not the clock: a parent that was stopped together
//! with its daemon, or slept with the whole computer, has not looked, and so has nothing to blame
//! the daemon for. How many looks are enough depends on what the system says of the process: one
//! that is stopped will not go on by itself, one that gets no processor or waits for a disk may.

use std::time::{Duration, Instant};

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// A daemon is replaced after this many looks in a row that find it stopped.
const STOPPED: u32 = 3;
/// The number of looks for a daemon that works on and on, or sleeps beside its work.
const HUNG: u32 = 8;
/// The number of looks for a daemon that may only be slow: the computer is overloaded or short of
/// memory.
const SLOW: u32 = 60;
/// After a daemon was replaced as hung, the patience with the next one doubles, at most this many
/// times ...
const DOUBLED_MAX: u32 = 3;
/// ... until nothing of the kind has happened for this long.
const FORGIVEN: Duration = Duration::from_secs(600);
/// Clock ticks of a second, in which the system counts processor time for programs.
const TICKS: u64 = 100;

/// The system's report of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    /// The state of its threads, of the most telling one.
    pub(crate) doing: Doing,
    /// The processor time that it has had, in ticks.
    pub(crate) used: u64,
}

/// The state of the threads of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// Stopped by a signal.
    Stopped,
    /// Held by a debugger.
    Traced,
    /// All of them wait for something to happen.
    Sleeping,
    /// One has, or waits for, a processor or a disk.
    Working,
}

/// The reason why a daemon is to be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// A signal has stopped it.
    Stopped,
    /// It does not come to an end with what it does.
    Hung,
}

/// The silence of a daemon.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    next: Option<Instant>,
    looks: u32,
    stopped: u32,
    /// Processor time at the first look.
    used: u64,
    /// It has slept at all looks.
    slept: bool,
    doubled: u32,
    last: Option<Instant>,
}

impl Silence {
    /// Something is waited for, or nothing is.
    pub(crate) fn expect(&mut self, something: bool, now: impl FnOnce() -> Instant) {
        if !something {
            self.next = None;
        } else if self.next.is_none() {
            self.begin(now());
        }
    }

    /// The daemon has said something.
    pub(crate) const fn heard(&mut self) {
        // What is still waited for begins anew.
        self.next = None;
    }

    fn begin(&mut self, now: Instant) {
        self.next = Some(now + LOOK);
        (self.looks, self.stopped, self.slept) = (0, 0, true);
    }

    /// When to look next.
    pub(crate) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Looks, if it is time to. A daemon that has just begun has `begun` false: it may have a lot
    /// to read.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        begun: bool,
        state: impl FnOnce() -> Option<State>,
    ) -> Option<Verdict> {
        if self.next.is_none_or(|at| at > now) {
            return None;
        }
        self.next = Some(now + LOOK);
        let state = state()?;
        if self.looks == 0 {
            self.used = state.used;
        }
        self.looks += 1;
        self.stopped = if state.doing == Doing::Stopped { self.stopped + 1 } else { 0 };
        self.slept &= state.doing == Doing::Sleeping;
        if self.stopped >= STOPPED {
            return Some(Verdict::Stopped);
        }
        if state.doing == Doing::Traced || !begun {
            // A daemon under a debugger, or one that has not begun, may take any time.
            self.begin(now);
            return None;
        }
        (self.looks > self.patience(now, state.used)).then(|| self.hung(now))
    }

    fn patience(&mut self, now: Instant, used: u64) -> u32 {
        if self.last.is_some_and(|last| now.duration_since(last) > FORGIVEN) {
            (self.doubled, self.last) = (0, None);
        }
        let worked = used.saturating_sub(self.used) * 2 >= u64::from(self.looks) * TICKS;
        let looks = if worked || self.slept { HUNG } else { SLOW };
        looks << self.doubled
    }

    fn hung(&mut self, now: Instant) -> Verdict {
        self.doubled = (self.doubled + 1).min(DOUBLED_MAX);
        self.last = Some(now);
        Verdict::Hung
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks once a second at what the daemon does then; the number of the look that had enough, if
    /// one had.
    fn enough(silence: &mut Silence, mut at: Instant, looks: &[State]) -> Option<(usize, Verdict)> {
        silence.expect(true, || at);
        looks.iter().enumerate().find_map(|(number, state)| {
            at += LOOK;
            let verdict = silence.look(at, true, || Some(*state));
            verdict.map(|verdict| (number + 1, verdict))
        })
    }

    fn doing(doing: Doing, used_each: u64) -> Vec<State> {
        (1..500).map(|look| State { doing, used: look * used_each }).collect()
    }

    #[test]
    fn one_that_is_stopped_is_replaced_soon_and_one_that_may_only_be_slow_late() {
        let start = Instant::now();
        let first = |looks: &[State]| enough(&mut Silence::default(), start, looks);
        assert_eq!(first(&doing(Doing::Stopped, 0)), Some((3, Verdict::Stopped)));
        assert_eq!(first(&doing(Doing::Sleeping, 0)), Some((9, Verdict::Hung)));
        assert_eq!(first(&doing(Doing::Working, TICKS)), Some((9, Verdict::Hung)));
        assert_eq!(first(&doing(Doing::Working, 10)), Some((61, Verdict::Hung)));
        assert_eq!(first(&doing(Doing::Traced, 0)), None);
    }

    #[test]
    fn a_parent_that_did_not_look_has_nothing_to_blame_its_daemon_for() {
        let start = Instant::now();
        let mut silence = Silence::default();
        silence.expect(true, || start);
        let stopped = || Some(State { doing: Doing::Stopped, used: 0 });
        for hour in 1..3 {
            let later = start + Duration::from_secs(3600 * hour);
            assert_eq!(silence.look(later, true, stopped), None);
        }
    }

    #[test]
    fn a_word_of_the_daemon_or_nothing_to_wait_for_begins_anew() {
        let start = Instant::now();
        let mut silence = Silence::default();
        assert_eq!(enough(&mut silence, start, &doing(Doing::Stopped, 0)[..2]), None);
        silence.heard();
        assert_eq!(enough(&mut silence, start, &doing(Doing::Stopped, 0)[..2]), None);
        silence.expect(false, || start);
        assert_eq!(silence.next(), None);
        assert_eq!(enough(&mut silence, start, &doing(Doing::Stopped, 0)[..2]), None);
    }

    #[test]
    fn whoever_was_replaced_for_its_slowness_gives_the_next_one_more_time() {
        let start = Instant::now();
        let mut silence = Silence::default();
        let looks = doing(Doing::Sleeping, 0);
        let mut next = |at| {
            silence.heard();
            enough(&mut silence, at, &looks).map(|(looks, _)| looks)
        };
        let times: Vec<_> = (0..5).map(|_| next(start)).collect();
        assert_eq!(times, [Some(9), Some(17), Some(33), Some(65), Some(65)]);
        assert_eq!(next(start + FORGIVEN * 2), Some(9));
    }
}
