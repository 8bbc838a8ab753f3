//! The store's data of a client.

use crate::ids::Ids;
use crate::ops::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) outcome: Outcome,
    /// The numbers of the tuples that it has taken, should it be withdrawn.
    pub(crate) taken: Ids,
}

/// A client: what it waits for, what it was answered, what it has claimed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Client {
    /// Answers that it may not have got, by number.
    pub(crate) answered: BTreeMap<u64, Answered>,
    /// Its requests that wait: the number of the waiter, or 0 for tuples that are blocked.
    pub(crate) waiting: BTreeMap<u64, u64>,
    /// Its claims.
    pub(crate) claims: BTreeSet<u64>,
    /// It has the answers to all requests below this one.
    pub(crate) settled: u64,
}

impl Client {
    /// True for a request that waits or was answered: asked again, it changes nothing.
    pub(crate) fn knows(&self, number: u64) -> bool {
        let is_known = || self.answered.contains_key(&number) || self.waiting.contains_key(&number);
        number < self.settled || is_known()
    }
}
