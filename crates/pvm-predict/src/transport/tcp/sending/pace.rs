//! The pace: segments go to the host's queue in trains, and not faster than congestion control lets
//! them.

use super::{Sending, memory};
use crate::unit::Time;

/// Segments go to the host's queue in trains: as many as the pace sends in a millisecond, two
/// segments at least, and whole ones to near hosts (Linux: `tcp_tso_autosize`).
const TRAIN: u64 = 65_536;
/// The number of trains of one connection that may wait in that queue (Linux: TCP small queues).
const TRAINS: u64 = 2;
/// The number of the first segment that is paced.
const PACED_FROM: u64 = 10;

impl Sending {
    /// The bytes that the pace sends in a millisecond.
    pub(super) fn pace(&self) -> u64 {
        if let Some(rate) = self.window.pacing() {
            return rate.bytes_in(Time::microseconds(1_000));
        }
        let (mean, _) = self.rtt.unwrap_or_default();
        let window = self.window.segments * self.tcp.segment as f64 * self.window.haste();
        (window * 1e9 / mean.0.max(1) as f64) as u64
    }

    /// The number of segments that go to the host's queue at once.
    pub(super) fn next_train(&self) -> u64 {
        let near = TRAIN >> (self.shortest.0 / 512_000_000).min(63);
        let most = ((self.pace() + near).min(TRAIN) / self.tcp.segment).clamp(2, TRAIN);
        let most = most.min(self.tcp.train);
        let unsent = (self.end - self.next).div_ceil(self.tcp.segment);
        most.min(self.quota()).min(unsent.max(1))
    }

    /// True if too many of its own segments wait in the host's queue.
    pub(super) fn is_held_back(&self) -> bool {
        let queued = self.handed - self.gone;
        if self.train > 0 || queued == 0 || self.flying.len() < 2 {
            return false;
        }
        let least = TRAINS * self.next_train() * memory(self.tcp.segment);
        queued >= least.max(self.pace() + 1)
    }

    /// The time at which the pace lets the next segment go. A delay is made good up to half a
    /// segment's time. The first segments are not paced.
    pub(super) fn paced(&self, now: Time, time: Time) -> Time {
        if self.segments <= PACED_FROM {
            return now;
        }
        let late = now.since(self.pace);
        now.max(self.pace) + time.since(late.min(Time(time.0 / 2)))
    }
}
