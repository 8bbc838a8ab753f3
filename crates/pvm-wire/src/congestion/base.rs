//! How long the way of a connection takes without any queue of its own.
//!
//! It is the shortest time that anything took. Where a queue of others stands for long, or the way
//! has become longer, nothing is that short any more, and no window is small enough. So a
//! connection that has seen no such time for [`PERIOD`] *drains*: for a moment it has next to
//! nothing under way, and what a byte takes then is the time of the way from now on. The idea is
//! that of BBR's probe of the round trip: whoever drains makes the time shorter for those that
//! share the cable, and as they all count from the shortest time, they drain together from then on
//! and see the way without one another. The kernel's shortest time alone would not do: it forgets
//! after five minutes, whatever stands in the queue by then.

use std::time::Duration;

/// So many bytes may be under way however long they take: with less the other side would confirm
/// late.
pub(super) const LEAST_WINDOW: u64 = 4 << 10;

/// How much longer than the way itself bytes may take: what stands in queues of the network.
pub(super) const QUEUE_TIME: Duration = Duration::from_millis(50);

/// After so long without a short time the way is looked at anew.
const PERIOD: Duration = Duration::from_secs(10);
/// For so long a connection has little under way then: others that count from the same moment do,
/// too.
const HOLD: Duration = Duration::from_millis(200);
/// A queue that is hidden in what was such a way before is no long one.
const SHORT_WAY: Duration = Duration::from_millis(200);
/// The shortest time that a long queue of others takes.
const LONG_QUEUE: Duration = Duration::from_millis(400);

/// The time of the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    /// `None`: not known yet.
    time: Option<Duration>,
    /// What the kernel has told last.
    kernel: Duration,
    /// When bytes took about that long, or it was measured, last.
    seen_at: Duration,
    /// Bytes a second that went, on the average; none at first.
    rate: f64,
    /// The largest such average; half as much after each [`PERIOD`].
    best: f64,
    /// It was longer when it was measured last, as if others kept a queue.
    is_raised: bool,
    /// It was as long when it was measured last.
    is_steady: bool,
    /// It was measured before [`PERIOD`] had passed, as the window could not become smaller.
    is_early: bool,
}

impl Default for Base {
    fn default() -> Self {
        Self {
            time: None,
            kernel: Duration::MAX,
            seen_at: Duration::ZERO,
            rate: 0.0,
            best: 0.0,
            is_raised: false,
            is_steady: false,
            is_early: false,
        }
    }
}

impl Base {
    pub(super) fn time(&self) -> Duration {
        self.time.unwrap_or(Duration::ZERO)
    }

    /// How much longer bytes may take. What others keep in a long queue is now more and now less.
    pub(super) fn slack(&self) -> Duration {
        if self.is_raised() { QUEUE_TIME * 5 } else { QUEUE_TIME }
    }

    /// Others seem to keep a long queue: connections like this one together keep none such.
    pub(super) fn is_raised(&self) -> bool {
        self.is_raised && self.time() >= LONG_QUEUE
    }

    /// The kernel tells the shortest time that it remembers. When it forgets one it tells a longer
    /// one, which says nothing; only what is shorter than before is news.
    pub(super) fn hear(&mut self, now: Duration, kernel: Duration) {
        if kernel < self.kernel {
            self.shorten(now, kernel);
        }
        self.kernel = kernel;
    }

    /// Something took so long at most.
    pub(super) fn arrived(&mut self, now: Duration, time: Duration) {
        self.shorten(now, time);
        if self.is_short(time) {
            self.seen_at = now;
        }
    }

    /// Hardly longer than the way. Where that is long a queue of ours may be a part of it, if it
    /// has become shorter.
    fn is_short(&self, time: Duration) -> bool {
        self.time() <= SHORT_WAY && time <= self.time() + QUEUE_TIME / 4
    }

    fn shorten(&mut self, now: Duration, time: Duration) {
        let known = self.time.unwrap_or(Duration::MAX);
        if time < known {
            self.time = Some(time);
        }
        // Others that share the cable have drained: next time all do at once.
        if time < known.saturating_sub(QUEUE_TIME / 4) {
            (self.seen_at, self.is_steady) = (now, false);
        }
        self.is_raised &= time > known / 2;
    }

