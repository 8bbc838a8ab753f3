//! The tunnels that this host keeps for hosts that it has added.

use super::Shell;
use crate::addresses;
use crate::launch::ssh::Target;
use crate::launch::tunnel::{self, Ends, Tunnel};
use crate::shell::own_records::OwnRecords;
use crate::tls::Fingerprint;
use anyhow::{Context as _, Result};
use pvm_wire::HostIndex;
use pvm_wire::hostfile::{HostLine, parse_line};
use pvm_wire::peer::HostFacts;
use std::net::SocketAddr;
use std::sync::Arc;

impl Shell {
    /// Opens the tunnel to a new host, and adds to its addresses where others reach it by it.
    pub(super) async fn tunnel_to(
        &mut self,
        line: &HostLine,
        far: u16,
        mut facts: HostFacts,
    ) -> Result<HostFacts> {
        let mut direct = facts.addresses.iter().filter_map(|at| at.parse::<SocketAddr>().ok());
        let door = direct.next().context("a host without an address")?.port();
        let here = self.ports.outward;
        let (key, near) = (facts.key.clone(), tunnel::near_port()?);
        let ends = Ends { line: line.to_line(), key, far, door, near, here };
        self.open_tunnel(ends, Target::new(line));
        let detours = self.ports.addresses().into_iter().map(|at| addresses::via(&at));
        facts.addresses.extend(detours);
        self.keep_tunnels().await?;
        Ok(facts)
    }

    fn open_tunnel(&mut self, ends: Ends, target: Target) {
        self.links.set_tunnel(&ends.key.0, Some(ends.near()));
        self.tunnels.push(Tunnel::open(ends, target));
    }

    /// This daemon was started again: the tunnels of the last one went with it.
    pub(super) fn reopen(&mut self, tunnels: Option<Vec<Ends>>) {
        for ends in tunnels.into_iter().flatten() {
            if let Ok(line) = parse_line(&ends.line.0) {
                self.open_tunnel(ends, Target::new(&line));
            }
        }
    }

    /// The tunnels to hosts that are in no more are closed.
    pub(super) async fn close_tunnels(
        &mut self,
        hosts: &[(HostIndex, Arc<HostFacts>)],
    ) -> Result<()> {
        let before = self.tunnels.len();
        let mut closed = Vec::new();
        self.tunnels.retain_mut(|tunnel| {
            let member = hosts.iter().any(|(_, facts)| facts.key == tunnel.ends.key);
            tunnel.placed |= member;
            if tunnel.placed && !member {
                closed.push(tunnel.ends.key.0.clone());
            }
            member || !tunnel.placed
        });
        for key in &closed {
            self.links.set_tunnel(key, None);
        }
        if self.tunnels.len() == before { Ok(()) } else { self.keep_tunnels().await }
    }

    /// A daemon that was started is waited for no longer, nor is there a way to it.
    pub(super) fn give_up(&mut self, key: &Fingerprint) {
        self.tunnels.retain(|tunnel| tunnel.ends.key.0 != *key);
        self.links.set_tunnel(key, None);
        self.links.give_up(key);
    }

    async fn keep_tunnels(&self) -> Result<()> {
        let tunnels = self.tunnels.iter().map(|tunnel| tunnel.ends.clone()).collect();
        let kept = OwnRecords { tunnels: Some(tunnels), ..OwnRecords::default() };
        self.uplink.effects(0, kept.effects()).await
    }
}
