//! What must hold of the order of commands, after everything that happens.
//!
//! Hosts that have applied the same commands agree on everything. A term has one leader. Of all
//! hosts at most one may say what is up to date. What a host says that was taken out has no effect.

use crate::node::Node;
use pvm_core::Time;
use pvm_wire::{Blob, HostIndex};
use std::collections::BTreeMap;

/// Of so many commands one is looked at.
const LOOK_EVERY: u64 = 8;

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// What all agree on after a command of an era.
    agreed: BTreeMap<(u64, u64), (HostIndex, Blob)>,
    /// How far each host was when it was looked at: its era, command and daemon.
    looked: BTreeMap<HostIndex, (u64, u64, u32)>,
    leaders: BTreeMap<u64, HostIndex>,
    /// Two hosts may go on apart from each other (`on_silence=survive`).
    pub(crate) may_split: bool,
}

impl Agreement {
    /// What is wrong now, if anything.
    pub(crate) fn look(&mut self, now: u64, nodes: &BTreeMap<HostIndex, Node>) -> Option<String> {
        let mut current = Vec::new();
        for (&host, node) in nodes {
            let Some(machine) = node.machine.as_ref().filter(|machine| machine.is_joined()) else {
                continue;
            };
            if let Some((term, leader)) = machine.leader().filter(|leader| leader.1 == host) {
                let known = *self.leaders.entry(term).or_insert(leader);
                if known != leader {
                    return Some(format!("term {term} has two leaders, {known} and {leader}"));
                }
            }
            // One that is stopped says nothing now.
            if machine.is_current(Time(node.clock.shows(now))) {
                current.push(host);
            }
            let at = (machine.era(), machine.applied(), node.config.restarts);
            if self.looked.get(&host) == Some(&at) {
                continue;
            }
            self.looked.insert(host, at);
            // What differs goes on to differ: not every command needs a look.
            if at.1 % LOOK_EVERY != 0 {
                continue;
            }
            let agreed = machine.agreed();
            let known = self.agreed.entry((at.0, at.1)).or_insert_with(|| (host, agreed.clone()));
            if known.1 != agreed {
                let other = known.0;
                return Some(format!("{host} and {other} differ after command {}", at.1));
            }
        }
        if current.len() > 1 && !self.may_split {
            return Some(format!("hosts {current:?} both take themselves for the leader"));
        }
        // The state of long ago need not be kept.
        while self.agreed.len() > 4000 {
            self.agreed.pop_first();
        }
        None
    }
}
