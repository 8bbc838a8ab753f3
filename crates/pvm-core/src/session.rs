//! This host's messages to the others: numbered, stored until confirmed, sent again when a link is
//! back.
//!
//! A link may flap and a daemon may be started again between any two messages. So every message
//! is a record until the other side has acknowledged it, and the other side keeps the number of
//! the last one it took. What is said before the link is up waits here.

use crate::records::{Change, Slot, Table};
use pvm_wire::peer::{OutputNews, PeerMessage, Said};
use pvm_wire::{HostIndex, Tid, Wire as _, record};
use std::collections::{BTreeMap, BTreeSet};

/// While more bytes than this that tasks have written wait for a host, no more of it is read; from
/// half of it on it is again. All else that waits is an answer or a question of which each asker
/// has one.
const OUTPUT_BYTES: usize = 4 << 20;

record! {
    /// The progress of the conversation with one host.
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
    /// Bytes that tasks have written among what was not heard. It follows from the records.
    output: BTreeMap<HostIndex, usize>,
    /// The tasks whose output is not read because of that. Not stored: a new daemon begins without
    /// any.
    held: BTreeMap<HostIndex, BTreeSet<Tid>>,
}

/// Bytes of a task's output.
fn written(said: &Said) -> usize {
    match said {
        Said::Output { news: OutputNews::Bytes { bytes }, .. } | Said::RunOutput { bytes, .. } => {
            bytes.0.len()
        }
        _ => 0,
    }
}

impl Sessions {
    pub(crate) const fn new() -> Self {
        Self {
            progress: Table::new(b'p'),
            unheard: Table::new(b'q'),
            early: Table::new(b'e'),
            early_count: Slot::new(b'E', 0),
            up: BTreeSet::new(),
            output: BTreeMap::new(),
            held: BTreeMap::new(),
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
        *self.output.entry(host).or_default() += written(&said);
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

    /// The link was closed by agreement. True where something waits for it nevertheless.
    pub(crate) fn link_rests(&mut self, host: HostIndex) -> bool {
        self.up.remove(&host);
        self.is_waited_for(host)
    }

    /// True where this host has not heard all that was said to it.
    fn is_waited_for(&self, host: HostIndex) -> bool {
        self.unheard.range((host, 0)..=(host, u64::MAX)).next().is_some()
    }

    /// True where this host has not heard just this.
    pub(crate) fn is_waiting(&self, host: HostIndex, said: &Said) -> bool {
        let mut waiting = self.unheard.range((host, 0)..=(host, u64::MAX));
        waiting.any(|(_, waiting)| waiting == said)
    }

    /// The hosts without a link that have not heard all that was said to them.
    pub(crate) fn unreached(&self) -> BTreeSet<HostIndex> {
        let waiting = self.unheard.keys().map(|(host, _)| *host);
        waiting.filter(|host| !self.up.contains(host)).collect()
    }

    /// True if this is the next thing of `host`, to be acted on; what came before comes again
    /// and is dropped.
    pub(crate) fn accept(&mut self, host: HostIndex, sequence: u64) -> bool {
        let progress = self.progress(host);
        let next = sequence == progress.heard + 1;
        progress.heard += u64::from(next);
        next
    }

    /// The acknowledgement of all messages that were heard from `host`.
    pub(crate) fn heard(&self, host: HostIndex) -> PeerMessage {
        PeerMessage::Heard { through: self.progress.get(&host).map_or(0, |p| p.heard) }
    }

    /// The other side has taken everything up to here.
    pub(crate) fn acknowledged(&mut self, host: HostIndex, through: u64) {
        let done: Vec<_> =
            self.unheard.range((host, 0)..=(host, through)).map(|(key, _)| *key).collect();
        for key in done {
            let size = self.unheard.remove(&key).map_or(0, |said| written(&said));
            if let Some(bytes) = self.output.get_mut(&host) {
                *bytes = bytes.saturating_sub(size);
            }
        }
    }

    /// True if no more output of this task is to be read from now on, because too many bytes wait
    /// for a host.
    pub(crate) fn hold(&mut self, host: HostIndex, tid: Tid) -> bool {
        let much = self.output.get(&host).is_some_and(|bytes| *bytes > OUTPUT_BYTES);
        much && self.held.entry(host).or_default().insert(tid)
    }

    /// The tasks whose output is read again, because few bytes wait for this host.
    pub(crate) fn release(&mut self, host: HostIndex) -> BTreeSet<Tid> {
        if self.output.get(&host).is_some_and(|bytes| *bytes > OUTPUT_BYTES / 2) {
            return BTreeSet::new();
        }
        self.held.remove(&host).unwrap_or_default()
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

    /// The messages that came before the snapshot, in sequence.
    pub(crate) fn take_early(&mut self) -> Vec<Early> {
        let keys: Vec<u64> = self.early.keys().copied().collect();
        keys.iter().filter_map(|key| self.early.remove(key)).collect()
    }

    /// The host is no member any more.
    pub(crate) fn forget(&mut self, host: HostIndex) {
        self.acknowledged(host, u64::MAX);
        self.progress.remove(&host);
        self.up.remove(&host);
        self.output.remove(&host);
    }

    /// The number of messages that wait to be heard, for tests of bounds.
    pub(crate) fn unheard_count(&self) -> usize {
        self.unheard.len()
    }

    /// A record of what was not heard has come back; true.
    fn count_restored(&mut self, key: &[u8]) -> bool {
        let key = key.get(1..).and_then(|key| <(HostIndex, u64)>::from_bytes(key).ok());
        if let Some((key, said)) = key.and_then(|key| Some((key, self.unheard.get(&key)?))) {
            *self.output.entry(key.0).or_default() += written(said);
        }
        true
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.progress.take_changes(out);
        self.unheard.take_changes(out);
        self.early.take_changes(out);
        self.early_count.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.progress.restore(key, value)
            || self.unheard.restore(key, value) && self.count_restored(key)
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

    #[test]
    fn output_for_a_host_that_hears_nothing_grew_without_a_bound() {
        let (b, tid) = (HostIndex(2), Tid(0x40001));
        let mut from = Sessions::new();
        let operator = pvm_wire::peer::Operator { host: b, connection: 1, id: 1 };
        let mut count = 0;
        while !from.hold(b, tid) {
            let bytes = pvm_wire::Blob(vec![b'y'; 64 << 10]);
            from.say(b, Said::RunOutput { operator: operator.clone(), tid, stream: 1, bytes });
            count += 1;
            assert!(count << 16 <= OUTPUT_BYTES + (64 << 10), "it is read on and on");
        }
        assert!(!from.hold(b, tid) && from.release(b).is_empty());
        from.acknowledged(b, count as u64 / 2 + 1);
        assert_eq!(from.release(b), BTreeSet::from([tid]));
        assert!(from.release(b).is_empty() && !from.hold(b, tid));
    }
}
