//! Hosts that join get their share: spaces move until each host has about as many primaries as the
//! others.

use super::{Server, unless_ended};
use crate::{registry, starting};
use pvm_wire::{Code, HostIndex};
use std::collections::BTreeMap;

/// The spaces of each host.
type Shares = BTreeMap<HostIndex, Vec<u64>>;

/// Plans the moves. One space after the other moves from the host with the most spaces to the host
/// with the fewest, as long as the difference is at least two. A move is the space, the host that
/// it leaves, and the host that it goes to.
fn moves(mut shares: Shares) -> Vec<(u64, HostIndex, HostIndex)> {
    let mut moves = Vec::new();
    loop {
        let length = |host: &HostIndex| shares[host].len();
        let Some(fewest) = shares.keys().copied().min_by_key(length) else { return moves };
        let Some(most) = shares.keys().copied().max_by_key(length) else { return moves };
        if length(&most) < length(&fewest) + 2 {
            return moves;
        }
        let Some(space) = shares.get_mut(&most).and_then(Vec::pop) else { return moves };
        shares.entry(fewest).or_default().push(space);
        moves.push((space, most, fewest));
    }
}

impl Server {
    /// Plans, if it is time to. If the machine cannot say now who has what, it is tried again.
    pub(super) fn share(&mut self) -> Result<(), Code> {
        if !self.planning.is_due() {
            return Ok(());
        }
        let planned = plan(self);
        self.planning.planned(planned != Ok(false));
        unless_ended(planned.map(drop))
    }
}

/// All servers make the same plan, and each carries out its own part. False if the plan has no
/// moves.
fn plan(server: &mut Server) -> Result<bool, Code> {
    let hosts = starting::hosts(server.task)?;
    let takers = || hosts.iter().filter(|host| host.takes_tasks);
    let mut shares: Shares = takers().map(|host| (host.index, Vec::new())).collect();
    for name in registry::names(server.task)? {
        if let Some((_, entry)) = registry::latest(server.task, &name)?
            && !entry.deleted
            && let Some(share) = shares.get_mut(&entry.primary.host())
        {
            share.push(entry.space);
        }
    }
    shares.values_mut().for_each(|share| share.sort_unstable());
    let me = server.task.tid().host();
    let moves = moves(shares);
    for (space, _, to) in moves.iter().filter(|(_, from, _)| *from == me) {
        if let Some(host) = takers().find(|host| host.index == *to) {
            server.helpers.move_to(*space, host)?;
        }
    }
    Ok(!moves.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(counts: &[u64]) -> Shares {
        let share = |(host, count): (u16, &u64)| {
            (HostIndex(host), (0..*count).map(|number| u64::from(host) << 8 | number).collect())
        };
        (1..).zip(counts).map(share).collect()
    }

    #[test]
    fn a_host_that_joins_gets_its_share_and_no_space_moves_for_nothing() {
        let to = |counts: &[u64]| {
            let moves = moves(shares(counts)).into_iter();
            moves.map(|(_, from, to)| (from.0, to.0)).collect::<Vec<_>>()
        };
        assert_eq!(to(&[1, 0]), []);
        assert_eq!(to(&[2, 0]), [(1, 2)]);
        assert_eq!(to(&[3, 3, 0]), [(2, 3), (1, 3)]);
        assert_eq!(to(&[2, 1, 1]), []);
        assert_eq!(to(&[]), []);
        assert_eq!(to(&[9, 0, 0]).len(), 6);
    }
}
