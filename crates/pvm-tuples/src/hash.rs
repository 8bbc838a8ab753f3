//! Hashes that are the same on all hosts. They only choose where to look: what is found is
//! compared.

use std::hash::{BuildHasherDefault, Hasher};

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a number into a hash.
pub(crate) const fn mix(hash: u64, value: u64) -> u64 {
    let product = (hash ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (product ^ (product >> 32)).wrapping_mul(SEED)
}

/// The hash of bytes.
pub(crate) fn of_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

/// For maps whose keys are hashes, or numbers that count up.
#[derive(Default, Clone, Copy, Debug)]
pub(crate) struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = of_bytes(self.0, bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = mix(SEED, value);
    }
}

/// A map by such a key. Nothing walks through it: its order is that of no host.
pub(crate) type Map<V> = std::collections::HashMap<u64, V, BuildHasherDefault<Ready>>;
