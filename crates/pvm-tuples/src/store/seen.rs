//! The view of a space that commands show.

use super::{Store, spilled_bytes};
use crate::frames::{Claimed, Seen, Waiter};
use crate::kind::Kind;
use crate::tuple::Tuple;
use pvm_wire::Tid;
use std::num::NonZeroU64;

/// The most waiters and claims in a view.
const SHOWN_MAX: usize = 1000;
/// The most tuples that are searched for near misses.
const SEARCHED_MAX: usize = 10_000;
/// The most near misses of one waiter.
const NEAR_MAX: usize = 3;
/// The most bytes of tuples in a view.
const BYTES_MAX: usize = 16 << 20;

/// True if the first fields are equal texts.
fn has_name_of(tuple: &Tuple, template: &Tuple) -> bool {
    match (tuple.field(0), template.field(0)) {
        (Some(one), Some(other)) => one.kind == Kind::Text && one.data.is_some() && one == other,
        _ => false,
    }
}

/// The page of tuples, claimed ones included, that follows the tuple `behind` by age: as many as an
/// answer can hold, at least one if there is one. A tuple that stays in the space is in one page
/// exactly, however many others come and go.
pub(crate) fn page(store: &Store, behind: Option<NonZeroU64>) -> Seen {
    let behind = behind.map_or(0, NonZeroU64::get);
    let claimed = store.claims.values().map(|claim| (claim.id, Some(&claim.tuple)));
    let free = store.tuples.ids().map(|id| (id, None));
    let mut all: Vec<_> = free.chain(claimed).filter(|(id, _)| *id > behind).collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    let read = |(id, claimed): (u64, Option<&Tuple>)| {
        let free = || Some(store.tuples.get(id)?.into_owned().tuple);
        Some((id, claimed.cloned().or_else(free)?))
    };
    let (mut bytes, mut last, mut oldest) = (0, None, Vec::new());
    for (id, tuple) in all.into_iter().filter_map(read) {
        bytes += tuple.size();
        if bytes > BYTES_MAX && last.is_some() {
            break;
        }
        oldest.push(tuple);
        last = NonZeroU64::new(id);
    }
    let (tuples, bytes) = (store.tuples.len() as u64, store.bytes);
    let spilled = spilled_bytes(store);
    Seen { tuples, bytes, spilled, oldest, last, waiting: Vec::new(), claimed: Vec::new() }
}

impl Store {
    /// The content of the space at a time in milliseconds, with the oldest `tuples` tuples.
    pub fn seen(&self, now_ms: u64, tuples: u64) -> Seen {
        let mut ids: Vec<u64> = self.tuples.ids().collect();
        ids.sort_unstable();
        let mut bytes = 0;
        let oldest = ids.iter().filter_map(|id| self.tuples.get(*id));
        let oldest = oldest.map(|kept| kept.into_owned().tuple);
        let oldest =
            oldest.take(usize::try_from(tuples).unwrap_or(usize::MAX)).take_while(|tuple| {
                bytes += tuple.size();
                bytes <= BYTES_MAX
            });
        Seen {
            tuples: self.tuples.len() as u64,
            bytes: self.bytes,
            spilled: spilled_bytes(self),
            last: None,
            oldest: oldest.collect(),
            waiting: self.seen_waiting(now_ms, &ids),
            claimed: self.seen_claimed(now_ms),
        }
    }

    fn seen_waiting(&self, now_ms: u64, ids: &[u64]) -> Vec<Waiter> {
        let waiter = |client: Tid, template: &Tuple, operation: &str, since: u64| Waiter {
            client,
            template: template.clone(),
            operation: operation.to_owned(),
            waited_ms: now_ms.saturating_sub(since),
            near: Vec::new(),
        };
        let mut numbers: Vec<u64> = self.waiting.keys().copied().collect();
        numbers.sort_unstable();
        let waiting = numbers.iter().filter_map(|number| self.waiting.get(number)).map(|waiting| {
            let shown =
                waiter(waiting.client, &waiting.template, waiting.how.name(), waiting.since);
            Waiter { near: self.near(&waiting.template, ids), ..shown }
        });
        let blocked = self.blocked.iter().filter_map(|blocked| {
            let first = blocked.tuples.first()?;
            Some(waiter(blocked.client, first, "out", blocked.since))
        });
        waiting.chain(blocked).take(SHOWN_MAX).collect()
    }

    /// Tuples that fit a waiter's template but for their types or their number of fields.
    fn near(&self, template: &Tuple, ids: &[u64]) -> Vec<Tuple> {
        let tuples = ids.iter().take(SEARCHED_MAX).filter_map(|id| self.tuples.get(*id));
        let signature = template.signature();
        let near = tuples
            .map(|kept| kept.into_owned().tuple)
            .filter(|tuple| tuple.signature() != signature && has_name_of(tuple, template));
        near.take(NEAR_MAX).collect()
    }

    fn seen_claimed(&self, now_ms: u64) -> Vec<Claimed> {
        let claims = self.claims.values().take(SHOWN_MAX).map(|claim| Claimed {
            client: claim.client,
            tuple: claim.tuple.clone(),
            tries: claim.tries,
            held_ms: now_ms.saturating_sub(claim.since),
        });
        claims.collect()
    }
}
