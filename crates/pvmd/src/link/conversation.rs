//! Frames that come over a connection, and checks of the hosts that they speak for.

use crate::inbox::Inbox;
use crate::link::frames::LinkFrame;
use crate::link::incoming::Nonsense;
use crate::link::peer::Peer;
use crate::link::{Links, Owner, ShellEvent};
use pvm_core::io::News;
use pvm_wire::HostIndex;
use std::time::Instant;

impl Links {
    pub(super) fn frame(
        &mut self,
        id: u64,
        frame: LinkFrame,
        inbox: Option<&mut Inbox>,
    ) -> Vec<ShellEvent> {
        match self.owners.get_mut(&id) {
            None => Vec::new(),
            Some(Owner::Newcomer(_, _, hello)) => {
                *hello = Some(Box::new(frame));
                Vec::new()
            }
            Some(Owner::Machine(_, host)) => match frame {
                LinkFrame::Hello { host: theirs, .. } => {
                    *host = theirs;
                    Vec::new()
                }
                LinkFrame::Goodbye => {
                    // The machine ended before it let this host in.
                    self.machine = None;
                    self.alone_since = Some(Instant::now() - self.patience);
                    Vec::new()
                }
                LinkFrame::Admitted { host: mine, first, hosts } => {
                    let by = *host;
                    vec![ShellEvent::Placed { host: mine, first, hosts, by }]
                }
                _ => self.bad(id),
            },
            Some(Owner::Peer(host)) => {
                let host = *host;
                self.peer_frame((id, host), frame, inbox)
            }
        }
    }

    pub(super) fn peer_frame(
        &mut self,
        (id, host): (u64, HostIndex),
        frame: LinkFrame,
        inbox: Option<&mut Inbox>,
    ) -> Vec<ShellEvent> {
        if matches!(frame, LinkFrame::Rest) {
            return self.rests(id, host);
        }
        let Some(peer) = self.peers.get_mut(host) else { return Vec::new() };
        peer.used_at = Instant::now();
        let way = (host, self.place.map_or(HostIndex(0), |place| place.host));
        let result = match frame {
            LinkFrame::Hello { .. } => {
                return self.greet(id, host, &frame).into_iter().collect();
            }
            // A host may end at any time.
            LinkFrame::Goodbye => {
                peer.dead = true;
                peer.ended = true;
                let mut events = self.detach(host);
                events.push(ShellEvent::News(News::HostGone { host }));
                return events;
            }
            LinkFrame::Removed { era } => return vec![ShellEvent::News(News::Fenced { era })],
            _ if !peer.is_up() => return self.bad(id),
            LinkFrame::Said { message } => {
                return vec![ShellEvent::News(News::Said { host, message })];
            }
            LinkFrame::Piece { bytes, last } => match peer.piece(&bytes.0, last) {
                Ok(None) => Ok(()),
                Ok(Some(message)) => return vec![ShellEvent::News(News::Said { host, message })],
                Err(error) => Err(error),
            },
            frame => match inbox {
                Some(inbox) => message_frame(peer, inbox, way, frame),
                None => return self.bad(id),
            },
        };
        if result.is_err() { self.bad(id) } else { Vec::new() }
    }

    pub(super) fn bad(&mut self, id: u64) -> Vec<ShellEvent> {
        let mut events = self.down(id);
        events.push(ShellEvent::News(News::BadPeer));
        events
    }
}

/// A peer says something about messages between tasks.
fn message_frame(
    peer: &mut Peer,
    inbox: &mut Inbox,
    way: (HostIndex, HostIndex),
    frame: LinkFrame,
) -> Result<(), Nonsense> {
    match frame {
        LinkFrame::Begin { stream, envelope, receivers, bytes } => {
            peer.begin(inbox, way, stream, (envelope, receivers, &bytes.0))
        }
        LinkFrame::More { stream, bytes } => peer.more(inbox, stream, &bytes.0),
        LinkFrame::Delivered { stream, count } => {
            peer.confirm(inbox, stream, count);
            Ok(())
        }
        LinkFrame::Again { stream } => {
            peer.streams.again(stream, Instant::now());
            Ok(())
        }
        _ => Err(Nonsense::Bytes),
    }
}
