//! When requests that wait for a tuple end by themselves.
//!
//! A client ends its request at its limit, by a message. That message may be lost with the primary
//! that it was sent to, and a client that computes says nothing more. So each server that holds the
//! space measures the limit by its own clock, and whichever is the primary ends the request. A
//! server that joins later begins to measure then, so a wait never ends too early.

use crate::ops::{Answer, Input, Op};
use crate::store::{self, Store};
use pvm_wire::Tid;
use std::collections::{BTreeMap, BTreeSet};

/// The limits of the requests that wait in a space.
#[derive(Debug, Default)]
pub(super) struct Limits {
    ends: BTreeMap<(Tid, u64), u64>,
    by_time: BTreeSet<(u64, Tid, u64)>,
}

/// The request that an input may have begun.
pub(super) const fn begun_by(input: &Input) -> Option<(Tid, u64)> {
    match input {
        Input::Asked { client, number, op: Op::Find { limit_ms: 1.., .. }, .. } => {
            Some((*client, *number))
        }
        _ => None,
    }
}

impl Limits {
    /// Those of a store that a server begins with.
    pub(super) fn of(store: &Store, now_ms: u64) -> Self {
        let mut limits = Self::default();
        for (client, number, limit_ms) in store::limits(store) {
            limits.begin((client, number), now_ms.saturating_add(limit_ms));
        }
        limits
    }

    fn begin(&mut self, request: (Tid, u64), at_ms: u64) {
        if self.ends.insert(request, at_ms).is_none() {
            self.by_time.insert((at_ms, request.0, request.1));
        }
    }

    /// An input was applied: `begun` is the request that it may have begun.
    pub(super) fn applied(
        &mut self,
        store: &Store,
        now_ms: u64,
        begun: Option<(Tid, u64)>,
        answers: &[Answer],
    ) {
        if let Some(request) = begun
            && !self.ends.contains_key(&request)
            && let Some(limit_ms) = store::limit_of(store, request)
        {
            self.begin(request, now_ms.saturating_add(limit_ms));
        }
        if !self.ends.is_empty() {
            answers.iter().for_each(|answer| self.end((answer.client, answer.number)));
        }
    }

    fn end(&mut self, request: (Tid, u64)) {
        if let Some(at_ms) = self.ends.remove(&request) {
            self.by_time.remove(&(at_ms, request.0, request.1));
        }
    }

    /// A client is gone.
    pub(super) fn gone(&mut self, client: Tid) {
        let own = self.ends.range((client, 0)..=(client, u64::MAX));
        for (request, _) in own.map(|(request, at_ms)| (*request, *at_ms)).collect::<Vec<_>>() {
            self.end(request);
        }
    }

    /// When the first one ends.
    pub(super) fn first(&self) -> Option<u64> {
        self.by_time.first().map(|(at_ms, ..)| *at_ms)
    }

    /// A request whose time is over; it is told once.
    pub(super) fn pop_due(&mut self, now_ms: u64) -> Option<(Tid, u64)> {
        let (_, client, number) = *self.by_time.first().filter(|(at_ms, ..)| *at_ms <= now_ms)?;
        self.end((client, number));
        Some((client, number))
    }
}
