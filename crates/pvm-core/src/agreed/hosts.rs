//! The host table: the members of the machine, equal on every host after the same commands.

mod directory;

pub(crate) use directory::folded;

use crate::io::HostList;
use crate::records::{Change, Slot, Table};
use crate::speed;
use directory::Directory;
use pvm_wire::hostfile::{HostLine, is_with_domain, parse_line};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::HostInfo;
use pvm_wire::{Blob, Code, HostIndex, Tid, record};
use std::collections::BTreeSet;
use std::sync::Arc;

record! {
    /// The counters of the host table.
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
    directory: Directory,
    /// The hosts that get no new tasks and leave with their last one.
    draining: Table<HostIndex, bool>,
    /// By name, the line of a host file for a host when it is added; under the empty name the
    /// options of all that have none.
    known: Table<Blob, Blob>,
    numbering: Slot<Numbering>,
}

/// Most bytes that lines of host files may take in the table.
const KNOWN_BYTES_MAX: usize = 1 << 20;

impl Hosts {
    pub(super) fn new() -> Self {
        Self {
            directory: Directory::default(),
            draining: Table::new(b'D'),
            known: Table::new(b'K'),
            numbering: Slot::new(b'H', Numbering { epoch: 0, last: HostIndex(0) }),
        }
    }

    /// Lets a host in. One more on a computer of the machine (`again`) gets a name of its own;
    /// any other must not be in yet, neither by its name nor by its computer.
    ///
    /// # Errors
    ///
    /// `DupHost`, or `OutOfRes` if there is no place left.
    pub(super) fn add(&mut self, mut facts: HostFacts, again: bool) -> Result<HostIndex, Code> {
        if !again && self.directory.has_same(&facts) {
            return Err(Code::DupHost);
        }
        let host = self.free_place().ok_or(Code::OutOfRes)?;
        if again {
            facts.name = self.unique_name(&facts.name);
        }
        speed::settle(&mut facts, self.iter().map(|(_, other)| other));
        self.directory.insert(host, facts);
        let numbering = self.numbering.get_mut();
        numbering.last = host;
        numbering.epoch += 1;
        Ok(host)
    }

    /// The first host begins the table.
    pub(super) fn begin(&mut self, host: HostIndex, mut facts: HostFacts) {
        speed::settle(&mut facts, std::iter::empty());
        self.directory.insert(host, facts);
        self.numbering.set(Numbering { epoch: 1, last: host });
    }

    fn free_place(&self) -> Option<HostIndex> {
        let max = HostIndex::MAX.0;
        let last = self.numbering.get().last.0;
        (1..=max)
            .map(|step| HostIndex((last + step - 1) % max + 1))
            .find(|host| !self.contains(*host))
    }

    fn unique_name(&self, name: &Blob) -> Blob {
        let names = self.iter().map(|(_, facts)| folded(&facts.name));
        let taken: BTreeSet<Blob> =
            names.filter(|other| other.0.starts_with(&folded(name).0)).collect();
        let mut unique = name.clone();
        let mut number = 2;
        while taken.contains(&folded(&unique)) {
            unique = name.clone();
            unique.0.extend_from_slice(format!(".{number}").as_bytes());
            number += 1;
        }
        unique
    }

    /// Takes a host out; false if it was no member.
    pub(super) fn remove(&mut self, host: HostIndex) -> bool {
        let removed = self.directory.remove(host);
        if removed {
            self.draining.remove(&host);
            self.numbering.get_mut().epoch += 1;
        }
        removed
    }

    /// A member gets no new tasks from now on, or gets them again. False if nothing changes.
    pub(super) fn set_draining(&mut self, host: HostIndex, on: bool) -> bool {
        if !self.contains(host) || self.is_draining(host) == on {
            return false;
        }
        if on {
            self.draining.insert(host, true);
        } else {
            self.draining.remove(&host);
        }
        self.numbering.get_mut().epoch += 1;
        true
    }

