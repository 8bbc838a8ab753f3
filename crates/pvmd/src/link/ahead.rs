//! The bytes of a link that are under way: see [`pvm_wire::congestion`].

use crate::{clock, sys};
use pvm_wire::congestion::{self, UnderWay};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// A connection as the kernel sees it.
pub(crate) struct Ahead {
    socket: Option<OwnedFd>,
    ahead: congestion::Ahead,
}

impl Ahead {
    /// The state of this connection. If there is no descriptor to be had there is always room.
    pub(crate) fn new(stream: &impl AsFd) -> Self {
        let socket = stream.as_fd().try_clone_to_owned().ok();
        Self { socket, ahead: congestion::Ahead::default() }
    }

    /// The number of bytes that may go; none if bytes that are sent now would queue behind many
    /// others in the network.
    pub(crate) fn room(&mut self) -> Option<usize> {
        let Self { socket, ahead } = self;
        let now = Duration::from_nanos(clock::now(0).0);
        ahead.room(now, || under_way(socket.as_ref()?)).ok()
    }

    /// Notes that `bytes` bytes have gone.
    pub(crate) const fn went(&mut self, bytes: usize) {
        self.ahead.went(bytes);
    }

    /// Bytes that may be under way.
    pub(crate) fn window(&self) -> usize {
        self.ahead.window()
    }

    /// The time to wait if there is no room.
    pub(crate) fn pause(&self) -> Duration {
        self.ahead.pause()
    }
}

fn under_way(socket: &OwnedFd) -> Option<UnderWay> {
    let (info, bytes) = (sys::tcp_info(socket)?, sys::unconfirmed(socket)?);
    Some(UnderWay {
        bytes: bytes.into(),
        sent: info.tcpi_unacked > 0,
        confirmed: info.tcpi_bytes_acked,
        least: Duration::from_micros(info.tcpi_min_rtt.into()),
        without_room: Duration::from_micros(info.tcpi_rwnd_limited),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_tells_what_is_under_way() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("a way");
        let (far, _) = listener.accept().expect("the same");
        near.set_nonblocking(true).expect("a socket");
        while std::io::Write::write(&mut &near, &[0; 4096]).is_ok() {}
        let info = sys::tcp_info(&near).expect("told");
        assert!(info.tcpi_notsent_bytes > 0, "nobody reads");
        assert!(sys::unconfirmed(&near).is_some_and(|bytes| bytes >= info.tcpi_notsent_bytes));
        assert!(info.tcpi_min_rtt <= info.tcpi_rtt && info.tcpi_rtt > 0);
        // The last bytes may be confirmed a moment later.
        let mut ahead = Ahead::new(&near);
        let looked = std::iter::from_fn(|| {
            std::thread::sleep(Duration::from_millis(10));
            Some(ahead.room().is_some())
        });
        assert!(looked.take(100).any(|room| room), "who does not read is no queue");
        drop(far);
        assert!(sys::tcp_info(std::io::stdin()).is_none(), "no connection");
    }
}
