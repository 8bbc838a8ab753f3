//! The daemon as a child of the parent: started, watched, started again.

use crate::parent::program::Program;
use crate::parent::stream::Stream;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Effects of one event can carry many messages to local tasks, so these are the largest frames.
const FRAME_BYTES_MAX: usize = pvm_wire::FRAME_BYTES_MAX;
/// Within this time...
const CRASH_WINDOW: Duration = Duration::from_secs(60);
/// ... this many daemons may crash before they have done anything; after one more the host gives
/// up.
const CRASHES_MAX: usize = 20;
const DELAY_MAX: Duration = Duration::from_secs(1);
/// A daemon that was killed comes back at once, but no sooner than this after the one before.
const KILLED_PAUSE: Duration = Duration::from_millis(10);
/// After this many daemons that died before one was ready the host gives up: its starter waits for
/// it.
const EARLY_MAX: u32 = 4;
/// After this many daemons in a row that crashed on one event the event is dropped.
const CRASHES_ON_EVENT_MAX: u32 = 3;

/// A running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    /// Its process.
    pub(crate) pid: u32,
    /// Events up, effects down.
    pub(crate) stream: Stream,
    /// The stream on which it asks for segments, as tasks do on the local socket.
    pub(crate) broker: Stream,
    /// Sockets of direct routes that came with its requests.
    pub(crate) sockets: VecDeque<OwnedFd>,
}

impl Daemon {
    /// Starts one, whose last words go to `errors`. It finds its two sockets as standard input and
    /// output, which needs no code between fork and exec.
    pub(crate) fn start(program: &Program, errors: Stdio) -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (broker, broker_theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        broker.set_nonblocking(true)?;
        let child = program
            .command()
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

/// The way in which a daemon was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It was killed, or it had done something before it crashed.
    Innocent,
    /// It crashed on the first thing that it did: this event, or none at all.
    Crashed(Option<u32>),
}

/// When a lost daemon is replaced.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    recent: VecDeque<Instant>,
    last: Option<Instant>,
    /// The event that daemons crash on, and how many have.
    suspect: Option<(u32, u32)>,
    /// The number of daemons that died by themselves before one was ready.
    early: u32,
    /// The number of daemons that were lost in all.
    pub(crate) total: u32,
}

impl Restarts {
    /// A daemon was lost: how long to wait for the next one, or none if it is no use.
    pub(crate) fn lost(&mut self, now: Instant, loss: Loss) -> Option<Duration> {
        self.total = self.total.saturating_add(1);
        let last = self.last.replace(now);
        let Loss::Crashed(event) = loss else {
            self.suspect = None;
            let since = last.map_or(KILLED_PAUSE, |last| now.duration_since(last));
            return Some(KILLED_PAUSE.saturating_sub(since));
        };
        self.suspect = event.map(|event| match self.suspect {
            Some((number, times)) if number == event => (event, times + 1),
            _ => (event, 1),
        });
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

    /// One more has died before any was ready: true if what is wrong will not mend itself.
    pub(crate) const fn is_hopeless(&mut self) -> bool {
        self.early += 1;
        self.early >= EARLY_MAX
    }

    /// The event that has brought down one daemon after the other.
    pub(crate) fn take_culprit(&mut self) -> Option<u32> {
        self.suspect.take_if(|(_, times)| *times >= CRASHES_ON_EVENT_MAX).map(|(event, _)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRASH: Loss = Loss::Crashed(None);

    #[test]
    fn the_first_is_replaced_at_once_and_the_twentieth_is_the_last() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        let delays: Vec<_> = (0..21).map(|_| restarts.lost(now, CRASH)).collect();
        assert_eq!(delays[0], Some(Duration::ZERO));
        assert_eq!(delays[3], Some(Duration::from_millis(20)));
        assert_eq!(delays[19], Some(DELAY_MAX));
        assert_eq!(delays[20], None);
    }

    #[test]
    fn the_fourth_that_dies_before_one_was_ready_is_the_last() {
        let mut restarts = Restarts::default();
        let hopeless: Vec<_> = (0..4).map(|_| restarts.is_hopeless()).collect();
        assert_eq!(hopeless, [false, false, false, true]);
    }

    #[test]
    fn what_is_long_ago_does_not_count() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        for minute in 0..50 {
            let later = now + Duration::from_secs(61 * minute);
            assert_eq!(restarts.lost(later, CRASH), Some(Duration::ZERO));
        }
        assert_eq!(restarts.total, 50);
    }

    #[test]
    fn a_host_gave_up_because_its_daemon_was_killed_twenty_times() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        for kill in 0..1000 {
            let at = now + Duration::from_millis(100 * kill);
            assert_eq!(restarts.lost(at, Loss::Innocent), Some(Duration::ZERO));
        }
        assert_eq!(
            restarts.lost(now + Duration::from_secs(100), Loss::Innocent),
            Some(Duration::ZERO)
        );
        let again = restarts.lost(now + Duration::from_secs(100), Loss::Innocent);
        assert_eq!(again, Some(KILLED_PAUSE));
    }

    #[test]
    fn an_event_that_brings_down_three_daemons_is_dropped() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        for event in [7, 7, 8, 8] {
            restarts.lost(now, Loss::Crashed(Some(event)));
            assert_eq!(restarts.take_culprit(), None);
        }
        restarts.lost(now, Loss::Crashed(Some(8)));
        assert_eq!(restarts.take_culprit(), Some(8));
        assert_eq!(restarts.take_culprit(), None);
    }
}
