//! Events in the order of time. Events of one time come in the order in which they were planned.

use crate::unit::Time;

/// The children of a node. Four of them lie in a cache line or two, and the tree is half as deep as
/// one with two.
const CHILDREN: usize = 4;

/// A queue of events.
///
/// Each plan gets a number, which decides between equal times, so a run is the same on every
/// computer.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: Vec<Entry<E>>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    key: (Time, u64),
    event: E,
}

impl<E: Copy> Queue<E> {
    pub(crate) const fn new() -> Self {
        Self { heap: Vec::new(), count: 0 }
    }

    /// The number of planned events.
    pub(crate) const fn len(&self) -> usize {
        self.heap.len()
    }

    /// The time of the next event.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.key.0)
    }

    /// Plans an event.
    pub(crate) fn push(&mut self, at: Time, event: E) {
        self.count += 1;
        let entry = Entry { key: (at, self.count), event };
        let mut place = self.heap.len();
        self.heap.push(entry);
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent].key <= entry.key {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }

    /// The next event.
    pub(crate) fn pop(&mut self) -> Option<(Time, E)> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first().copied() else {
            return Some((last.key.0, last.event));
        };
        let mut place = 0;
        loop {
            let begin = place * CHILDREN + 1;
            let end = (begin + CHILDREN).min(self.heap.len());
            let Some(least) = (begin..end).min_by_key(|child| self.heap[*child].key) else { break };
            if last.key <= self.heap[least].key {
                break;
            }
            self.heap[place] = self.heap[least];
            place = least;
        }
        self.heap[place] = last;
        Some((first.key.0, first.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Dice;

    #[test]
    fn events_come_in_the_order_of_time_then_of_planning() {
        let mut queue = Queue::new();
        let mut dice = Dice::new(3, 0);
        let mut expected = Vec::new();
        for number in 0..5_000u64 {
            let at = Time(dice.below(300));
            queue.push(at, number);
            expected.push((at, number));
        }
        expected.sort();
        let got: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(got, expected);
    }
}
