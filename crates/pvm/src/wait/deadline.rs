//! The deadline of a wait.

use std::time::{Duration, Instant};

/// The deadline of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deadline {
    /// The wait has no deadline.
    Never,
    /// The wait ends then.
    At(Instant),
    /// There is no wait at all.
    Now,
}

impl Deadline {
    /// This long from now.
    pub fn after(duration: Duration) -> Self {
        Instant::now().checked_add(duration).map_or(Self::Never, Self::At)
    }

    /// True when it has passed.
    pub fn passed(self) -> bool {
        match self {
            Self::Never => false,
            Self::At(end) => Instant::now() >= end,
            Self::Now => true,
        }
    }

    /// The time that is left; none for ever.
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::At(end) => Some(end.saturating_duration_since(Instant::now())),
            Self::Now => Some(Duration::ZERO),
        }
    }
}
