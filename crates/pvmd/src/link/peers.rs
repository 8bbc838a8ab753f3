//! All other hosts. Those that rest are kept apart: nothing is to be done for them, and a daemon of
//! a large machine looks through the others many times a second.

use crate::link::peer::Peer;
use pvm_wire::HostIndex;
use std::collections::BTreeMap;

/// All other hosts.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    awake: BTreeMap<HostIndex, Peer>,
    /// These have been changed by nobody since they came to rest.
    resting: BTreeMap<HostIndex, Peer>,
}

impl Peers {
    /// This host as it is.
    pub(crate) fn get(&self, host: HostIndex) -> Option<&Peer> {
        self.awake.get(&host).or_else(|| self.resting.get(&host))
    }

    /// This host, which is awake from now on.
    pub(crate) fn get_mut(&mut self, host: HostIndex) -> Option<&mut Peer> {
        if let Some(peer) = self.resting.remove(&host) {
            self.awake.insert(host, peer);
        }
        self.awake.get_mut(&host)
    }

    /// A host that is new, or another one at the same place.
    pub(crate) fn insert(&mut self, host: HostIndex, peer: Peer) {
        self.resting.remove(&host);
        self.awake.insert(host, peer);
    }

    /// Takes out this host.
    pub(crate) fn remove(&mut self, host: HostIndex) -> Option<Peer> {
        self.awake.remove(&host).or_else(|| self.resting.remove(&host))
    }

    /// Takes out the hosts of which this is true.
    pub(crate) fn extract(&mut self, mut is_gone: impl FnMut(HostIndex) -> bool) -> Vec<Peer> {
        let Self { awake, resting } = self;
        let mut gone = |peers: &mut BTreeMap<_, _>| -> Vec<Peer> {
            peers.extract_if(.., |host, _| is_gone(*host)).map(|(_, peer)| peer).collect()
        };
        let mut all = gone(awake);
        all.append(&mut gone(resting));
        all
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = (HostIndex, &Peer)> {
        self.awake.iter().chain(&self.resting).map(|(host, peer)| (*host, peer))
    }

    /// All of them, which are awake from now on.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = (HostIndex, &mut Peer)> {
        self.awake.append(&mut self.resting);
        self.awake_mut()
    }

    /// Those that are awake.
    pub(crate) fn awake(&self) -> impl Iterator<Item = (HostIndex, &Peer)> {
        self.awake.iter().map(|(host, peer)| (*host, peer))
    }

    /// Those that are awake.
    pub(crate) fn awake_mut(&mut self) -> impl Iterator<Item = (HostIndex, &mut Peer)> {
        self.awake.iter_mut().map(|(host, peer)| (*host, peer))
    }

    /// Hosts for which there is nothing to do are looked at no more.
    pub(crate) fn settle(&mut self) {
        self.resting.extend(self.awake.extract_if(.., |_, peer| peer.is_at_rest()));
    }

    /// True without any other host.
    pub(crate) fn is_empty(&self) -> bool {
        self.awake.is_empty() && self.resting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::peer::HostFacts;
    use std::time::Instant;

    fn with(count: u16) -> Peers {
        let mut peers = Peers::default();
        for host in 1..=count {
            peers.insert(HostIndex(host), Peer::new(HostFacts::default(), Instant::now()));
        }
        peers
    }

    fn awake(peers: &Peers) -> Vec<u16> {
        peers.awake().map(|(host, _)| host.0).collect()
    }

    #[test]
    fn hosts_without_a_link_were_looked_at_at_each_message() {
        let mut peers = with(9);
        peers.settle();
        assert_eq!(awake(&peers), []);
        assert_eq!(peers.all().count(), 9);
        for (host, peer) in peers.all() {
            assert_eq!((peer.deadline(), peer.rest_at()), (None, None));
            assert_eq!((peer.call_at(true), peer.call_at(false)), (None, None));
            assert!(peer.is_flushed() && !peer.is_busy(), "{host:?}");
        }
        let now = Instant::now();
        // To these there should be a link, or something is to go there.
        peers.get_mut(HostIndex(2)).expect("a host").set_near(true, now);
        peers.get_mut(HostIndex(4)).expect("a host").want(now);
        peers.get_mut(HostIndex(6)).expect("a host").streams.wake(7);
        peers.get_mut(HostIndex(8)).expect("a host").down(now);
        assert!(peers.get_mut(HostIndex(9)).is_some());
        peers.settle();
        assert_eq!(awake(&peers), [2, 4, 6, 8]);
        peers.get_mut(HostIndex(2)).expect("a host").set_near(false, now);
        peers.settle();
        assert_eq!(awake(&peers), [4, 6, 8]);
    }

    #[test]
    fn a_host_is_there_once_whether_it_rests_or_not() {
        let mut peers = with(3);
        peers.settle();
        peers.insert(HostIndex(1), Peer::new(HostFacts::default(), Instant::now()));
        assert_eq!(peers.all().count(), 3);
        assert!(peers.remove(HostIndex(2)).is_some() && peers.get(HostIndex(2)).is_none());
        assert_eq!(peers.extract(|host| host.0 == 3).len(), 1);
        assert_eq!(peers.all_mut().count(), 1);
        assert!(peers.remove(HostIndex(1)).is_some() && peers.is_empty());
    }
}
