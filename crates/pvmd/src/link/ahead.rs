//! How much of a connection is on its way.
//!
//! What the kernel has taken nothing overtakes, and most ways of sending fill whatever queue stands before the
//! slowest cable: seconds of it, where that is long. So a connection whose bytes wait in the network for more than
//! a moment takes no more until few are under way. What is urgent never waits for that.

use crate::sys;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How much longer than the way itself bytes may take: what stands in queues of the network.
const QUEUE_TIME: Duration = Duration::from_millis(100);
/// So many bytes may be under way however long they take: enough that no cable runs dry meanwhile on which that is a
/// matter of [`QUEUE_TIME`].
const AHEAD_BYTES: u64 = 8 << 10;

/// How long it is true that there is room.
const LOOK: Duration = Duration::from_millis(1);

/// A connection as the kernel sees it.
pub(crate) struct Ahead {
    socket: Option<OwnedFd>,
    /// When there was room last.
    had_room: Option<Instant>,
}

impl Ahead {
    /// Of this connection. Where there is no descriptor to be had there is always room.
    pub(crate) fn new(stream: &impl AsFd) -> Self {
        Self { socket: stream.as_fd().try_clone_to_owned().ok(), had_room: None }
    }

    /// True where what is said now would stand behind much that waits in the network.
    pub(crate) fn is_full(&mut self) -> bool {
        let now = Instant::now();
        if self.had_room.is_some_and(|at| now < at + LOOK) {
            return false;
        }
        let full = self.socket.as_ref().and_then(sys::tcp_info).is_some_and(|info| {
            UnderWay {
                sent: u64::from(info.tcpi_unacked) * u64::from(info.tcpi_snd_mss),
                unsent: info.tcpi_notsent_bytes.into(),
                time: Duration::from_micros(info.tcpi_rtt.into()),
                least: Duration::from_micros(info.tcpi_min_rtt.into()),
            }
            .is_much()
        });
        self.had_room = (!full).then_some(now);
        full
    }
}

/// What was taken and is not confirmed.
struct UnderWay {
    /// Bytes in the network, and in the kernel.
    sent: u64,
    unsent: u64,
    /// How long it takes until bytes that are sent are confirmed: now, and at least.
    time: Duration,
    least: Duration,
}

impl UnderWay {
    fn is_much(&self) -> bool {
        let in_network = self.time > self.least + QUEUE_TIME;
        // In `time` so much goes out as is sent and not confirmed.
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let rest = self.unsent.saturating_mul(micros(self.time));
        let in_kernel = rest > self.sent.saturating_mul(micros(QUEUE_TIME));
        self.sent + self.unsent > AHEAD_BYTES && (in_network || in_kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn who_waits_in_the_network_for_long_says_no_more_until_little_is_under_way() {
        let much = |sent, unsent, time| {
            let (time, least) = (Duration::from_millis(time), Duration::from_millis(200));
            UnderWay { sent, unsent, time, least }.is_much()
        };
        assert!(much(AHEAD_BYTES, 1, 301));
        assert!(!much(AHEAD_BYTES, 0, 301));
        assert!(!much(1 << 30, 0, 300));
        // The kernel keeps more than goes out in 100 ms; little may always wait there.
        assert!(much(10_000, 5_001, 200));
        assert!(!much(10_000, 5_000, 200));
        assert!(!much(0, AHEAD_BYTES, 200));
    }

    #[test]
    fn the_kernel_tells_what_is_under_way() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("a way");
        let (far, _) = listener.accept().expect("the same");
        near.set_nonblocking(true).expect("a socket");
        while std::io::Write::write(&mut &near, &[0; 4096]).is_ok() {}
        let info = sys::tcp_info(&near).expect("told");
        assert!(info.tcpi_notsent_bytes > 0, "nobody reads");
        assert!(info.tcpi_min_rtt <= info.tcpi_rtt && info.tcpi_rtt > 0);
        assert!(!Ahead::new(&near).is_full(), "who does not read is no queue");
        drop(far);
        assert!(sys::tcp_info(std::io::stdin()).is_none(), "no connection");
    }
}
