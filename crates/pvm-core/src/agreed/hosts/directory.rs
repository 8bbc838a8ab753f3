//! The members, found fast by index, by name and by computer.
//!
//! A member is in one table only, the list that others keep: a machine of thousands of hosts has as
//! many of these on each of them. The rest follows from it and is not stored itself.

use crate::io::HostList;
use crate::records::{Change, read_record, record_key};
use pvm_wire::peer::HostFacts;
use pvm_wire::{Blob, HostIndex, Wire as _};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// In front of the keys of members' records.
const MARK: u8 = b'h';

/// The hash of a word and each host that it stands for. Another word may have the same hash, so the
/// facts of the host decide.
type Index = BTreeSet<(u32, HostIndex)>;

/// The members of a host table, with a note of what changed.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// It is handed out each time that a host comes or goes.
    list: HostList,
    names: Index,
    /// The hosts that have told their computer.
    computers: Index,
    touched: BTreeSet<HostIndex>,
}

impl Directory {
    /// A host is in, or what it has told of itself is another thing now: it will be put out.
    pub(super) fn insert(&mut self, host: HostIndex, facts: HostFacts) {
        self.touched.insert(host);
        self.enter(host, facts);
    }

    fn enter(&mut self, host: HostIndex, facts: HostFacts) {
        self.strike(host);
        self.names.insert((hash(&folded(&facts.name)), host));
        if !facts.computer.0.is_empty() {
            self.computers.insert((hash(&facts.computer), host));
        }
        self.list.insert(host, Arc::new(facts));
    }

    /// A host is in no more; false if it was not in.
    pub(super) fn remove(&mut self, host: HostIndex) -> bool {
        let was_in = self.strike(host);
        if was_in {
            self.touched.insert(host);
        }
        was_in
    }

    fn strike(&mut self, host: HostIndex) -> bool {
        let Some(facts) = self.list.remove(host) else { return false };
        self.names.remove(&(hash(&folded(&facts.name)), host));
        self.computers.remove(&(hash(&facts.computer), host));
        true
    }

    /// No host is in.
    pub(super) fn clear(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        let hosts = self.list.hosts();
        *self = Self { touched: touched.into_iter().chain(hosts).collect(), ..Self::default() };
    }

    /// Another owner keeps equal facts of a host: from now on both keep the same ones.
    pub(super) fn share(&mut self, host: HostIndex, facts: &Arc<HostFacts>) {
        if self.list.get(host).is_some_and(|own| own == facts) {
            self.list.insert(host, Arc::clone(facts));
        }
    }

    pub(super) const fn list(&self) -> &HostList {
        &self.list
    }

    /// The first host of this name.
    pub(super) fn named(&self, name: &Blob) -> Option<HostIndex> {
        let name = folded(name);
        self.first(&self.names, &name, |facts| folded(&facts.name) == name)
    }

    /// The first host on this computer.
    pub(super) fn on_computer(&self, computer: &Blob) -> Option<HostIndex> {
        self.first(&self.computers, computer, |facts| facts.computer == *computer)
    }

    fn first(
        &self,
        index: &Index,
        word: &Blob,
        is_it: impl Fn(&HostFacts) -> bool,
    ) -> Option<HostIndex> {
        let hash = hash(word);
        let mut hosts = index.range((hash, HostIndex(0))..).take_while(|(found, _)| *found == hash);
        let is_it = |host: &HostIndex| self.list.get(*host).is_some_and(|facts| is_it(facts));
        hosts.find(|(_, host)| is_it(host)).map(|(_, host)| *host)
    }

    /// True if a host has this one's name, or is on its computer.
    pub(super) fn has_same(&self, facts: &HostFacts) -> bool {
        self.named(&facts.name).or_else(|| self.on_computer(&facts.computer)).is_some()
    }

    pub(super) fn take_changes(&mut self, out: &mut Vec<Change>) {
        for host in std::mem::take(&mut self.touched) {
            let value = self.list.get(host).map(|facts| Blob(facts.to_bytes()));
            out.push((record_key(MARK, &host), value));
        }
    }

