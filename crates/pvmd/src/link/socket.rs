//! The options that all sockets between hosts have in common.

use crate::sys;
use pvm_wire::congestion::UNSENT_BYTES;
use rustix::net::sockopt;
use std::time::Duration;
use tokio::net::TcpStream;

/// The kernel probes a silent peer after `ALIVE_IDLE`, `ALIVE_COUNT` times, `ALIVE_DISTANCE` apart.
const ALIVE_IDLE: Duration = Duration::from_secs(2);
const ALIVE_DISTANCE: Duration = Duration::from_secs(1);
const ALIVE_COUNT: u32 = 3;

/// A peer that is silent for ever is noticed by the kernel, without a timer of ours.
pub(crate) fn set_options(stream: &TcpStream) {
    let total = ALIVE_IDLE + ALIVE_DISTANCE * ALIVE_COUNT;
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, ALIVE_IDLE);
    let _ = sockopt::set_tcp_keepintvl(stream, ALIVE_DISTANCE);
    let _ = sockopt::set_tcp_keepcnt(stream, ALIVE_COUNT);
    let _ = sockopt::set_tcp_user_timeout(stream, total.as_millis() as u32);
}

/// The kernel takes no more than a little that it cannot send yet: what is said later overtakes the
/// rest.
pub(crate) fn bound_unsent(stream: &TcpStream) {
    // Where the system does not know it, all works as before, only later.
    let _ = sys::set_unsent_max(stream, UNSENT_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::{TcpListener, TcpSocket};

    /// The room of the other side, and as much on its way.
    const ROOM_BYTES: u32 = 16 << 10;

    /// The number of bytes that the kernel takes for a peer that reads nothing.
    async fn taken(bound: bool) -> usize {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(ROOM_BYTES).expect("a size");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("an address");
        let listener: TcpListener = socket.listen(1).expect("a listener");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).await;
        let near = near.expect("a connection");
        let _far = listener.accept().await.expect("the same");
        if bound {
            bound_unsent(&near);
        }
        near.writable().await.expect("room");
        let (bytes, mut taken) = ([0; 4096], 0);
        while let Ok(count) = near.try_write(&bytes) {
            taken += count;
        }
        taken
    }

    #[tokio::test]
    async fn the_kernel_takes_little_that_it_cannot_send() {
        let (free, bound) = (taken(false).await, taken(true).await);
        assert!(free > 4 * bound, "{free} bytes without a bound, {bound} with it");
        assert!(bound < 256 << 10, "{bound} bytes");
    }
}