    /// Something takes `time` at least, and went behind a small window if it `is_small`: a drain,
    /// if that is so for long, or although the window is small. That is early; it happens once at
    /// the most before [`PERIOD`] is over, or connections over one cable would take turns in
    /// counting each other's queue for the way.
    pub(super) fn doubt(&mut self, now: Duration, time: Duration, is_small: bool) -> Option<Doubt> {
        if self.is_short(time) {
            return None;
        }
        // On a long way looking costs much, and a queue may be hidden in it.
        let is_hidden = self.is_steady && time <= self.time() + QUEUE_TIME;
        let is_due = now >= self.seen_at + PERIOD * if is_hidden { 4 } else { 1 };
        let is_early = !is_due && is_small && !self.is_early && time > self.time() + QUEUE_TIME;
        if is_due {
            (self.seen_at, self.is_early) = (now, false);
        }
        self.is_early |= is_early;
        match (is_due, is_early) {
            (true, _) => Some(Doubt::Due),
            (_, true) => Some(Doubt::Early),
            _ => None,
        }
    }

    /// So many bytes a second went.
    pub(super) fn carried(&mut self, rate: f64) {
        self.rate += (rate - self.rate) / 8.0;
        self.best = self.best.max(self.rate);
    }

    /// Measured while `rate` bytes a second went; true if the way is longer than it was. Where as
    /// much went as before, the little that is under way may be a queue by itself, or others like
    /// this connection leave it no more: then a part of what seems to be longer is believed each
    /// time.
    pub(super) fn set(&mut self, now: Duration, drain: &Drain, rate: f64) -> bool {
        let time = drain.least;
        let known = self.time.unwrap_or(time);
        let is_longer =
            drain.level == LEAST_WINDOW && rate < self.best * 0.5 && time > known + QUEUE_TIME / 4;
        if is_longer || time < known {
            self.time = Some(time);
        } else if !self.is_early {
            // Or all of it, where that is little.
            let part = ((time - known) / 4).max(QUEUE_TIME / 2);
            self.time = Some(time.min(known + part));
        }
        self.is_raised = is_longer || self.is_raised && time > known / 2 && !self.is_steady;
        self.is_steady = known.abs_diff(time) <= QUEUE_TIME / 2;
        if !self.is_early {
            (self.seen_at, self.best) = (now, self.best / 2.0);
        }
        is_longer
    }
}

/// Why the way is looked at anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    Due,
    Early,
}

/// A moment with little under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    /// What was under way before it, and before it became less for no queue of its own.
    pub(super) window: u64,
    pub(super) before: u64,
    /// What may be under way in it.
    pub(super) level: u64,
    /// The shortest time that a byte took.
    pub(super) least: Duration,
    /// Until when, once what was under way before is confirmed.
    until: Option<Duration>,
}

impl Drain {
    /// Instead of so large a window, where bytes take `time` without a queue: half of what is on
    /// the way itself; next to nothing where that may be longer now.
    pub(super) fn new(window: u64, before: Option<u64>, time: Duration) -> Self {
        let part = time.as_secs_f64() / (time + QUEUE_TIME).as_secs_f64() / 2.0;
        let part = if before.is_some() { 0.0 } else { part };
        let level = ((window as f64 * part) as u64).max(LEAST_WINDOW);
        let before = before.unwrap_or(window);
        Self { window, before, level, least: Duration::MAX, until: None }
    }

    /// So much is under way.
    pub(super) fn look(&mut self, now: Duration, bytes: u64) {
        if self.until.is_none() && bytes <= self.level {
            self.until = Some(now + HOLD);
        }
    }

    /// What was under way before is confirmed.
    pub(super) const fn has_begun(&self) -> bool {
        self.until.is_some()
    }

    /// What may be under way behind it: what goes at once then stands in the queue for a moment. On
    /// a long way that would be long, so the rest comes as the window grows.
    pub(super) fn behind(&self) -> u64 {
        if self.level > self.window / 5 * 2 { (self.level + self.window) / 2 } else { self.window }
    }

    /// A byte took so long; true when it has been long enough.
    pub(super) fn note(&mut self, now: Duration, time: Duration) -> bool {
        self.least = self.least.min(time);
        self.until.is_some_and(|until| now >= until)
    }
}
