//! Putting tuples, and the puts that wait for room.

use super::{Store, cost};
use crate::ops::{Full, Outcome, Reason};
use crate::planted::{self, Bug};
use crate::snapshot::{Blocked, Kept};
use crate::tuple::Tuple;
use pvm_wire::Tid;

fn cost_of(tuples: &[Tuple]) -> u64 {
    tuples.iter().map(cost).sum()
}

const fn has_room(store: &Store, needed: u64) -> bool {
    matches!(store.when_full, Full::Spill) || store.bytes.saturating_add(needed) <= store.limit
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
        self.clients.entry(client).or_default().waiting.insert(number, 0);
        self.blocked.push_back(Blocked { client, number, tuples, since: self.now });
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
            let Some(Blocked { client, number, tuples, .. }) = self.blocked.pop_front() else {
                return;
            };
            self.put(tuples);
            self.answer((client, number), Outcome::Done);
        }
    }
}
