//! A heap: the first event is at its top.

use super::entry::Entry;

/// The children of a node. Four of them lie in a cache line or two, and the tree is half as deep as
/// one with two.
const CHILDREN: usize = 4;

/// A few events.
#[derive(Debug)]
pub(super) struct Heap<E>(Vec<Entry<E>>);

impl<E: Copy> Heap<E> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn first(&self) -> Option<&Entry<E>> {
        self.0.first()
    }

    pub(super) fn push(&mut self, entry: Entry<E>) {
        let mut place = self.0.len();
        self.0.push(entry);
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.0[parent].key() <= entry.key() {
                break;
            }
            self.0[place] = self.0[parent];
            place = parent;
        }
        self.0[place] = entry;
    }

    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        let last = self.0.pop()?;
        let Some(first) = self.0.first().copied() else { return Some(last) };
        let mut place = 0;
        loop {
            let begin = place * CHILDREN + 1;
            let end = (begin + CHILDREN).min(self.0.len());
            let Some(least) = (begin..end).min_by_key(|child| self.0[*child].key()) else { break };
            if last.key() <= self.0[least].key() {
                break;
            }
            self.0[place] = self.0[least];
            place = least;
        }
        self.0[place] = last;
        Some(first)
    }
}
