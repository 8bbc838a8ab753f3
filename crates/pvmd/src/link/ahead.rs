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
            let micros = |value: u32| Duration::from_micros(value.into());
            let sent = u64::from(info.tcpi_unacked) * u64::from(info.tcpi_snd_mss);
            let under_way = sent + u64::from(info.tcpi_notsent_bytes);
            is_full((micros(info.tcpi_rtt), micros(info.tcpi_min_rtt)), under_way)
        });
        self.had_room = (!full).then_some(now);
        full
    }
}

/// How long bytes take to be confirmed now, and how long at least; and how many are not.
fn is_full((time, least): (Duration, Duration), under_way: u64) -> bool {
    under_way > AHEAD_BYTES && time > least + QUEUE_TIME
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn who_waits_in_the_network_for_long_says_no_more_until_little_is_under_way() {
        let (way, long) = (Duration::from_millis(200), Duration::from_millis(301));
        assert!(is_full((long, way), AHEAD_BYTES + 1));
        assert!(!is_full((long, way), AHEAD_BYTES));
        assert!(!is_full((long, way + Duration::from_millis(1)), u64::MAX));
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
