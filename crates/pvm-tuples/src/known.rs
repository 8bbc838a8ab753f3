//! The data that a store keeps of each client.

use crate::ids::Ids;
use crate::ops::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) outcome: Outcome,
    /// The numbers of the tuples that the request has taken, for the case that it is withdrawn.
    pub(crate) taken: Ids,
}

/// A client: its waiting requests, the answers that it got, and its claims.
#[derive(Clone, Default, Debug)]
pub(crate) struct Client {
    /// The answers that the client may not have received, by request.
    pub(crate) answered: BTreeMap<u64, Answered>,
    /// Its waiting requests, each with the number of its waiter, or 0 for a put that waits for
    /// room.
    pub(crate) waiting: BTreeMap<u64, u64>,
    /// Its claims.
    pub(crate) claims: BTreeSet<u64>,
    /// The client has the answers to all requests below this one.
    pub(crate) settled: u64,
}

impl Client {
    /// True for a request that waits or was answered. If it is repeated, it changes nothing.
    pub(crate) fn knows(&self, number: u64) -> bool {
        let is_known = || self.answered.contains_key(&number) || self.waiting.contains_key(&number);
        number < self.settled || is_known()
    }
}
