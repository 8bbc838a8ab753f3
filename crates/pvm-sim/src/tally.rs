//! Counts of the faults that have really happened: a fault that never happens proves nothing.

use std::fmt;
use std::ops::AddAssign;

/// A fault, by what it does and not by what was meant to do it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// A message of the order never arrived.
    Lost,
    /// One came twice.
    Repeated,
    /// One arrived before another that was sent earlier.
    Overtaken,
    /// A message took ten times as long as usual or longer.
    Slow,
    /// A message was under way when its link broke.
    BrokenOff,
    /// One was said to a host that could not hear it while its answers arrived.
    Unheard,
    /// Nothing passes between two hosts.
    Cut,
    /// Nothing passes in one direction.
    CutOneWay,
    /// A daemon crashed between two inputs.
    Crash,
    /// A daemon crashed before its parent had what it decided.
    CrashBeforeEffects,
    /// A daemon crashed when only its parent had the effects.
    CrashBeforeActs,
    /// A daemon stood still.
    Pause,
    /// A clock that is wrong.
    WrongClock,
    /// A clock that stood still, and the host with it.
    StoppedClock,
    /// A host died.
    Death,
    /// A host was silent long enough to count as dead.
    Silence,
    /// A host that was taken out heard of it.
    Fence,
    /// A link was closed because it was not used.
    Rest,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Lost,
        Self::Repeated,
        Self::Overtaken,
        Self::Slow,
        Self::BrokenOff,
        Self::Unheard,
        Self::Cut,
        Self::CutOneWay,
        Self::Crash,
        Self::CrashBeforeEffects,
        Self::CrashBeforeActs,
        Self::Pause,
        Self::WrongClock,
        Self::StoppedClock,
        Self::Death,
        Self::Silence,
        Self::Fence,
        Self::Rest,
    ];
}

/// The faults of one run, or of many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally([u64; Fault::ALL.len()]);

impl Tally {
    /// One more.
    pub(crate) const fn note(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
    }

    /// The number of times that a fault has happened.
    pub const fn count(&self, fault: Fault) -> u64 {
        self.0[fault as usize]
    }
}

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, count)| *sum += count);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in Fault::ALL {
            write!(f, "{fault:?} {} ", self.count(fault))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_counted_on_its_own() {
        let mut tally = Tally::default();
        for (times, fault) in (1..).zip(Fault::ALL) {
            (0..times).for_each(|_| tally.note(fault));
        }
        let counts: Vec<u64> = Fault::ALL.map(|fault| tally.count(fault)).into();
        assert_eq!(counts, (1..=Fault::ALL.len() as u64).collect::<Vec<_>>());
    }
}
