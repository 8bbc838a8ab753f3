//! The host table: who is in the machine, the same on every host after the same commands.

use crate::records::{Change, Slot, Table};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::HostInfo;
use pvm_wire::{Blob, HostIndex, Tid, record};

record! {
    /// How the table is numbered.
    pub struct Numbering {
        /// Counts the changes: tables of equal epochs are equal.
        pub epoch: u64,
        /// The index that was given last. A place is not used again at once.
        pub last: HostIndex,
    }
}

/// The members.
#[derive(Debug)]
pub(crate) struct Hosts {
    members: Table<HostIndex, HostFacts>,
    numbering: Slot<Numbering>,
}

impl Hosts {
    pub(crate) const fn new() -> Self {
        Self {
            members: Table::new(b'h'),
            numbering: Slot::new(b'H', Numbering { epoch: 0, last: HostIndex(0) }),
        }
    }

    /// Lets a host in under a name of its own. None if there is no place left.
    pub(crate) fn add(&mut self, mut facts: HostFacts) -> Option<HostIndex> {
        let host = self.free_place()?;
        facts.name = self.unique_name(&facts.name);
        self.members.insert(host, facts);
        let numbering = self.numbering.get_mut();
        numbering.last = host;
        numbering.epoch += 1;
        Some(host)
    }

    /// The first host begins the table.
    pub(crate) fn begin(&mut self, host: HostIndex, facts: HostFacts) {
        self.members.insert(host, facts);
        self.numbering.set(Numbering { epoch: 1, last: host });
    }

    fn free_place(&self) -> Option<HostIndex> {
        let max = HostIndex::MAX.0;
        let last = self.numbering.get().last.0;
        (1..=max)
            .map(|step| HostIndex((last + step - 1) % max + 1))
            .find(|host| !self.members.contains(host))
    }

    fn unique_name(&self, name: &Blob) -> Blob {
        let mut unique = name.clone();
        let mut number = 2;
        while self.members.values().any(|facts| facts.name == unique) {
            unique = name.clone();
            unique.0.extend_from_slice(format!(".{number}").as_bytes());
            number += 1;
        }
        unique
    }

    /// Takes a host out; false if it was no member.
    pub(crate) fn remove(&mut self, host: HostIndex) -> bool {
        let removed = self.members.remove(&host).is_some();
        if removed {
            self.numbering.get_mut().epoch += 1;
        }
        removed
    }

    pub(crate) fn contains(&self, host: HostIndex) -> bool {
        self.members.contains(&host)
    }

    /// True for a place that was never filled as far as is known here.
    pub(crate) fn may_be_new(&self, host: HostIndex) -> bool {
        host > self.numbering.get().last
    }

    pub(crate) fn facts(&self, host: HostIndex) -> Option<&HostFacts> {
        self.members.get(&host)
    }

    /// The members by index.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (HostIndex, &HostFacts)> {
        self.members.iter().map(|(&host, facts)| (host, facts))
    }

    pub(crate) fn indices(&self) -> Vec<HostIndex> {
        self.members.keys().copied().collect()
    }

    /// The member with this name: as it is, or up to the first dot.
    pub(crate) fn named(&self, name: &Blob) -> Option<HostIndex> {
        let exact = self.iter().find(|(_, facts)| facts.name == *name);
        let is_short = |facts: &HostFacts| {
            facts.name.0.starts_with(&name.0) && facts.name.0.get(name.0.len()) == Some(&b'.')
        };
        let short = || {
            let numbered = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
            self.iter().find(|(_, facts)| {
                // NAME.2 is another daemon on NAME, not its long name.
                is_short(facts) && !numbered(&facts.name.0[name.0.len() + 1..])
            })
        };
        if name.0.is_empty() {
            return None;
        }
        exact.or_else(short).map(|(host, _)| host)
    }

    /// Counts the changes so far.
    pub(crate) const fn epoch(&self) -> u64 {
        self.numbering.get().epoch
    }

    /// As `pvm_config` shows them.
    pub(crate) fn infos(&self) -> Vec<HostInfo> {
        let info = |(host, facts): (HostIndex, &HostFacts)| HostInfo {
            tid: Tid::host_id(host),
            name: facts.name.clone(),
            arch: facts.arch.clone(),
            speed: facts.speed,
            signature: facts.signature,
            cores: facts.cores,
        };
        self.iter().map(info).collect()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.members.take_changes(out);
        self.numbering.take_changes(out);
    }

    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.members.records(out);
        self.numbering.records(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.members.restore(key, value) || self.numbering.restore(key, value)
    }

    pub(crate) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.members.adopt(key, value) || self.numbering.adopt(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str) -> HostFacts {
        HostFacts {
            name: name.into(),
            arch: "LINUX64".into(),
            signature: 0x408c41,
            cores: 2,
            speed: 1000,
            address: String::new(),
            key: Blob::default(),
            search: Vec::new(),
        }
    }

    #[test]
    fn names_are_unique_and_places_are_not_used_again_at_once() {
        let mut hosts = Hosts::new();
        assert_eq!(hosts.add(facts("vm")), Some(HostIndex(1)));
        assert_eq!(hosts.add(facts("vm")), Some(HostIndex(2)));
        assert_eq!(hosts.add(facts("other.site.org")), Some(HostIndex(3)));
        assert_eq!(hosts.named(&"vm.2".into()), Some(HostIndex(2)));
        assert_eq!(hosts.named(&"other".into()), Some(HostIndex(3)));
        assert_eq!(hosts.named(&"oth".into()), None);
        assert!(hosts.remove(HostIndex(2)) && !hosts.remove(HostIndex(2)));
        assert_eq!(hosts.add(facts("vm")), Some(HostIndex(4)));
        assert_eq!(hosts.epoch(), 5);
    }
}
