//! The end of the machine, as asked for: this host ends once the hosts near it can be told.
//!
//! A daemon that has just been started again has no links yet, and a link may break just then. A
//! host that ended at once would tell nobody, and the others would go on without it.

use crate::records::{Change, Slot};
use pvm_wire::HostIndex;
use std::collections::BTreeSet;

/// The time for which a host waits for links to those that are not told yet: by then a host that
/// lives has a link again, or another host has told it.
const TELL_NS: u64 = 5_000_000_000;

/// Whether the machine is to end.
#[derive(Debug)]
pub(crate) struct Halt {
    begun: Slot<bool>,
    /// The hosts that cannot be told yet, and until when this one waits for them. Not stored: a new
    /// daemon waits anew.
    untold: Option<(BTreeSet<HostIndex>, u64)>,
}

impl Halt {
    pub(crate) const fn new() -> Self {
        Self { begun: Slot::new(b'Q', false), untold: None }
    }

    /// The machine is to end; false if that is known already.
    pub(crate) fn begin(&mut self) -> bool {
        let first = !*self.begun.get();
        if first {
            self.begun.set(true);
        }
        first
    }

    /// This host is gone, or nothing is heard of it.
    pub(crate) fn forgo(&mut self, host: HostIndex) {
        if let Some((untold, _)) = &mut self.untold {
            untold.remove(&host);
        }
    }

    /// True if this host ends now; `unheard` are the hosts to which there should be links and are
    /// none. A host that had a link meanwhile was told.
    pub(crate) fn is_over(&mut self, now: u64, unheard: impl Fn() -> BTreeSet<HostIndex>) -> bool {
        if !*self.begun.get() {
            return false;
        }
        let (untold, until) = self.untold.get_or_insert_with(|| (unheard(), now + TELL_NS));
        if !untold.is_empty() {
            let unheard = unheard();
            untold.retain(|host| unheard.contains(host));
        }
        untold.is_empty() || *until <= now
    }

    /// When it ends at the latest.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.untold.as_ref().map(|(_, until)| *until)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.begun.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.begun.restore(key, value)
    }
}
