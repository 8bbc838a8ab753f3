//! The ring of all hosts: each one has the same few neighbours wherever it is asked for.

use pvm_wire::HostIndex;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

/// Neighbours on each side of the ring.
const SIDE_COUNT: usize = 2;

/// The hosts in the sequence of the ring.
#[derive(Debug, Default)]
pub(super) struct Ring {
    places: BTreeSet<(u32, HostIndex)>,
}

impl Ring {
    pub(super) fn insert(&mut self, host: HostIndex) {
        self.places.insert((spread(host), host));
    }

    pub(super) fn remove(&mut self, host: HostIndex) {
        self.places.remove(&(spread(host), host));
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
    }

    /// The neighbours of a host, sorted; none of a host that is not in.
    pub(super) fn neighbours(&self, of: HostIndex) -> Vec<HostIndex> {
        let at = (spread(of), of);
        if !self.places.contains(&at) {
            return Vec::new();
        }
        // Behind the last one comes the first.
        let next = self.places.range((Excluded(at), Unbounded)).chain(&self.places);
        let last = self.places.range(..at).rev().chain(self.places.iter().rev());
        let all: BTreeSet<_> = next.take(SIDE_COUNT).chain(last.take(SIDE_COUNT)).collect();
        let mut all: Vec<_> = all.into_iter().map(|(_, host)| *host).collect();
        all.retain(|host| *host != of);
        all.sort_unstable();
        all
    }
}

/// Hosts that follow one another are often on one computer, and fail together: they are spread over
/// the ring (the last step of SplitMix64, of which the upper half differs for all places).
fn spread(host: HostIndex) -> u32 {
    let z = u64::from(host.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from(z >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: u16) -> (Vec<HostIndex>, Ring) {
        let hosts: Vec<_> = (1..=count).map(HostIndex).collect();
        let mut ring = Ring::default();
        hosts.iter().for_each(|host| ring.insert(*host));
        (hosts, ring)
    }

    #[test]
    fn each_of_many_hosts_has_four_neighbours_which_have_it_as_theirs() {
        for count in [2, 3, 4, 5, 6, 7, 64, 4095] {
            let (all, ring) = ring(count);
            for &host in all.iter().step_by(1 + all.len() / 64) {
                let mine = ring.neighbours(host);
                assert_eq!(mine.len(), (all.len() - 1).min(2 * SIDE_COUNT));
                assert!(!mine.contains(&host) && mine.is_sorted());
                assert!(mine.iter().all(|other| ring.neighbours(*other).contains(&host)));
            }
        }
        assert!(ring(3).1.neighbours(HostIndex(9)).is_empty());
        assert!(ring(1).1.neighbours(HostIndex(1)).is_empty());
    }

    /// The neighbours as the hosts stand in a circle, by the definition.
    fn plain(places: &[(u32, HostIndex)], of: HostIndex) -> Vec<HostIndex> {
        let Some(at) = places.iter().position(|(_, host)| *host == of) else { return Vec::new() };
        let steps = (1..=SIDE_COUNT).flat_map(|step| [step, places.len() * SIDE_COUNT - step]);
        let found: BTreeSet<_> = steps.map(|by| places[(at + by) % places.len()].1).collect();
        found.into_iter().filter(|host| *host != of).collect()
    }

    #[test]
    fn neighbours_are_those_of_a_circle_whoever_comes_and_goes() {
        let (mut ring, mut places) = (Ring::default(), Vec::new());
        let mut random = 11_u64;
        for step in 0..20_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            // All that a record can say is a host, also one that no machine has; often few are in.
            let low = HostIndex(u16::try_from(random >> 33 & 0xf).unwrap_or(0));
            let any = HostIndex(u16::try_from(random >> 40 & 0xffff).unwrap_or(0));
            let host = if random >> 61 & 1 == 0 { low } else { any };
            places.retain(|(_, other)| *other != host);
            if random >> 62 == 0 {
                ring.insert(host);
                ring.insert(host);
                places.push((spread(host), host));
                places.sort_unstable();
            } else {
                ring.remove(host);
            }
            if places.len() > 12 {
                places.retain(|(_, host)| host.0 < 16);
                (16..=u16::MAX).for_each(|host| ring.remove(HostIndex(host)));
            }
            for of in [host, low, HostIndex(0), HostIndex(u16::MAX)] {
                assert_eq!(ring.neighbours(of), plain(&places, of), "{places:?} {of}");
            }
        }
    }

    #[test]
    fn no_two_places_of_the_ring_are_one() {
        let places: BTreeSet<_> = ring(4095).1.places.into_iter().map(|(at, _)| at).collect();
        assert_eq!(places.len(), 4095);
    }

    #[test]
    fn a_host_that_has_gone_is_nobodys_neighbour() {
        let (all, mut ring) = ring(64);
        let gone = ring.neighbours(all[0])[0];
        ring.remove(gone);
        assert!(all.iter().all(|host| !ring.neighbours(*host).contains(&gone)));
        assert_eq!(ring.neighbours(all[0]).len(), 2 * SIDE_COUNT);
    }

    #[test]
    fn neighbours_are_not_the_next_ones() {
        let (all, ring) = ring(64);
        let next = |host: &&HostIndex| ring.neighbours(**host).contains(&HostIndex(host.0 + 1));
        assert!(all.iter().filter(next).count() < 16);
    }
}
