//! Waking tasks that wait for something which is no message: the end of a barrier, a change of a group.

use crate::activity::Activity;
use crate::broker::{Broker, map};
use crate::inbox::Inbox;
use crate::recent::Recent;
use pvm_wire::Tid;
use rustix::fd::OwnedFd;
use rustix::net::{SendFlags, SocketAddrUnix};

/// Inboxes that are kept though nobody is woken there.
const KEPT: usize = 256;

#[derive(Debug)]
struct Peer {
    inbox: Inbox,
    doorbell: Option<SocketAddrUnix>,
}

/// The inboxes of those who were woken before.
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

    /// Wakes a task of this host if it sleeps; what it is to see must be there already. A task that
    /// is gone needs nothing.
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
            activity.woke();
            if let Some(doorbell) = &peer.doorbell {
                // A full or missing doorbell means that the task is awake or gone.
                let _ = rustix::net::sendto(bell, b"!", SendFlags::DONTWAIT, doorbell);
            }
        }
    }
}
