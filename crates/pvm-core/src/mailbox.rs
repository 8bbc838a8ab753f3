//! Where a task's messages wait until a receive asks for them.
//!
//! A message stands in four queues: those of its context, of its source, of its tag and of both.
//! A receive looks at the head of one of them, so that 100 000 messages for somebody else do not
//! make it slower. A message that is taken is struck out of one queue at once and out of the
//! others when they get to it.
//!
//! This is a data structure and no machine: nothing iterates the hashed maps, so the order of
//! hashing never shows.

#![allow(clippy::disallowed_types, reason = "never iterated, and on the path of every message")]

use crate::Pattern;
use pvm_wire::{Envelope, Tid};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Names a message while it waits: they are numbered as they arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageKey(pub u64);

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

/// What a queue is for: a context and, if not open, a source and a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Place {
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

/// The messages of one task.
#[derive(Debug)]
pub struct Mailbox<M> {
    messages: Map<MessageKey, (Envelope, M)>,
    queues: Map<Place, Queue>,
    next: u64,
}

impl<M> Default for Mailbox<M> {
    fn default() -> Self {
        Self::new()
    }
}

fn places(envelope: &Envelope) -> [Place; 4] {
    let context = envelope.context;
    let (source, tag) = (Some(envelope.src), Some(envelope.tag));
    [
        Place { context, source, tag },
        Place { context, source, tag: None },
        Place { context, source: None, tag },
        Place { context, source: None, tag: None },
    ]
}

impl<M> Mailbox<M> {
    /// Nothing waits.
    pub fn new() -> Self {
        Self { messages: Map::default(), queues: Map::default(), next: 0 }
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// How many messages have ever waited: a later one has a larger key.
    pub const fn arrived(&self) -> u64 {
        self.next
    }

    /// A message that no receive was waiting for.
    pub fn insert(&mut self, envelope: Envelope, message: M) {
        let key = MessageKey(self.next);
        self.next += 1;
        for place in places(&envelope) {
            self.queues.entry(place).or_default().keys.push_back(key);
        }
        self.messages.insert(key, (envelope, message));
    }

    /// The earliest message that matches.
    pub fn find(&mut self, pattern: &Pattern) -> Option<(MessageKey, &Envelope)> {
        let key = self.head(pattern)?;
        self.messages.get(&key).map(|(envelope, _)| (key, envelope))
    }

    /// Takes the earliest message that matches.
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Envelope, M)> {
        let key = self.head(pattern)?;
        self.remove(key)
    }

    /// Takes a message by its name.
    pub fn remove(&mut self, key: MessageKey) -> Option<(Envelope, M)> {
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

    /// A waiting message by its name.
    pub fn get(&self, key: MessageKey) -> Option<&(Envelope, M)> {
        self.messages.get(&key)
    }

    /// All that wait in a context, in the order of their arrival.
    pub fn waiting(&self, context: i32) -> impl Iterator<Item = (MessageKey, &Envelope)> {
        let queue = self.queues.get(&Place { context, source: None, tag: None });
        queue
            .into_iter()
            .flat_map(|queue| &queue.keys)
            .filter_map(|key| self.messages.get(key).map(|(envelope, _)| (*key, envelope)))
    }

    /// All that wait, of all contexts, in the order of their arrival. Sorts: for `pvm_recvf` only.
    pub fn all(&self) -> Vec<(MessageKey, Envelope)> {
        let mut all: Vec<_> = self.messages.iter().map(|(key, (e, _))| (*key, *e)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    fn head(&self, pattern: &Pattern) -> Option<MessageKey> {
        if self.messages.is_empty() {
            return None;
        }
        let Pattern { context, source, tag } = *pattern;
        // Fronts are always live: `remove` sees to it.
        self.queues.get(&Place { context, source, tag })?.keys.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn envelope(context: i32, source: u32, tag: i32) -> Envelope {
        Envelope::new(Tid(source), Tid(9), tag, context)
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(i32, u32, i32),
        Take(i32, Option<u32>, Option<i32>),
        Pick(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let source = prop::option::of(1..4u32);
        let tag = prop::option::of(0..3i32);
        prop_oneof![
            3 => (0..2i32, 1..4u32, 0..3i32).prop_map(|(c, s, t)| Step::Insert(c, s, t)),
            2 => (0..2i32, source, tag).prop_map(|(c, s, t)| Step::Take(c, s, t)),
            1 => any::<usize>().prop_map(Step::Pick),
        ]
    }

    proptest! {
        /// Hashing gives what looking through a plain list gives.
        #[test]
        fn matching_agrees_with_a_list(steps in prop::collection::vec(step(), 1..400)) {
            let mut mailbox = Mailbox::new();
            let mut list: Vec<(Envelope, u64)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                let number = number as u64;
                match step {
                    Step::Insert(c, s, t) => {
                        mailbox.insert(envelope(c, s, t), number);
                        list.push((envelope(c, s, t), number));
                    }
                    Step::Take(context, source, tag) => {
                        let pattern = Pattern { context, source: source.map(Tid), tag };
                        let at = list.iter().position(|(e, _)| pattern.matches(e));
                        let expected = at.map(|at| list.remove(at));
                        prop_assert_eq!(mailbox.find(&pattern).map(|(_, e)| *e), expected.map(|e| e.0));
                        prop_assert_eq!(mailbox.take(&pattern), expected);
                    }
                    Step::Pick(at) => {
                        let keys: Vec<_> = mailbox.waiting(0).map(|(key, _)| key).collect();
                        if let Some(key) = keys.get(at % keys.len().max(1)) {
                            let taken = mailbox.remove(*key).expect("it waits");
                            let at = list.iter().position(|e| *e == taken).expect("in the list");
                            list.remove(at);
                        }
                    }
                }
                prop_assert_eq!(mailbox.len(), list.len());
                let waiting: Vec<_> = mailbox.waiting(0).map(|(_, e)| *e).collect();
                let expected: Vec<_> =
                    list.iter().map(|(e, _)| *e).filter(|e| e.context == 0).collect();
                prop_assert_eq!(waiting, expected);
            }
        }
    }

    #[test]
    fn queues_do_not_grow_behind_a_message_that_nobody_wants() {
        let mut mailbox = Mailbox::new();
        mailbox.insert(envelope(0, 1, 1), ());
        for _ in 0..10_000 {
            mailbox.insert(envelope(0, 1, 2), ());
            mailbox.take(&Pattern { context: 0, source: None, tag: Some(2) }).expect("there");
        }
        assert!(mailbox.queues.values().map(|queue| queue.keys.len()).sum::<usize>() < 300);
        assert_eq!(mailbox.len(), 1);
    }
}
