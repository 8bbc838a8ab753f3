//! The tuples of one space and its waiters.
//!
//! [`Store::apply`] takes one [`Input`] after another. Its answers depend on these inputs alone. So
//! all servers of a space give the same answers, and any of them can continue for another one.

mod claims;
mod clients;
mod finding;
pub(crate) mod putting;
pub(crate) mod seen;
mod whole;

use crate::hash::Map;
use crate::heap::{Heap, cost};
use crate::ids::Ids;
use crate::index::Index;
use crate::known::{Answered, Client};
use crate::ops::{Answer, Full, Input, Op, Outcome, Reason};
use crate::shelf::Shelf;
use crate::snapshot::{Blocked, Claim, Waiting};
use pvm_wire::Tid;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU64;

/// The most bytes of all tuples in one answer.
pub(crate) const GATHERED_BYTES_MAX: usize = 64 << 20;

/// One space.
#[derive(Debug)]
pub struct Store {
    pub(crate) limit: u64,
    pub(crate) when_full: Full,
    /// The free tuples, by a number that grows as they are put.
    tuples: Heap,
    index: Index,
    waiting: Map<Waiting>,
    waiters: Index,
    blocked: VecDeque<Blocked>,
    /// The bytes of what waits: templates, and tuples that wait for room.
    waiting_bytes: u64,
    claims: BTreeMap<u64, Claim>,
    clients: BTreeMap<Tid, Client>,
    /// The bytes of all tuples, claimed and free.
    bytes: u64,
    /// The last number that was given to a tuple, a waiter or a claim.
    last: u64,
    /// The time of the last input.
    now: u64,
    answers: Vec<Answer>,
}

impl Store {
    /// An empty space that holds at most `limit` bytes.
    pub fn new(limit: u64, when_full: Full) -> Self {
        Self {
            limit,
            when_full,
            tuples: Heap::default(),
            index: Index::default(),
            waiting: Map::default(),
            waiters: Index::default(),
            blocked: VecDeque::new(),
            waiting_bytes: 0,
            claims: BTreeMap::new(),
            clients: BTreeMap::new(),
            bytes: 0,
            last: 0,
            now: 0,
            answers: Vec::new(),
        }
    }

    /// Applies an input at a time in milliseconds, and appends its answers.
    pub fn apply(&mut self, at_ms: u64, input: Input, answers: &mut Vec<Answer>) {
        self.now = at_ms;
        match input {
            Input::Asked { client, number, settled, op } => {
                if self.is_new(client, number, settled) {
                    self.perform(client, number, op);
                }
            }
            Input::Cancelled { client, number } => self.cancel(client, number),
            Input::Gone { client } => self.gone(client),
            Input::Lapsed { claim } => self.bring_back(claim),
            Input::Withdrawn { client, number } => self.withdraw(client, number),
            Input::Settled { client, below, open } => {
                if let Some(known) = self.clients.get_mut(&client) {
                    known.settle(below, &BTreeSet::from_iter(open));
                }
            }
        }
        self.admit();
        answers.append(&mut self.answers);
    }

    fn perform(&mut self, client: Tid, number: u64, op: Op) {
        let asked = (client, number);
        match op {
            Op::Put { tuples, wait } => self.put_or_wait(asked, tuples, wait),
            Op::Find { template, how, wait, limit_ms } => {
                self.find(asked, template, how, wait.then_some(limit_ms));
            }
            Op::Count { template } => {
                let count = self.fitting(&template).count() as u64;
                self.answer(asked, Outcome::Counted { count });
            }
            Op::Gather { template, take, room } => self.gather(asked, &template, take, room),
            Op::Done { claim, tuples } => self.done(asked, claim, tuples),
            Op::GiveBack { claim } => self.give_back(asked, claim),
            Op::Renew { claim, lease_ms } => self.renew(asked, claim, lease_ms),
            Op::DoneAll { tuples } => self.done_all(asked, tuples),
        }
    }

