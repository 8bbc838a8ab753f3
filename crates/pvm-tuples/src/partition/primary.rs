//! The primary: it puts the requests of clients into an order, and answers when all copies have the
//! step.

use super::{
    Output, Partition, RESEND_MS, RESENDS_MAX, Role, dropped, ending, is_no_step, limits, moves,
    refuse,
};
use crate::frames::{Ask, Between, Told};
use crate::log::Record;
use crate::ops::{Answer, Input, Op, Outcome};
use crate::planted::{self, Bug};
use crate::store::{self, putting::waits_beyond};
use pvm_wire::Tid;

/// For each so many bytes of a space a server that is to begin with it gets one time of
/// [`RESEND_MS`] more.
const BEGIN_BYTES: u64 = 32 << 20;

fn waits(space: &Partition, (client, number): (Tid, u64)) -> bool {
    space.store.known(client).is_some_and(|known| known.waiting.contains_key(&number))
}

/// True for a request that has not been carried out because too much waited.
fn is_beyond(space: &Partition, (client, number): (Tid, u64)) -> bool {
    let knows = || space.store.known(client).is_some_and(|known| known.knows(number));
    space.beyond.has(client, number) && !knows()
}

/// The last step that all servers have for which answers wait: the copies that the entry names, and
/// servers that are to be named and have begun. A server that has not begun holds up no answer,
/// because it may never be able to begin.
fn had_by_all(space: &Partition) -> Option<u64> {
    let named = &space.entry.copies;
    let steps = space.followers.iter().filter_map(|(tid, follower)| {
        follower.confirmed.or_else(|| named.contains(tid).then_some(0))
    });
    steps.min()
}

/// Applies an input to the store and returns its answers.
pub(super) fn apply(space: &mut Partition, at_ms: u64, input: Input) -> Vec<Answer> {
    let begun = limits::begun_by(&input);
    if let Input::Gone { client } = input {
        space.limits.gone(client);
    }
    let mut answers = Vec::new();
    space.store.apply(at_ms, input, &mut answers);
    space.limits.applied(&space.store, space.now, begun, &answers);
    answers
}

impl Partition {
    pub(super) fn asked(&mut self, client: Tid, ask: Ask) {
        if self.erasing.is_some()
            && let Ask::Delete { number, .. } = ask
        {
            return ending::deletes(self, client, number);
        }
        if let Ask::Settle { number: below, open, .. } = ask {
            if self.role == Role::Primary && !self.ending && self.store.known(client).is_some() {
                self.step(Input::Settled { client, below, open });
            }
            return;
        }
        if self.role != Role::Primary || self.ending {
            let number = ask.number();
            return self.tell(client, number, Told::Elsewhere { number });
        }
        self.watch(client);
        if let Ask::Do { settled, .. } = &ask {
            self.refused.settle(client, *settled);
            self.beyond.settle(client, *settled);
        }
        match ask {
            Ask::Do { number, .. } if self.refused.has(client, number) => {
                refuse(self, (client, number));
            }
            // The client repeats this, as if it had been lost.
            Ask::Do { number, op, .. }
                if waits_beyond(&self.store, self.most_waiting, (client, number), &op) =>
            {
                self.beyond.note_beyond(client, number);
            }
            // It does not wait at the client any more, either.
            Ask::Cancel { number, .. } if is_beyond(self, (client, number)) => {
                self.beyond.take(client, number);
                self.step(Input::Withdrawn { client, number });
            }
            // This cancellation changes nothing, and gets no answer.
            Ask::Cancel { number, .. } if !waits(self, (client, number)) => {}
            // A request that makes no step must not change the state, because the steps on disk
            // would not have the change.
            Ask::Do { number, .. } | Ask::Cancel { number, .. } | Ask::Withdraw { number, .. }
                if self.journal.is_durable()
                    && self.store.known(client).is_some_and(|known| known.has_settled(number)) => {}
            Ask::Do { number, settled, op, .. } if is_no_step(self, (client, number), &op) => {
                let (input, mut answers) =
                    (Input::Asked { client, number, settled, op }, Vec::new());
                self.store.apply(self.now, input, &mut answers);
                // The answer waits until every step that it shows is on disk.
                let behind = self.applied;
                self.held.extend(answers.into_iter().map(|answer| (behind, answer)));
                self.release();
            }
            Ask::Do { number, settled, op, .. } => {
                self.beyond.take(client, number);
                let claim =
                    op.claim().filter(|claim| store::is_claimed_by(&self.store, *claim, client));
                let renews = matches!(op, Op::Renew { .. });
                self.step(Input::Asked { client, number, settled, op });
                if let Some(claim) = claim
                    && (renews || self.store.lease(claim).is_none())
                {
                    self.time(claim);
                }
            }
            Ask::Cancel { number, .. } => self.step(Input::Cancelled { client, number }),
            Ask::Withdraw { number, .. } => self.step(Input::Withdrawn { client, number }),
            Ask::Look { number, tuples, .. } => {
                let seen = self.store.seen(self.now, tuples);
                self.tell(client, number, Told::Seen { number, seen });
            }
            Ask::Page { number, behind, .. } => {
                let seen = store::seen::page(&self.store, behind);
                self.tell(client, number, Told::Seen { number, seen });
            }
            Ask::Delete { number, .. } => {
                ending::deletes(self, client, number);
                self.ending = true;
                self.tend();
            }
            // The server itself handles the one, and the other was handled above.
            Ask::Create { .. } | Ask::Settle { .. } => {}
        }
    }

