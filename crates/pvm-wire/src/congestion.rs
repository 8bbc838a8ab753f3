//! How much of a connection is on its way.
//!
//! What the kernel has taken nothing overtakes, and most ways of sending fill whatever queue stands before the
//! slowest cable: seconds of it, where that is long. So a connection whose bytes wait in the network for more than
//! a moment takes no more until few are under way. What is urgent never waits for that. Daemons hold their links to
//! it, tasks their direct routes.

use std::time::Duration;

/// How much longer than the way itself bytes may take: what stands in queues of the network.
const QUEUE_TIME: Duration = Duration::from_millis(100);
/// So many bytes may be under way however long they take: enough that no cable runs dry meanwhile on which that is a
/// matter of [`QUEUE_TIME`].
const AHEAD_BYTES: u64 = 8 << 10;
/// Bytes that the kernel is to take beyond what it may send at once. Its own buffer holds megabytes, which are
/// seconds on a slow cable.
pub const UNSENT_BYTES: u32 = 32 << 10;

/// How long it is true that there is room.
const LOOK: Duration = Duration::from_millis(1);

/// What of a connection the kernel has taken and the other side has not confirmed.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    /// Bytes in the network, and in the kernel.
    pub sent: u64,
    /// See above.
    pub unsent: u64,
    /// How long it takes until bytes that are sent are confirmed: now, and at least.
    pub time: Duration,
    /// See above.
    pub least: Duration,
}

impl UnderWay {
    /// True where what is said now would stand behind much that waits.
    pub fn is_much(&self) -> bool {
        let in_network = self.time > self.least + QUEUE_TIME;
        // In `time` so much goes out as is sent and not confirmed. Where nothing is, the other side does not read.
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let rest = self.unsent.saturating_mul(micros(self.time));
        let in_kernel = self.sent > 0 && rest > self.sent.saturating_mul(micros(QUEUE_TIME));
        self.bytes() > AHEAD_BYTES && (in_network || in_kernel)
    }

    /// All of it.
    pub const fn bytes(&self) -> u64 {
        self.sent.saturating_add(self.unsent)
    }
}

/// Whether a connection takes more.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ahead {
    /// When there was room last.
    had_room: Option<Duration>,
}

impl Ahead {
    /// What waits in the network, where that is so much that nothing more is to go. `now` is the time since any moment;
    /// `look` asks the kernel, and where that tells nothing there is always room.
    pub fn is_full(
        &mut self,
        now: Duration,
        look: impl FnOnce() -> Option<UnderWay>,
    ) -> Option<UnderWay> {
        if self.had_room.is_some_and(|at| now < at + LOOK) {
            return None;
        }
        let full = look().filter(UnderWay::is_much);
        self.had_room = full.is_none().then_some(now);
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn under_way(sent: u64, unsent: u64, time: u64) -> UnderWay {
        let (time, least) = (Duration::from_millis(time), Duration::from_millis(200));
        UnderWay { sent, unsent, time, least }
    }

    #[test]
    fn who_waits_in_the_network_for_long_says_no_more_until_little_is_under_way() {
        let much = |sent, unsent, time| under_way(sent, unsent, time).is_much();
        assert!(much(AHEAD_BYTES, 1, 301));
        assert!(!much(AHEAD_BYTES, 0, 301));
        assert!(!much(1 << 30, 0, 300));
        // The kernel keeps more than goes out in 100 ms; little may always wait there.
        assert!(much(10_000, 5_001, 200));
        assert!(!much(10_000, 5_000, 200));
        assert!(!much(0, 1 << 30, 200), "who does not read is no queue");
    }

    #[test]
    fn the_kernel_is_asked_once_in_a_while_as_long_as_there_is_room() {
        let (mut ahead, now) = (Ahead::default(), Duration::from_secs(7));
        assert!(ahead.is_full(now, || Some(under_way(0, 0, 200))).is_none());
        assert!(ahead.is_full(now + LOOK / 2, || panic!("just asked")).is_none());
        let full = || Some(under_way(1 << 20, 0, 301));
        assert!(ahead.is_full(now + LOOK, full).is_some());
        assert!(ahead.is_full(now + LOOK, full).is_some(), "it is asked each time");
        assert!(ahead.is_full(now + LOOK, || None).is_none());
    }
}
