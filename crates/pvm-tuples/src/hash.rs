//! Hashes that are equal on all hosts. A hash only chooses where to search: the tuples that are
//! found there are compared.

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

/// A value of up to this many bytes is hashed whole. Of a longer value the two ends are hashed, and
/// a sample of each stretch between them.
pub(crate) const WHOLE_MAX: usize = 4096;
const END: usize = 1024;
const STRETCH: usize = 4096;
const SAMPLE: usize = 64;

/// The hash of a value for the index. Hashing all bytes of a large value would take longer than all
/// its copies together. Two values that differ only between the samples get one hash; the
/// comparison then tells them apart.
pub(crate) fn of_value(hash: u64, bytes: &[u8]) -> u64 {
    if bytes.len() <= WHOLE_MAX {
        return of_bytes(hash, bytes);
    }
    of_long_value(hash, bytes.len(), |at, out| out.copy_from_slice(&bytes[at..at + out.len()]))
}

/// The hash of a value of more than [`WHOLE_MAX`] bytes that is read in parts: `read` gets the
/// place of each part, and the buffer for it.
pub(crate) fn of_long_value(
    hash: u64,
    bytes: usize,
    mut read: impl FnMut(usize, &mut [u8]),
) -> u64 {
    let mut part = [0; END];
    let mut mix_in = |hash, at: usize, size: usize| {
        read(at, &mut part[..size]);
        of_bytes(hash, &part[..size])
    };
    let end = bytes - END;
    let samples = (END..end).step_by(STRETCH);
    let first = mix_in(hash, 0, END);
    let hash = samples.fold(first, |hash, at| mix_in(hash, at, SAMPLE.min(end - at)));
    mix(mix_in(hash, end, END), bytes as u64)
}

/// A hasher for keys that are hashes, or numbers that count up.
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

/// A map by such a key. No code iterates over it, because its order differs between hosts.
pub(crate) type Map<V> = std::collections::HashMap<u64, V, BuildHasherDefault<Ready>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_values_are_told_apart_by_ends_length_and_samples() {
        let value = vec![7; 100_000];
        let changed = |at: usize| {
            let mut other = value.clone();
            other[at] = 8;
            of_value(2, &other)
        };
        let whole = of_value(2, &value);
        assert_eq!(whole, of_value(2, &value.clone()));
        for at in [0, END - 1, END, END + SAMPLE - 1, END + STRETCH, 99_999, 100_000 - END] {
            assert_ne!(whole, changed(at), "{at}");
        }
        assert_ne!(whole, of_value(2, &value[1..]));
        assert_ne!(of_value(2, &value[..WHOLE_MAX]), of_value(2, &value[..=WHOLE_MAX]));
        // Every byte of a small value counts.
        let small = |at: usize| {
            let mut small = vec![7; WHOLE_MAX];
            small[at] = 8;
            of_value(2, &small)
        };
        assert!((1..WHOLE_MAX).all(|at| small(at) != small(at - 1)));
    }
}
