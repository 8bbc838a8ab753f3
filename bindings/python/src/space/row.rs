//! Python's values as the fields of a tuple, and back.

use crate::failure::Failure;
use crate::memory::{self, Region, View};
use pvm_tuples::{BuildError, Builder, FieldView, Kind, Shape, Tuple};
use pvm_wire::Code;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

/// `neopvm.space.field`, which knows the values that are rarer.
static FIELD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A field as `neopvm.space.field` describes it: type, shape, data, and the size of a formal
/// struct. A formal has no data.
type Described<'py> = (u8, bool, Option<Bound<'py, PyAny>>, u64);

fn misfit(py: Python<'_>, error: BuildError, call: &str) -> PyErr {
    let (code, cause) = match error {
        BuildError::NoMemory => (Code::NoMem, "there is no memory for it"),
        BuildError::TooMany => (Code::BadParam, "a tuple has 1 to 255 fields"),
        BuildError::Misfit => (Code::BadParam, "the value is none of its type"),
    };
    Failure::new(code, call).because(cause).raise(py)
}

/// The tuple of some values, or the template where some are types.
pub(super) fn tuple(values: &Bound<'_, PyTuple>, call: &str) -> PyResult<Tuple> {
    let py = values.py();
    let mut builder = Builder::new();
    for value in values.iter() {
        if !add_plain(&mut builder, &value, call)? {
            add_other(&mut builder, &value, call)?;
        }
    }
    builder.finish().ok_or_else(|| misfit(py, BuildError::TooMany, call))
}

/// Adds a value of one of Python's own types; false if it is another one.
fn add_plain(builder: &mut Builder, value: &Bound<'_, PyAny>, call: &str) -> PyResult<bool> {
    let py = value.py();
    let added = if value.is_instance_of::<PyBool>() {
        builder.actual(Kind::Bool, Shape::Scalar, &[u8::from(value.is_truthy()?)])
    } else if value.is_instance_of::<PyInt>() {
        let number = value.extract::<i32>().map_err(|_| too_wide(py, call))?;
        builder.int(number)
    } else if let Ok(number) = value.cast::<PyFloat>() {
        builder.actual(Kind::Double, Shape::Scalar, &number.value().to_le_bytes())
    } else if let Ok(text) = value.cast::<PyString>() {
        match text.to_cow() {
            Ok(text) => builder.text(&text),
            // What is not UTF-8 in it, as `os.fsencode` has it.
            Err(_) => {
                let bytes = text.call_method1("encode", ("utf-8", "surrogateescape"))?;
                let bytes = bytes.cast_into::<PyBytes>()?;
                builder.actual(Kind::Text, Shape::Scalar, bytes.as_bytes())
            }
        }
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        builder.actual(Kind::Bytes, Shape::Scalar, bytes.as_bytes())
    } else if let Ok(class) = value.cast::<PyType>() {
        let Some(kind) = kind_of(class) else { return Ok(false) };
        builder.formal(kind, Shape::Scalar, 0)
    } else {
        return Ok(false);
    };
    added.map(|()| true).map_err(|error| misfit(py, error, call))
}

/// The type that one of Python's own stands for in a template.
fn kind_of(class: &Bound<'_, PyType>) -> Option<Kind> {
    let py = class.py();
    let known = [
        (py.get_type::<PyInt>(), Kind::Int),
        (py.get_type::<PyFloat>(), Kind::Double),
        (py.get_type::<PyString>(), Kind::Text),
        (py.get_type::<PyBytes>(), Kind::Bytes),
        (py.get_type::<PyBool>(), Kind::Bool),
        (py.get_type::<PyComplex>(), Kind::DoubleComplex),
    ];
    known.iter().find(|(known, _)| class.is(known)).map(|(_, kind)| *kind)
}

fn too_wide(py: Python<'_>, call: &str) -> PyErr {
    let cause = "an int is C's int, and this one does not fit 32 bits; neopvm.Typed(\"long\", ...) \
                 names a wider type";
    Failure::new(Code::Overflow, call).because(cause).class("WrongTypeError").raise(py)
}

/// Adds what Python has to describe.
fn add_other(builder: &mut Builder, value: &Bound<'_, PyAny>, call: &str) -> PyResult<()> {
    let py = value.py();
    let field = FIELD.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("neopvm.space")?.getattr("field")?.unbind())
    })?;
    let described = field.bind(py).call1((value, call))?;
    let (number, is_array, data, size): Described<'_> = described.extract()?;
    let kind = Kind::from_number(number).ok_or_else(|| misfit(py, BuildError::Misfit, call))?;
    let shape = if is_array { Shape::Array } else { Shape::Scalar };
    let added = match data {
        None => builder.formal(kind, shape, size),
        Some(data) => builder.actual(kind, shape, Region::of_bytes(&data, call)?.bytes()),
    };
    added.map_err(|error| misfit(py, error, call))
}

