//! How much of a link is on its way: see [`pvm_wire::congestion`].

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
    /// Of this connection. Where there is no descriptor to be had there is always room.
    pub(crate) fn new(stream: &impl AsFd) -> Self {
        let socket = stream.as_fd().try_clone_to_owned().ok();
        Self { socket, ahead: congestion::Ahead::default() }
    }

    /// True where what is said now would stand behind much that waits in the network.
    pub(crate) fn is_full(&mut self) -> bool {
        let Self { socket, ahead } = self;
        let now = Duration::from_nanos(clock::now(0).0);
        ahead.is_full(now, || under_way(socket.as_ref()?)).is_some()
    }
}

fn under_way(socket: &OwnedFd) -> Option<UnderWay> {
    let info = sys::tcp_info(socket)?;
    Some(UnderWay {
        sent: u64::from(info.tcpi_unacked) * u64::from(info.tcpi_snd_mss),
        unsent: info.tcpi_notsent_bytes.into(),
        time: Duration::from_micros(info.tcpi_rtt.into()),
        least: Duration::from_micros(info.tcpi_min_rtt.into()),
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
        assert!(info.tcpi_min_rtt <= info.tcpi_rtt && info.tcpi_rtt > 0);
        assert!(!Ahead::new(&near).is_full(), "who does not read is no queue");
        drop(far);
        assert!(sys::tcp_info(std::io::stdin()).is_none(), "no connection");
    }
}
