//! The actions of a task between two sleeps, shortened to the time in which it had a processor.
//!
//! The trace has the clock of the processor at the begin and at the end of each sleep. A task that
//! computed for 10 ms by the wall clock, and had a processor for 6 ms of them, shared its cores
//! with others; on a host of its own it would have taken 6 ms. It is not known which of its calls
//! and computations were interrupted, so all of them are shortened alike.

use crate::action::Action;
use pvm_trace::Processor;
use std::collections::VecDeque;

/// The most actions that are kept until the next sleep; further ones are returned unchanged.
const HELD_MAX: usize = 1 << 14;

/// The clocks of a thread at the begin or the end of a sleep.
#[derive(Clone, Copy, Debug)]
struct Awake {
    thread: u16,
    wall: u64,
    processor: u64,
}

/// The actions of a task since it slept last.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    /// False keeps all times as the wall clock had them.
    by_processor: bool,
    held: VecDeque<Action>,
    /// The number of actions that are ready.
    free: usize,
    since: Option<Awake>,
    /// A sleep in the call that has not ended.
    sleep: Option<(Awake, Awake)>,
}

impl Stretch {
    pub(super) fn new(by_processor: bool) -> Self {
        Self { by_processor, ..Self::default() }
    }

    pub(super) fn push(&mut self, action: Action) {
        self.held.push_back(action);
        if !self.by_processor || self.held.len() - self.free > HELD_MAX {
            self.free = self.held.len();
            self.since = None;
        }
    }

    pub(super) fn pop(&mut self) -> Option<Action> {
        self.free = self.free.checked_sub(1)?;
        self.held.pop_front()
    }

    /// The task slept from `begin` to `end`.
    pub(super) fn slept(&mut self, thread: u16, (begin, end): (u64, u64), processor: Processor) {
        let fell = Awake { thread, wall: begin, processor: processor.begin };
        let woke = Awake { thread, wall: end, processor: processor.end };
        // If one call has several sleeps, the first begin and the last end count.
        let fell = self.sleep.map_or(fell, |(first, _)| first);
        self.sleep = Some((fell, woke));
    }

    /// Handles the end of a call: the actions before a sleep in it are ready.
    pub(super) fn call_is_over(&mut self) {
        let Some((fell, woke)) = self.sleep.take() else { return };
        if let Some(share) = self.since.and_then(|since| since.share_until(fell)) {
            self.held.iter_mut().skip(self.free).for_each(|action| action.shorten(share));
        }
        self.free = self.held.len();
        self.since = Some(woke);
    }

    /// Handles the end of the task.
    pub(super) fn finish(&mut self) {
        self.free = self.held.len();
    }
}

impl Awake {
    /// The share of the time up to a sleep in which the task had a processor, if it is less than 1.
    fn share_until(self, fell: Self) -> Option<f64> {
        let wall = fell.wall.checked_sub(self.wall).filter(|wall| *wall > 0)?;
        let processor = fell.processor.checked_sub(self.processor)?;
        (self.thread == fell.thread && processor < wall).then(|| processor as f64 / wall as f64)
    }
}

impl Action {
    /// Multiplies the time by a share.
    fn shorten(&mut self, share: f64) {
        match self {
            Self::Compute(time)
            | Self::Call(time)
            | Self::Send { time, .. }
            | Self::Multicast { time, .. }
            | Self::Receive { time, .. }
            | Self::Meet { time, .. } => *time = time.scaled(share),
            // These actions go on while other tasks compute.
            Self::Idle(_) | Self::Start(_) | Self::Enter(_) | Self::Look | Self::CatchUp => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Time;

    fn computed(stretch: &mut Stretch) -> Vec<u64> {
        let all = std::iter::from_fn(|| stretch.pop());
        all.map(|action| match action {
            Action::Compute(time) => time.to_nanoseconds(),
            other => panic!("{other:?}"),
        })
        .collect()
    }

    fn sleep(stretch: &mut Stretch, wall: (u64, u64), processor: (u64, u64)) {
        stretch.slept(1, wall, Processor { begin: processor.0, end: processor.1 });
        stretch.call_is_over();
    }

    #[test]
    fn what_others_took_from_a_stretch_is_taken_off() {
        let mut stretch = Stretch::new(true);
        sleep(&mut stretch, (0, 1_000), (0, 50));
        stretch.push(Action::Compute(Time::nanoseconds(6_000)));
        stretch.push(Action::Compute(Time::nanoseconds(4_000)));
        assert_eq!(computed(&mut stretch), [], "not before the next sleep");
        sleep(&mut stretch, (11_000, 90_000), (6_050, 6_100));
        assert_eq!(computed(&mut stretch), [3_600, 2_400]);
    }

    #[test]
    fn a_stretch_that_had_its_processor_stays_as_it_is() {
        let mut stretch = Stretch::new(true);
        sleep(&mut stretch, (0, 1_000), (0, 50));
        stretch.push(Action::Compute(Time::nanoseconds(9_000)));
        sleep(&mut stretch, (10_000, 20_000), (9_900, 9_950));
        // Polling before the sleep may count as more time than the wall clock had.
        assert_eq!(computed(&mut stretch), [9_000]);
    }

    #[test]
    fn a_long_stretch_is_let_go() {
        let mut stretch = Stretch::new(true);
        (0..=HELD_MAX).for_each(|_| stretch.push(Action::Compute(Time::nanoseconds(1))));
        assert_eq!(computed(&mut stretch).len(), HELD_MAX + 1);
    }
}
