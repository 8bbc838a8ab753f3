//! The match of a tuple with a template.

use crate::kind::Kind;
use crate::layout::{Part, heads_of};
use crate::tuple::Tuple;

impl Tuple {
    /// True if `self`, a tuple, fits `template`.
    pub fn fits(&self, template: &Self) -> bool {
        let (own, wanted) = (self.beginning(), template.beginning());
        // Data are read only if both fields have a value.
        let have_equal_data = |kind, range, wanted_range| {
            are_equal(kind, self.part(own, range), template.part(wanted, wanted_range))
        };
        let fits = |((head, range), (wanted, wanted_range)): (Part, Part)| {
            (head.kind, head.shape, head.formal) == (wanted.kind, wanted.shape, false)
                && match wanted.formal {
                    true => head.kind != Kind::Struct || head.count() == wanted.count(),
                    false => have_equal_data(head.kind, range, wanted_range),
                }
        };
        own[0] == wanted[0] && heads_of(own).zip(heads_of(wanted)).all(fits)
    }

    /// The hash of the number of fields and of their types: a tuple fits only a template with an
    /// equal one.
    pub(crate) fn signature(&self) -> u64 {
        self.marks().signature
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::kind::Shape;
    use crate::outside::Parcel;
    use proptest::prelude::*;
    use pvm_wire::DecodeError;
    use std::sync::{Arc, Mutex};

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

    fn outside(bytes: &[u8]) -> Result<Tuple, DecodeError> {
        Tuple::outside(Box::new([&[9; 32], bytes].concat()), 32)
    }

    fn tuple(sizes: &[usize], value: u8) -> Tuple {
        let kinds = [
            (Kind::Text, Shape::Scalar),
            (Kind::Bool, Shape::Array),
            (Kind::Double, Shape::Array),
            (Kind::Int, Shape::Array),
        ];
        let mut builder = Builder::new();
        for (number, size) in sizes.iter().enumerate() {
            let (kind, shape) = kinds[number % kinds.len()];
            builder.actual(kind, shape, &vec![value % 2; size * kind.size()]).expect("fits");
        }
        builder.int(i32::from(value)).expect("fits");
        builder.tuple().expect("has fields")
    }

    #[test]
    fn a_tuple_in_a_parcel_is_found_by_what_finds_it_in_memory() {
        for sizes in [&[4, 3][..], &[5000, 7], &[3, 100_000, 5, 20_000], &[9000, 9000, 9000]] {
            let inside = tuple(sizes, 1);
            let there = outside(inside.encoded()).expect("a tuple");
            assert_eq!((there.marks(), there.size()), (inside.marks(), inside.size()));
            assert!(there.fits(&inside) && inside.fits(&there));
            assert!(!there.fits(&tuple(sizes, 3)) && !tuple(sizes, 0).fits(&there));
            assert_eq!(there.to_string(), inside.to_string());
            assert_eq!(there, inside);
        }
    }

    /// A parcel to which another task writes.
    #[derive(Clone, Debug)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Parcel for Shared {
        fn size(&self) -> usize {
            self.0.lock().expect("no panic").len()
        }

        fn read(&self, offset: usize, out: &mut [u8]) {
            self.0.lock().expect("no panic").read(offset, out);
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    #[test]
    fn a_tuple_whose_memory_another_task_had_overwritten_was_refused_by_all_who_took_it() {
        for sizes in [&[4, 3][..], &[5000, 7], &[3, 100_003, 5, 20_000], &[9001, 9001, 9001]] {
            let before = tuple(sizes, 1);
            let parcel = Shared(Arc::new(Mutex::new(before.encoded().to_vec())));
            let there = Tuple::outside(Box::new(parcel.clone()), 0).expect("a tuple");
            parcel.0.lock().expect("no panic").fill(0xff);
            let mut sent = parcel.0.lock().expect("no panic").clone();
            for (at, part) in there.parcel().expect("outside").checked_parts() {
                sent[at..at + part.len()].copy_from_slice(&part);
            }
            let taken = Tuple::from_encoded(&sent).expect("a tuple");
            assert_eq!(taken.signature(), before.signature());
            assert_eq!(Tuple::from_encoded(there.encoded()), Ok(taken));
        }
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_refused_as_those_in_memory_are(at in 0..300_usize, to: u8, cut: bool) {
            let mut bytes = tuple(&[3, 40, 5], 1).encoded().to_vec();
            let at = at % bytes.len();
            bytes[at] = to;
            if cut {
                bytes.truncate(at);
            }
            prop_assert_eq!(outside(&bytes), Tuple::from_encoded(&bytes));
        }
    }
}
