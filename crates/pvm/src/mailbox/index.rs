//! Many waiting messages, found by hash.
//!
//! A message stands in four queues: those of its context, of its source, of its tag and of both.
//! A receive looks at the head of one of them, so that 100 000 messages for somebody else do not
//! make it slower. A message that is taken is struck out of one queue at once and out of the
//! others when they get to it.
//!
//! Nothing iterates the hashed maps, so the order of hashing never shows.

#![allow(clippy::disallowed_types, reason = "never iterated, and on the path of every message")]

use super::key::MessageKey;
use crate::pattern::Pattern;
use pvm_wire::{Envelope, Tid};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Multiplies and folds: the keys are small integers that an attacker can choose only within
/// his own messages.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }
    fn write_i32(&mut self, value: i32) {
        self.write_u64(value.cast_unsigned().into());
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fold>>;

/// The key of a queue: a context and, if not open, a source and a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct QueueKey {
    context: i32,
    source: Option<Tid>,
    tag: Option<i32>,
}

#[derive(Debug, Default)]
struct Queue {
    keys: VecDeque<MessageKey>,
    /// Keys whose messages were taken through another queue.
    struck: usize,
}

/// Messages and the queues that they stand in.
#[derive(Debug)]
pub(super) struct Index<M> {
    messages: Map<MessageKey, (Envelope, M)>,
    queues: Map<QueueKey, Queue>,
    /// Messages that were shown to somebody.
    #[cfg(test)]
    pub(super) shown: std::cell::Cell<usize>,
}

fn places(envelope: &Envelope) -> [QueueKey; 4] {
    let context = envelope.context;
    let (source, tag) = (Some(envelope.src), Some(envelope.tag));
    [
        QueueKey { context, source, tag },
        QueueKey { context, source, tag: None },
        QueueKey { context, source: None, tag },
        QueueKey { context, source: None, tag: None },
    ]
}

impl<M> Index<M> {
    pub(super) fn new() -> Self {
        Self {
            messages: Map::default(),
            queues: Map::default(),
            #[cfg(test)]
            shown: std::cell::Cell::new(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Keys are given in growing order.
    pub(super) fn insert(&mut self, key: MessageKey, envelope: Envelope, message: M) {
        for place in places(&envelope) {
            self.queues.entry(place).or_default().keys.push_back(key);
        }
        self.messages.insert(key, (envelope, message));
    }

    /// One that was removed, where it was.
    pub(super) fn restore(&mut self, key: MessageKey, envelope: Envelope, message: M) {
        for place in places(&envelope) {
            let queue = self.queues.entry(place).or_default();
            match queue.keys.binary_search(&key) {
                // It was struck, and stands there still.
                Ok(_) => queue.struck -= 1,
                Err(at) => queue.keys.insert(at, key),
            }
        }
        self.messages.insert(key, (envelope, message));
    }

    pub(super) fn remove(&mut self, key: MessageKey) -> Option<(Envelope, M)> {
        let (envelope, message) = self.messages.remove(&key)?;
        for place in places(&envelope) {
            let Some(queue) = self.queues.get_mut(&place) else { continue };
            if queue.keys.front() == Some(&key) {
                queue.keys.pop_front();
            } else {
                queue.struck += 1;
            }
            while queue.struck > 0
                && queue.keys.front().is_some_and(|front| !self.messages.contains_key(front))
            {
                queue.keys.pop_front();
                queue.struck -= 1;
            }
            if queue.struck > 32 && queue.struck > queue.keys.len() / 2 {
                queue.keys.retain(|key| self.messages.contains_key(key));
                queue.struck = 0;
            }
            if queue.keys.is_empty() {
                self.queues.remove(&place);
            }
        }
        Some((envelope, message))
    }

    pub(super) fn get(&self, key: MessageKey) -> Option<(&Envelope, &M)> {
        #[cfg(test)]
        self.shown.update(|shown| shown + 1);
        self.messages.get(&key).map(|(envelope, message)| (envelope, message))
    }

    /// In no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (MessageKey, Envelope)> {
        #[cfg(test)]
        self.shown.update(|shown| shown + self.messages.len());
        self.messages.iter().map(|(key, (envelope, _))| (*key, *envelope))
    }

    /// The earliest message that matches.
    pub(super) fn head(&self, pattern: &Pattern) -> Option<MessageKey> {
        let Pattern { context, source, tag } = *pattern;
        // Fronts are always live: `remove` sees to it.
        self.queues.get(&QueueKey { context, source, tag })?.keys.front().copied()
    }

    /// The number of keys in all queues, including the keys of removed messages.
    #[cfg(test)]
    pub(super) fn standing(&self) -> usize {
        self.queues.values().map(|queue| queue.keys.len()).sum()
    }
}
