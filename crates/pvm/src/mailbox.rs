//! The mailbox of a task: messages that wait until a receive asks for them.
//!
//! Mostly few messages wait, and a scan in the order of their arrival is faster than any index.
//! When more than [`FEW`] wait they move into an [`Index`], so that 100 000 messages for somebody
//! else do not make a receive slower; when the index has run empty, the scan is used again.

mod index;
mod key;

use crate::pattern::Pattern;
use index::Index;
use pvm_wire::Envelope;
use std::collections::VecDeque;

pub use key::MessageKey;

/// A scan of this many envelopes takes about as long as one hashed look-up.
const FEW: usize = 24;

/// The messages of one task.
#[derive(Debug)]
pub(crate) struct Mailbox<M> {
    /// The messages in the order of their arrival; empty while there is an index.
    few: VecDeque<(MessageKey, Envelope, M)>,
    many: Option<Box<Index<M>>>,
    next: u64,
}

impl<M> Default for Mailbox<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Mailbox<M> {
    /// Nothing waits.
    pub(crate) const fn new() -> Self {
        Self { few: VecDeque::new(), many: None, next: 0 }
    }

    /// The number of messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), |many| many.len())
    }

    /// True if nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_none()
    }

    /// The number of messages that have ever waited: a later message has a larger key.
    pub(crate) const fn arrived(&self) -> u64 {
        self.next
    }

    /// Adds a message that no receive was waiting for.
    pub(crate) fn insert(&mut self, envelope: Envelope, message: M) {
        let key = MessageKey(self.next);
        self.next += 1;
        if let Some(many) = &mut self.many {
            return many.insert(key, envelope, message);
        }
        self.few.push_back((key, envelope, message));
        if self.few.len() > FEW {
            self.index();
        }
    }

    #[cold]
    fn index(&mut self) {
        let mut many = Box::new(Index::new());
        for (key, envelope, message) in self.few.drain(..) {
            many.insert(key, envelope, message);
        }
        self.many = Some(many);
    }

    /// The earliest message that matches.
    pub(crate) fn find(&self, pattern: &Pattern) -> Option<(MessageKey, &Envelope)> {
        if let Some(many) = &self.many {
            let key = many.head(pattern)?;
            return many.get(key).map(|(envelope, _)| (key, envelope));
        }
        let found = self.few.iter().find(|(_, envelope, _)| pattern.matches(envelope));
        found.map(|(key, envelope, _)| (*key, envelope))
    }

    /// Takes the earliest message that matches, and tells its name.
    pub(crate) fn take(&mut self, pattern: &Pattern) -> Option<(MessageKey, Envelope, M)> {
        if let Some(many) = &self.many {
            let key = many.head(pattern)?;
            return self.remove(key).map(|(envelope, message)| (key, envelope, message));
        }
        let at = self.few.iter().position(|(_, envelope, _)| pattern.matches(envelope))?;
        self.few.remove(at)
    }

    /// A name for a message that is taken before it waits here: should it be put back, it stands
    /// before all that come later.
    pub(crate) const fn name(&mut self) -> MessageKey {
        let key = MessageKey(self.next);
        self.next += 1;
        key
    }

    /// Puts a message back that could not be read: where it was among the others.
    pub(crate) fn restore(&mut self, key: MessageKey, envelope: Envelope, message: M) {
        if let Some(many) = &mut self.many {
            return many.restore(key, envelope, message);
        }
        let at = self.few.partition_point(|(other, ..)| *other < key);
        self.few.insert(at, (key, envelope, message));
        if self.few.len() > FEW {
            self.index();
        }
    }

    /// Takes a message by its name.
    pub(crate) fn remove(&mut self, key: MessageKey) -> Option<(Envelope, M)> {
        if let Some(many) = &mut self.many {
            let removed = many.remove(key);
            if many.len() == 0 {
                self.many = None;
            }
            return removed;
        }
        let at = self.few.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
        self.few.remove(at).map(|(_, envelope, message)| (envelope, message))
    }

    /// A waiting message by its name.
    pub(crate) fn get(&self, key: MessageKey) -> Option<(&Envelope, &M)> {
        if let Some(many) = &self.many {
            return many.get(key);
        }
        let at = self.few.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
        self.few.get(at).map(|(_, envelope, message)| (envelope, message))
    }

    /// All waiting messages, of all contexts, in the order of their arrival. May sort: for
    /// `pvm_recvf` only.
    pub(crate) fn all(&self) -> Vec<(MessageKey, Envelope)> {
        let Some(many) = &self.many else {
            return self.few.iter().map(|(key, envelope, _)| (*key, *envelope)).collect();
        };
        let mut all: Vec<_> = many.all().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// The name that the next message will get.
    pub(crate) const fn next_key(&self) -> MessageKey {
        MessageKey(self.next)
    }

    /// The waiting messages that are named `from` or later, of all contexts, in the order of their
    /// arrival. The cost grows with what has come since then, however much was waiting before.
    pub(crate) fn since(&self, from: MessageKey) -> Vec<(MessageKey, Envelope)> {
        let Some(many) = &self.many else {
            let first = self.few.partition_point(|(key, ..)| *key < from);
            return self.few.range(first..).map(|(key, envelope, _)| (*key, *envelope)).collect();
        };
        // Names are given one behind the other, so the later ones are found without a look at the
        // earlier ones.
        if self.next.saturating_sub(from.0) <= many.len() as u64 {
            let named = (from.0..self.next).map(MessageKey);
            return named.filter_map(|key| Some((key, *many.get(key)?.0))).collect();
        }
        self.all().into_iter().filter(|(key, _)| *key >= from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pvm_wire::{Address, Context, Tag, Tid};

    fn envelope(context: i32, source: u32, tag: i32) -> Envelope {
        Envelope::new(Tid(source), Address::new(Tid(9), Tag(tag), Context(context)))
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(i32, u32, i32),
        Take(i32, Option<u32>, Option<i32>),
        Pick(usize),
        Hold(i32),
        PutBack,
    }

    fn step() -> impl Strategy<Value = Step> {
        let source = prop::option::of(1..4u32);
        let tag = prop::option::of(0..3i32);
        prop_oneof![
            4 => (0..2i32, 1..4u32, 0..3i32).prop_map(|(c, s, t)| Step::Insert(c, s, t)),
            2 => (0..2i32, source, tag).prop_map(|(c, s, t)| Step::Take(c, s, t)),
            1 => any::<usize>().prop_map(Step::Pick),
            1 => (0..2i32).prop_map(Step::Hold),
            1 => Just(Step::PutBack),
        ]
    }

    proptest! {
        /// Hashing gives what looking through a plain list gives.
        #[test]
        fn matching_agrees_with_a_list(steps in prop::collection::vec(step(), 1..400)) {
            let mut mailbox = Mailbox::new();
            let mut list: Vec<(Envelope, u64)> = Vec::new();
            let mut held = Vec::new();
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
                        let found = mailbox.find(&pattern).map(|(_, e)| *e);
                        prop_assert_eq!(found, expected.map(|e| e.0));
                        let taken = mailbox.take(&pattern).map(|(_, e, n)| (e, n));
                        prop_assert_eq!(taken, expected);
                    }
                    Step::Hold(context) => {
                        let pattern = Pattern { context, source: None, tag: None };
                        if let Some(taken) = mailbox.take(&pattern) {
                            list.retain(|(_, n)| *n != taken.2);
                            held.push(taken);
                        }
                    }
                    Step::PutBack => {
                        if let Some((key, envelope, number)) = held.pop() {
                            mailbox.restore(key, envelope, number);
                            let at = list.partition_point(|(_, n)| *n < number);
                            list.insert(at, (envelope, number));
                        }
                    }
                    Step::Pick(at) => {
                        let keys: Vec<_> = mailbox.all().into_iter().map(|(key, _)| key).collect();
                        if let Some(key) = keys.get(at % keys.len().max(1)) {
                            let seen = mailbox.get(*key).map(|(e, n)| (*e, *n));
                            let taken = mailbox.remove(*key).expect("it waits");
                            prop_assert_eq!(seen, Some(taken));
                            let at = list.iter().position(|e| *e == taken).expect("in the list");
                            list.remove(at);
                        }
                    }
                }
                prop_assert_eq!(mailbox.len(), list.len());
                let waiting: Vec<_> = mailbox.all().into_iter().map(|(_, e)| e).collect();
                let expected: Vec<_> = list.iter().map(|(e, _)| *e).collect();
                prop_assert_eq!(waiting, expected);
                // From each name on that was ever given, and from the next one.
                let from = MessageKey(number % (mailbox.arrived() + 1));
                let later: Vec<_> = mailbox.all().into_iter().filter(|(k, _)| *k >= from).collect();
                prop_assert_eq!(mailbox.since(from), later);
                prop_assert_eq!(mailbox.since(mailbox.next_key()), vec![]);
            }
        }
    }

    #[test]
    fn who_looks_at_each_message_once_pays_for_what_is_new_however_much_waits() {
        for waiting in [100, 10_000] {
            let mut mailbox = Mailbox::new();
            (0..waiting).for_each(|_| mailbox.insert(envelope(0, 1, 1), ()));
            let mut mark = mailbox.next_key();
            let shown = |mailbox: &Mailbox<()>| mailbox.many.as_ref().expect("many").shown.get();
            let before = shown(&mailbox);
            // As a message handler does: a look with each receive, whether something has come or
            // not.
            for round in 0..1000 {
                if round % 2 == 0 {
                    mailbox.insert(envelope(0, 2, 2), ());
                }
                for (key, _) in mailbox.since(mark) {
                    mailbox.remove(key).expect("it waits");
                }
                mark = mailbox.next_key();
            }
            assert_eq!(shown(&mailbox) - before, 500, "{waiting} wait");
        }
    }

    #[test]
    fn queues_do_not_grow_behind_a_message_that_nobody_wants() {
        let mut mailbox = Mailbox::new();
        (0..=FEW).for_each(|_| mailbox.insert(envelope(0, 1, 1), ()));
        for _ in 0..10_000 {
            mailbox.insert(envelope(0, 1, 2), ());
            mailbox.take(&Pattern { context: 0, source: None, tag: Some(2) }).expect("there");
        }
        let index = mailbox.many.as_ref().expect("more than a few wait");
        assert!(index.standing() < 4 * (FEW + 100));
        assert_eq!(mailbox.len(), FEW + 1);
    }
}
