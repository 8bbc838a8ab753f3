//! Until when somebody waits.

use std::time::{Duration, Instant};

/// Until when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deadline {
    /// For ever.
    Never,
    /// Until then.
    At(Instant),
    /// Not at all.
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
