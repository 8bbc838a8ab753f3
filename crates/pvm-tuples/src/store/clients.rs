//! The data of each client, by which each of its requests is carried out once.

use super::finding::remove_waiter;
use super::putting::cost_of_blocked;
use super::{Store, cost};
use crate::known::Answered;
use crate::ops::{Answer, Find, Outcome};
use crate::planted::{self, Bug};
use crate::snapshot::{Blocked, Claim, Kept};
use pvm_wire::Tid;

impl Store {
    /// True if a request is new. A request that was answered gets its answer again.
    pub(super) fn is_new(&mut self, client: Tid, number: u64, settled: u64) -> bool {
        let known = self.clients.entry(client).or_default();
        known.settled = known.settled.max(settled);
        while known.answered.first_key_value().is_some_and(|(first, _)| *first < settled) {
            known.answered.pop_first();
        }
        if let Some(Answered { outcome, .. }) = known.answered.get(&number).cloned()
            && !planted::is(Bug::DoesTwice)
        {
            self.answers.push(Answer { client, number, outcome });
            return false;
        }
        planted::is(Bug::DoesTwice)
            || (number >= known.settled && !known.waiting.contains_key(&number))
    }

    /// Ends a waiting request with the answer that no tuple fitted. A request that was answered
    /// keeps its answer.
    pub(super) fn cancel(&mut self, client: Tid, number: u64) {
        let waiting = self.clients.get(&client).and_then(|known| known.waiting.get(&number));
        if let Some(&waiter) = waiting {
            self.stop_waiting(client, number, waiter);
            self.answer((client, number), Outcome::Nothing);
        }
    }

    /// Withdraws a request: it stops waiting, the tuples that it has taken come back, and a late
    /// repetition of it is not carried out. An operation that cannot be undone gets its answer
    /// again.
    pub(super) fn withdraw(&mut self, client: Tid, number: u64) {
        let known = self.clients.entry(client).or_default();
        if known.has_settled(number) {
            return;
        }
        if let Some(&waiter) = known.waiting.get(&number) {
            self.stop_waiting(client, number, waiter);
        }
        let answered =
            self.clients.get_mut(&client).and_then(|known| known.answered.remove(&number));
        let outcome = match answered {
            Some(answered) => self.undo(client, answered),
            None => Outcome::Nothing,
        };
        self.answer((client, number), outcome);
    }

    /// Undoes a request that has found tuples, and returns its new outcome.
    fn undo(&mut self, client: Tid, Answered { outcome, taken }: Answered) -> Outcome {
        let (tuples, tries) = match outcome {
            Outcome::Found { claim: Some(claim), .. } => {
                if let Some(Claim { id, tuple, tries, .. }) = self.end_claim(client, claim.get()) {
                    self.offer(id, Kept { tuple, tries });
                }
                return Outcome::Nothing;
            }
            Outcome::Found { tuple, tries, .. } => (vec![tuple], tries),
            Outcome::Gathered { tuples } => (tuples, 0),
            other => return other,
        };
        if planted::is(Bug::KeepsWithdrawn) {
            return Outcome::Nothing;
        }
        for (id, tuple) in taken.iter().zip(tuples) {
            self.bytes += cost(&tuple);
            self.offer(id, Kept { tuple, tries });
        }
        Outcome::Nothing
    }

    fn stop_waiting(&mut self, client: Tid, number: u64, waiter: u64) {
        if remove_waiter(self, waiter).is_some() {
            return;
        }
        let is_it = |blocked: &Blocked| (blocked.client, blocked.number) == (client, number);
        let at = self.blocked.iter().position(is_it);
        if let Some(blocked) = at.and_then(|at| self.blocked.remove(at)) {
            self.waiting_bytes -= cost_of_blocked(&blocked);
        }
    }

    /// Removes a client that has ended: its waits end, and its claimed tuples come back.
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
