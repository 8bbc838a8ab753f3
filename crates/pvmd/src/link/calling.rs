//! Whom this daemon calls, and by which ways: straight, by a relay, through a tunnel.

use crate::addresses;
use crate::launch::token::Token;
use crate::link::Links;
use crate::link::dial::Way;
use crate::link::redeem;
use crate::tls::Fingerprint;
use anyhow::Result;
use pvm_wire::peer::HostFacts;
use std::collections::BTreeMap;
use std::net::SocketAddr;

impl Links {
    /// Uses a token at the machine that this host is to join.
    pub(crate) async fn redeem(&self, token: &Token, facts: &HostFacts) -> Result<()> {
        let config = self.identity.client(&token.fingerprint.0)?;
        redeem::call(&ways(&token.addresses, None), &config, token, facts).await
    }

    /// Other hosts may be out of reach but for what is handed on there.
    pub(crate) const fn set_relay(&mut self, relay: SocketAddr) {
        self.relay = Some(relay);
    }

    pub(super) fn ways(&self, candidates: &[String]) -> Vec<Way> {
        ways(candidates, self.relay)
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
            let ways = addresses::in_order(&facts.addresses, &own);
            let ways = ways.into_iter().filter(|way| !way.relay).map(|way| way.at);
            (facts.key.0.clone(), ways.collect())
        });
        let tunnels = self.tunnels.iter().map(|(key, near)| (key.clone(), vec![*near]));
        self.relays.set(direct.chain(tunnels).collect());
    }

    pub(super) fn call_machine(&self) {
        if let Some((ways, key)) = &self.machine
            && let Ok(config) = self.identity.client(key)
        {
            self.wiring.call(ways.clone(), key.clone(), config, None);
        }
    }

    /// Calls the hosts that wait for it.
    pub(super) fn call_missing(&mut self) {
        let Some(place) = self.place else { return };
        let relay = self.relay;
        for (host, peer) in self.peers.range_mut(..place.host) {
            if peer.connection.is_some() || peer.calling.is_some() {
                continue;
            }
            let (ways, key) = (ways(&peer.facts.addresses, relay), peer.facts.key.0.clone());
            if let Ok(config) = self.identity.client(&key) {
                peer.calling = Some(self.wiring.call(ways, key, config, Some(*host)));
            }
        }
    }
}

/// The ways to a host, the relay last.
fn ways(candidates: &[String], relay: Option<SocketAddr>) -> Vec<Way> {
    let direct = addresses::in_order(candidates, &addresses::of_interfaces());
    direct.into_iter().chain(relay.map(|at| Way { at, relay: true })).collect()
}
