//! Records and facts that many hosts keep, kept once.
//!
//! All hosts agree on the members, so each keeps the same records of each, and the same facts. With
//! thousands of hosts that is nearly all of the memory of a world.

use crate::sums::hash;
use pvm_core::Machine;
use pvm_core::io::HostFacts;
use pvm_wire::{Blob, HostIndex};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Records that nobody keeps are looked for when there are twice as many as at the last look, and
/// this many more.
const LOOK_COUNT: usize = 1024;

/// A record that a host keeps; hosts with equal ones share it. Ordered by its key.
#[derive(Clone, Debug)]
pub(crate) struct Record(Arc<(Blob, Blob)>);

impl Record {
    pub(crate) fn key(&self) -> &Blob {
        &self.0.0
    }

    pub(crate) fn value(&self) -> &Blob {
        &self.0.1
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Record {}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(other.key())
    }
}

impl Borrow<Blob> for Record {
    fn borrow(&self) -> &Blob {
        self.key()
    }
}

/// The records and facts that the hosts of a world keep.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    /// By a hash of the record.
    records: BTreeMap<u64, Record>,
    /// The number of records at the last look.
    count: usize,
    facts: BTreeMap<HostIndex, Arc<HostFacts>>,
}

impl Archive {
    /// The record with this key and value.
    pub(crate) fn record(&mut self, key: Blob, value: Blob) -> Record {
        let hash = hash(&key, &value);
        let known = self.records.get(&hash);
        if let Some(known) = known.filter(|known| *known.key() == key && *known.value() == value) {
            return known.clone();
        }
        if self.records.len() > 2 * self.count + LOOK_COUNT {
            self.records.retain(|_, record| Arc::strong_count(&record.0) > 1);
            self.count = self.records.len();
        }
        let record = Record(Arc::new((key, value)));
        self.records.insert(hash, record.clone());
        record
    }

    /// A machine keeps the same facts of a host as others.
    pub(crate) fn share(&mut self, machine: &mut Machine, host: HostIndex) {
        let Some(facts) = machine.members().get(host).cloned() else { return };
        match self.facts.get(&host).filter(|known| **known == facts) {
            Some(known) => machine.share(host, known),
            None => {
                self.facts.insert(host, facts);
            }
        }
    }
}
