//! Sums over what all hosts agree on, kept up with each record that changes: two hosts agree where
//! their sums are equal, and nobody has to write down the whole state of a thousand hosts for that.

use pvm_core::Machine;
use pvm_wire::{Blob, Wire as _};
use std::collections::BTreeMap;

/// The tables whose equality the epoch of the host table promises: members, who is being drained,
/// and how they are numbered.
const TABLE: &[u8] = b"hDH";
/// All that all hosts agree on: besides those the lines of host files, named messages, groups, who
/// is which member, and the rules for two.
const AGREED: &[u8] = b"hDHKmnNgSU";

/// The sums of one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// Of the host table.
    pub(crate) table: u64,
    /// Of all that is agreed on.
    pub(crate) agreed: u64,
    /// What a new machine has without having put it out, by key.
    unsaved: BTreeMap<Blob, u64>,
}

impl Sums {
    /// The sums of what a machine knows.
    pub(crate) fn of(machine: &Machine) -> Self {
        let Blob(bytes) = machine.agreed();
        let records = Vec::<(Blob, Blob)>::from_bytes(&bytes).expect("a state is made of records");
        let mut sums = Self::default();
        for (key, value) in &records {
            sums.change(key, None, Some(value));
            sums.unsaved.insert(key.clone(), hash(key, value));
        }
        sums
    }

    /// A record has become another one.
    pub(crate) fn change(&mut self, key: &Blob, before: Option<&Blob>, after: Option<&Blob>) {
        let Some(mark) = key.0.first().filter(|mark| AGREED.contains(mark)) else { return };
        let unsaved = self.unsaved.remove(key);
        let before = before.map(|value| hash(key, value)).or(unsaved).unwrap_or(0);
        let after = after.map_or(0, |value| hash(key, value));
        let change = after.wrapping_sub(before);
        self.agreed = self.agreed.wrapping_add(change);
        if TABLE.contains(mark) {
            self.table = self.table.wrapping_add(change);
        }
    }
}

/// FNV-1a over both, stirred (SplitMix64) so that sums of many differ.
fn hash(key: &Blob, value: &Blob) -> u64 {
    let bytes = key.0.iter().chain(&value.0);
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64 ^ key.0.len() as u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let sum = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let sum = (sum ^ (sum >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ (sum >> 31)
}
