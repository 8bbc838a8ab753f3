//! The invariants of the log of commands, after every event.
//!
//! Hosts that have applied the same commands agree on everything. A term has one leader. At most
//! one host may answer as an up-to-date leader. Messages of a host that was taken out have no
//! effect.

use crate::node::Node;
use crate::sums::Sums;
use pvm_core::Time;
use pvm_wire::HostIndex;
use std::collections::{BTreeMap, BTreeSet};

/// Once in this many commands each host's whole state is compared, one host after the other; in a
/// larger world once in as many as there are hosts.
const LOOK_EVERY: u64 = 64;

/// The observations so far.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// The sum of what all agree on, after a command of an era.
    agreed: BTreeMap<(u64, u64), (HostIndex, u64)>,
    /// The state of each host at its last look: its era, command and daemon.
    looked: BTreeMap<HostIndex, (u64, u64, u32)>,
    leaders: BTreeMap<u64, HostIndex>,
    /// Hosts that took themselves for the leader when they were looked at.
    current: BTreeSet<HostIndex>,
    /// Two hosts may go on apart from each other (`on_silence=survive`).
    pub(crate) may_split: bool,
    /// Clocks may stand still: only answers are judged, at their receivers.
    pub(crate) may_stop: bool,
}

impl Agreement {
    /// The violation, if there is one now, after changes at these hosts. No host becomes the leader
    /// without a change.
    pub(crate) fn look(
        &mut self,
        now: u64,
        nodes: &BTreeMap<HostIndex, Node>,
        touched: &BTreeSet<HostIndex>,
    ) -> Option<String> {
        let mut current = BTreeSet::new();
        let every = LOOK_EVERY.max(nodes.len() as u64);
        let hosts: Vec<_> = touched.union(&self.current).copied().collect();
        for (&host, node) in hosts.iter().filter_map(|host| nodes.get_key_value(host)) {
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
                current.insert(host);
            }
            let at = (machine.era(), machine.applied(), node.config.restarts);
            if self.looked.get(&host) == Some(&at) {
                continue;
            }
            self.looked.insert(host, at);
            if let Some(wrong) = self.compare(host, node) {
                return Some(wrong);
            }
            let sum = node.sums().agreed;
            // The records must equal the state: otherwise the sums prove nothing.
            let turn = u64::from(host.0) % every == at.1 % every;
            if turn && Sums::agreed_of(machine) != sum {
                return Some(format!("{host} keeps another state than it has after {}", at.1));
            }
        }
        if current.len() > 1 && !self.may_split && !self.may_stop {
            return Some(format!("hosts {current:?} both take themselves for the leader"));
        }
        self.current = current;
        // The state of long ago need not be kept.
        while self.agreed.len() > 4000 {
            self.agreed.pop_first();
        }
        None
    }

    /// Returns a fault if others that have applied as much as this host have another state. A host
    /// that ends is compared, too: its tasks know the effects of its last commands. One that ends
    /// is asked, too: the effects of its last commands have been told to its tasks.
    pub(crate) fn compare(&mut self, host: HostIndex, node: &Node) -> Option<String> {
        let machine = node.machine.as_ref().filter(|machine| machine.is_joined())?;
        let at = (machine.era(), machine.applied());
        let sum = node.sums().agreed;
        let (other, known) = *self.agreed.entry(at).or_insert((host, sum));
        (known != sum).then(|| format!("{host} and {other} differ after command {}", at.1))
    }
}
