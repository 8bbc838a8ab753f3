//! How much of a connection is on its way.
//!
//! What the kernel has taken nothing overtakes, and most ways of sending fill whatever queue stands before the
//! slowest cable: seconds of it, where that is long. So a connection whose bytes wait in the network for more than
//! a moment takes no more until few are under way. What is urgent never waits for that.

use crate::sys;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// How much longer than the way itself bytes may take: what stands in queues of the network.
const QUEUE_TIME: Duration = Duration::from_millis(100);
/// So many bytes may be under way however long they take: enough that no cable runs dry meanwhile on which that is a
/// matter of [`QUEUE_TIME`].
const AHEAD_BYTES: u64 = 16 << 10;

/// A connection as the kernel sees it.
pub(crate) struct Ahead(Option<OwnedFd>);

impl Ahead {
    /// Of this connection. Where there is no descriptor to be had there is always room.
    pub(crate) fn new(stream: &impl AsFd) -> Self {
        Self(stream.as_fd().try_clone_to_owned().ok())
    }

    /// How it stands now.
    pub(crate) fn look(&self) -> Room {
        let Some(info) = self.0.as_ref().and_then(sys::tcp_info) else { return Room::Free };
        let micros = |value: u32| Duration::from_micros(value.into());
        let (time, least) = (micros(info.tcpi_rtt), micros(info.tcpi_min_rtt));
        let sent = u64::from(info.tcpi_unacked) * u64::from(info.tcpi_snd_mss);
        room((time, least), sent + u64::from(info.tcpi_notsent_bytes))
    }
}

/// What there is room for on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// All.
    Free,
    /// A frame: what it takes waits in the network.
    Little,
    /// Only what is urgent: much waits there.
    None,
}

/// How long bytes take to be confirmed now, and how long at least; and how many are not.
fn room((time, least): (Duration, Duration), under_way: u64) -> Room {
    match (time > least + QUEUE_TIME, under_way > AHEAD_BYTES) {
        (false, _) => Room::Free,
        (true, false) => Room::Little,
        (true, true) => Room::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn who_waits_in_the_network_for_long_says_no_more_until_little_is_under_way() {
        let (way, long) = (Duration::from_millis(200), Duration::from_millis(301));
        assert_eq!(room((long, way), AHEAD_BYTES + 1), Room::None);
        assert_eq!(room((long, way), AHEAD_BYTES), Room::Little);
        assert_eq!(room((long, way + Duration::from_millis(1)), u64::MAX), Room::Free);
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
        assert_eq!(Ahead::new(&near).look(), Room::Free, "who does not read is no queue");
        drop(far);
        assert!(sys::tcp_info(std::io::stdin()).is_none(), "no connection");
    }
}
