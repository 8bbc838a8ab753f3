//! The end of a space: whoever has deleted it is told when no server has a file of it any more.

use super::limits::Limits;
use super::schedule::Schedule;
use super::{Output, Partition};
use crate::frames::{Between, Told};
use crate::ops::{Outcome, Reason};
use pvm_wire::Tid;
use std::collections::BTreeSet;

/// A copy that has not removed its file within this does not hold up the deleters any longer.
const ERASE_MS: u64 = 6000;

/// A space that is over, while copies remove their files.
#[derive(Debug)]
pub(super) struct Erasing {
    /// Servers that have not answered.
    left: BTreeSet<Tid>,
    /// At the latest.
    pub(super) until: u64,
    /// A server could not remove its file, or has ended.
    is_partial: bool,
}

impl Partition {
    /// A client wants to hear of the end. It may ask again.
    pub(super) fn deletes(&mut self, client: Tid, number: u64) {
        if !self.deleters.contains(&(client, number)) {
            self.deleters.push((client, number));
        }
    }

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
        self.erasing = Some(Erasing { left, until: self.now + ERASE_MS, is_partial: false });
        if !has_files {
            self.erase();
        }
    }

    /// A copy has removed its file, could not, or has ended.
    pub(super) fn dropped(&mut self, from: Tid, term: i32, is_gone: bool) {
        let Some(erasing) = self.erasing.as_mut().filter(|_| term == self.term) else { return };
        if !erasing.left.remove(&from) {
            return;
        }
        erasing.is_partial |= !is_gone;
        if erasing.left.is_empty() {
            self.erase();
        }
    }

    /// The own file goes, and the space with it.
    pub(super) fn erase(&mut self) {
        let Some(erasing) = self.erasing.take() else { return };
        let has_files = self.journal.is_durable();
        let is_partial = has_files && (erasing.is_partial || !erasing.left.is_empty());
        let deleters = std::mem::take(&mut self.deleters);
        self.outputs.push_back(Output::Erase { deleters, is_partial });
        self.close(true);
    }
}
