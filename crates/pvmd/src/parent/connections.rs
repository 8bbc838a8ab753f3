//! The connections to the local socket, and the permission to connect.

use crate::parent::stream::Stream;
use pvm_wire::{FRAME_BYTES_MAX, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Longest frame of a connection that has not said hello.
const STRANGER_BYTES_MAX: usize = 64 << 10;
/// Longest frame of others. What follows from a request must fit frames too.
const REQUEST_BYTES_MAX: usize = FRAME_BYTES_MAX / 2;
/// Output of tasks that a command has not taken; more stays with the tasks.
const UNSEEN_BYTES_MAX: usize = 1 << 20;
/// The time that a connection may take to say hello where more than [`STRANGERS_FEW`] are about to.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// So many may take any time, the latest ones: a program that is stopped there, or whose computer
/// stands still, is let in when it goes on.
const STRANGERS_FEW: usize = 64;
/// The number of connections that may be about to say hello; each costs a descriptor and a little
/// memory. A thousand tasks that start at once on two cores are that many for a while.
const STRANGERS_MAX: usize = 4096;
/// The number of them that one process may have; the oldest is closed when another one comes.
const STRANGERS_OF_A_PROCESS_MAX: usize = 16;

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
    /// True if the poll set waits until it can be read.
    pub(crate) reading: bool,
    /// True if the poll set waits until it can be written.
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
    /// Connections that have not said hello, and since when. Older ones come first.
    strangers: BTreeMap<u64, Instant>,
    /// The strangers of each process.
    by_process: BTreeMap<u32, BTreeSet<u64>>,
    /// Connections that had to make room.
    ousted: Vec<u64>,
    last: u64,
    /// Peers dropped for what they sent or did not send.
    pub(crate) bad_peers: u64,
}

/// The reason why a process is not let in.
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
        let same = self.by_process.entry(peer.pid).or_default();
        same.insert(self.last);
        if same.len() > STRANGERS_OF_A_PROCESS_MAX {
            self.ousted.extend(same.pop_first());
        }
        Ok(self.last)
    }

    /// One has said hello: its frames may be longer and its time has no end.
    pub(crate) fn know(&mut self, number: u64) {
        self.no_stranger(number);
        if let Some(connection) = self.all.get_mut(&number) {
            connection.known = true;
            connection.stream.set_limit(REQUEST_BYTES_MAX);
        }
    }

    /// True while so many connections are about to say hello that others have to wait.
    pub(crate) fn are_crowded(&self) -> bool {
        self.strangers.len() >= STRANGERS_MAX
    }

    fn no_stranger(&mut self, number: u64) {
        self.strangers.remove(&number);
        let Some(connection) = self.all.get(&number) else { return };
        if let Some(same) = self.by_process.get_mut(&connection.pid) {
            same.remove(&number);
            if same.is_empty() {
                self.by_process.remove(&connection.pid);
            }
        }
    }

    /// One of them, while it is there.
    pub(crate) fn get(&mut self, number: u64) -> Option<&mut Connection> {
        self.all.get_mut(&number)
    }

    /// Takes one out.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Connection> {
        self.no_stranger(number);
        self.all.remove(&number)
    }

    /// All of them.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// The tasks among them.
    pub(crate) fn of_task(&mut self, tid: Tid) -> Option<(u64, &mut Connection)> {
        let mut all = self.all.iter_mut().map(|(number, connection)| (*number, connection));
        all.find(|(_, connection)| connection.tid == Some(tid))
    }

    /// When the next stranger's time is over.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if !self.ousted.is_empty() {
            return self.strangers.values().next().copied();
        }
        self.hurried().next().map(|(_, since)| *since + HELLO_TIME)
    }

    /// The strangers whose time runs.
    fn hurried(&self) -> impl Iterator<Item = (&u64, &Instant)> {
        self.strangers.iter().take(self.strangers.len().saturating_sub(STRANGERS_FEW))
    }

    /// The connections whose time is over, or that had to make room.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<u64> {
        let late = self.hurried().take_while(|(_, since)| **since + HELLO_TIME <= now);
        let mut overdue: Vec<u64> = late.map(|(number, _)| *number).collect();
        overdue.extend(self.ousted.drain(..).filter(|number| self.strangers.contains_key(number)));
        overdue.sort_unstable();
        overdue.dedup();
        overdue
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

    fn admit(
        connections: &mut Connections,
        (uid, pid): (u32, u32),
        now: Instant,
    ) -> Result<u64, Stranger> {
        let (a, _) = UnixStream::pair().unwrap();
        connections.admit(a.into(), Peer { uid, pid }, now)
    }

    #[test]
    fn many_strangers_have_little_time() {
        let uid = rustix::process::getuid().as_raw();
        let now = Instant::now();
        let mut connections = Connections::default();
        let other = admit(&mut connections, (uid + 1, 1), now);
        assert_eq!(other, Err(Stranger::User(uid + 1)));
        for pid in 0..STRANGERS_FEW as u32 + 100 {
            admit(&mut connections, (uid, pid), now).unwrap();
        }
        connections.know(1);
        let late = admit(&mut connections, (uid, 7000), now + HELLO_TIME / 2).unwrap();
        assert!(connections.overdue(now + HELLO_TIME / 2).is_empty(), "a slow start is none");
        let overdue = connections.overdue(now + HELLO_TIME);
        assert!(!overdue.contains(&1) && !overdue.contains(&late));
        assert_eq!(overdue, Vec::from_iter(2..=101), "the oldest ones");
    }

    #[test]
    fn a_program_that_stood_still_before_its_hello_found_no_machine() {
        let uid = rustix::process::getuid().as_raw();
        let now = Instant::now();
        let mut connections = Connections::default();
        for pid in 0..STRANGERS_FEW as u32 {
            admit(&mut connections, (uid, pid), now).unwrap();
        }
        assert_eq!(connections.next_deadline(), None);
        assert!(connections.overdue(now + HELLO_TIME * 100).is_empty());
    }

    #[test]
    fn a_process_that_connects_and_says_nothing_keeps_nobody_out() {
        let uid = rustix::process::getuid().as_raw();
        let now = Instant::now();
        let mut connections = Connections::default();
        for _ in 0..STRANGERS_OF_A_PROCESS_MAX + 3 {
            admit(&mut connections, (uid, 7), now).unwrap();
        }
        assert!(!connections.are_crowded());
        assert!(connections.next_deadline() <= Some(now));
        assert_eq!(connections.overdue(now), [1, 2, 3]);
        assert!(connections.overdue(now).is_empty());
    }
}