    pub(super) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        let record =
            |(host, facts): (_, &Arc<HostFacts>)| (record_key(MARK, &host), Blob(facts.to_bytes()));
        out.extend(self.list.iter().map(record));
    }

    /// Takes a record of a member back; false for any other.
    pub(super) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some((host, facts)) = read_record(MARK, key, value) else { return false };
        self.enter(host, facts);
        true
    }

    /// Takes a record of a member that came from another host: it will be put out.
    pub(super) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some((host, facts)) = read_record(MARK, key, value) else { return false };
        self.insert(host, facts);
        true
    }
}

fn hash(word: &Blob) -> u32 {
    let mut hasher = DefaultHasher::new();
    word.0.hash(&mut hasher);
    // The upper half says enough.
    u32::try_from(hasher.finish() >> 32).unwrap_or(0)
}

/// A name of a host as names are compared: `H2` and `h2` are one.
pub(crate) fn folded(name: &Blob) -> Blob {
    Blob(name.0.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The first host of which this is true.
    fn first(
        map: &BTreeMap<HostIndex, HostFacts>,
        is: impl Fn(&HostFacts) -> bool,
    ) -> Option<HostIndex> {
        map.iter().find(|(_, facts)| is(facts)).map(|(host, _)| *host)
    }

    /// One that says what is known says what a plain map does.
    fn check(directory: &Directory, map: &BTreeMap<HostIndex, HostFacts>, words: &[&str]) {
        assert!(
            directory
                .list()
                .iter()
                .map(|(host, facts)| (host, &**facts))
                .eq(map.iter().map(|(host, facts)| (*host, facts)))
        );
        for word in words.iter().map(|word| Blob::from(*word)) {
            let named = first(map, |facts| folded(&facts.name) == folded(&word));
            assert_eq!(directory.named(&word), named, "{word:?}");
            let there = |facts: &HostFacts| !word.0.is_empty() && facts.computer == word;
            assert_eq!(directory.on_computer(&word), first(map, there), "{word:?}");
        }
    }

    #[test]
    fn hosts_are_found_as_in_a_plain_map_whatever_records_say_of_them() {
        let words = ["", "a", "A", "b", "a.2", "boot"];
        let (mut directory, mut map) = (Directory::default(), BTreeMap::new());
        let (mut kept, mut random) = (BTreeMap::new(), 5_u64);
        for step in 0..20_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let host = HostIndex([0, 1, 2, 63, 64, 128, 4094, 4095][(random >> 33) as usize & 7]);
            let word = |bits: u32| Blob::from(words[(random >> bits) as usize % words.len()]);
            let facts = HostFacts { name: word(40), computer: word(45), ..HostFacts::default() };
            let record = (record_key(MARK, &host), facts.to_bytes());
            match random >> 61 {
                0 => assert_eq!(directory.remove(host), map.remove(&host).is_some()),
                1 if step % 50 == 0 => {
                    directory.clear();
                    map.clear();
                }
                2 => directory.share(host, &Arc::new(facts)),
                3 => {
                    assert!(directory.adopt(&record.0.0, &record.1));
                    map.insert(host, facts);
                }
                _ => {
                    directory.insert(host, facts.clone());
                    map.insert(host, facts);
                }
            }
            check(&directory, &map, &words);
            let mut changes = Vec::new();
            directory.take_changes(&mut changes);
            for (key, value) in changes {
                match value {
                    Some(value) => kept.insert(key, value),
                    None => kept.remove(&key),
                };
            }
        }
        let (nobody, facts) = (record_key(MARK, &HostIndex(4096)), HostFacts::default());
        assert!(!directory.adopt(&nobody.0, &facts.to_bytes()), "no machine has so many hosts");
        let mut back = Directory::default();
        kept.iter().for_each(|(key, value)| assert!(back.restore(&key.0, &value.0)));
        check(&back, &map, &words);
    }

    #[test]
    fn a_word_of_the_same_hash_stands_for_no_host_of_another_word() {
        let mut directory = Directory::default();
        let named = |name: &str| HostFacts { name: name.into(), ..HostFacts::default() };
        directory.insert(HostIndex(2), named("a"));
        let clash = hash(&"b".into());
        directory.names.insert((clash, HostIndex(2)));
        assert_eq!(directory.named(&"b".into()), None);
        directory.insert(HostIndex(3), named("b"));
        assert_eq!(directory.named(&"B".into()), Some(HostIndex(3)));
    }
}
