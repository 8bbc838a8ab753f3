//! Messages of other hosts, each once and in the order of their sending.
//!
//! They may come by the daemons, by a direct route, by both, and more than once: a daemon that
//! was replaced and a link that broke send again what was not confirmed. The number in the
//! envelope decides.

use pvm_wire::Tid;
use std::collections::{BTreeMap, VecDeque};

/// The messages of one sender.
#[derive(Debug)]
struct Pair<M> {
    /// The last number up to which nothing is missing.
    last: u64,
    /// What came before its turn.
    early: BTreeMap<u64, M>,
}

/// The order of all senders.
#[derive(Debug)]
pub(crate) struct Order<M> {
    pairs: BTreeMap<Tid, Pair<M>>,
    /// How many wait for one before them.
    early: usize,
}

impl<M> Order<M> {
    /// Nothing has come.
    pub(crate) const fn new() -> Self {
        Self { pairs: BTreeMap::new(), early: 0 }
    }

    /// A message has come: it goes to `out` when all before it have, and with it those that it
    /// was missing for; one that has come before is dropped.
    pub(crate) fn take(&mut self, from: Tid, number: u64, message: M, out: &mut VecDeque<M>) {
        let pair =
            self.pairs.entry(from).or_insert_with(|| Pair { last: 0, early: BTreeMap::new() });
        if number > pair.last + 1 {
            self.early += usize::from(pair.early.insert(number, message).is_none());
        } else if number == pair.last + 1 {
            pair.last = number;
            out.push_back(message);
            while let Some(message) = pair.early.remove(&(pair.last + 1)) {
                pair.last += 1;
                self.early -= 1;
                out.push_back(message);
            }
        }
    }

    /// True where something waits for one before it, which may come another way.
    pub(crate) const fn is_waiting(&self) -> bool {
        self.early > 0
    }

    /// The last number of a sender up to which nothing is missing.
    pub(crate) fn last(&self, from: Tid) -> u64 {
        self.pairs.get(&from).map_or(0, |pair| pair.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Tid = Tid(0x40001);
    const B: Tid = Tid(0x80001);

    #[test]
    fn whatever_way_they_come_each_is_taken_once_and_in_order() {
        // All orders of two copies of five messages, drawn by a small generator.
        let mut state = 7u64;
        for _ in 0..2000 {
            let mut coming: Vec<u64> = (1..=5).chain(1..=5).collect();
            for i in (1..coming.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                coming.swap(i, (state >> 33) as usize % (i + 1));
            }
            let mut order = Order::new();
            let mut out = VecDeque::new();
            for number in coming {
                order.take(A, number, (A, number), &mut out);
                order.take(B, number, (B, number), &mut out);
            }
            for from in [A, B] {
                let numbers: Vec<u64> =
                    out.iter().filter(|(tid, _)| *tid == from).map(|(_, n)| *n).collect();
                assert_eq!(numbers, [1, 2, 3, 4, 5]);
                assert_eq!(order.last(from), 5);
            }
        }
    }

    #[test]
    fn what_misses_one_before_it_waits() {
        let mut order = Order::new();
        let mut out = VecDeque::new();
        order.take(A, 2, "two", &mut out);
        order.take(A, 4, "four", &mut out);
        assert!(out.is_empty() && order.last(A) == 0 && order.is_waiting());
        order.take(A, 1, "one", &mut out);
        assert_eq!(out, ["one", "two"]);
        order.take(A, 3, "three", &mut out);
        assert_eq!(out, ["one", "two", "three", "four"]);
        assert!(!order.is_waiting());
    }
}
