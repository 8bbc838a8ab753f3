//! The hosts to which a permanent link stands.
//!
//! A link between any two of N hosts would be N times N links, and as many beats, in a machine
//! where nothing happens. So links stand only between hosts that are *near* each other: the leader
//! and every other host, because the log comes from the leader, or in a machine of many hosts
//! neighbours in the tree along which it comes; the voters; and neighbours in a ring, so that four
//! others watch each host, independent of the leader. All other pairs *rest*: their link is made
//! when one of them has something to say, and closed when it has not been used for a while.
//!
//! Watching a fixed number of others is the idea of SWIM (Das, Gupta and Motivala, 2002). There
//! they change with each round; here they are the same everywhere and need not be told, and links
//! to them stand anyway.

use super::consensus::{Cause, Consensus};
use crate::quorum::Member;
use pvm_wire::HostIndex;
use std::collections::{BTreeMap, BTreeSet};

/// The time for which a leader may lack a link to a host before it counts that others hear nothing
/// of it. A daemon that was killed is back in a fraction of it; a host that is silent is told of by
/// others only later.
const LACK_NS: u64 = 1_000_000_000;
/// The time after its call for which a leader may lack an on-demand link before it counts that
/// others hear nothing of the host.
const CALLED_NS: u64 = 500_000_000;

/// The hosts near to this one, and the hosts of which others hear nothing.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// The cause of the set that the shell was told.
    cause: Option<Cause>,
    hosts: BTreeSet<HostIndex>,
    /// Hosts to which there should be a link and is none, and since when.
    lacking: BTreeMap<HostIndex, u64>,
    /// Hosts that others hear nothing of, and when that counts.
    reported: BTreeMap<HostIndex, u64>,
}

impl Near {
    pub(crate) fn contains(&self, host: HostIndex) -> bool {
        self.hosts.contains(&host)
    }

    /// True where this follows from something else than what was told last.
    pub(crate) fn is_news(&self, cause: &Cause) -> bool {
        self.cause.as_ref() != Some(cause)
    }

    /// These are near from now on; true if they were not.
    pub(crate) fn set(&mut self, cause: Cause, hosts: BTreeSet<HostIndex>) -> bool {
        let first = self.cause.replace(cause).is_none();
        let changed = self.hosts != hosts;
        self.hosts = hosts;
        first || changed
    }

    /// There is no link to this host, and there should be.
    pub(crate) fn lacks(&mut self, host: HostIndex, now: u64) {
        self.lacking.entry(host).or_insert(now);
    }

    /// There is one, or need not be.
    pub(crate) fn lacks_no_more(&mut self, host: HostIndex) {
        self.lacking.remove(&host);
        self.reported.remove(&host);
    }

    /// Another host hears nothing of this one, to which this one has no link either.
    pub(crate) fn report(&mut self, host: HostIndex, now: u64) {
        let at = match self.hosts.contains(&host) {
            true => *self.lacking.entry(host).or_insert(now) + LACK_NS,
            false => now + CALLED_NS,
        };
        self.reported.entry(host).or_insert(at);
    }

    /// The hosts that others do not hear, and to which this one has had no link for long enough.
    pub(crate) fn take_reported(&mut self, now: u64) -> BTreeSet<HostIndex> {
        self.reported.extract_if(.., |_, at| *at <= now).map(|(host, _)| host).collect()
    }

    pub(crate) fn next_time(&self) -> Option<u64> {
        self.reported.values().copied().min()
    }
}

/// The hosts to which links are to stand: where the log goes along a tree this host's neighbours
/// there, and its neighbours in the ring.
pub(crate) fn wanted(log: &Consensus, me: HostIndex) -> BTreeSet<HostIndex> {
    let mut near: BTreeSet<_> = log.neighbours(me).into_iter().collect();
    let leader = log.leader().map(|(_, host)| host);
    if let Some((_, kin)) = log.kin() {
        near.extend(kin);
    } else if leader == Some(me) {
        near.extend(log.members().into_iter().map(Member::host));
    } else {
        let voters = log.voters();
        near.extend(leader);
        // Without a leader, one of the voters will be the next one.
        if leader.is_none() || voters.contains(&me) {
            near.extend(voters);
        }
    }
    near.retain(|host| *host != me && log.member(*host).is_some());
    near
}
