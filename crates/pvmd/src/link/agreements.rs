//! Direct routes that the machines have agreed on: the connection is made here and handed to the
//! tasks.

use crate::inbox::Inbox;
use crate::link::direct::DirectConnection;
use crate::link::routes::End;
use crate::link::{Links, ShellEvent};
use pvm_core::io::News;
use pvm_wire::Tid;
use std::time::Instant;

impl Links {
    /// The machines have agreed on a direct route.
    pub(crate) fn route(
        &mut self,
        (local, peer): (Tid, Tid),
        inbox: &mut Inbox,
    ) -> Vec<ShellEvent> {
        let now = Instant::now();
        let (end, new) = self.routes.agree((local, peer), now);
        if let Some(end) = end {
            return Self::give(inbox, (local, peer), end);
        }
        let Some(place) = self.place.filter(|place| new && place.host > peer.host()) else {
            return Vec::new();
        };
        debug_assert_ne!(place.host, peer.host());
        let facts = self.peers.get(peer.host()).map(|peer| &peer.facts);
        let called = facts.and_then(|facts| {
            let to = (self.endpoints(&facts.addresses), facts.key.0.clone());
            Some((to, self.identity.direct_client(&facts.key.0).ok()?))
        });
        match called {
            Some((to, config)) => {
                self.wiring.call_direct(to, config, (local, peer));
                Vec::new()
            }
            None => self.no_route((local, peer)),
        }
    }

    pub(super) fn no_route(&mut self, (local, peer): (Tid, Tid)) -> Vec<ShellEvent> {
        if self.routes.give_up((local, peer)) {
            vec![ShellEvent::News(News::NoRoute { local, peer })]
        } else {
            Vec::new()
        }
    }

    pub(super) fn direct_made(
        &mut self,
        made: DirectConnection,
        inbox: Option<&mut Inbox>,
    ) -> Vec<ShellEvent> {
        let pair = (made.local, made.peer);
        let owner = self.peers.get(pair.1.host()).map(|peer| &peer.facts.key.0);
        // A caller speaks only for the tasks of its own host.
        if made.key.is_some() && made.key.as_ref() != owner {
            return vec![ShellEvent::News(News::BadPeer)];
        }
        if made.route.is_none() {
            return self.no_route(pair);
        }
        match (self.routes.made(made, Instant::now()), inbox) {
            (Some(end), Some(inbox)) => Self::give(inbox, pair, end),
            _ => Vec::new(),
        }
    }

    /// A task is gone, or its route to one task broke: what was not confirmed goes by the link.
    pub(crate) fn release(&mut self, sender: Tid, to: Option<Tid>, inbox: &mut Inbox) {
        self.traffic.add(inbox.release(sender, to));
    }

    /// Hands a task its end of a route.
    fn give(inbox: &mut Inbox, (local, peer): (Tid, Tid), (socket, route): End) -> Vec<ShellEvent> {
        match inbox.give_route(local, route, socket) {
            Ok(()) => Vec::new(),
            Err(_) => vec![ShellEvent::News(News::NoRoute { local, peer })],
        }
    }
}
