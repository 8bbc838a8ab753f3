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
    /// The client has the answers to all requests below this one, but those that wait or have an
    /// answer here.
    pub(crate) settled: u64,
}

impl Client {
    /// True for a request that waits or was answered. If it is repeated, it changes nothing.
    pub(crate) fn knows(&self, number: u64) -> bool {
        number < self.settled || self.is_open(number)
    }

    /// True for a request that waits, or whose answer the client may not have received.
    fn is_open(&self, number: u64) -> bool {
        self.answered.contains_key(&number) || self.waiting.contains_key(&number)
    }

    /// True for a request whose answer the client has.
    pub(crate) fn has_settled(&self, number: u64) -> bool {
        number < self.settled && !self.is_open(number)
    }

    /// The client has the answers to all requests below a number, but the open ones. They are
    /// forgotten; as long as the client's oldest request waits, they would be kept otherwise.
    pub(crate) fn settle(&mut self, below: u64, open: &BTreeSet<u64>) {
        // An open request that has not come yet is to be carried out when it comes.
        let is_missing = |number: &&u64| **number >= self.settled && !self.is_open(**number);
        let missing = open.iter().find(is_missing);
        let below = missing.map_or(below, |first| below.min(*first));
        self.settled = self.settled.max(below);
        self.answered.retain(|number, _| *number >= below || open.contains(number));
    }
}
