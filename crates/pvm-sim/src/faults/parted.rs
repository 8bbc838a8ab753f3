//! One of three hosts is deleted while another one is silent, and no host knows that yet.
//!
//! Both that are left must order the deletion. So it waits until the silent one answers, or was
//! taken out itself; whatever becomes of it, the rest has a leader. If that one led before and
//! stays, it leads all the time: a leader that put the deletion into its log without asking would
//! step down, because nobody confirms it.

use super::{Run, SECOND};
use crate::time::MS;
use crate::world::FIRST;
use pvm_wire::HostIndex;
use pvm_wire::request::{Reply, Request, Role};

/// The removal of a silent host takes 6 s, and then the deletion is answered.
const ANSWERED: u64 = 12 * SECOND;

impl Run {
    pub(super) fn parted(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        let at = |n: u64| usize::try_from(n).unwrap_or(0);
        let silent = hosts[at(self.random.below(3))];
        let others: Vec<HostIndex> = hosts.iter().copied().filter(|h| *h != silent).collect();
        let gone = others[at(self.random.below(2))];
        let asked = others[at(self.random.below(2))];
        let Some(name) = self.world.members(FIRST).remove(&gone) else { return Ok(()) };
        let Some(operator) = self.world.connect(asked, Role::Operator) else { return Ok(()) };
        self.go(10 * MS)?;
        let leader = self.leader().filter(|leader| ![silent, gone].contains(leader));
        let term = leader.and_then(|leader| self.leads(leader));
        let is_silent_to_all = self.silence(silent, &others);
        let before = self.random.below(40) * MS;
        self.go(before)?;
        self.world.request(asked, operator, Request::DelHosts { hosts: vec![name] });
        self.go(ANSWERED)?;
        let replies = self.world.replies.get(&(asked, operator)).map_or(&[][..], Vec::as_slice);
        // A host that deletes itself has ended behind its answer.
        if asked != gone && !matches!(replies.last(), Some(Reply::HostResults { .. })) {
            return Err(format!("the deletion of host {gone} is answered with {replies:?}"));
        }
        if let Some(leader) = leader.filter(|_| is_silent_to_all)
            && self.leads(leader) != term
        {
            return Err(format!("host {leader} led no more while {silent} was silent"));
        }
        self.all_are_served(gone)
    }

    /// Nothing passes between a host and the others or one of them, or it stands still, or it dies.
    /// Returns true if it is silent to all.
    pub(super) fn silence(&mut self, silent: HostIndex, others: &[HostIndex]) -> bool {
        let heal = (200 + self.random.below(9000)) * MS;
        let way = self.random.below(5);
        match way {
            0 => self.world.kill(silent),
            1 => self.world.pause(silent, heal),
            2 => others.iter().for_each(|other| {
                self.world.deafen(*other, silent, heal);
                self.world.deafen(silent, *other, heal);
            }),
            3 => self.world.cut(silent, others[0], Some(heal)),
            _ => others.iter().for_each(|other| self.world.cut(silent, *other, Some(heal))),
        }
        way != 3
    }

    pub(super) fn all_are_served(&mut self, gone: HostIndex) -> Result<(), String> {
        let left = self.hosts();
        if left.is_empty() || left.contains(&gone) {
            return Err(format!("{left:?} are left, and {gone} was deleted"));
        }
        for host in left {
            if !self.is_served(host)? {
                return Err(format!("host {host} puts nothing after {gone} was deleted"));
            }
        }
        Ok(())
    }
}