    const fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn answer(&mut self, asked: (Tid, u64), outcome: Outcome) {
        self.answer_taken(asked, outcome, Ids::None);
    }

    /// Answers a request that has taken these tuples.
    fn answer_taken(&mut self, (client, number): (Tid, u64), outcome: Outcome, taken: Ids) {
        let known = self.clients.entry(client).or_default();
        known.waiting.remove(&number);
        known.answered.insert(number, Answered { outcome: outcome.clone(), taken });
        self.answers.push(Answer { client, number, outcome });
    }

    fn fail(&mut self, asked: (Tid, u64), reason: Reason) {
        self.answer(asked, Outcome::Failed { reason });
    }

    /// The number of free tuples.
    pub fn count(&self) -> usize {
        self.tuples.len()
    }

    /// The clients of which the store keeps data.
    pub fn clients(&self) -> impl Iterator<Item = Tid> {
        self.clients.keys().copied()
    }

    /// The data that the store keeps of a client.
    pub(crate) fn known(&self, client: Tid) -> Option<&Client> {
        self.clients.get(&client)
    }

    /// The size of all tuples, claimed and free.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The requests that wait.
    pub fn waiting_requests(&self) -> impl Iterator<Item = (Tid, u64)> {
        self.clients
            .iter()
            .flat_map(|(client, known)| known.waiting.keys().map(move |number| (*client, *number)))
    }

    /// The claims that have a lease, with their leases in milliseconds.
    pub fn leases(&self) -> impl Iterator<Item = (u64, u64)> {
        let claims = self.claims.iter();
        claims.filter_map(|(number, claim)| Some((*number, claim.lease_ms?.get())))
    }

    /// The lease of a claim; none if the claim has ended or has no lease.
    pub fn lease(&self, claim: u64) -> Option<u64> {
        self.claims.get(&claim)?.lease_ms.map(NonZeroU64::get)
    }
}

/// True if a client has this claim.
pub(crate) fn is_claimed_by(store: &Store, claim: u64, client: Tid) -> bool {
    store.claims.get(&claim).is_some_and(|claim| claim.client == client)
}

/// The requests that wait for a tuple and have a limit, with the limit in milliseconds.
pub(crate) fn limits(store: &Store) -> impl Iterator<Item = (Tid, u64, u64)> {
    let waiting = store.waiting.values();
    waiting.filter_map(|one| Some((one.client, one.number, one.limit_ms?.get())))
}

/// The limit of a request in milliseconds, if it waits for a tuple and has a limit.
pub(crate) fn limit_of(store: &Store, (client, number): (Tid, u64)) -> Option<u64> {
    let waiter = store.clients.get(&client)?.waiting.get(&number)?;
    store.waiting.get(waiter)?.limit_ms.map(NonZeroU64::get)
}

/// From now on tuples beyond the limit go to a shelf, if the space has this option.
pub fn spill_to(store: &mut Store, shelf: Box<dyn Shelf>) {
    if store.when_full == Full::Spill {
        store.tuples.spill_to(shelf, store.limit);
    }
}

/// The bytes of tuples on the shelf.
pub const fn spilled_bytes(store: &Store) -> u64 {
    store.tuples.away()
}

/// True once a tuple on the shelf could not be read. The answers are wrong from then on.
pub fn has_unread_tuples(store: &Store) -> bool {
    store.tuples.has_failed()
}

/// True if tuples beyond the limit are to go to a shelf, and there is no shelf yet.
pub(crate) fn wants_shelf(store: &Store) -> bool {
    store.when_full == Full::Spill && !store.tuples.has_shelf()
}

/// Reserves room on the shelf for the tuples that an operation puts.
pub(crate) fn reserve(store: &mut Store, op: &Op) -> bool {
    let needed = op.puts().map_or(0, |tuples| tuples.iter().map(cost).sum());
    store.tuples.reserve(needed)
}

#[cfg(test)]
mod tests;
