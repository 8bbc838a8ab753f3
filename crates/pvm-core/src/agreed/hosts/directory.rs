//! The members, found fast by index, by name and by computer.
//!
//! All of it follows from the records of the members; it is not stored itself.

use crate::io::HostList;
use pvm_wire::peer::HostFacts;
use pvm_wire::{Blob, HostIndex};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A word and each host that it stands for.
type Index = BTreeSet<(Blob, HostIndex)>;

/// The members of a host table.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// The list is handed out each time that a host comes or goes; a change copies it only if
    /// another owner still keeps it.
    list: HostList,
    names: Index,
    /// The hosts that have told their computer.
    computers: Index,
}

impl Directory {
    /// A host is in, or what it has told of itself is another thing now.
    pub(super) fn enter(&mut self, host: HostIndex, facts: Arc<HostFacts>) {
        self.strike(host);
        self.names.insert((folded(&facts.name), host));
        if !facts.computer.0.is_empty() {
            self.computers.insert((facts.computer.clone(), host));
        }
        Arc::make_mut(&mut self.list).insert(host, facts);
    }

    /// A host is in no more.
    pub(super) fn strike(&mut self, host: HostIndex) {
        if !self.list.contains_key(&host) {
            return;
        }
        if let Some(facts) = Arc::make_mut(&mut self.list).remove(&host) {
            self.names.remove(&(folded(&facts.name), host));
            self.computers.remove(&(facts.computer.clone(), host));
        }
    }

    pub(super) fn list(&self) -> HostList {
        Arc::clone(&self.list)
    }

    /// The first host of this name.
    pub(super) fn named(&self, name: &Blob) -> Option<HostIndex> {
        first(&self.names, &folded(name))
    }

    /// True if a host has this one's name, or is on its computer.
    pub(super) fn has_same(&self, facts: &HostFacts) -> bool {
        self.named(&facts.name).or_else(|| first(&self.computers, &facts.computer)).is_some()
    }
}

fn first(index: &Index, word: &Blob) -> Option<HostIndex> {
    let mut from = index.range((word.clone(), HostIndex(0))..);
    from.next().filter(|(found, _)| found == word).map(|(_, host)| *host)
}

/// A name of a host as names are compared: `H2` and `h2` are one.
pub(crate) fn folded(name: &Blob) -> Blob {
    Blob(name.0.to_ascii_lowercase())
}
