//! The operations of `pvm_reduce`: maximum, minimum, sum and product, element by element.
//!
//! Complex numbers are compared by their modulus. Bytes have no sum and no product, and unsigned
//! types none of the four, as in PVM.

use std::ffi::{c_int, c_long, c_void};
use std::ops::{Add, Mul};

use pvm_wire::{Code, Kind};

use crate::guard::plain;
use crate::pointer::{load, store};

/// A complex number as C and Fortran lay it out.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Complex<T>(T, T);

impl<T: Copy + Add<Output = T>> Add for Complex<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

macro_rules! complex_product {
    ($($t:ty),*) => {$(
        impl Mul for Complex<$t> {
            type Output = Self;
            fn mul(self, other: Self) -> Self {
                Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
            }
        }
        impl PartialOrd for Complex<$t> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                let square = |c: &Self| c.0 * c.0 + c.1 * c.1;
                square(self).partial_cmp(&square(other))
            }
        }
    )*};
}
complex_product!(f32, f64);

/// The operation.
#[derive(Clone, Copy)]
enum Operation {
    Max,
    Min,
    Sum,
    Product,
}

/// `x` becomes `x` or `y`.
///
/// # Safety
/// Both have `count` elements.
unsafe fn each<T: Copy>(x: *mut c_void, y: *const c_void, count: usize, f: impl Fn(T, T) -> T) {
    let (x, y) = (x.cast::<T>(), y.cast::<T>());
    for i in 0..count {
        // SAFETY: the caller's promise; Fortran may not have aligned the arrays.
        let a = unsafe { x.add(i).read_unaligned() };
        // SAFETY: as above.
        let b = unsafe { y.add(i).read_unaligned() };
        // SAFETY: as above.
        unsafe { x.add(i).write_unaligned(f(a, b)) };
    }
}

/// # Safety
/// Both have `count` elements.
unsafe fn choose<T: Copy + PartialOrd>(
    operation: Operation,
    x: *mut c_void,
    y: *const c_void,
    count: usize,
) {
    match operation {
        // SAFETY: the caller's promise.
        Operation::Max => unsafe { each::<T>(x, y, count, |a, b| if b > a { b } else { a }) },
        // SAFETY: the caller's promise.
        _ => unsafe { each::<T>(x, y, count, |a, b| if b < a { b } else { a }) },
    }
}

macro_rules! numbers {
    ($operation:expr, $t:ty, $add:expr, $multiply:expr, $x:expr, $y:expr, $count:expr) => {
        match $operation {
            // SAFETY: the caller's promise.
            Operation::Sum => unsafe { each::<$t>($x, $y, $count, $add) },
            // SAFETY: the caller's promise.
            Operation::Product => unsafe { each::<$t>($x, $y, $count, $multiply) },
            // SAFETY: the caller's promise.
            _ => unsafe { choose::<$t>($operation, $x, $y, $count) },
        }
    };
}

/// # Safety
/// Both have `count` elements of `kind`.
unsafe fn apply(
    operation: Operation,
    kind: c_int,
    x: *mut c_void,
    y: *const c_void,
    count: usize,
) -> Result<(), Code> {
    match (Kind::from_number(kind), operation) {
        (Some(Kind::Byte), Operation::Max | Operation::Min) => {
            // SAFETY: the caller's promise.
            unsafe { choose::<i8>(operation, x, y, count) };
        }
        (Some(Kind::Short), _) => {
            numbers!(operation, i16, i16::wrapping_add, i16::wrapping_mul, x, y, count);
        }
        (Some(Kind::Int), _) => {
            numbers!(operation, i32, i32::wrapping_add, i32::wrapping_mul, x, y, count);
        }
        (Some(Kind::Long), _) => {
            numbers!(operation, c_long, c_long::wrapping_add, c_long::wrapping_mul, x, y, count);
        }
        (Some(Kind::Float), _) => numbers!(operation, f32, Add::add, Mul::mul, x, y, count),
        (Some(Kind::Double), _) => numbers!(operation, f64, Add::add, Mul::mul, x, y, count),
        (Some(Kind::Cplx), _) => {
            numbers!(operation, Complex<f32>, Add::add, Mul::mul, x, y, count);
        }
        (Some(Kind::Dcplx), _) => {
            numbers!(operation, Complex<f64>, Add::add, Mul::mul, x, y, count);
        }
        _ => return Err(Code::BadParam),
    }
    Ok(())
}

macro_rules! operations {
    ($($c_name:ident $fortran_name:ident $operation:ident;)*) => {$(
        /// `x` becomes the result of `x` and `y`, element by element.
        ///
        /// # Safety
        /// The pointers are valid, and both arrays have `*count` elements of `*kind`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $c_name(
            kind: *const c_int,
            x: *mut c_void,
            y: *const c_void,
            count: *const c_int,
            info: *mut c_int,
        ) {
            // SAFETY: the caller's promise.
            let kind = unsafe { load(kind) }.unwrap_or(0);
            // SAFETY: the caller's promise.
            let count = usize::try_from(unsafe { load(count) }.unwrap_or(0)).unwrap_or(0);
            let applied = if count > 0 && (x.is_null() || y.is_null()) {
                Err(Code::BadParam)
            } else {
                // SAFETY: the caller's promise.
                unsafe { apply(Operation::$operation, kind, x, y, count) }
            };
            let result = applied.map_or_else(Code::number, |()| 0);
            // SAFETY: the caller's promise.
            plain((), || unsafe { store(info, result) });
        }

        /// The same for Fortran.
        ///
        /// # Safety
        /// As for C.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $fortran_name(
            kind: *const c_int,
            x: *mut c_void,
            y: *const c_void,
            count: *const c_int,
            info: *mut c_int,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $c_name(kind, x, y, count, info) }
        }
    )*};
}

operations! {
    PvmMax pvmmax_ Max;
    PvmMin pvmmin_ Min;
    PvmSum pvmsum_ Sum;
    PvmProduct pvmproduct_ Product;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T: Copy>(operation: Operation, kind: c_int, x: &mut [T], y: &[T]) -> Result<(), Code> {
        // SAFETY: both have as many elements.
        unsafe { apply(operation, kind, x.as_mut_ptr().cast(), y.as_ptr().cast(), x.len()) }
    }

    #[test]
    fn bytes_are_signed_and_have_no_sum() {
        let mut x = [1u8, 4];
        assert_eq!(run(Operation::Max, 1, &mut x, &[200, 5]), Ok(()));
        assert_eq!(x, [1, 5]);
        assert_eq!(run(Operation::Sum, 1, &mut x, &[1, 1]), Err(Code::BadParam));
    }

    #[test]
    fn unsigned_types_have_none() {
        for kind in [9, 10, 11, 0, 99] {
            assert_eq!(run(Operation::Max, kind, &mut [0u64], &[1]), Err(Code::BadParam));
        }
    }

    #[test]
    fn complex_numbers_multiply_and_compare_by_modulus() {
        let mut x = [1f32, 2.0];
        // SAFETY: one complex number each.
        let done = unsafe {
            apply(Operation::Product, 5, x.as_mut_ptr().cast(), [3f32, 4.0].as_ptr().cast(), 1)
        };
        assert_eq!(done, Ok(()));
        assert_eq!(x, [-5.0, 10.0]);
        let mut x = [Complex(1f64, 1.0)];
        assert_eq!(run(Operation::Max, 7, &mut x, &[Complex(0.0, 9.0)]), Ok(()));
        assert_eq!(x, [Complex(0.0, 9.0)]);
    }
}
