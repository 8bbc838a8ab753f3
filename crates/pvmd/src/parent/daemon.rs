//! The daemon as a child of the parent: started, watched, started again.

use crate::parent::stream::Stream;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Effects of one event can carry many messages to local tasks, so these are the largest frames.
const FRAME_BYTES_MAX: usize = pvm_wire::FRAME_BYTES_MAX;
/// Within this time...
const CRASH_WINDOW: Duration = Duration::from_secs(60);
/// ... so many daemons may be lost; one more and the host gives up.
const CRASHES_MAX: usize = 20;
const DELAY_MAX: Duration = Duration::from_secs(1);

/// A running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    /// Its process.
    pub(crate) pid: u32,
    /// Events up, effects down.
    pub(crate) stream: Stream,
    /// Where it asks for segments, as tasks do on the local socket.
    pub(crate) broker: Stream,
    /// Sockets of direct routes that came with its requests.
    pub(crate) sockets: VecDeque<OwnedFd>,
}

impl Daemon {
    /// Starts one, whose last words go to `errors`. It finds its two sockets as standard input and output, which needs no code
    /// between fork and exec.
    pub(crate) fn start(errors: Stdio) -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (broker, broker_theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        broker.set_nonblocking(true)?;
        let child = Command::new("/proc/self/exe")
            .arg0("pvmd")
            .arg("--daemon")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(broker_theirs)))
            .stderr(errors)
            .spawn()?;
        Ok(Self {
            pid: child.id(),
            stream: Stream::new(ours.into(), FRAME_BYTES_MAX),
            broker: Stream::new(broker.into(), FRAME_BYTES_MAX),
            sockets: VecDeque::new(),
        })
    }
}

/// When a lost daemon is replaced.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    recent: VecDeque<Instant>,
    /// How many were lost in all.
    pub(crate) total: u32,
}

impl Restarts {
    /// A daemon was lost: how long to wait for the next one, or none if it is no use.
    pub(crate) fn lost(&mut self, now: Instant) -> Option<Duration> {
        self.total += 1;
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|at| now.duration_since(*at) > CRASH_WINDOW) {
            self.recent.pop_front();
        }
        match self.recent.len() {
            n if n > CRASHES_MAX => None,
            1 | 2 => Some(Duration::ZERO),
            n => Some(Duration::from_millis(10 << (n - 3).min(10)).min(DELAY_MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_replaced_at_once_and_the_twentieth_is_the_last() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        let delays: Vec<_> = (0..21).map(|_| restarts.lost(now)).collect();
        assert_eq!(delays[0], Some(Duration::ZERO));
        assert_eq!(delays[3], Some(Duration::from_millis(20)));
        assert_eq!(delays[19], Some(DELAY_MAX));
        assert_eq!(delays[20], None);
    }

    #[test]
    fn what_is_long_ago_does_not_count() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        for minute in 0..50 {
            let later = now + Duration::from_secs(61 * minute);
            assert_eq!(restarts.lost(later), Some(Duration::ZERO));
        }
        assert_eq!(restarts.total, 50);
    }
}
