//! The list of the members that others keep while it changes.
//!
//! Each host that comes or goes makes another list, and whoever was told the one before may have
//! it still. In a machine of thousands of hosts that come one after the other a copy of each would
//! be the most that a daemon does. So a list consists of parts, and a change copies one of them.

use pvm_wire::HostIndex;
use pvm_wire::peer::HostFacts;
use std::fmt;
use std::sync::Arc;

/// The places of a part.
const PART_LEN: usize = 64;

type Part = [Option<Arc<HostFacts>>; PART_LEN];

/// The members of a machine, by index. A receiver may keep the list: it does not change.
#[derive(Clone, Default)]
pub struct HostList {
    parts: Arc<Vec<Arc<Part>>>,
    count: usize,
}

const fn split(host: HostIndex) -> (usize, usize) {
    (host.0 as usize / PART_LEN, host.0 as usize % PART_LEN)
}

impl HostList {
    /// The facts of a host that is in.
    pub fn get(&self, host: HostIndex) -> Option<&Arc<HostFacts>> {
        let (part, at) = split(host);
        self.parts.get(part)?[at].as_ref()
    }

    /// True if a host is in.
    pub fn contains(&self, host: HostIndex) -> bool {
        self.get(host).is_some()
    }

    /// The number of hosts.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// True if no host is in.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The hosts and their facts, by index.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (HostIndex, &Arc<HostFacts>)> {
        let places = self.parts.iter().enumerate().flat_map(|(part, places)| {
            places.iter().enumerate().map(move |(at, place)| (part * PART_LEN + at, place))
        });
        places.filter_map(|(at, place)| Some((HostIndex(u16::try_from(at).ok()?), place.as_ref()?)))
    }

    /// The hosts.
    pub fn hosts(&self) -> impl DoubleEndedIterator<Item = HostIndex> {
        self.iter().map(|(host, _)| host)
    }

    fn place(&mut self, host: HostIndex) -> &mut Option<Arc<HostFacts>> {
        let (part, at) = split(host);
        let parts = Arc::make_mut(&mut self.parts);
        if parts.len() <= part {
            parts.resize_with(part + 1, || Arc::new([const { None }; PART_LEN]));
        }
        &mut Arc::make_mut(&mut parts[part])[at]
    }

    /// A host is in, with these facts.
    pub(crate) fn insert(&mut self, host: HostIndex, facts: Arc<HostFacts>) {
        let before = self.place(host).replace(facts);
        self.count += usize::from(before.is_none());
    }

    /// A host is in no more. Returns its facts.
    pub(crate) fn remove(&mut self, host: HostIndex) -> Option<Arc<HostFacts>> {
        let before = self.contains(host).then(|| self.place(host).take())?;
        self.count -= 1;
        before
    }
}

/// Lists are equal if the same hosts are in, whichever ones were in before.
impl PartialEq for HostList {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl Eq for HostList {}

impl fmt::Debug for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn facts(name: &str) -> Arc<HostFacts> {
        Arc::new(HostFacts { name: name.into(), ..HostFacts::default() })
    }

    #[test]
    fn a_list_is_what_a_map_is() {
        let (mut list, mut map) = (HostList::default(), BTreeMap::new());
        let mut random = 7_u64;
        for step in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let host = HostIndex(u16::try_from(random >> 33 & 0xfff).unwrap_or(0));
            if random >> 63 == 0 {
                list.insert(host, facts("h"));
                map.insert(host, facts("h"));
            } else {
                assert_eq!(list.remove(host), map.remove(&host));
            }
            assert_eq!(list.len(), map.len());
            assert_eq!(list.get(host), map.get(&host));
        }
        assert!(list.iter().eq(map.iter().map(|(host, facts)| (*host, facts))));
        assert!(list.hosts().rev().eq(map.keys().rev().copied()));
    }

    #[test]
    fn a_list_from_which_a_high_host_has_gone_was_another_one_than_that_without_it() {
        let (mut list, mut other) = (HostList::default(), HostList::default());
        for host in [1, 64, 4095] {
            list.insert(HostIndex(host), facts("h"));
        }
        other.insert(HostIndex(1), facts("h"));
        assert_ne!(list, other);
        list.remove(HostIndex(64));
        list.remove(HostIndex(4095));
        assert_eq!(list, other);
        list.remove(HostIndex(1));
        assert_eq!(list, HostList::default());
    }

    #[test]
    fn a_change_copies_one_part_of_a_list_that_is_kept() {
        let mut list = HostList::default();
        (1..=4095).for_each(|host| list.insert(HostIndex(host), facts("h")));
        let kept = list.clone();
        list.insert(HostIndex(100), facts("other"));
        assert_eq!(kept.get(HostIndex(100)), Some(&facts("h")));
        let same = kept.parts.iter().zip(list.parts.iter()).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert_eq!((same.count(), list.parts.len()), (63, 64));
    }
}