    pub(crate) fn is_draining(&self, host: HostIndex) -> bool {
        self.draining.contains(&host)
    }

    /// Changes the addresses of a member. Returns false if nothing changes.
    pub(super) fn set_addresses(&mut self, host: HostIndex, addresses: Vec<String>) -> bool {
        if self.facts(host).is_none_or(|facts| facts.addresses == addresses) {
            return false;
        }
        if let Some(facts) = self.facts(host) {
            let facts = HostFacts { addresses, ..facts.clone() };
            self.directory.insert(host, facts);
        }
        self.numbering.get_mut().epoch += 1;
        true
    }

    /// Lines of a host file for hosts that are not added now. A later one of the same name
    /// counts more.
    ///
    /// # Errors
    ///
    /// `BadParam` for what is no line, `OutOfRes` if they take too much: nothing is kept then.
    pub(super) fn know(&mut self, lines: &[Blob]) -> Result<(), Code> {
        let parsed: Result<Vec<_>, _> = lines.iter().map(|line| parse_line(&line.0)).collect();
        let parsed = parsed.map_err(|_| Code::BadParam)?;
        let renewed: BTreeSet<Blob> = parsed.iter().map(HostLine::host_name).collect();
        let stays = self.known.iter().filter(|(name, _)| !renewed.contains(name));
        let size: usize = stays.map(|(_, line)| line.0.len()).sum();
        if lines.iter().fold(size, |size, line| size.saturating_add(line.0.len())) > KNOWN_BYTES_MAX
        {
            return Err(Code::OutOfRes);
        }
        for line in parsed {
            let every = line.name.0 == b"*";
            // Those are the machine's, not a host's.
            let line = HostLine { witness: None, survive: None, ..line };
            if every && line == HostLine::named("*") {
                continue;
            }
            let name = if every { Blob::default() } else { line.host_name() };
            let line = match self.line_of(&name).filter(|_| !every) {
                Some(before) => line.or(&before),
                None => line,
            };
            self.known.insert(name, line.to_line());
        }
        Ok(())
    }

    fn line_of(&self, name: &Blob) -> Option<HostLine> {
        parse_line(&self.known.get(name)?.0).ok()
    }

    /// A line with what host files have said of its host, or of all that they do not name.
    pub(crate) fn complete(&self, line: &HostLine) -> HostLine {
        match self.line_of(&line.host_name()).or_else(|| self.line_of(&Blob::default())) {
            Some(known) => line.or(&known),
            None => line.clone(),
        }
    }

    pub(crate) fn contains(&self, host: HostIndex) -> bool {
        self.directory.list().contains(host)
    }

    /// True for a place that was never filled as far as is known here.
    pub(crate) fn may_be_new(&self, host: HostIndex) -> bool {
        host > self.numbering.get().last
    }

    pub(crate) fn facts(&self, host: HostIndex) -> Option<&HostFacts> {
        self.directory.list().get(host).map(Arc::as_ref)
    }

