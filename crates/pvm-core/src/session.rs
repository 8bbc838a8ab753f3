//! What this host says to the others: numbered, kept until heard, said again when a link is back.
//!
//! A link may flap and a daemon may be started again between any two messages. So every message
//! is a record until the other side has acknowledged it, and the other side keeps the number of
//! the last one it took. What is said before the link is up waits here.

use crate::records::{Change, Slot, Table};
use pvm_wire::peer::{PeerMessage, Said};
use pvm_wire::{HostIndex, record};
use std::collections::BTreeSet;

record! {
    /// How far the conversation with one host is.
    pub struct Progress {
        pub said: u64,
        pub heard: u64,
    }

    /// Something that came before this machine knew the state that it is about.
    pub struct Early {
        pub host: HostIndex,
        pub said: Said,
    }
}

/// The conversations of this host.
#[derive(Debug)]
pub(crate) struct Sessions {
    progress: Table<HostIndex, Progress>,
    unheard: Table<(HostIndex, u64), Said>,
    early: Table<u64, Early>,
    early_count: Slot<u64>,
    /// Not kept: the shell tells it again after a restart.
    up: BTreeSet<HostIndex>,
}

impl Sessions {
    pub(crate) const fn new() -> Self {
        Self {
            progress: Table::new(b'p'),
            unheard: Table::new(b'q'),
            early: Table::new(b'e'),
            early_count: Slot::new(b'E', 0),
            up: BTreeSet::new(),
        }
    }

    fn progress(&mut self, host: HostIndex) -> &mut Progress {
        if !self.progress.contains(&host) {
            self.progress.insert(host, Progress { said: 0, heard: 0 });
        }
        self.progress.get_mut(&host).expect("inserted above")
    }

    /// Notes what is to be said; returns what to put on the link now.
    pub(crate) fn say(&mut self, host: HostIndex, said: Said) -> Option<PeerMessage> {
        let progress = self.progress(host);
        progress.said += 1;
        let sequence = progress.said;
        self.unheard.insert((host, sequence), said.clone());
        self.up.contains(&host).then_some(PeerMessage::Ordered { sequence, said })
    }

    /// The link is up: everything that was not heard, once more.
    pub(crate) fn link_up(&mut self, host: HostIndex) -> Vec<PeerMessage> {
        self.up.insert(host);
        let waiting = self.unheard.range((host, 0)..=(host, u64::MAX));
        waiting
            .map(|(&(_, sequence), said)| PeerMessage::Ordered { sequence, said: said.clone() })
            .collect()
    }

    pub(crate) fn link_down(&mut self, host: HostIndex) {
        self.up.remove(&host);
    }

    pub(crate) fn is_up(&self, host: HostIndex) -> bool {
        self.up.contains(&host)
    }

    /// True if this is the next thing of `host`, to be acted on; what came before comes again
    /// and is dropped.
    pub(crate) fn accept(&mut self, host: HostIndex, sequence: u64) -> bool {
        let progress = self.progress(host);
        let next = sequence == progress.heard + 1;
        progress.heard += u64::from(next);
        next
    }

    /// How far `host` has been heard: what to acknowledge.
    pub(crate) fn heard(&self, host: HostIndex) -> PeerMessage {
        PeerMessage::Heard { through: self.progress.get(&host).map_or(0, |p| p.heard) }
    }

    /// The other side has taken everything up to here.
    pub(crate) fn acknowledged(&mut self, host: HostIndex, through: u64) {
        let done: Vec<_> =
            self.unheard.range((host, 0)..=(host, through)).map(|(key, _)| *key).collect();
        for key in done {
            self.unheard.remove(&key);
        }
    }

    /// The first thing that was let go in a term and that not all have heard of.
    pub(crate) fn first_release(&self, term: u64) -> Option<u64> {
        let numbers = self.unheard.values().filter_map(|said| match said {
            Said::Release { released } if released.term == term => Some(released.number),
            _ => None,
        });
        numbers.min()
    }

    /// Keeps what came before the snapshot did.
    pub(crate) fn keep_early(&mut self, host: HostIndex, said: Said) {
        let number = self.early_count.next();
        self.early.insert(number, Early { host, said });
    }

    /// What came before the snapshot, in order.
    pub(crate) fn take_early(&mut self) -> Vec<Early> {
        let keys: Vec<u64> = self.early.keys().copied().collect();
        keys.iter().filter_map(|key| self.early.remove(key)).collect()
    }

    /// The host is no member any more.
    pub(crate) fn forget(&mut self, host: HostIndex) {
        self.acknowledged(host, u64::MAX);
        self.progress.remove(&host);
        self.up.remove(&host);
    }

    /// How many things wait to be heard, for tests of bounds.
    pub(crate) fn unheard_count(&self) -> usize {
        self.unheard.len()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.progress.take_changes(out);
        self.unheard.take_changes(out);
        self.early.take_changes(out);
        self.early_count.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.progress.restore(key, value)
            || self.unheard.restore(key, value)
            || self.early.restore(key, value)
            || self.early_count.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_heard_is_said_again_and_taken_once() {
        let (a, b) = (HostIndex(1), HostIndex(2));
        let (mut from, mut to) = (Sessions::new(), Sessions::new());
        assert_eq!(from.say(b, Said::Halt), None);
        let first = from.link_up(b);
        assert_eq!(first, [PeerMessage::Ordered { sequence: 1, said: Said::Halt }]);
        assert!(to.accept(a, 1) && !to.accept(a, 1) && !to.accept(a, 3));
        assert_eq!(to.heard(a), PeerMessage::Heard { through: 1 });
        from.acknowledged(b, 1);
        assert_eq!((from.link_up(b), from.unheard_count()), (Vec::new(), 0));
    }
}
