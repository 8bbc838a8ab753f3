//! Requests that a full disk has refused. One that comes again, late, must not be done: its client
//! was told that it is not.

use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The numbers of such requests, as long as they may come again.
#[derive(Default, Debug)]
pub(super) struct Refused(BTreeSet<(Tid, u64)>);

impl Refused {
    pub(super) fn note(&mut self, client: Tid, number: u64) {
        self.0.insert((client, number));
    }

    pub(super) fn has(&self, client: Tid, number: u64) -> bool {
        self.0.contains(&(client, number))
    }

    /// The client has its answers below this number.
    pub(super) fn settle(&mut self, client: Tid, below: u64) {
        while let Some(first) = self.0.range((client, 0)..(client, below)).next().copied() {
            self.0.remove(&first);
        }
    }

    pub(super) fn gone(&mut self, client: Tid) {
        self.settle(client, u64::MAX);
    }
}
