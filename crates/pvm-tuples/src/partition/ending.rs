//! The end of a space: whoever has deleted it is told when no server has a file of it any more.

use super::erasing::Erasing;
use super::limits::Limits;
use super::schedule::Schedule;
use super::{Output, Partition, erase};
use crate::frames::{Between, Told};
use crate::ops::{Outcome, Reason};
use pvm_wire::Tid;
use std::collections::BTreeSet;

/// A copy that has not removed its file within this does not hold up the deleters any longer.
const ERASE_MS: u64 = 6000;

/// A client wants to hear of the end. It may ask again.
pub(super) fn deletes(space: &mut Partition, client: Tid, number: u64) {
    if !space.deleters.contains(&(client, number)) {
        space.deleters.push((client, number));
    }
}

impl Partition {
    /// The space is deleted: all clients and servers are told.
    pub(super) fn ended(&mut self) {
        let held = self.held.drain(..).map(|(_, answer)| (answer.client, answer.number));
        let unanswered: Vec<_> = held.chain(self.store.waiting_requests()).collect();
        for (client, number) in unanswered {
            let outcome = Outcome::Failed { reason: Reason::NoSpace };
            self.tell(client, number, Told::Answer { number, outcome });
        }
        // This comes before the answers: a client that has deleted a space finds its name gone.
        self.outputs.push_back(Output::Forget { before: None });
        let (space, term) = (self.entry.space, self.term);
        let left: BTreeSet<Tid> = std::mem::take(&mut self.followers).into_keys().collect();
        for follower in &left {
            self.say(*follower, Between::Drop { space, term });
        }
        let has_files = self.journal.is_durable() && !left.is_empty();
        (self.resend_at, self.look_at) = (None, None);
        (self.leases, self.limits) = (Schedule::default(), Limits::default());
        self.erasing = Some(Erasing::new(left, self.now + ERASE_MS));
        if !has_files {
            erase(self);
        }
    }
}
