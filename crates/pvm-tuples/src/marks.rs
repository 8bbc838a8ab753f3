//! The hashes that find one of a tuple and its template for the other.

use crate::hash::{mix, of_bytes, of_value};
use crate::kind::{Kind, Shape};
use crate::layout::{Head, Part};
use std::ops::Range;

/// The hashes that find a tuple or a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Marks {
    /// The hash of the number of fields and of their types.
    pub(crate) signature: u64,
    /// Hashes of the first two fields; none for a formal or a missing field.
    pub(crate) keys: [Option<u64>; 2],
}

impl Marks {
    /// The marks of a tuple with these fields; `key` gives the hash of a field with a value.
    pub(crate) fn of(
        arity: usize,
        parts: impl Iterator<Item = Part>,
        mut key: impl FnMut(&Head, Range<usize>) -> u64,
    ) -> Self {
        let mut marks = Self { signature: mix(1, arity as u64), keys: [None; 2] };
        for (place, (head, range)) in parts.enumerate() {
            let size = if head.kind == Kind::Struct { head.count() } else { 0 };
            let types = (head.kind as u64) << 8 | head.shape as u64;
            marks.signature = mix(mix(marks.signature, types), size);
            if let Some(kept) = marks.keys.get_mut(place) {
                *kept = (!head.formal).then(|| key(&head, range));
            }
        }
        marks
    }
}

/// The key of a value. Equal values have equal keys.
pub(crate) fn key(kind: Kind, shape: Shape, data: &[u8]) -> u64 {
    key_by_length(kind, shape, data.len()).unwrap_or_else(|| match kind {
        Kind::Float => zeroless(of_bytes(2, data), data, 4),
        Kind::Double | Kind::FloatComplex | Kind::DoubleComplex => {
            zeroless(of_bytes(2, data), data, kind.part())
        }
        _ => of_value(KEY, data),
    })
}

/// The hash with which the keys of most values begin.
pub(crate) const KEY: u64 = 2;

/// The key of a value whose bytes do not count: 0 and -0 are equal but differ in their bytes, so
/// all arrays of floating-point numbers of one length share a key.
pub(crate) fn key_by_length(kind: Kind, shape: Shape, bytes: usize) -> Option<u64> {
    let is_float =
        matches!(kind, Kind::Float | Kind::Double | Kind::FloatComplex | Kind::DoubleComplex);
    (is_float && shape == Shape::Array).then(|| mix(3, bytes as u64))
}

/// The hash; a fixed one if a part of the number is a zero of either sign.
fn zeroless(hash: u64, data: &[u8], part: usize) -> u64 {
    let is_zero = |part: &[u8]| match part {
        [low @ .., high] => high & 0x7f == 0 && low.iter().all(|byte| *byte == 0),
        [] => true,
    };
    if data.chunks_exact(part).any(is_zero) { mix(4, 0) } else { hash }
}
