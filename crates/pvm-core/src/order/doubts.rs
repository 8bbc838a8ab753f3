//! The answers of others about hosts that a leader does not hear.
//!
//! A host that is silent here may be silent everywhere, or this host hears badly. So before a
//! leader has a host taken out, some of those that it does hear are asked whether they hear it, as
//! in SWIM (Das, Gupta and Motivala, 2002). Nothing of it is kept: the next leader asks anew.

use pvm_wire::HostIndex;
use std::collections::{BTreeMap, BTreeSet};

/// The time limit for an answer: a host that does not answer counts as hearing nothing.
const ANSWER_NS: u64 = 500_000_000;
/// After this time others are asked again about a host that one of them heard.
const AGAIN_NS: u64 = 1_000_000_000;

/// The data of a host that hears the other one; less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Hears {
    /// False where it could lead.
    pub(crate) votes_not: bool,
    /// The number of hosts that the voter does not hear.
    pub(crate) unheard: u32,
}

/// The knowledge of a host.
#[derive(Debug)]
enum Doubt {
    /// Others have been asked.
    Asked {
        round: u64,
        waiting: BTreeSet<HostIndex>,
        until: u64,
        /// The hosts that hear it, with data that sorts voters first, then hosts that hear most.
        heard_by: Vec<(Hears, HostIndex)>,
    },
    /// Another host hears it.
    Spared { again_at: u64 },
    /// No host that could be asked hears it.
    Dead,
}

/// The doubts of a leader.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    of: BTreeMap<HostIndex, Doubt>,
    round: u64,
}

impl Doubts {
    /// Others are to be asked about this host.
    pub(crate) fn is_open(&self, host: HostIndex) -> bool {
        !self.of.contains_key(&host)
    }

    /// No host hears it.
    pub(crate) fn is_dead(&self, host: HostIndex) -> bool {
        matches!(self.of.get(&host), Some(Doubt::Dead))
    }

    /// Another host hears it.
    pub(crate) fn is_spared(&self, host: HostIndex) -> bool {
        matches!(self.of.get(&host), Some(Doubt::Spared { .. }))
    }

    pub(crate) fn set_dead(&mut self, host: HostIndex) {
        self.of.insert(host, Doubt::Dead);
    }

    /// These are asked; the number of the question.
    pub(crate) fn ask(&mut self, now: u64, host: HostIndex, whom: &[HostIndex]) -> u64 {
        self.round += 1;
        let waiting = whom.iter().copied().collect();
        let (round, until) = (self.round, now + ANSWER_NS);
        self.of.insert(host, Doubt::Asked { round, waiting, until, heard_by: Vec::new() });
        round
    }

    /// A host has answered that it hears this host or not. If that was the last answer and a host
    /// hears it, returns the best of these: a voter if possible, and the one that hears most.
    pub(crate) fn told(
        &mut self,
        now: u64,
        host: HostIndex,
        (by, asked): (HostIndex, u64),
        hears: Option<Hears>,
    ) -> Option<(Hears, HostIndex)> {
        let Some(Doubt::Asked { round, waiting, heard_by, .. }) = self.of.get_mut(&host) else {
            return None;
        };
        if *round != asked || !waiting.remove(&by) {
            return None;
        }
        heard_by.extend(hears.map(|hears| (hears, by)));
        if waiting.is_empty() { self.decide(now, host) } else { None }
    }

    fn decide(&mut self, now: u64, host: HostIndex) -> Option<(Hears, HostIndex)> {
        let Some(Doubt::Asked { heard_by, .. }) = self.of.get(&host) else { return None };
        let best = heard_by.iter().min().copied();
        let doubt = match best {
            Some(_) => Doubt::Spared { again_at: now + AGAIN_NS },
            None => Doubt::Dead,
        };
        self.of.insert(host, doubt);
        best
    }

    /// Ends overdue questions: a host that has not answered by now does not count. Returns the best
    /// host for each one that is heard.
    pub(crate) fn end(&mut self, now: u64) -> Vec<(Hears, HostIndex)> {
        let late = |doubt: &Doubt| matches!(doubt, Doubt::Asked { until, .. } if *until <= now);
        let due: Vec<_> = self.of.iter().filter(|(_, d)| late(d)).map(|(&host, _)| host).collect();
        self.of.retain(|_, d| !matches!(d, Doubt::Spared { again_at } if *again_at <= now));
        due.into_iter().filter_map(|host| self.decide(now, host)).collect()
    }

    pub(crate) fn next_time(&self) -> Option<u64> {
        let times = self.of.values().filter_map(|doubt| match doubt {
            Doubt::Asked { until, .. } => Some(*until),
            Doubt::Spared { again_at } => Some(*again_at),
            Doubt::Dead => None,
        });
        times.min()
    }

    pub(crate) fn forget(&mut self, host: HostIndex) {
        self.of.remove(&host);
    }

    pub(crate) fn clear(&mut self) {
        self.of.clear();
    }
}
