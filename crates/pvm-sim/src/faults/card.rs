//! A network card of the leader that loses what goes to some hosts, or what comes from them.
//!
//! The others hear one another. So no host may be taken out, and after a while a host leads that
//! all hear; the death of a host is reported as quickly as ever.

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Envelope, HostIndex, Message, Tid};

/// The time until the links are given up and the silence counts, and another host leads.
const UNHEARD: u64 = 9 * SECOND;
/// The time for which the card is bad.
const BAD: u64 = 14 * SECOND;
/// A host that dies is told of within this: its silence, and the question whether others hear it.
const TOLD: u64 = 5 * SECOND + 600 * MS;
/// A put is done within this time.
const SERVED: u64 = 400 * MS;
/// The latencies within which a put is done where hosts are far from each other.
const SERVED_HOPS: u64 = 8;

impl Run {
    pub(super) fn card(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let mut others: Vec<HostIndex> = hosts.iter().copied().filter(|h| *h != leader).collect();
        // The leader still hears a majority of the voters: three of up to four hosts, or five.
        let most = if hosts.len() < 5 { 1 } else { 2 };
        for _ in 0..=self.random.below(most) {
            let at = usize::try_from(self.random.below(others.len() as u64)).unwrap_or(0);
            let lost = others.swap_remove(at);
            let way = self.random.below(3);
            for (from, to) in [(leader, lost), (lost, leader)].into_iter().skip((way == 1).into()) {
                self.world.deafen(from, to, BAD);
                if way == 0 {
                    break;
                }
            }
        }
        self.go(UNHEARD)?;
        self.nobody_is_out(&hosts)?;
        for &host in &hosts {
            if !self.is_served(host)? {
                return Err(format!("host {host} puts nothing although others hear it"));
            }
        }
        self.nobody_is_out(&hosts)?;
        self.go(BAD - UNHEARD)?;
        self.nobody_is_out(&hosts)?;
        let dead = self.random.pick(&hosts).unwrap_or(leader);
        self.world.kill(dead);
        self.go(TOLD)?;
        let left: Vec<HostIndex> = hosts.into_iter().filter(|host| *host != dead).collect();
        self.nobody_is_out(&left)?;
        self.go(3 * SECOND)
    }

    /// Checks that all of these live, and that each knows exactly them.
    fn nobody_is_out(&self, hosts: &[HostIndex]) -> Result<(), String> {
        for &host in hosts {
            let known: Vec<_> = self.world.members(host).into_keys().collect();
            if known != hosts {
                return Err(format!("host {host} knows {known:?} and not {hosts:?}"));
            }
        }
        Ok(())
    }

    /// A command on a host puts something, and is answered within a second.
    pub(super) fn is_served(&mut self, host: HostIndex) -> Result<bool, String> {
        let Some(operator) = self.world.connect(host, Role::Operator) else { return Ok(false) };
        self.go(10 * MS)?;
        let message =
            Message::of_ints(Envelope::new(Tid::NONE, Address::untagged(Tid::NONE)), &[1]);
        let name = format!("served at {host}").as_str().into();
        self.world.request(host, operator, Request::PutInfo { name, flags: 2, message });
        self.go(SERVED.max(SERVED_HOPS * self.world.latency))?;
        let replies = self.world.replies.get(&(host, operator));
        Ok(matches!(replies.and_then(|all| all.last()), Some(Reply::Number { .. })))
    }
}
