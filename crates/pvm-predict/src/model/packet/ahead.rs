//! The bytes under way of a connection, as our tasks and daemons bound them: those that go out in
//! 50 ms, whatever the kernel would take. It is their own machine that decides.

use crate::transport::End;
use crate::unit::Time;
use pvm_wire::congestion;

/// The bound of a connection's end.
#[derive(Debug)]
pub(super) struct Ahead {
    bound: Option<Box<congestion::Ahead>>,
    /// The time at which who waits looks again; [`Time::END`] if the kernel is waited for.
    again: Option<Time>,
}

impl Ahead {
    pub(super) fn new(is_bounded: bool) -> Self {
        Self { bound: is_bounded.then(Box::default), again: None }
    }

    /// The number of bytes that may be written, and if it is none, when to look again unless there
    /// is room before.
    pub(super) fn room(&mut self, now: Time, end: &End) -> (u64, Option<Time>) {
        self.again = None;
        let mut room = end.room();
        if let Some(bound) = &mut self.bound {
            match bound.room(now.duration(), || end.under_way()) {
                Ok(most) => room = room.min(most as u64),
                Err(_) => {
                    let at = now + Time::of_duration(bound.pause());
                    self.again = Some(at);
                    return (0, self.again);
                }
            }
        }
        if room == 0 && self.bound.is_some() {
            self.again = Some(Time::END);
        }
        (room, None)
    }

    /// Bytes were written.
    pub(super) fn went(&mut self, bytes: u64) {
        if let Some(bound) = &mut self.bound {
            bound.went(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
    }

    /// True while somebody waits to write.
    pub(super) const fn waits(&self) -> bool {
        self.again.is_some()
    }

    /// True while somebody waits for the network, and not for the kernel.
    pub(super) fn pauses(&self) -> bool {
        self.again.is_some_and(|at| at < Time::END)
    }

    /// True if who waits looks now.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.again == Some(now)
    }
}
