//! Requests that were refused because the disk was full. A late repetition of such a request must
//! not be carried out, because its client knows it as refused.

use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The numbers of these requests, as long as a repetition may come.
#[derive(Default, Debug)]
pub(super) struct Refused(BTreeSet<(Tid, u64)>);

impl Refused {
    pub(super) fn note(&mut self, client: Tid, number: u64) {
        self.0.insert((client, number));
    }

    pub(super) fn has(&self, client: Tid, number: u64) -> bool {
        self.0.contains(&(client, number))
    }

    /// Forgets a client's numbers below this one, because the client has those answers.
    pub(super) fn settle(&mut self, client: Tid, below: u64) {
        while let Some(first) = self.0.range((client, 0)..(client, below)).next().copied() {
            self.0.remove(&first);
        }
    }

    pub(super) fn gone(&mut self, client: Tid) {
        self.settle(client, u64::MAX);
    }
}
