//! The operations of `pvm_reduce` as C and Fortran call them; what they do stands in
//! `pvm::reduction`.

use std::ffi::{c_int, c_void};
use std::slice;

use pvm::reduction::{Operation, combine};
use pvm_wire::{Code, Kind};

use crate::guard::plain;
use crate::pointer::{load, store};

/// A program's function that combines two arrays in `pvm_reduce`: type, first and result, second,
/// count, code.
pub(crate) type Function =
    unsafe extern "C" fn(*const c_int, *mut c_void, *const c_void, *const c_int, *mut c_int);

/// # Safety
/// Both have `count` elements of `kind`, and are not null if there are any.
unsafe fn apply(
    operation: Operation,
    kind: c_int,
    x: *mut c_void,
    y: *const c_void,
    count: usize,
) -> Result<(), Code> {
    let kind = Kind::from_number(kind).ok_or(Code::BadParam)?;
    let bytes = count.checked_mul(kind.size()).ok_or(Code::BadParam)?;
    if count == 0 {
        return combine(operation, kind, &mut [], &[]);
    }
    if std::ptr::addr_eq(x, y) {
        // SAFETY: `y` has `count` elements of this kind, `bytes` in all; the slice ends with its
        // copy.
        let same = unsafe { slice::from_raw_parts(y.cast::<u8>(), bytes) }.to_vec();
        // SAFETY: `x` has `count` elements of this kind; the other slice is a copy, so they do not
        // overlap.
        return combine(
            operation,
            kind,
            unsafe { slice::from_raw_parts_mut(x.cast(), bytes) },
            &same,
        );
    }
    // SAFETY: `x` has `count` elements of this kind, and `y`, at another address, is another array.
    let x = unsafe { slice::from_raw_parts_mut(x.cast(), bytes) };
    // SAFETY: `y` has `count` elements of this kind, and `x`, at another address, is another array.
    combine(operation, kind, x, unsafe { slice::from_raw_parts(y.cast(), bytes) })
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
            // SAFETY: `kind` is null or points to a value of its type, by the call's contract.
            let kind = unsafe { load(kind) }.unwrap_or(0);
            // SAFETY: `count` is null or points to a value of its type, by the call's contract.
            let count = usize::try_from(unsafe { load(count) }.unwrap_or(0)).unwrap_or(0);
            let applied = if count > 0 && (x.is_null() || y.is_null()) {
                Err(Code::BadParam)
            } else {
                // SAFETY: both arrays have `*count` elements of `*kind`, and are not null if there
                // are any.
                unsafe { apply(Operation::$operation, kind, x, y, count) }
            };
            let result = applied.map_or_else(Code::number, |()| 0);
            // SAFETY: `info` is null or has room for the answer, by the call's contract.
            plain((), || unsafe { store(info, result) });
        }

        /// The operation of this name, for Fortran.
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
            // SAFETY: Fortran passes what C passes: pointers to the numbers, and the arrays.
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

/// The operation of PVM's that a program passes, if it is one.
pub(crate) fn known(operation: Function) -> Option<Operation> {
    let all: [(Function, Operation); 8] = [
        (PvmMax, Operation::Max),
        (PvmMin, Operation::Min),
        (PvmSum, Operation::Sum),
        (PvmProduct, Operation::Product),
        (pvmmax_, Operation::Max),
        (pvmmin_, Operation::Min),
        (pvmsum_, Operation::Sum),
        (pvmproduct_, Operation::Product),
    ];
    // A program that was linked at a fixed address may have addresses of its own for them, and then
    // calls them as it calls functions of its own.
    all.into_iter().find(|(known, _)| std::ptr::fn_addr_eq(*known, operation)).map(|(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_may_be_combined_with_itself() {
        let mut x = [1i32, -4, 3];
        let (kind, count, mut info) = (3, 3, 1);
        // SAFETY: three elements.
        unsafe { PvmSum(&kind, x.as_mut_ptr().cast(), x.as_ptr().cast(), &count, &mut info) };
        assert_eq!((x, info), ([2, -8, 6], 0));
    }

    #[test]
    fn what_is_no_type_or_has_no_sum_is_refused() {
        for kind in [0, 1, 9, 10, 11, 99] {
            let (mut x, count, mut info) = ([1u64], 1, 1);
            // SAFETY: one element of any size.
            unsafe {
                PvmSum(&kind, x.as_mut_ptr().cast(), [1u64].as_ptr().cast(), &count, &mut info)
            };
            assert_eq!((x, info), ([1], Code::BadParam.number()));
        }
    }

    #[test]
    fn operations_are_known_by_their_address() {
        assert_eq!(known(PvmSum), Some(Operation::Sum));
        assert_eq!(known(pvmmax_), Some(Operation::Max));
    }
}
