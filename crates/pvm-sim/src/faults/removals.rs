//! One or two hosts are deleted or drained, and one of the others dies at any moment of that.
//!
//! Each removal takes a voter away, and another member gets its vote. A death between the two finds
//! the fewest voters that there ever are. Whoever dies, the rest has a leader soon, and loses any
//! host more. A host that was taken out may be cut off at that time, and hears of its removal
//! later; another host may join.

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::request::{Request, Role};
use pvm_wire::{Blob, HostIndex};

/// Latencies so long that a death fits between the sending of a message and its arrival.
const LATENCY_MAX: u64 = 20;
/// Some hosts are this many times as far from each other: a death is noticed, and the dead host
/// taken out, before the removal is.
const FAR: u64 = 7;
/// The death comes this many latencies after the request, at most.
const HOPS_MAX: u64 = 40;
/// The dead host is taken out, and then the deletions are done.
const DONE: u64 = 25 * SECOND;

impl Run {
    pub(super) fn removals(&mut self) -> Result<(), String> {
        let far = if self.random.below(4) == 0 { FAR } else { 1 };
        let latency = (1 + self.random.below(LATENCY_MAX)) * far * MS;
        self.world.latency = latency;
        // A removal waits until nothing else is under way.
        if self.random.below(2) == 0 {
            self.actors.rest();
        }
        self.go(SECOND)?;
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let mut stay = self.hosts();
        // Of four hosts two could not go, with a third one dead.
        let count = 1 + usize::from(stay.len() > 4);
        let goes: Vec<HostIndex> = (0..count).map(|_| self.draw_from(&mut stay)).collect();
        let asked = self.random.pick(&stay).unwrap_or(leader);
        let dies = match self.random.below(4) {
            0 | 1 if stay.contains(&leader) => leader,
            2 => asked,
            _ => self.random.pick(&stay).unwrap_or(leader),
        };
        if self.random.below(3) == 0 {
            self.part_from(goes[0], &stay);
        }
        self.remove_all(asked, &goes)?;
        let before = self.random.below(HOPS_MAX * latency / MS) * MS;
        self.go(before)?;
        match self.random.below(2) {
            0 => self.world.kill(dies),
            _ => self.world.kill_seen(dies, 300 * MS),
        }
        stay.retain(|host| *host != dies);
        if self.random.below(3) == 0 {
            self.add(stay[0], 1);
        }
        self.actors.go_on();
        self.go(DONE)?;
        self.each_is_served(&stay, dies)?;
        self.one_more_dies()?;
        // The request dies with the host that was asked.
        match goes.into_iter().find(|host| asked != dies && self.hosts().contains(host)) {
            Some(host) => Err(format!("host {host} was to go and lives")),
            None => Ok(()),
        }
    }

    /// Of three hosts two go on, whether the request died with its host or not: all that should
    /// vote do by now.
    fn one_more_dies(&mut self) -> Result<(), String> {
        let mut stay = self.hosts();
        if stay.len() < 3 {
            return Ok(());
        }
        let dies = self.draw_from(&mut stay);
        self.world.kill(dies);
        self.go(DONE)?;
        self.each_is_served(&stay, dies)
    }

    fn each_is_served(&mut self, hosts: &[HostIndex], dead: HostIndex) -> Result<(), String> {
        for &host in hosts {
            if !self.is_served(host)? {
                return Err(format!("host {host} puts nothing after {dead} died"));
            }
        }
        Ok(())
    }

    /// Takes one of these hosts, by chance.
    fn draw_from(&mut self, hosts: &mut Vec<HostIndex>) -> HostIndex {
        let at = self.random.below(hosts.len() as u64);
        hosts.swap_remove(usize::try_from(at).unwrap_or(0))
    }

    /// A host hears nothing of the others for a while, or they hear nothing of it.
    fn part_from(&mut self, host: HostIndex, others: &[HostIndex]) {
        let heal = (500 + self.random.below(9000)) * MS;
        let way = self.random.below(3);
        for &other in others {
            match way {
                0 => self.world.cut(host, other, Some(heal)),
                1 => self.world.deafen(other, host, heal),
                _ => self.world.deafen(host, other, heal),
            }
        }
    }

    /// All are deleted by one request, or each by its own, or are drained.
    fn remove_all(&mut self, asked: HostIndex, goes: &[HostIndex]) -> Result<(), String> {
        let members = self.world.members(asked);
        let names: Vec<Blob> = goes.iter().filter_map(|host| members.get(host).cloned()).collect();
        let operators: Vec<_> =
            (0..2).filter_map(|_| self.world.connect(asked, Role::Operator)).collect();
        self.go(10 * MS)?;
        match self.random.below(3) {
            0 => self.world.request(asked, operators[0], Request::DelHosts { hosts: names }),
            1 => {
                for (name, operator) in names.into_iter().zip(operators) {
                    self.world.request(asked, operator, Request::DelHosts { hosts: vec![name] });
                }
            }
            _ => {
                goes.iter().for_each(|host| self.end_tasks(*host));
                self.world.request(asked, operators[0], Request::DrainHosts { hosts: names });
            }
        }
        Ok(())
    }

    fn end_tasks(&mut self, host: HostIndex) {
        let pids: Vec<u32> = self
            .world
            .nodes
            .get(&host)
            .map(|node| node.processes.keys().copied().collect())
            .unwrap_or_default();
        pids.into_iter().for_each(|pid| self.world.end_process(host, pid, 0));
    }
}