/// The memory of arrays that Python looks at.
#[pyclass(frozen, module = "neopvm._core")]
struct Found {
    /// Kept for the views.
    _tuple: Tuple,
}

/// The values of a tuple, and the names of their types. Arrays are views of its memory.
pub(super) fn row<'py>(
    py: Python<'py>,
    tuple: &Tuple,
) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
    let (values, types) = (PyList::empty(py), PyList::empty(py));
    let mut memory = None;
    for field in tuple.fields() {
        if field.shape == Shape::Array && memory.is_none() {
            memory = Some(Bound::new(py, Found { _tuple: tuple.clone() })?);
        }
        values.append(value(py, &field, memory.as_ref())?)?;
        let brackets = if field.shape == Shape::Array { "[]" } else { "" };
        types.append(format!("{}{brackets}", field.kind.name()))?;
    }
    Ok((values.to_tuple(), types.to_tuple()))
}

fn value<'py>(
    py: Python<'py>,
    field: &FieldView<'_>,
    memory: Option<&Bound<'py, Found>>,
) -> PyResult<Bound<'py, PyAny>> {
    let data = field.data.unwrap_or_default();
    match (field.kind, memory.filter(|_| field.shape == Shape::Array)) {
        (Kind::Text, _) => memory::text(py, data),
        (kind, Some(memory)) => view(py, (kind, data), memory),
        (Kind::LongDouble | Kind::Bytes | Kind::Struct, None) => {
            Ok(PyBytes::new(py, data).into_any())
        }
        (kind, None) => scalar(py, kind, data),
    }
}

/// A view of an array, which keeps the memory.
fn view<'py>(
    py: Python<'py>,
    (kind, data): (Kind, &[u8]),
    memory: &Bound<'py, Found>,
) -> PyResult<Bound<'py, PyAny>> {
    let items = as_items(kind);
    let address = data.as_ptr().cast_mut();
    let holder = memory.clone().into_any().unbind();
    let view = View::new((holder, let_go), (address, false), (items, data.len() / items.size()));
    let view = Bound::new(py, view)?;
    let view = py.import("builtins")?.getattr("memoryview")?.call1((view,))?;
    match kind {
        Kind::Char => view.call_method1("cast", ("c",)),
        Kind::SignedChar => view.call_method1("cast", ("b",)),
        Kind::Bool => view.call_method1("cast", ("?",)),
        _ => Ok(view),
    }
}

/// Nobody counts the views of a tuple.
fn let_go(_: &Bound<'_, PyAny>) {}

/// The type of a message's items that has such bits.
const fn as_items(kind: Kind) -> pvm_wire::Kind {
    match kind {
        Kind::Short => pvm_wire::Kind::Short,
        Kind::UnsignedShort => pvm_wire::Kind::Ushort,
        Kind::Int => pvm_wire::Kind::Int,
        Kind::UnsignedInt => pvm_wire::Kind::Uint,
        Kind::Long | Kind::LongLong => pvm_wire::Kind::Long,
        Kind::UnsignedLong | Kind::UnsignedLongLong => pvm_wire::Kind::Ulong,
        Kind::Float => pvm_wire::Kind::Float,
        Kind::Double => pvm_wire::Kind::Double,
        Kind::FloatComplex => pvm_wire::Kind::Cplx,
        Kind::DoubleComplex => pvm_wire::Kind::Dcplx,
        _ => pvm_wire::Kind::Byte,
    }
}

fn scalar<'py>(py: Python<'py>, kind: Kind, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut wide = [0; 8];
    let used = data.len().min(8);
    wide[..used].copy_from_slice(&data[..used]);
    let unsigned = u64::from_le_bytes(wide);
    let spare = 64 - 8 * used as u32;
    let signed = (unsigned << spare).cast_signed() >> spare;
    let double = |at: usize| data[at..at + 8].try_into().map_or(0.0, f64::from_le_bytes);
    let float = |at: usize| data[at..at + 4].try_into().map_or(0.0, f32::from_le_bytes);
    Ok(match kind {
        Kind::Bool => PyBool::new(py, unsigned != 0).to_owned().into_any(),
        Kind::Float => PyFloat::new(py, float(0).into()).into_any(),
        Kind::Double => PyFloat::new(py, double(0)).into_any(),
        Kind::FloatComplex => {
            PyComplex::from_doubles(py, float(0).into(), float(4).into()).into_any()
        }
        Kind::DoubleComplex => PyComplex::from_doubles(py, double(0), double(8)).into_any(),
        Kind::Char => PyBytes::new(py, data).into_any(),
        Kind::UnsignedChar
        | Kind::UnsignedShort
        | Kind::UnsignedInt
        | Kind::UnsignedLong
        | Kind::UnsignedLongLong => unsigned.into_pyobject(py)?.into_any(),
        _ => signed.into_pyobject(py)?.into_any(),
    })
}
