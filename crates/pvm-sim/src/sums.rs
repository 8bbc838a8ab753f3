//! Sums over the agreed state, updated with each record that changes: two hosts agree if their sums
//! are equal, and the whole state of a thousand hosts need not be written down for that.

use pvm_core::Machine;
use pvm_wire::Blob;
use std::collections::BTreeMap;

/// The tables whose equality the epoch of the host table promises: members, hosts that are being
/// drained, and how they are numbered.
const TABLE: &[u8] = b"hDH";
/// All that all hosts agree on: besides these the lines of host files, named messages, groups, the
/// member numbers, pieces of long commands, and the rules for two.
const AGREED: &[u8] = b"hDHKmnNg=SU^";

/// The sums of one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// The sum of the host table.
    pub(crate) table: u64,
    /// The sum of all that is agreed on.
    pub(crate) agreed: u64,
    /// The records that a new machine has without having put them out, by key.
    unsaved: BTreeMap<Blob, u64>,
}

impl Sums {
    /// The sums of what a machine knows.
    pub(crate) fn of(machine: &Machine) -> Self {
        let mut sums = Self::default();
        for (key, value) in machine.agreed_records() {
            sums.change(&key, None, Some(&value));
            let sum = hash(&key, &value);
            sums.unsaved.insert(key, sum);
        }
        sums
    }

    /// The sum of all that is agreed on, of what a machine knows.
    pub(crate) fn agreed_of(machine: &Machine) -> u64 {
        let records = machine.agreed_records();
        let agreed = records.iter().filter(|(key, _)| is_of(key, AGREED));
        agreed.fold(0, |sum: u64, (key, value)| sum.wrapping_add(hash(key, value)))
    }

    /// A record has become another one.
    pub(crate) fn change(&mut self, key: &Blob, before: Option<&Blob>, after: Option<&Blob>) {
        if !is_of(key, AGREED) {
            return;
        }
        let unsaved = self.unsaved.remove(key);
        let before = before.map(|value| hash(key, value)).or(unsaved).unwrap_or(0);
        let after = after.map_or(0, |value| hash(key, value));
        let change = after.wrapping_sub(before);
        self.agreed = self.agreed.wrapping_add(change);
        if is_of(key, TABLE) {
            self.table = self.table.wrapping_add(change);
        }
    }
}

/// True for a record of one of these tables.
fn is_of(key: &Blob, marks: &[u8]) -> bool {
    key.0.first().is_some_and(|mark| marks.contains(mark))
}

/// A number for both: eight bytes at a time are stirred into it (SplitMix64), so that sums of many
/// differ.
pub(crate) fn hash(key: &Blob, value: &Blob) -> u64 {
    [key, value].into_iter().fold(0xcbf2_9ce4_8422_2325, |sum, Blob(bytes)| {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
        words.fold(stir(sum ^ bytes.len() as u64), |sum, word| stir(sum ^ word))
    })
}

fn stir(sum: u64) -> u64 {
    let sum = sum.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let sum = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let sum = (sum ^ (sum >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ (sum >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_differ_in_one_byte_or_in_their_cut_have_other_sums() {
        let mut seen = std::collections::BTreeSet::new();
        for length in 0..40 {
            let bytes = vec![0; length];
            for cut in 0..=length {
                let (key, value) = bytes.split_at(cut);
                assert!(seen.insert(hash(&Blob(key.to_vec()), &Blob(value.to_vec()))));
            }
            for at in 0..length {
                let mut bytes = bytes.clone();
                bytes[at] = 1;
                assert!(seen.insert(hash(&Blob::default(), &Blob(bytes))));
            }
        }
    }
}
