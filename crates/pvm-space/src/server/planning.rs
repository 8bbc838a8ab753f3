//! The times at which a server plans which spaces move.

use std::time::{Duration, Instant};

/// A plan that has moves is made again after this time ...
const PAUSE: Duration = Duration::from_secs(2);
/// ... so many times at most: a host on which no server can be started stays without spaces.
const ROUNDS_MAX: u32 = 8;

/// When this server plans next.
#[derive(Default)]
pub(super) struct Planning {
    at: Option<Instant>,
    rounds: u32,
}

impl Planning {
    /// The hosts or their shares have changed: plans are made until one has no moves. Hosts that
    /// join one after the other make plans that know nothing of the moves under way, so the first
    /// ones may leave unequal shares.
    pub(super) fn begin(&mut self, after: Duration) {
        let at = Instant::now() + after;
        (self.at, self.rounds) = (Some(self.at.map_or(at, |other| other.min(at))), ROUNDS_MAX);
    }

    /// A space moves to this server, which may not have been there when the host joined.
    pub(super) fn space_comes(&mut self) {
        self.begin(PAUSE);
    }

    pub(super) const fn at(&self) -> Option<Instant> {
        self.at
    }

    pub(super) fn is_due(&self) -> bool {
        self.at.is_some_and(|at| at <= Instant::now())
    }

    /// A plan was made.
    pub(super) fn planned(&mut self, has_moves: bool) {
        self.rounds = self.rounds.saturating_sub(1);
        self.at = (has_moves && self.rounds > 0).then(|| Instant::now() + PAUSE);
    }
}
