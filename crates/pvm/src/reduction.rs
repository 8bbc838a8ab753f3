//! The operations of a reduce: maximum, minimum, sum and product, element by element.
//!
//! Complex numbers are compared by their modulus. Bytes have no sum and no product, and unsigned
//! types none of the four, as in PVM. Arrays are bytes here, as Fortran may not have aligned them;
//! the loops run over chunks of the element's size, which the compiler turns into vector
//! instructions.

use pvm_wire::{Code, Kind};
use std::ffi::c_long;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
    /// The sum; integers wrap.
    Sum,
    /// The product; integers wrap.
    Product,
}

/// Replaces each element `a` of `x` by `f(a, b)` with `b` of `y`.
macro_rules! each {
    ($t:ty, $x:expr, $y:expr, $f:expr) => {{
        const SIZE: usize = size_of::<$t>();
        let (x, _) = $x.as_chunks_mut::<SIZE>();
        let (y, _) = $y.as_chunks::<SIZE>();
        for (a, b) in x.iter_mut().zip(y) {
            let (p, q) = (<$t>::from_ne_bytes(*a), <$t>::from_ne_bytes(*b));
            *a = $f(p, q).to_ne_bytes();
        }
    }};
}

/// Like `each`, for pairs of numbers.
macro_rules! each_pair {
    ($t:ty, $x:expr, $y:expr, $f:expr) => {{
        const SIZE: usize = size_of::<$t>();
        let (x, _) = $x.as_chunks_mut::<{ 2 * SIZE }>();
        let (y, _) = $y.as_chunks::<{ 2 * SIZE }>();
        for (a, b) in x.iter_mut().zip(y) {
            let pair = |bytes: &[u8; 2 * SIZE]| {
                let (low, high) = bytes.split_at(SIZE);
                let number =
                    |half: &[u8]| <$t>::from_ne_bytes(half.try_into().expect("half of the pair"));
                (number(low), number(high))
            };
            let (real, imaginary): ($t, $t) = $f(pair(a), pair(b));
            a[..SIZE].copy_from_slice(&real.to_ne_bytes());
            a[SIZE..].copy_from_slice(&imaginary.to_ne_bytes());
        }
    }};
}

macro_rules! ordered {
    ($operation:expr, $t:ty, $x:expr, $y:expr) => {
        match $operation {
            Operation::Max => each!($t, $x, $y, |a, b| if b > a { b } else { a }),
            _ => each!($t, $x, $y, |a, b| if b < a { b } else { a }),
        }
    };
}

macro_rules! integers {
    ($operation:expr, $t:ty, $x:expr, $y:expr) => {
        match $operation {
            Operation::Sum => each!($t, $x, $y, <$t>::wrapping_add),
            Operation::Product => each!($t, $x, $y, <$t>::wrapping_mul),
            _ => ordered!($operation, $t, $x, $y),
        }
    };
}

macro_rules! floats {
    ($operation:expr, $t:ty, $x:expr, $y:expr) => {
        match $operation {
            Operation::Sum => each!($t, $x, $y, |a: $t, b: $t| a + b),
            Operation::Product => each!($t, $x, $y, |a: $t, b: $t| a * b),
            _ => ordered!($operation, $t, $x, $y),
        }
    };
}

