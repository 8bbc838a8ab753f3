//! A hashed map whose hash is fixed and cheap. No code iterates over it, so its order does not
//! matter.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are a few integers.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and folds each word. Keys come from this program's own counting, or from traces,
/// whose authors could only slow down their own prediction.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Mix {
    const fn word(&mut self, word: u64) {
        let mixed = self.0 ^ word ^ 0x2d35_8dcc_aa6c_78a5;
        let wide = mixed as u128 * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.word(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_i32(&mut self, word: i32) {
        self.word(u64::from(word.cast_unsigned()));
    }
}
