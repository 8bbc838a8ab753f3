//! Numbers of Python as items of messages, and items as numbers.

use crate::failure::Failure;
use crate::kind::word;
use pvm_wire::{Code, Kind};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyComplex;

fn is_overflow(error: &PyErr, py: Python<'_>) -> bool {
    error.is_instance_of::<PyOverflowError>(py)
}

/// The bytes of one number, and how many; none for what is no number.
pub(crate) fn one(kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<Option<([u8; 16], usize)>> {
    macro_rules! extract {
        ($($number:ty),+) => {{
            let mut result = Ok(None);
            $(
                if let Ok(None) = result {
                    result = match value.extract::<$number>() {
                        Ok(number) => Ok(Some(number.to_ne_bytes().to_vec())),
                        Err(error) if is_overflow(&error, value.py()) => Err(error),
                        Err(_) => Ok(None),
                    };
                }
            )+
            result?
        }};
    }
    let py = value.py();
    let complex = |value: &Bound<'_, PyAny>| -> Option<(f64, f64)> {
        let number = value.cast::<PyComplex>().ok();
        let real = || value.extract::<f64>().ok().map(|real| (real, 0.0));
        use pyo3::types::PyComplexMethods as _;
        number.map(|number| (number.real(), number.imag())).or_else(real)
    };
    let bytes: Option<Vec<u8>> = match kind {
        // Signed or not, as long as it fits.
        Kind::Byte => match value.extract::<i16>() {
            Ok(number @ -128..=255) => Some(vec![(number & 0xff) as u8]),
            Ok(number) => {
                let text = format!("{number} does not fit in a byte");
                return Err(PyOverflowError::new_err(text));
            }
            Err(error) if is_overflow(&error, py) => {
                return Err(error);
            }
            Err(_) => None,
        },
        Kind::Short => extract!(i16),
        Kind::Ushort => extract!(u16),
        Kind::Int => extract!(i32),
        Kind::Uint => extract!(u32),
        Kind::Long => extract!(std::ffi::c_long),
        Kind::Ulong => extract!(std::ffi::c_ulong),
        Kind::Float => extract!(f32),
        Kind::Double => extract!(f64),
        Kind::Cplx => complex(value)
            .map(|(re, im)| [(re as f32).to_ne_bytes(), (im as f32).to_ne_bytes()].concat()),
        Kind::Dcplx => complex(value).map(|(re, im)| [re.to_ne_bytes(), im.to_ne_bytes()].concat()),
    };
    Ok(bytes.map(|bytes| {
        let mut item = [0; 16];
        item[..bytes.len()].copy_from_slice(&bytes);
        (item, bytes.len())
    }))
}

/// One item as a Python object. `item` has its size.
pub(crate) fn value(py: Python<'_>, kind: Kind, item: &[u8]) -> PyResult<Py<PyAny>> {
    macro_rules! number {
        ($t:ty, $bytes:expr) => {{
            let mut bytes = [0; size_of::<$t>()];
            bytes.copy_from_slice($bytes);
            <$t>::from_ne_bytes(bytes)
        }};
    }
    match kind {
        Kind::Byte => number!(u8, item).into_py_any(py),
        Kind::Short => number!(i16, item).into_py_any(py),
        Kind::Ushort => number!(u16, item).into_py_any(py),
        Kind::Int => number!(i32, item).into_py_any(py),
        Kind::Uint => number!(u32, item).into_py_any(py),
        Kind::Long => number!(std::ffi::c_long, item).into_py_any(py),
        Kind::Ulong => number!(std::ffi::c_ulong, item).into_py_any(py),
        Kind::Float => number!(f32, item).into_py_any(py),
        Kind::Double => number!(f64, item).into_py_any(py),
        Kind::Cplx => {
            let (re, im) = (number!(f32, &item[..4]), number!(f32, &item[4..]));
            Ok(PyComplex::from_doubles(py, re.into(), im.into()).into_any().unbind())
        }
        Kind::Dcplx => {
            let (re, im) = (number!(f64, &item[..8]), number!(f64, &item[8..]));
            Ok(PyComplex::from_doubles(py, re, im).into_any().unbind())
        }
    }
}

/// The error for a value that is no number of that type.
pub(crate) fn not_of(py: Python<'_>, kind: Kind, value: &Bound<'_, PyAny>) -> PyErr {
    let what = value.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
    let cause = format!("{what} is no {}", word(kind));
    Failure::new(Code::BadParam, "pack").because(&cause).class("WrongTypeError").raise(py)
}