    pub(super) fn tell(&mut self, client: Tid, number: u64, told: Told) {
        self.outputs.push_back(Output::Tell { client, number, told });
    }

    /// Applies an input and sends it to the copies.
    pub(super) fn step(&mut self, input: Input) {
        self.applied += 1;
        let (number, at_ms) = (self.applied, self.now);
        let record = || Record::Step { number, at_ms, input: input.clone() };
        let record = self.journal.note(record);
        self.outputs.extend(record.map(|record| Output::Persist { record }));
        if !self.followers.is_empty() {
            self.steps.push_back((number, at_ms, input.clone()));
            for follower in self.followers.keys() {
                let (to, what) = (*follower, self.step_frame(number, at_ms, &input));
                self.outputs.push_back(Output::Say { to, what });
            }
            self.resend_at.get_or_insert(self.now + RESEND_MS);
        }
        for answer in apply(self, at_ms, input) {
            if let Outcome::Found { claim: Some(claim), .. } = answer.outcome {
                self.time(claim.get());
            }
            self.held.push_back((number, answer));
        }
        self.release();
    }

    fn step_frame(&self, number: u64, at_ms: u64, input: &Input) -> Between {
        let (space, term, input) = (self.entry.space, self.term, input.clone());
        Between::Step { space, term, number, at_ms, input }
    }

    /// Notes the end of a claim's lease.
    fn time(&mut self, claim: u64) {
        match self.store.lease(claim) {
            Some(lease) => self.leases.set(claim, self.now.saturating_add(lease)),
            None => self.leases.end(claim),
        }
    }

    /// Sends the answers whose steps all copies have.
    pub(super) fn release(&mut self) {
        let had = had_by_all(self).unwrap_or(self.applied);
        let mut everywhere = had.min(self.journal.kept(self.applied));
        if planted::is(Bug::AnswersEarly) {
            everywhere = self.applied;
        }
        while let Some((_, answer)) = self.held.pop_front_if(|(number, _)| *number <= everywhere) {
            let Answer { client, number, outcome } = answer;
            self.tell(client, number, Told::Answer { number, outcome });
        }
        self.released = self.released.max(everywhere);
        // A follower that has not begun needs all steps behind its first state.
        let joining = self.followers.values().filter(|follower| follower.confirmed.is_none());
        let first = joining.map(|follower| follower.begins_at).min().unwrap_or(everywhere);
        let done = everywhere.min(first);
        while self.steps.pop_front_if(|(number, ..)| *number <= done).is_some() {}
        let have_begun = self.followers.values().all(|follower| follower.confirmed.is_some());
        if everywhere == self.applied && have_begun && self.moving.told().is_none() {
            self.resend_at = None;
        }
    }

    pub(super) fn confirmed(&mut self, (from, term): (Tid, i32), number: u64) {
        if self.role == Role::Primary && (term != self.term || number > self.applied) {
            return;
        }
        let followed = self.role == Role::Primary && self.followers.contains_key(&from);
        let Some(follower) = self.followers.get_mut(&from).filter(|_| followed) else {
            // This copy follows a primary that has been replaced, or it was given up.
            let space = self.entry.space;
            return self.say(from, Between::Later { space });
        };
        follower.confirmed = follower.confirmed.max(Some(number));
        follower.resends = 0;
        self.release();
        self.tend();
    }

    /// Sends unconfirmed steps again, because they may have been lost.
    pub(super) fn resend(&mut self) {
        self.resend_at = Some(self.now + RESEND_MS);
        let last = Some(self.applied);
        let patience = u32::try_from(self.store.bytes() / BEGIN_BYTES).unwrap_or(RESENDS_MAX);
        for to in self.followers.keys().copied().collect::<Vec<_>>() {
            let is_next = self.moving.told() == Some(to);
            let Some(follower) = self.followers.get_mut(&to) else { continue };
            if follower.confirmed == last && !is_next {
                continue;
            }
            follower.resends += 1;
            let joins = follower.confirmed.is_none();
            let more = if joins { patience } else { 0 };
            follower.is_lost |= follower.resends > RESENDS_MAX + 2 * more;
            if follower.is_lost && joins {
                self.unfit.insert(to);
            }
            match follower.confirmed {
                _ if is_next => moves::tell(self, to),
                None if follower.is_lost || !follower.resends.is_multiple_of(1 + patience) => {}
                None => self.send_all(to),
                Some(confirmed) => self.send_steps_behind(to, confirmed),
            }
        }
        self.tend();
    }

    fn send_steps_behind(&mut self, to: Tid, confirmed: u64) {
        let missing = self.steps.iter().filter(|(number, ..)| *number > confirmed);
        let frames = missing.map(|(number, at_ms, input)| self.step_frame(*number, *at_ms, input));
        let says: Vec<_> = frames.map(|what| Output::Say { to, what }).collect();
        self.outputs.extend(says);
    }

    pub(super) fn gone_from_primary(&mut self, task: Tid) {
        if self.erasing.is_some() {
            // The disk of the ended server's host cannot be asked, so its file may be left.
            return dropped(self, (task, self.term), false);
        }
        if self.store.known(task).is_some() {
            self.step(Input::Gone { client: task });
        }
        if let Some(follower) = self.followers.get_mut(&task) {
            follower.is_lost = true;
        }
        self.ending |= task == self.entry.owner;
        self.tend();
    }
}
