//! Putting tuples, and the puts that wait for room.

use super::{Store, cost};
use crate::ops::{Full, Op, Outcome, Reason};
use crate::planted::{self, Bug};
use crate::snapshot::{Blocked, Kept};
use crate::tuple::Tuple;
use pvm_wire::Tid;

fn cost_of(tuples: &[Tuple]) -> u64 {
    tuples.iter().map(cost).sum()
}

/// The bytes that a put counts while it waits for room.
pub(super) fn cost_of_blocked(blocked: &Blocked) -> u64 {
    size_of::<Blocked>() as u64 + cost_of(&blocked.tuples)
}

const fn has_room(store: &Store, needed: u64) -> bool {
    matches!(store.when_full, Full::Spill) || store.bytes.saturating_add(needed) <= store.limit
}

/// True for a new request that would wait, although what waits already has so many bytes.
pub(crate) fn waits_beyond(
    store: &Store,
    most: u64,
    (client, number): (Tid, u64),
    op: &Op,
) -> bool {
    let is_new = || !store.known(client).is_some_and(|known| known.knows(number));
    store.waiting_bytes >= most
        && is_new()
        && match op {
            Op::Put { tuples, wait: true } => would_wait(store, tuples),
            Op::Find { template, wait: true, .. } => store.fitting(template).next().is_none(),
            _ => false,
        }
}

/// True for tuples that would wait for room.
fn would_wait(store: &Store, tuples: &[Tuple]) -> bool {
    let needed = cost_of(tuples);
    let is_refused = store.when_full == Full::Fail || needed > store.limit;
    let goes_in = store.blocked.is_empty() && has_room(store, needed);
    !is_refused && !goes_in && !tuples.iter().any(Tuple::has_formals)
}

/// Lets a put wait for room.
pub(super) fn block(store: &mut Store, blocked: Blocked) {
    store.waiting_bytes += cost_of_blocked(&blocked);
    store.clients.entry(blocked.client).or_default().waiting.insert(blocked.number, 0);
    store.blocked.push_back(blocked);
}

impl Store {
    pub(super) fn put_or_wait(&mut self, asked: (Tid, u64), tuples: Vec<Tuple>, wait: bool) {
        let needed = cost_of(&tuples);
        if tuples.iter().any(Tuple::has_formals) {
            return self.fail(asked, Reason::Formal);
        }
        if needed > self.limit {
            return self.fail(asked, Reason::TooLarge);
        }
        if self.blocked.is_empty() && has_room(self, needed) {
            self.put(tuples);
            return self.answer(asked, Outcome::Done);
        }
        if self.when_full == Full::Fail {
            return self.fail(asked, Reason::Full);
        }
        if !wait {
            return self.answer(asked, Outcome::Nothing);
        }
        let (client, number) = asked;
        block(self, Blocked { client, number, tuples, since: self.now });
    }

    /// Puts tuples without regard to the room.
    pub(super) fn put(&mut self, mut tuples: Vec<Tuple>) {
        if planted::is(Bug::PutsAPart) && tuples.len() > 1 {
            tuples.pop();
        }
        for tuple in tuples {
            self.bytes += cost(&tuple);
            let id = self.next();
            self.offer(id, Kept { tuple, tries: 0 });
        }
    }

    /// Puts the tuples that waited for room, in the order in which they came, as far as there is
    /// room now.
    pub(super) fn admit(&mut self) {
        while let Some(first) = self.blocked.front()
            && has_room(self, cost_of(&first.tuples))
        {
            let Some(first) = self.blocked.pop_front() else { return };
            self.waiting_bytes -= cost_of_blocked(&first);
            let Blocked { client, number, tuples, .. } = first;
            self.put(tuples);
            self.answer((client, number), Outcome::Done);
        }
    }
}
