//! The ends of requests that wait for a tuple.
//!
//! A client ends its request at its limit by a message. This message may be lost together with the
//! primary to which it was sent, and a client that computes does not repeat it. So each server that
//! holds the space measures the limit with its own clock, and the primary of that moment ends the
//! request. A server that joins later begins to measure at that time, so no wait ends too early.

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
        Input::Asked { client, number, op: Op::Find { limit_ms: Some(_), .. }, .. } => {
            Some((*client, *number))
        }
        _ => None,
    }
}

impl Limits {
    /// The limits of the requests in a store with which a server begins.
    pub(super) fn of(store: &Store, now_ms: u64) -> Self {
        let mut limits = Self::default();
        for (client, number, limit_ms) in store::limits(store) {
            limits.0.set((client, number), now_ms.saturating_add(limit_ms));
        }
        limits
    }

    /// Updates the limits after an input; `begun` is the request that it may have begun.
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

    /// Removes the limits of a client that has ended.
    pub(super) fn gone(&mut self, client: Tid) {
        self.0.end_range((client, 0)..=(client, u64::MAX));
    }

    /// The time at which the next request ends.
    pub(super) fn first(&self) -> Option<u64> {
        self.0.first()
    }

    /// Takes out a request whose time has come; each request is returned once.
    pub(super) fn pop_due(&mut self, now_ms: u64) -> Option<(Tid, u64)> {
        self.0.pop_due(now_ms)
    }
}
