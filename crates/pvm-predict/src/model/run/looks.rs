//! Receives behind a look that found its message in the recorded run. If the message has not
//! arrived here, the program goes on and takes it later.

use crate::action::TaskNumber;
use crate::unit::Time;

/// A receive that must be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) time: Time,
    pub(super) bytes: u64,
    pub(super) from: TaskNumber,
    pub(super) tag: i32,
}

/// The receives that a task has put off.
#[derive(Debug, Default)]
pub(super) struct Looks {
    put_off: Vec<Wanted>,
    /// True while the task looks which of these messages have arrived; false once it takes all of
    /// them.
    looks: bool,
    settles: bool,
    /// The number of looks that found nothing.
    pub(super) count: u64,
}

impl Looks {
    /// The task looks for this message, and for the messages of the receives that it has put off.
    pub(super) fn look(&mut self, wanted: Wanted, is_there: bool) {
        self.count += u64::from(!is_there);
        self.looks = true;
        self.put_off.push(wanted);
    }

    /// From now on the task takes all of these messages.
    pub(super) const fn settle(&mut self) {
        self.settles = true;
    }

    /// The number of receives that are put off.
    pub(super) const fn open(&self) -> usize {
        self.put_off.len()
    }

    /// The receive that the task completes now: if it looks, one whose message has arrived;
    /// otherwise the next one in order.
    pub(super) fn take(&mut self, is_there: impl Fn(&Wanted) -> bool) -> Option<Wanted> {
        if !self.looks && !self.settles {
            return None;
        }
        let first = self.put_off.iter().position(is_there);
        let rest = (self.settles && !self.put_off.is_empty()).then_some(0);
        let Some(place) = first.or(rest) else {
            (self.looks, self.settles) = (false, false);
            return None;
        };
        Some(self.put_off.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(from: TaskNumber) -> Wanted {
        Wanted { time: Time::ZERO, bytes: 1, from, tag: 0 }
    }

    #[test]
    fn what_is_not_there_is_taken_when_it_comes_or_at_the_last() {
        let mut looks = Looks::default();
        looks.look(from(1), false);
        looks.look(from(2), true);
        let taken = |looks: &mut Looks, there: TaskNumber| {
            looks.take(|wanted| wanted.from == there).map(|wanted| wanted.from)
        };
        assert_eq!(taken(&mut looks, 2), Some(2));
        assert_eq!(taken(&mut looks, 2), None, "and it goes on");
        assert_eq!(taken(&mut looks, 1), None, "it does not look");
        looks.look(from(3), false);
        assert_eq!(taken(&mut looks, 1), Some(1), "it has come since");
        assert_eq!((taken(&mut looks, 1), looks.open()), (None, 1));
        looks.settle();
        assert_eq!(taken(&mut looks, 1), Some(3), "it waits for the rest");
        assert_eq!((taken(&mut looks, 1), looks.count), (None, 2));
    }
}
