//! What all sockets between hosts have in common.

use rustix::net::sockopt;
use std::time::Duration;
use tokio::net::TcpStream;

/// The kernel asks a silent peer after this time, so often, at this distance.
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
