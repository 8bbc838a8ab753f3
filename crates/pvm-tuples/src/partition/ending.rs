//! The end of a space: the client that deletes it gets its answer when no server has a file of it
//! any more.

use super::erasing::Erasing;
use super::limits::Limits;
use super::schedule::Schedule;
use super::{Output, Partition, erase};
use crate::frames::{Between, Told};
use crate::ops::{Outcome, Reason};
use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The time after which the deleting clients do not wait for a copy's file any longer.
const ERASE_MS: u64 = 6000;

/// Notes a client that deletes the space. The client may repeat its request.
pub(super) fn deletes(space: &mut Partition, client: Tid, number: u64) {
    if !space.deleters.contains(&(client, number)) {
        space.deleters.push((client, number));
    }
}

impl Partition {
    /// Ends the space: all clients and servers get a message.
    pub(super) fn ended(&mut self) {
        let held = self.held.drain(..).map(|(_, answer)| (answer.client, answer.number));
        let unanswered: Vec<_> = held.chain(self.store.waiting_requests()).collect();
        for (client, number) in unanswered {
            let outcome = Outcome::Failed { reason: Reason::NoSpace };
            self.tell(client, number, Told::Answer { number, outcome });
        }
        // The names are cleared before the answers go out, so a client that has deleted a space
        // does not find its name.
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
