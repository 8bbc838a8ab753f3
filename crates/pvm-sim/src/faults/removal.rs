//! A leader's daemon is started again while the removal of a voter stands in its log, and the voter
//! that would have to confirm that removal is silent.
//!
//! Of three hosts two are left by a deletion, and both must confirm it. The leader asked the other
//! one first, which answered and is silent now. The daemon that comes back leads again by the vote
//! of the host that is to go: if that one confirmed its own removal, the leader would be left alone
//! as one of two voters.

use super::{Run, SECOND};
use crate::time::MS;
use crate::world::FIRST;
use pvm_wire::HostIndex;
use pvm_wire::request::{Request, Role};

/// A latency so long that a crash fits between the sending of a message and its arrival.
const LATENCY_MS: u64 = 20;
/// The silent host is taken out, and then the deletion is done.
const ANSWERED: u64 = 20 * SECOND;

impl Run {
    pub(super) fn removal(&mut self) -> Result<(), String> {
        self.world.latency = LATENCY_MS * MS;
        // A removal waits until nothing else is under way.
        self.actors.rest();
        self.go(SECOND)?;
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let others: Vec<HostIndex> = self.hosts().into_iter().filter(|h| *h != leader).collect();
        let goes = self.random.pick(&others).unwrap_or(FIRST);
        let Some(&stays) = others.iter().find(|host| **host != goes) else { return Ok(()) };
        let Some(name) = self.world.members(leader).remove(&goes) else { return Ok(()) };
        let Some(operator) = self.world.connect(leader, Role::Operator) else { return Ok(()) };
        self.go(10 * MS)?;
        self.world.request(leader, operator, Request::DelHosts { hosts: vec![name] });
        // The question and its answer pass, and the removal is under way.
        let answered = (2 * LATENCY_MS - 5 + self.random.below(LATENCY_MS + 10)) * MS;
        self.go(answered)?;
        let _ = self.silence(stays, &[leader, goes]);
        let before = self.random.below(2 * LATENCY_MS) * MS;
        self.go(before)?;
        self.world.crash(leader);
        self.actors.go_on();
        self.go(ANSWERED)?;
        self.all_are_served(goes)
    }
}