macro_rules! complex {
    ($operation:expr, $t:ty, $x:expr, $y:expr) => {{
        type Pair = ($t, $t);
        let square = |a: Pair| a.0 * a.0 + a.1 * a.1;
        match $operation {
            Operation::Sum => each_pair!($t, $x, $y, |a: Pair, b: Pair| (a.0 + b.0, a.1 + b.1)),
            Operation::Product => each_pair!($t, $x, $y, |a: Pair, b: Pair| {
                (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
            }),
            Operation::Max => each_pair!($t, $x, $y, |a: Pair, b: Pair| {
                if square(b) > square(a) { b } else { a }
            }),
            Operation::Min => each_pair!($t, $x, $y, |a: Pair, b: Pair| {
                if square(b) < square(a) { b } else { a }
            }),
        }
    }};
}

/// `x` becomes the result of `x` and `y`, element by element, as far as both go.
///
/// # Errors
/// [`Code::BadParam`] for a type that has no such operation.
pub fn combine(operation: Operation, kind: Kind, x: &mut [u8], y: &[u8]) -> Result<(), Code> {
    match (kind, operation) {
        (Kind::Byte, Operation::Max | Operation::Min) => ordered!(operation, i8, x, y),
        (Kind::Short, _) => integers!(operation, i16, x, y),
        (Kind::Int, _) => integers!(operation, i32, x, y),
        (Kind::Long, _) => integers!(operation, c_long, x, y),
        (Kind::Float, _) => floats!(operation, f32, x, y),
        (Kind::Double, _) => floats!(operation, f64, x, y),
        (Kind::Cplx, _) => complex!(operation, f32, x, y),
        (Kind::Dcplx, _) => complex!(operation, f64, x, y),
        (Kind::Byte | Kind::Ushort | Kind::Uint | Kind::Ulong, _) => return Err(Code::BadParam),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Operation; 4] =
        [Operation::Max, Operation::Min, Operation::Sum, Operation::Product];

    #[test]
    fn bytes_are_signed_and_have_no_sum() {
        let mut x = [1u8, 4];
        assert_eq!(combine(Operation::Max, Kind::Byte, &mut x, &[200, 5]), Ok(()));
        assert_eq!(x, [1, 5]);
        assert_eq!(combine(Operation::Sum, Kind::Byte, &mut x, &[1, 1]), Err(Code::BadParam));
    }

    #[test]
    fn unsigned_types_have_none() {
        for kind in [Kind::Ushort, Kind::Uint, Kind::Ulong] {
            for operation in ALL {
                assert_eq!(combine(operation, kind, &mut [0; 8], &[1; 8]), Err(Code::BadParam));
            }
        }
    }

    fn bytes<T: Copy, const N: usize>(numbers: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        numbers.iter().flat_map(|&number| to(number)).collect()
    }

    #[test]
    fn complex_numbers_multiply_and_compare_by_modulus() {
        let mut x = bytes(&[1f32, 2.0], f32::to_ne_bytes);
        let y = bytes(&[3f32, 4.0], f32::to_ne_bytes);
        assert_eq!(combine(Operation::Product, Kind::Cplx, &mut x, &y), Ok(()));
        assert_eq!(x, bytes(&[-5f32, 10.0], f32::to_ne_bytes));
        let mut x = bytes(&[1f64, 1.0], f64::to_ne_bytes);
        let y = bytes(&[0f64, 9.0], f64::to_ne_bytes);
        assert_eq!(combine(Operation::Max, Kind::Dcplx, &mut x, &y), Ok(()));
        assert_eq!(x, y);
        assert_eq!(combine(Operation::Min, Kind::Dcplx, &mut x, &[0; 16]), Ok(()));
        assert_eq!(x, [0; 16]);
    }

    #[test]
    fn the_loops_agree_with_one_number_at_a_time() {
        // Odd lengths and an odd address: vector loops have a rest and no alignment.
        let numbers = |seed: u64| -> Vec<u8> {
            let mut state = seed;
            (0..8 * 103 + 1)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                    (state >> 33) as u8
                })
                .collect()
        };
        let (x, y) = (numbers(1), numbers(2));
        let element = |bytes: &[u8], i: usize| {
            i64::from_ne_bytes(bytes[1 + 8 * i..][..8].try_into().expect("eight"))
        };
        for operation in ALL {
            let mut out = x.clone();
            assert_eq!(combine(operation, Kind::Long, &mut out[1..], &y[1..]), Ok(()));
            for i in 0..103 {
                let (a, b) = (element(&x, i), element(&y, i));
                let expected = match operation {
                    Operation::Max => a.max(b),
                    Operation::Min => a.min(b),
                    Operation::Sum => a.wrapping_add(b),
                    Operation::Product => a.wrapping_mul(b),
                };
                assert_eq!(element(&out, i), expected);
            }
        }
    }
}
