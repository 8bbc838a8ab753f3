//! The links between hosts, and the messages under way on them.

use pvm_wire::HostIndex;
use std::collections::{BTreeMap, BTreeSet};

/// A pair of hosts, the lower index first.
pub(crate) type Pair = (HostIndex, HostIndex);

/// The links of the world.
#[derive(Debug, Default)]
pub struct Links {
    /// Links that are up, with the number of their making: what was sent over an older one is
    /// lost.
    up: BTreeMap<Pair, u64>,
    /// Pairs that are being connected.
    connecting: BTreeSet<Pair>,
    cut: BTreeSet<Pair>,
    /// Directions in which nothing arrives.
    deaf: BTreeSet<(HostIndex, HostIndex)>,
    /// Nanoseconds that a message takes where that is longer than elsewhere.
    slow: BTreeMap<Pair, u64>,
    made_count: u64,
    /// When the last message of each direction arrives: none overtakes another.
    last_arrival: BTreeMap<(HostIndex, HostIndex), u64>,
    /// When the last message that may overtake arrives, of each direction.
    last_loose: BTreeMap<(HostIndex, HostIndex), u64>,
}

/// The pair of two hosts.
pub(crate) fn pair(a: HostIndex, b: HostIndex) -> Pair {
    (a.min(b), a.max(b))
}

impl Links {
    /// When the last that was sent between two hosts arrives.
    pub(crate) fn last_use(&self, (a, b): Pair) -> u64 {
        let both = [(a, b), (b, a)];
        let last = |arrivals: &BTreeMap<_, u64>| {
            both.iter().filter_map(|way| arrivals.get(way)).copied().max().unwrap_or(0)
        };
        last(&self.last_arrival).max(last(&self.last_loose))
    }

    /// The number of links of each host that has any.
    pub fn counts(&self) -> BTreeMap<HostIndex, usize> {
        let mut counts = BTreeMap::new();
        for host in self.up.keys().flat_map(|(a, b)| [*a, *b]) {
            *counts.entry(host).or_insert(0) += 1;
        }
        counts
    }

    /// The number of the link between two hosts, if it is up.
    pub fn made(&self, a: HostIndex, b: HostIndex) -> Option<u64> {
        self.up.get(&pair(a, b)).copied()
    }

    /// Starts connecting; false if that is done, under way or impossible.
    pub fn connect(&mut self, pair: Pair) -> bool {
        !self.is_cut(pair) && !self.up.contains_key(&pair) && self.connecting.insert(pair)
    }

    /// The connection is made; false if the link was cut meanwhile.
    pub fn connected(&mut self, pair: Pair) -> bool {
        let wanted = self.connecting.remove(&pair) && !self.is_cut(pair);
        if wanted {
            self.made_count += 1;
            self.up.insert(pair, self.made_count);
        }
        wanted
    }

    /// Takes a link down; false if it was not up.
    pub fn break_off(&mut self, pair: Pair) -> bool {
        self.connecting.remove(&pair);
        self.up.remove(&pair).is_some()
    }

    /// The links of one host.
    pub fn of(&self, host: HostIndex) -> Vec<Pair> {
        let pairs = self.up.keys().chain(&self.connecting);
        pairs.filter(|pair| pair.0 == host || pair.1 == host).copied().collect()
    }

    /// From now on nothing passes between the two.
    pub fn cut(&mut self, pair: Pair) {
        self.cut.insert(pair);
    }

    /// From now on nothing that the first says arrives at the second, and neither notices.
    pub fn deafen(&mut self, from: HostIndex, to: HostIndex) {
        self.deaf.insert((from, to));
    }

    /// True if nothing arrives in this direction.
    pub fn is_deaf(&self, from: HostIndex, to: HostIndex) -> bool {
        self.deaf.contains(&(from, to))
    }

    /// Directions in which nothing arrives.
    pub fn deaf(&self) -> Vec<(HostIndex, HostIndex)> {
        self.deaf.iter().copied().collect()
    }

    /// True if nothing can pass between the two.
    pub fn is_cut(&self, pair: Pair) -> bool {
        let deaf = self.deaf.contains(&pair) || self.deaf.contains(&(pair.1, pair.0));
        deaf || self.cut.contains(&pair)
    }

    /// They can connect again.
    pub fn heal(&mut self, pair: Pair) {
        self.cut.remove(&pair);
        self.deaf.remove(&pair);
        self.deaf.remove(&(pair.1, pair.0));
    }

    /// Pairs that are cut.
    pub fn cuts(&self) -> Vec<Pair> {
        self.cut.iter().copied().collect()
    }

    /// From now on messages between the two take `latency`.
    pub(crate) fn slow_down(&mut self, pair: Pair, latency: u64) {
        self.slow.insert(pair, latency);
    }

    /// They are as fast as others again.
    pub(crate) fn hasten(&mut self, pair: Pair) {
        self.slow.remove(&pair);
    }

    /// Nanoseconds that a message between the two takes at least.
    pub(crate) fn slowness(&self, a: HostIndex, b: HostIndex) -> u64 {
        if self.slow.is_empty() {
            return 0;
        }
        self.slow.get(&pair(a, b)).copied().unwrap_or(0)
    }

    /// Pairs whose links are slow.
    pub(crate) fn slow(&self) -> Vec<Pair> {
        self.slow.keys().copied().collect()
    }

    /// True if what arrives at this time does so before what was sent earlier.
    pub(crate) fn overtakes(&mut self, from: HostIndex, to: HostIndex, at: u64) -> bool {
        let last = self.last_loose.entry((from, to)).or_default();
        let before = *last;
        *last = at.max(before);
        at < before
    }

    /// When a message sent to arrive at `at` really arrives: behind those before it.
    pub fn arrival(&mut self, from: HostIndex, to: HostIndex, at: u64) -> u64 {
        let last = self.last_arrival.entry((from, to)).or_default();
        *last = at.max(*last + 1);
        *last
    }
}
