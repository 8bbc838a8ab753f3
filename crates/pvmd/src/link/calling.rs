//! The calls of this daemon, and their endpoints: straight, by a relay, through a tunnel.

use crate::addresses;
use crate::launch::token::Token;
use crate::link::dial::Endpoint;
use crate::link::frames::LinkFrame;
use crate::link::peer::{Peer, Rest};
use crate::link::peers::Peers;
use crate::link::redeem;
use crate::link::{Links, ShellEvent};
use crate::tls::Fingerprint;
use anyhow::Result;
use pvm_core::io::News;
use pvm_wire::HostIndex;
use pvm_wire::peer::HostFacts;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Instant;

impl Links {
    /// Uses a token at the machine that this host is to join.
    pub(crate) async fn redeem(&self, token: &Token, facts: &HostFacts) -> Result<()> {
        let config = self.identity.client(&token.fingerprint.0)?;
        redeem::call(&endpoints(&token.addresses, None), &config, token, facts).await
    }

    /// Other hosts may be out of reach but for what is handed on there.
    pub(crate) const fn set_relay(&mut self, relay: SocketAddr) {
        self.relay = Some(relay);
    }

    pub(super) fn endpoints(&self, candidates: &[String]) -> Vec<Endpoint> {
        endpoints(candidates, self.relay)
    }

    /// The near end of the tunnel to the host with this key; none: there is no tunnel any more.
    pub(crate) fn set_tunnel(&mut self, key: &Fingerprint, near: Option<SocketAddr>) {
        match near {
            Some(near) => drop(self.tunnels.insert(key.clone(), near)),
            None => drop(self.tunnels.remove(key)),
        }
        self.update_relays();
    }

    /// Hosts behind tunnels reach all others through this one, and the others them.
    pub(super) fn update_relays(&self) {
        if self.tunnels.is_empty() {
            return self.relays.set(BTreeMap::new());
        }
        let own = addresses::of_interfaces();
        let direct = self.hosts.iter().map(|(_, facts)| {
            let endpoints = addresses::in_order(&facts.addresses, &own);
            let endpoints = endpoints
                .into_iter()
                .filter(|endpoint| !endpoint.relay)
                .map(|endpoint| endpoint.at);
            (facts.key.0.clone(), endpoints.collect())
        });
        let tunnels = self.tunnels.iter().map(|(key, near)| (key.clone(), vec![*near]));
        self.relays.set(direct.chain(tunnels).collect());
    }

    pub(super) fn call_machine(&self) {
        if let Some((endpoints, key)) = &self.machine
            && let Ok(config) = self.identity.client(key)
        {
            self.wiring.call(endpoints.clone(), key.clone(), config, None);
        }
    }

    /// True where the other host's place is the higher one: it calls first.
    pub(super) fn is_higher(&self, host: HostIndex) -> bool {
        self.place.is_some_and(|place| host > place.host)
    }

    /// Calls the hosts to which there should be a link and is none.
    pub(super) fn call_missing(&mut self) {
        let Some(place) = self.place else { return };
        let (relay, now) = (self.relay, Instant::now());
        for (host, peer) in self.peers.awake_mut() {
            if peer.call_at(host > place.host).is_none_or(|at| at > now) {
                continue;
            }
            let (endpoints, key) =
                (endpoints(&peer.facts.addresses, relay), peer.facts.key.0.clone());
            match self.identity.client(&key) {
                Ok(config) => {
                    peer.calling = Some(self.wiring.call(endpoints, key, config, Some(host)));
                }
                // No host has such a key.
                Err(_) => peer.down_since = None,
            }
        }
    }

    /// To these a link is to stand at all times.
    pub(crate) fn set_near(&mut self, near: &BTreeSet<HostIndex>) {
        let now = Instant::now();
        self.waits_until = None;
        for (host, peer) in self.peers.all_mut() {
            peer.set_near(near.contains(&host), now);
        }
        self.call_missing();
    }

    /// A new host that has not heard of the machine's state, which comes from the leader, calls all
    /// others: it may be where only it can call.
    pub(super) fn call_all_late(&mut self, now: Instant) {
        if self.waits_until.take_if(|until| *until <= now).is_some() {
            self.peers.all_mut().for_each(|(_, peer)| peer.set_near(true, now));
        }
    }

    /// The machine has something to say to a host without a link.
    pub(crate) fn reach(&mut self, host: HostIndex) {
        if let Some(peer) = self.peers.get_mut(host) {
            peer.want(Instant::now());
            self.call_missing();
        }
    }

    /// Messages of tasks wait for hosts without a link.
    pub(super) fn want_links(peers: &mut Peers) {
        for (_, peer) in peers.awake_mut().filter(|(_, peer)| peer.connection.is_none()) {
            if peer.down_since.is_none() && !peer.is_flushed() {
                peer.want(Instant::now());
            }
        }
    }

    /// A host does not answer at its addresses. A higher one may be where only it can call.
    pub(super) fn unreached(&self, host: HostIndex) -> Vec<ShellEvent> {
        let higher = self.is_higher(host);
        higher.then_some(ShellEvent::News(News::Unreached { host })).into_iter().collect()
    }

    /// Of two hosts the higher one offers to close the link: it is the one that can call. A host
    /// that others reach by way of another one does not: its links stand.
    pub(super) fn may_offer_rest(&self, host: HostIndex) -> bool {
        self.relay.is_none() && self.place.is_some_and(|place| host < place.host)
    }

    /// Offers to close links that are not used.
    pub(super) fn offer_rest(&mut self, now: Instant) {
        let due = |(host, peer): (HostIndex, &Peer)| {
            let due = peer.rest_at().is_some_and(|at| at <= now);
            (due && self.may_offer_rest(host)).then_some(host)
        };
        let due: Vec<_> = self.peers.awake().filter_map(due).collect();
        for host in due {
            let Some(peer) = self.peers.get_mut(host) else { continue };
            peer.used_at = now;
            if let (Some((connection, _)), false) = (&peer.connection, peer.is_busy()) {
                connection.send(&LinkFrame::Rest);
                peer.offered = true;
            }
        }
    }

    /// The other side would close the link, or has agreed to it.
    pub(super) fn rests(&mut self, id: u64, host: HostIndex) -> Vec<ShellEvent> {
        let (higher, now) = (self.is_higher(host), Instant::now());
        let Some(peer) = self.peers.get_mut(host) else { return Vec::new() };
        let Some((connection, true)) = &peer.connection else { return Vec::new() };
        match peer.hears_rest(higher, now) {
            Rest::Stay => return Vec::new(),
            Rest::Agree => connection.send(&LinkFrame::Rest),
            Rest::Close => {}
            Rest::Unasked => return self.bad(id),
        }
        self.owners.remove(&connection.id);
        peer.rest(now);
        self.call_missing();
        vec![ShellEvent::News(News::LinkRests { host })]
    }
}

/// The endpoints to a host, the relay last.
fn endpoints(candidates: &[String], relay: Option<SocketAddr>) -> Vec<Endpoint> {
    let direct = addresses::in_order(candidates, &addresses::of_interfaces());
    direct.into_iter().chain(relay.map(|at| Endpoint { at, relay: true })).collect()
}