    /// The members by index.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (HostIndex, &HostFacts)> {
        self.directory.list().iter().map(|(host, facts)| (host, &**facts))
    }

    /// Like `iter`, as a list that others keep.
    pub(crate) fn list(&self) -> HostList {
        self.directory.list().clone()
    }

    /// See [`crate::Machine::share`].
    pub(crate) fn share(&mut self, host: HostIndex, facts: &Arc<HostFacts>) {
        self.directory.share(host, facts);
    }

    /// The number of hosts.
    pub(crate) fn count(&self) -> usize {
        self.directory.list().len()
    }

    /// True where this host is the only one.
    pub(super) fn is_only(&self, host: HostIndex) -> bool {
        self.count() == 1 && self.contains(host)
    }

    pub(crate) fn indices(&self) -> Vec<HostIndex> {
        self.directory.list().hosts().collect()
    }

    /// The member with this name: as it is, or where only one of the two has a domain, without
    /// it.
    pub(crate) fn named(&self, name: &Blob) -> Option<HostIndex> {
        if name.0.is_empty() {
            return None;
        }
        let short = || self.iter().find(|(_, facts)| is_with_domain(&facts.name, name));
        let long = || self.iter().find(|(_, facts)| is_with_domain(name, &facts.name));
        let domain = || short().or_else(long).map(|(host, _)| host);
        self.directory.named(name).or_else(domain)
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
            draining: self.is_draining(host),
            suspected: false,
            addresses: facts.addresses.clone(),
            version: facts.version.clone(),
        };
        self.iter().map(info).collect()
    }

    /// Forgets all hosts.
    pub(super) fn clear(&mut self) {
        self.directory.clear();
        self.draining.clear();
        self.known.clear();
    }

    /// The member with this key.
    pub(crate) fn of_key(&self, key: &Blob) -> Option<HostIndex> {
        self.iter().find(|(_, facts)| facts.key == *key).map(|(host, _)| host)
    }

    pub(super) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.directory.take_changes(out);
        self.draining.take_changes(out);
        self.known.take_changes(out);
        self.numbering.take_changes(out);
    }

    pub(super) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.directory.records(out);
        self.draining.records(out);
        self.known.records(out);
        self.numbering.records(out);
    }

    pub(super) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.directory.restore(key, value)
            || self.draining.restore(key, value)
            || self.known.restore(key, value)
            || self.numbering.restore(key, value)
    }

    pub(super) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.directory.adopt(key, value)
            || self.draining.adopt(key, value)
            || self.known.adopt(key, value)
            || self.numbering.adopt(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_one_in_small_and_in_capital_letters() {
        let mut hosts = Hosts::new();
        let first = hosts.add(facts("H2"), false).expect("there is room");
        assert_eq!(hosts.add(facts("h2"), false), Err(Code::DupHost));
        for name in ["h2", "H2", "h2.site.org"] {
            assert_eq!(hosts.named(&name.into()), Some(first), "{name}");
        }
        let again = hosts.add(facts("h2"), true).expect("there is room");
        assert_eq!(hosts.facts(again).map(|facts| facts.name.to_text()), Some("h2.2".to_owned()));
    }

    fn facts(name: &str) -> HostFacts {
        HostFacts { name: name.into(), ..HostFacts::default() }
    }

    #[test]
    fn names_are_unique_and_places_are_not_used_again_at_once() {
        let mut hosts = Hosts::new();
        assert_eq!(hosts.add(facts("vm"), false), Ok(HostIndex(1)));
        assert_eq!(hosts.add(facts("vm"), false), Err(Code::DupHost));
        assert_eq!(hosts.add(facts("vm"), true), Ok(HostIndex(2)));
        assert_eq!(hosts.add(facts("other.site.org"), false), Ok(HostIndex(3)));
        assert_eq!(hosts.named(&"vm.2".into()), Some(HostIndex(2)));
        assert!(hosts.remove(HostIndex(2)) && !hosts.remove(HostIndex(2)));
        assert_eq!(hosts.add(facts("vm"), true), Ok(HostIndex(4)));
        assert_eq!(hosts.epoch(), 5);
    }

    #[test]
    fn a_host_goes_by_its_name_with_and_without_its_domain() {
        let mut hosts = Hosts::new();
        for name in ["vm", "other.site.org", "10.1.2.3", "10"] {
            hosts.add(facts(name), false).expect("a place");
        }
        let named = |name: &str| hosts.named(&name.into()).map(|host| host.0);
        assert_eq!((named("vm"), named("vm.site.org"), named("vm.2")), (Some(1), Some(1), None));
        assert_eq!((named("other"), named("other.site.org")), (Some(2), Some(2)));
        assert_eq!((named("oth"), named("other.elsewhere"), named("")), (None, None, None));
        assert_eq!((named("10.1.2.3"), named("10.1"), named("10.9.9.9")), (Some(3), None, None));
        assert_eq!((named("VM"), named("Other")), (Some(1), Some(2)));
    }

    #[test]
    fn one_computer_is_in_once_whatever_it_is_called() {
        let mut hosts = Hosts::new();
        let on =
            |name: &str, computer: &str| HostFacts { computer: computer.into(), ..facts(name) };
        assert_eq!(hosts.add(on("a", "boot 1"), false), Ok(HostIndex(1)));
        assert_eq!(hosts.add(on("alias", "boot 1"), false), Err(Code::DupHost));
        assert_eq!(hosts.add(on("alias", "boot 1"), true), Ok(HostIndex(2)));
        assert_eq!(hosts.add(on("b", ""), false), Ok(HostIndex(3)));
        assert_eq!(hosts.add(on("c", ""), false), Ok(HostIndex(4)));
    }

    #[test]
    fn who_is_in_is_found_after_a_restart_and_by_a_host_that_joins() {
        let mut hosts = Hosts::new();
        let one = |name: &str| HostFacts { computer: name.into(), ..facts(name) };
        for name in ["a", "b", "c"] {
            hosts.add(one(name), false).expect("a place");
        }
        assert!(hosts.set_addresses(HostIndex(2), vec!["b:1".to_owned()]));
        assert!(hosts.remove(HostIndex(3)));
        let mut records = Vec::new();
        hosts.records(&mut records);
        let (mut again, mut joined) = (Hosts::new(), Hosts::new());
        for (Blob(key), Blob(value)) in &records {
            assert!(again.restore(key, value) && joined.adopt(key, value));
        }
        for mut hosts in [hosts, again, joined] {
            assert_eq!(hosts.list().hosts().map(|host| host.0).collect::<Vec<_>>(), [1, 2]);
            assert_eq!(
                hosts.facts(HostIndex(2)).map(|facts| &facts.addresses[..]),
                Some(&["b:1".to_owned()][..])
            );
            assert_eq!(hosts.named(&"b".into()), Some(HostIndex(2)));
            assert_eq!(hosts.add(one("b"), false), Err(Code::DupHost));
            let alias = HostFacts { computer: "a".into(), ..facts("alias") };
            assert_eq!(hosts.add(alias, false), Err(Code::DupHost));
            assert_eq!(hosts.add(one("c"), false), Ok(HostIndex(4)), "it has left");
        }
    }

    #[test]
    fn a_list_that_somebody_keeps_stays_as_it_was() {
        let mut hosts = Hosts::new();
        hosts.add(facts("a"), false).expect("a place");
        let before = hosts.list();
        hosts.add(facts("b"), false).expect("a place");
        assert_eq!((before.len(), hosts.list().len()), (1, 2));
    }

    #[test]
    fn what_a_host_file_says_counts_when_the_host_is_added() {
        let mut hosts = Hosts::new();
        let lines = ["&h2 sp=11 wd=/usr", "*  sp=22 ep=/x", "h3 sp=5", "&h3 bx=/b"];
        assert_eq!(hosts.know(&lines.map(Blob::from)), Ok(()));
        let complete = |line: &str| {
            let line = parse_line(line.as_bytes()).expect("a line");
            hosts.complete(&line).to_line().to_text()
        };
        assert_eq!(complete("h2 sp=7"), "h2 wd=/usr sp=7");
        assert_eq!(complete("me@h3"), "me@h3 bx=/b sp=5");
        assert_eq!(complete("h9 ep=/y"), "h9 ep=/y sp=22");
        assert_eq!(hosts.know(&["h4 foo=1".into()]), Err(Code::BadParam));
        let long = Blob::from(format!("h4 ep={}", "x".repeat(8000)));
        assert_eq!(hosts.know(&vec![long; 200]), Err(Code::OutOfRes));
    }
}
