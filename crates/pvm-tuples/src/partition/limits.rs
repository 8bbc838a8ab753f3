//! When requests that wait for a tuple end by themselves.
//!
//! A client ends its request at its limit, by a message. That message may be lost with the primary
//! that it was sent to, and a client that computes says nothing more. So each server that holds the
//! space measures the limit by its own clock, and whichever is the primary ends the request. A
//! server that joins later begins to measure then, so a wait never ends too early.

use super::schedule::Schedule;
use crate::ops::{Answer, Input, Op};
use crate::store::{self, Store};
use pvm_wire::Tid;

/// The limits of the requests that wait in a space.
#[derive(Debug, Default)]
pub(super) struct Limits(Schedule<(Tid, u64)>);

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
            limits.0.set((client, number), now_ms.saturating_add(limit_ms));
        }
        limits
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
            && !self.0.has(request)
            && let Some(limit_ms) = store::limit_of(store, request)
        {
            self.0.set(request, now_ms.saturating_add(limit_ms));
        }
        if !self.0.is_empty() {
            answers.iter().for_each(|answer| self.0.end((answer.client, answer.number)));
        }
    }

    /// A client is gone.
    pub(super) fn gone(&mut self, client: Tid) {
        self.0.end_range((client, 0)..=(client, u64::MAX));
    }

    /// When the first one ends.
    pub(super) fn first(&self) -> Option<u64> {
        self.0.first()
    }

    /// A request whose time is over; it is told once.
    pub(super) fn pop_due(&mut self, now_ms: u64) -> Option<(Tid, u64)> {
        self.0.pop_due(now_ms)
    }
}
