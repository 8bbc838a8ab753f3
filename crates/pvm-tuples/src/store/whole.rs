//! Conversion of a store into a [`Snapshot`] and back.

use super::finding::add_waiter;
use super::putting::block;
use super::{Store, cost};
use crate::ids::Ids;
use crate::known::Answered;
use crate::planted::{self, Bug};
use crate::snapshot::{Remembered, Snapshot};

fn in_order<T: Clone>(entries: &crate::hash::Map<T>) -> Vec<(u64, T)> {
    let mut all: Vec<_> = entries.iter().map(|(number, entry)| (*number, entry.clone())).collect();
    all.sort_unstable_by_key(|(number, _)| *number);
    all
}

/// The tuples that a request has taken, if there are any.
fn taken((number, answered): (&u64, &Answered)) -> Option<(u64, Vec<u64>)> {
    (!answered.taken.is_empty()).then(|| (*number, answered.taken.iter().collect()))
}

impl Store {
    /// The whole content of the store.
    pub fn snapshot(&self) -> Snapshot {
        let clients = self.clients.iter().map(|(client, known)| Remembered {
            client: *client,
            settled: known.settled,
            answered: known
                .answered
                .iter()
                .map(|(at, known)| (*at, known.outcome.clone()))
                .collect(),
            taken: known.answered.iter().filter_map(taken).collect(),
        });
        Snapshot {
            limit: self.limit,
            when_full: self.when_full,
            last: self.last,
            tuples: self.tuples.in_order(),
            claims: self.claims.clone().into_iter().collect(),
            waiting: in_order(&self.waiting),
            blocked: self.blocked.iter().cloned().collect(),
            clients: clients.collect(),
        }
    }

    /// Makes a store of a snapshot.
    pub fn restore(snapshot: Snapshot) -> Self {
        let mut store = Self::new(snapshot.limit, snapshot.when_full);
        store.last = snapshot.last;
        for Remembered { client, settled, answered, taken } in snapshot.clients {
            let known = store.clients.entry(client).or_default();
            let plain = |(number, outcome)| (number, Answered { outcome, taken: Ids::None });
            (known.settled, known.answered) = (settled, answered.into_iter().map(plain).collect());
            for (number, ids) in taken {
                if let Some(answered) = known.answered.get_mut(&number) {
                    ids.into_iter().for_each(|id| answered.taken.insert(id));
                }
            }
            if planted::is(Bug::SnapshotWithoutAnswers) {
                known.answered.clear();
            }
        }
        for (id, kept) in snapshot.tuples {
            store.bytes += cost(&kept.tuple);
            store.index.put_tuple(kept.tuple.marks(), id);
            store.tuples.insert(id, kept);
        }
        let claims =
            if planted::is(Bug::SnapshotWithoutClaims) { Vec::new() } else { snapshot.claims };
        for (number, claim) in claims {
            store.bytes += cost(&claim.tuple);
            store.clients.entry(claim.client).or_default().claims.insert(number);
            store.claims.insert(number, claim);
        }
        for (waiter, waiting) in snapshot.waiting {
            if planted::is(Bug::SnapshotWithoutWaiters) {
                // The client waits for this request, and the store must know that.
                let known = store.clients.entry(waiting.client).or_default();
                known.waiting.insert(waiting.number, waiter);
                continue;
            }
            add_waiter(&mut store, waiter, waiting);
        }
        snapshot.blocked.into_iter().for_each(|blocked| block(&mut store, blocked));
        store
    }
}
