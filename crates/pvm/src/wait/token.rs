//! A mark of the arrivals before a look; later ones end the wait that follows.

use crate::orders;
use crate::sys::{Pinned, gate};
use pvm_wire::Tid;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A wait leaves the messages of others where they are for so long in its first sleep, and for so
/// long behind that.
pub(super) const FOR_ONE: Duration = Duration::from_millis(50);

/// The end of the while.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// [`FOR_ONE`] from the sleep on: most waits end with their message, and never look at a clock.
    NotYet,
    At(Instant),
}

impl Until {
    pub(super) fn left(self) -> Duration {
        match self {
            Self::NotYet => FOR_ONE,
            Self::At(end) => end.saturating_duration_since(Instant::now()),
        }
    }
}

/// A mark of what had arrived when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct WaitToken {
    pub(crate) generation: u32,
    pub(super) watched: Option<Watched>,
    /// The only sender whose messages end the wait, and how long that is so.
    one: Option<(Tid, Until)>,
}

impl WaitToken {
    pub(crate) const fn new(generation: u32) -> Self {
        Self { generation, watched: None, one: None }
    }

    /// Like `new`, for a wait that a change of a word ends as well.
    pub(crate) const fn with(self, watched: Watched) -> Self {
        Self { watched: Some(watched), ..self }
    }

    /// Like `new`, for a wait for one sender's messages.
    pub(super) const fn narrow(self, one: Option<(Tid, Until)>) -> Self {
        Self { one, ..self }
    }

    /// Like `new`, for a wait that is to end at once.
    pub(super) const fn over(self) -> Self {
        Self { generation: self.generation.wrapping_sub(1), ..self }
    }

    /// The sender whose rings concern the wait; none if all do.
    pub(super) fn source(self) -> Option<Tid> {
        self.one.map(|(source, _)| source).filter(|_| may_wait_for_one())
    }

    /// The time for which only that sender's messages concern the wait.
    pub(super) fn left_for_one(self) -> Duration {
        self.one.map_or(Duration::ZERO, |(_, until)| until.left())
    }

    pub(super) fn is_over(self) -> bool {
        self.watched.is_some_and(Watched::has_changed)
    }
}

/// True if a thread that waits for one sender's message may leave those of others in their lanes:
/// no other thread looks for them, and no function of the program's takes them as they come.
pub(crate) fn may_wait_for_one() -> bool {
    gate::is_alone() && orders::ASIDE.load(Ordering::Acquire) == 0
}

/// A word in a roster, and its value at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    word: Pinned<AtomicU64>,
    mask: u64,
    value: u64,
}

impl Watched {
    pub(crate) const fn new(word: &AtomicU64, mask: u64, value: u64) -> Self {
        Self { word: Pinned::new(word), mask, value }
    }

    fn has_changed(self) -> bool {
        self.word.get().load(Ordering::Acquire) & self.mask != self.value
    }
}
