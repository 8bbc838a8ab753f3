//! Events in the order of time. Events of one time come in the order in which they were planned.
//!
//! Most planned events are far away, timers that hardly ever count. So only the next few are kept
//! in order, in a heap; the others lie in the slots of a wheel until their time comes.

mod entry;
mod heap;
mod wheel;

use self::entry::Entry;
use self::heap::Heap;
use self::wheel::Wheel;
use crate::unit::Time;

/// A queue of events.
///
/// Each plan gets a number, which decides between equal times, so a run is the same on every
/// computer.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    /// All events up to the present slot of the wheel. It is empty only if the queue is.
    near: Heap<E>,
    far: Wheel<E>,
    count: u64,
}

impl<E: Copy> Queue<E> {
    pub(crate) fn new() -> Self {
        Self { near: Heap::new(), far: Wheel::new(), count: 0 }
    }

    /// The number of planned events.
    pub(crate) const fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// The time of the next event.
    pub(crate) fn next(&self) -> Option<Time> {
        self.near.first().map(|entry| entry.at)
    }

    /// Plans an event.
    pub(crate) fn push(&mut self, at: Time, event: E) {
        self.count += 1;
        let entry = Entry { at, number: self.count, event };
        if self.near.len() == 0 {
            self.far.turn_to(at);
        }
        match self.far.is_ahead(at) {
            true => self.far.push(entry),
            false => self.near.push(entry),
        }
    }

    /// The next event.
    pub(crate) fn pop(&mut self) -> Option<(Time, E)> {
        let first = self.near.pop()?;
        if self.near.len() == 0 {
            self.far.turn(&mut self.near);
        }
        Some((first.at, first.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Dice;

    #[test]
    fn events_come_in_the_order_of_time_then_of_planning() {
        for most in [1, 300, 1 << 20, 1 << 35, u64::MAX] {
            let mut queue = Queue::new();
            let mut dice = Dice::new(3, 0);
            let mut expected = Vec::new();
            for number in 0..5_000u64 {
                let at = Time(dice.below(most));
                queue.push(at, number);
                expected.push((at, number));
            }
            queue.push(Time::END, 5_000);
            expected.push((Time::END, 5_000));
            expected.sort();
            let got: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(got, expected);
        }
    }

    /// A run plans while it goes on: most of it soon, some at once, little late.
    #[test]
    fn what_is_planned_meanwhile_finds_its_place() {
        let mut queue = Queue::new();
        let mut expected = std::collections::BTreeSet::new();
        let mut dice = Dice::new(5, 0);
        let mut now = Time::ZERO;
        for number in 0..50_000u64 {
            let far = dice.below(42);
            let at = now + Time(dice.below(1 << far));
            queue.push(at, number);
            expected.insert((at, number));
            if dice.chance(0.5) || number > 40_000 {
                assert_eq!(queue.next(), expected.first().map(|(at, _)| *at));
                let got = queue.pop();
                assert_eq!(got, expected.pop_first());
                now = got.map_or(now, |(at, _)| at);
            }
            assert_eq!(queue.len(), expected.len());
        }
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(rest, expected.into_iter().collect::<Vec<_>>());
        queue.push(Time(1), 0);
        assert_eq!(queue.pop(), Some((Time(1), 0)), "an empty queue takes what is earlier");
    }
}
