//! The lanes that have something, the earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The next message of a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Next {
    /// The moment at which it was sent.
    pub(super) moment: u64,
    /// The turn since which it is the next one, so that lanes of one moment take turns. For a
    /// queued lane it also names the entry.
    pub(super) since: u64,
    pub(super) place: usize,
}

/// The lanes.
#[derive(Debug, Default)]
pub(super) struct Queue(BinaryHeap<Reverse<Next>>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, next: Next) {
        self.0.push(Reverse(next));
    }

    /// The earliest of those that are still `queued`.
    pub(super) fn first(&mut self, queued: impl Fn(&Next) -> bool) -> Option<Next> {
        loop {
            let Reverse(first) = *self.0.peek()?;
            if queued(&first) {
                return Some(first);
            }
            self.0.pop();
        }
    }

    /// Keeps no more entries than those that are still `queued`, if there are more than `most`:
    /// others have been taken out of the middle.
    pub(super) fn shrink(&mut self, most: usize, queued: impl Fn(&Next) -> bool) {
        if self.0.len() > most {
            self.0.retain(|Reverse(next)| queued(next));
        }
    }

    /// Takes the earliest out if it is this one.
    pub(super) fn remove_first(&mut self, first: Next) {
        if self.0.peek() == Some(&Reverse(first)) {
            self.0.pop();
        }
    }

    /// The latest moment.
    pub(super) fn latest(&self) -> Option<u64> {
        self.0.iter().map(|Reverse(next)| next.moment).max()
    }
}
