//! What is kept of each client, so that each of its requests is done once.

use super::Store;
use crate::ops::{Answer, Find, Outcome};
use crate::planted::{self, Bug};
use pvm_wire::Tid;

impl Store {
    /// True if a request has not been seen yet. One that was answered is answered again.
    pub(super) fn is_new(&mut self, client: Tid, number: u64, settled: u64) -> bool {
        let known = self.clients.entry(client).or_default();
        if settled > known.settled {
            known.settled = settled;
            while known.answered.first_key_value().is_some_and(|(first, _)| *first < settled) {
                known.answered.pop_first();
            }
        }
        if let Some(outcome) = known.answered.get(&number).cloned()
            && !planted::is(Bug::DoesTwice)
        {
            self.answers.push(Answer { client, number, outcome });
            return false;
        }
        planted::is(Bug::DoesTwice)
            || (number >= known.settled && !known.waiting.contains_key(&number))
    }

    pub(super) fn remember(&mut self, client: Tid, number: u64, outcome: &Outcome) {
        let known = self.clients.entry(client).or_default();
        known.waiting.remove(&number);
        known.answered.insert(number, outcome.clone());
    }

    /// A request that waits is answered: nothing was found. One that was answered stays so.
    pub(super) fn cancel(&mut self, client: Tid, number: u64) {
        let waiting = self.clients.get(&client).and_then(|known| known.waiting.get(&number));
        if let Some(&waiter) = waiting {
            self.stop_waiting(client, number, waiter);
            self.answer((client, number), Outcome::Nothing);
        }
    }

    fn stop_waiting(&mut self, client: Tid, number: u64, waiter: u64) {
        if let Some(waiting) = self.waiting.remove(&waiter) {
            self.waiters.take_waiter(waiting.template.marks(), waiter);
        } else {
            self.blocked.retain(|blocked| (blocked.client, blocked.number) != (client, number));
        }
    }

    /// A client has ended: it waits no more, and what it had claimed comes back.
    pub(super) fn gone(&mut self, client: Tid) {
        let Some(known) = self.clients.remove(&client) else { return };
        for (number, waiter) in known.waiting {
            if planted::is(Bug::ServesTheDead) {
                break;
            }
            self.stop_waiting(client, number, waiter);
        }
        for claim in known.claims {
            if planted::is(Bug::KeepsClaims) {
                break;
            }
            self.bring_back(claim);
        }
    }
}

impl Find {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Copy => "rd",
            Self::Take => "in",
            Self::Claim { .. } => "claim",
        }
    }
}
