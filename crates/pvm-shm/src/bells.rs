//! Ringing doorbells, and waking tasks that wait for something which is no message: the end of a
//! barrier, a change of a group.

use crate::activity::Activity;
use crate::broker::{Broker, map};
use crate::inbox::Inbox;
use crate::recent::Recent;
use pvm_wire::Tid;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

/// Inboxes that are kept though nobody is woken there.
const KEPT: usize = 256;

/// A socket that rings doorbells.
pub(crate) fn bell() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)
}

/// Rings a doorbell. One that is missing is that of a task that is gone, or looks by itself; one
/// that is full is readable.
pub(crate) fn ring(bell: &OwnedFd, doorbell: &SocketAddrUnix) {
    let ring = |bell: &OwnedFd| rustix::net::sendto(bell, b"!", SendFlags::DONTWAIT, doorbell);
    if let Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) = ring(bell) {
        // Rings that a few hundred others have not taken yet count against the socket that they
        // were rung with, until that has no memory for one more. A new socket has its own.
        let _ = self::bell().map(|fresh| ring(&fresh));
    }
}

#[derive(Debug)]
struct Peer {
    inbox: Inbox,
    doorbell: Option<SocketAddrUnix>,
}

/// The inboxes of tasks that were woken before.
#[derive(Debug, Default)]
pub struct Bells {
    peers: Recent<Tid, Peer>,
    known: Vec<Tid>,
}

impl Bells {
    /// None yet.
    pub const fn new() -> Self {
        Self { peers: Recent::new(), known: Vec::new() }
    }

    /// Wakes a task of this host if it sleeps; the change that it is to see must be there already.
    /// A task that is gone needs nothing.
    pub fn wake(
        &mut self,
        broker: &mut dyn Broker,
        (bell, activity): (&OwnedFd, &Activity),
        task: Tid,
    ) {
        if self.peers.get(task).is_none() {
            let Ok((segment, inbox)) = broker.map_inbox(task).and_then(map) else { return };
            if self.known.len() >= KEPT {
                let known = std::mem::take(&mut self.known);
                known.into_iter().for_each(|tid| drop(self.peers.remove(tid)));
            }
            let doorbell = SocketAddrUnix::new(segment.doorbell.0.as_slice()).ok();
            self.peers.insert(task, Peer { inbox: Inbox::new(inbox), doorbell });
            self.known.push(task);
        }
        let Some(peer) = self.peers.get(task) else { return };
        if peer.inbox.header().wake() {
            peer.inbox.count_awake(activity);
            if let Some(doorbell) = &peer.doorbell {
                ring(bell, doorbell);
            }
        }
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn a_ring_is_not_lost_because_many_others_have_not_taken_theirs() {
        let folder = std::env::temp_dir().join(format!("bells{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let bell = bell().expect("a socket");
        let sleepers: Vec<_> = (0..600)
            .map(|n| {
                let path = folder.join(n.to_string());
                let sleeper = UnixDatagram::bind(&path).expect("bound");
                sleeper.set_nonblocking(true).expect("set");
                ring(&bell, &SocketAddrUnix::new(&path).expect("short"));
                sleeper
            })
            .collect();
        let _ = std::fs::remove_dir_all(&folder);
        let rung = |sleeper: &UnixDatagram| sleeper.recv(&mut [0; 8]).is_ok();
        assert_eq!(sleepers.iter().filter(|sleeper| rung(sleeper)).count(), 600);
    }
}
