//! The match of a tuple with a template, and the hashes that find one for the other.

use crate::hash::{mix, of_bytes, of_value};
use crate::kind::{Kind, Shape};
use crate::tuple::{FieldView, Tuple};

/// The hashes that find a tuple or a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Marks {
    /// The hash of the number of fields and of their types.
    pub(crate) signature: u64,
    /// Hashes of the first two fields; none for a formal or a missing field.
    pub(crate) keys: [Option<u64>; 2],
}

impl Tuple {
    /// True if `self`, a tuple, fits `template`.
    pub fn fits(&self, template: &Self) -> bool {
        self.arity() == template.arity()
            && self.fields().zip(template.fields()).all(|(own, wanted)| fits(&own, &wanted))
    }

    /// The hash of the number of fields and of their types: a tuple fits only a template with an
    /// equal one.
    pub(crate) fn signature(&self) -> u64 {
        self.marks().signature
    }

    /// The hashes for the index, from one pass over the fields.
    pub(crate) fn marks(&self) -> Marks {
        let mut marks = Marks { signature: mix(1, self.arity() as u64), keys: [None; 2] };
        for (place, field) in self.fields().enumerate() {
            let size = if field.kind == Kind::Struct { field.count } else { 0 };
            let types = (field.kind as u64) << 8 | field.shape as u64;
            marks.signature = mix(mix(marks.signature, types), size);
            if let Some(kept) = marks.keys.get_mut(place) {
                *kept = key(&field);
            }
        }
        marks
    }
}

fn fits(own: &FieldView<'_>, wanted: &FieldView<'_>) -> bool {
    if (own.kind, own.shape) != (wanted.kind, wanted.shape) {
        return false;
    }
    match (own.data, wanted.data) {
        (Some(_), None) => own.kind != Kind::Struct || own.count == wanted.count,
        (Some(own_data), Some(data)) => are_equal(own.kind, own_data, data),
        (None, _) => false,
    }
}

/// Compares as C's `==` does for numbers.
fn are_equal(kind: Kind, one: &[u8], other: &[u8]) -> bool {
    match kind {
        Kind::Float | Kind::FloatComplex => {
            pairs(one, other, |one, other| f32::from_le_bytes(one) == f32::from_le_bytes(other))
        }
        Kind::Double | Kind::DoubleComplex => {
            pairs(one, other, |one, other| f64::from_le_bytes(one) == f64::from_le_bytes(other))
        }
        _ => one == other,
    }
}

fn pairs<const N: usize>(
    one: &[u8],
    other: &[u8],
    same: impl Fn([u8; N], [u8; N]) -> bool,
) -> bool {
    let (one, other) = (one.as_chunks::<N>().0, other.as_chunks::<N>().0);
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(*one, *other))
}

/// The key of a field. Equal values have equal keys.
fn key(field: &FieldView<'_>) -> Option<u64> {
    let data = field.data?;
    Some(match (field.kind, field.shape) {
        // 0 and -0 are equal but differ in their bytes. So all arrays of floating-point numbers of
        // one length share a key.
        (Kind::Float | Kind::Double | Kind::FloatComplex | Kind::DoubleComplex, Shape::Array) => {
            mix(3, data.len() as u64)
        }
        (Kind::Float, _) => zeroless(of_bytes(2, data), data, 4),
        (Kind::Double | Kind::FloatComplex | Kind::DoubleComplex, _) => {
            zeroless(of_bytes(2, data), data, field.kind.part())
        }
        _ => of_value(2, data),
    })
}

/// The hash; a fixed one if a part of the number is a zero of either sign.
fn zeroless(hash: u64, data: &[u8], part: usize) -> u64 {
    let is_zero = |part: &[u8]| match part {
        [low @ .., high] => high & 0x7f == 0 && low.iter().all(|byte| *byte == 0),
        [] => true,
    };
    if data.chunks_exact(part).any(is_zero) { mix(4, 0) } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    fn one(add: impl FnOnce(&mut Builder) -> Result<(), crate::BuildError>) -> Tuple {
        let mut builder = Builder::new();
        add(&mut builder).expect("fits");
        builder.tuple().expect("has a field")
    }

    #[test]
    fn types_are_not_promoted_and_formals_fit_no_formals() {
        let int = one(|builder| builder.int(1));
        let long = one(|builder| builder.actual(Kind::Long, Shape::Scalar, &1_i64.to_le_bytes()));
        let any_int = one(|builder| builder.formal(Kind::Int, Shape::Scalar, 0));
        assert!(int.fits(&any_int) && int.fits(&int));
        assert!(!long.fits(&any_int) && !long.fits(&int));
        assert!(!any_int.fits(&any_int));
    }

    #[test]
    fn a_struct_fits_one_of_its_size_and_an_array_one_of_any_length() {
        let bytes = |kind, size: usize| one(|b| b.actual(kind, Shape::Scalar, &vec![1; size]));
        let formal = |kind, size| one(|b| b.formal(kind, Shape::Scalar, size));
        assert!(bytes(Kind::Struct, 24).fits(&formal(Kind::Struct, 24)));
        assert!(!bytes(Kind::Struct, 24).fits(&formal(Kind::Struct, 16)));
        assert!(bytes(Kind::Bytes, 24).fits(&formal(Kind::Bytes, 0)));
        let array = one(|b| b.actual(Kind::Int, Shape::Array, &[0; 40]));
        assert!(array.fits(&one(|b| b.formal(Kind::Int, Shape::Array, 0))));
        assert!(!array.fits(&one(|b| b.formal(Kind::Int, Shape::Scalar, 0))));
        assert!(!array.fits(&one(|b| b.actual(Kind::Int, Shape::Array, &[0; 36]))));
    }

    #[test]
    fn zeros_of_both_signs_are_equal_and_have_one_key_and_no_number_fits_itself() {
        let double =
            |value: f64| one(|b| b.actual(Kind::Double, Shape::Scalar, &value.to_le_bytes()));
        assert!(double(0.0).fits(&double(-0.0)));
        assert_eq!(double(0.0).marks().keys, double(-0.0).marks().keys);
        assert_ne!(double(1.0).marks().keys, double(2.0).marks().keys);
        assert!(!double(f64::NAN).fits(&double(f64::NAN)));
    }

    #[test]
    fn large_values_with_one_key_are_told_apart_by_their_bytes() {
        let value = |at: usize| {
            let mut data = vec![7; 5000];
            data[at] = 8;
            one(|b| b.actual(Kind::Bytes, Shape::Scalar, &data))
        };
        assert_eq!(value(1500).marks(), value(1501).marks());
        assert!(value(1500).fits(&value(1500)) && !value(1500).fits(&value(1501)));
    }
}
