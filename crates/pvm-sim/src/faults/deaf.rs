//! A host that was taken out and has not heard of it.
//!
//! It is deleted, which needs no silence, so its links still stand; what the others say does not
//! arrive at it, and it asks them for something again and again.

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::request::{Request, Role};
use pvm_wire::{HostIndex, Tid};

/// It hears nothing for this time.
const DEAF: u64 = 2 * SECOND;
/// A link still stands for 50 ms after its end is known.
const AFTER_MS: u32 = 80;

impl Run {
    pub(super) fn deaf(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        let Some(leader) = self.leader() else { return Ok(()) };
        let others: Vec<HostIndex> = hosts.into_iter().filter(|&host| host != leader).collect();
        let deaf = self.random.pick(&others).unwrap_or(leader);
        let Some(name) = self.world.members(leader).remove(&deaf) else { return Ok(()) };
        for host in self.hosts().into_iter().filter(|&host| host != deaf) {
            self.world.deafen(host, deaf, DEAF);
        }
        let (Some(operator), Some(speaker)) =
            (self.world.connect(leader, Role::Operator), self.world.connect(deaf, Role::Operator))
        else {
            return Ok(());
        };
        self.world.request(leader, operator, Request::DelHosts { hosts: vec![name] });
        let mut after = 0;
        while after < AFTER_MS && self.world.nodes.contains_key(&deaf) {
            self.world.request(deaf, speaker, Request::Tasks { place: Tid::NONE });
            self.go(MS)?;
            after += u32::from(!self.world.members(leader).contains_key(&deaf));
        }
        self.go(5 * SECOND)
    }
}
