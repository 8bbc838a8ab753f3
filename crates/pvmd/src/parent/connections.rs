//! Who is connected to the local socket, and who may be.

use crate::parent::stream::Stream;
use pvm_wire::{FRAME_BYTES_MAX, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Longest frame of somebody who has not said hello.
const STRANGER_BYTES_MAX: usize = 64 << 10;
/// Longest frame of others. What follows from a request must fit frames too.
const REQUEST_BYTES_MAX: usize = FRAME_BYTES_MAX / 2;
/// Output of tasks that a command has not taken; more stays with the tasks.
const UNSEEN_BYTES_MAX: usize = 1 << 20;
/// How long one may take to say hello.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// How long where others have to wait for it: whoever means it says hello at once.
const HELLO_TIME_CROWDED: Duration = Duration::from_secs(1);
/// How many may be about to say hello; each costs a descriptor and a little memory.
const STRANGERS_MAX: usize = 256;

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its socket.
    pub(crate) stream: Stream,
    /// The process behind it, as the kernel tells.
    pub(crate) pid: u32,
    /// The task behind it, once enrolled and until it leaves.
    pub(crate) tid: Option<Tid>,
    /// Closed once all is sent.
    pub(crate) ending: bool,
    /// Tasks whose output waits until this connection has taken what there is.
    pub(crate) holding: BTreeSet<Tid>,
    /// It has said hello.
    known: bool,
    /// What the poll set waits for now.
    pub(crate) reading: bool,
    /// What the poll set waits for now.
    pub(crate) writing: bool,
}

impl Connection {
    /// True where hello was said.
    pub(crate) const fn is_known(&self) -> bool {
        self.known
    }

    /// True where more output of tasks is to wait.
    pub(crate) const fn is_clogged(&self) -> bool {
        self.stream.pending_bytes() > UNSEEN_BYTES_MAX
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: BTreeMap<u64, Connection>,
    /// Those that have not said hello, and since when. Older ones come first.
    strangers: BTreeMap<u64, Instant>,
    last: u64,
    /// Peers dropped for what they sent or did not send.
    pub(crate) bad_peers: u64,
}

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stranger {
    /// Another user's process.
    #[error("user {0} may not connect")]
    User(u32),
}

impl Connections {
    /// Lets a process in, so far a stranger.
    pub(crate) fn admit(&mut self, fd: OwnedFd, peer: Peer, now: Instant) -> Result<u64, Stranger> {
        if peer.uid != rustix::process::getuid().as_raw() {
            return Err(Stranger::User(peer.uid));
        }
        self.last += 1;
        let connection = Connection {
            stream: Stream::new(fd, STRANGER_BYTES_MAX),
            pid: peer.pid,
            tid: None,
            ending: false,
            holding: BTreeSet::new(),
            known: false,
            reading: true,
            writing: false,
        };
        self.all.insert(self.last, connection);
        self.strangers.insert(self.last, now);
        Ok(self.last)
    }

    /// One has said hello: its frames may be longer and its time has no end.
    pub(crate) fn know(&mut self, number: u64) {
        self.strangers.remove(&number);
        if let Some(connection) = self.all.get_mut(&number) {
            connection.known = true;
            connection.stream.set_limit(REQUEST_BYTES_MAX);
        }
    }

    /// True while so many are about to say hello that others have to wait.
    pub(crate) fn are_crowded(&self) -> bool {
        self.strangers.len() >= STRANGERS_MAX
    }

    fn hello_time(&self) -> Duration {
        if self.are_crowded() { HELLO_TIME_CROWDED } else { HELLO_TIME }
    }

    /// One of them, while it is there.
    pub(crate) fn get(&mut self, number: u64) -> Option<&mut Connection> {
        self.all.get_mut(&number)
    }

    /// Takes one out.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Connection> {
        self.strangers.remove(&number);
        self.all.remove(&number)
    }

    /// All of them.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// The tasks among them.
    pub(crate) fn of_task(&mut self, tid: Tid) -> Option<&mut Connection> {
        self.all.values_mut().find(|connection| connection.tid == Some(tid))
    }

    /// When the next stranger's time is over.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.strangers.values().next().map(|since| *since + self.hello_time())
    }

    /// Those whose time is over.
    pub(crate) fn overdue(&self, now: Instant) -> Vec<u64> {
        let time = self.hello_time();
        let late = self.strangers.iter().take_while(|(_, since)| **since + time <= now);
        late.map(|(number, _)| *number).collect()
    }
}

/// A process at the other end of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Its user.
    pub(crate) uid: u32,
    /// Its number.
    pub(crate) pid: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn admit(connections: &mut Connections, uid: u32, now: Instant) -> Result<u64, Stranger> {
        let (a, _) = UnixStream::pair().unwrap();
        connections.admit(a.into(), Peer { uid, pid: 1 }, now)
    }

    #[test]
    fn strangers_have_little_time_and_are_not_many() {
        let uid = rustix::process::getuid().as_raw();
        let now = Instant::now();
        let mut connections = Connections::default();
        assert_eq!(admit(&mut connections, uid + 1, now), Err(Stranger::User(uid + 1)));
        for _ in 0..STRANGERS_MAX {
            assert!(!connections.are_crowded());
            admit(&mut connections, uid, now).unwrap();
        }
        assert!(connections.are_crowded());
        assert_eq!(connections.next_deadline(), Some(now + HELLO_TIME_CROWDED));
        connections.know(1);
        assert!(!connections.are_crowded());
        let late = admit(&mut connections, uid, now + HELLO_TIME - HELLO_TIME_CROWDED / 2).unwrap();
        let overdue = connections.overdue(now + HELLO_TIME);
        assert!(!overdue.contains(&1) && !overdue.contains(&late));
        assert_eq!(overdue.len(), STRANGERS_MAX - 1);
    }
}
