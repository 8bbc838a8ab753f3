//! Making tuples and templates, and reading them.

use std::ffi::c_void;

use pvm_tuples::{BuildError, Builder, Kind, Shape};
use pvm_wire::Code;

use super::TABLE;
use super::native::{self, alignment, give, to_tuple};
use super::table::Held;
use crate::guard::inside;
use crate::pointer::store;

fn status(result: Result<(), Code>) -> i32 {
    result.map_or_else(Code::number, |()| 0)
}

/// `struct neotuple_field`
#[repr(C)]
struct Field {
    kind: i32,
    shape: i32,
    formal: i32,
    reserved: i32,
    count: u64,
    bytes: u64,
    data: *const c_void,
}

fn kind(number: i32) -> Result<Kind, Code> {
    u8::try_from(number).ok().and_then(Kind::from_number).ok_or(Code::BadParam)
}

fn shape(number: i32) -> Result<Shape, Code> {
    match number {
        0 => Ok(Shape::Scalar),
        1 => Ok(Shape::Array),
        _ => Err(Code::BadParam),
    }
}

fn size(number: u64) -> Result<usize, Code> {
    usize::try_from(number).map_err(|_| Code::BadParam)
}

fn built<T>(result: Result<T, BuildError>) -> Result<T, Code> {
    result.map_err(|error| match error {
        BuildError::NoMemory => Code::NoMem,
        BuildError::TooMany | BuildError::Misfit => Code::BadParam,
    })
}

fn with<T>(handle: i32, body: impl FnOnce(&mut Held) -> Result<T, Code>) -> Result<T, Code> {
    inside(|| body(TABLE.enter()?.get(handle).ok_or(Code::BadParam)?))
}

/// Adds to a tuple that is made here.
fn add(handle: i32, body: impl FnOnce(&mut Held) -> Result<(), Code>) -> i32 {
    status(with(handle, |held| {
        if held.taken {
            return Err(Code::BadParam);
        }
        if let Some(tuple) = held.tuple.take()
            && held.builder.arity() == 0
        {
            // A large one took its fields with it.
            held.builder = built(Builder::of(&tuple))?;
        }
        held.converted.clear();
        body(held)
    }))
}

/// A tuple without fields.
///
/// # Safety
/// `tuple` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_new(tuple: *mut i32) -> i32 {
    status(inside(|| {
        if tuple.is_null() {
            return Err(Code::BadParam);
        }
        let handle = TABLE.enter()?.add(Held::default()).ok_or(Code::OutOfRes)?;
        // SAFETY: `tuple` points to a handle, or is null, which `store` skips.
        unsafe { store(tuple, handle) };
        Ok(())
    }))
}

/// Frees a tuple.
#[unsafe(no_mangle)]
extern "C" fn neotuple_free(handle: i32) -> i32 {
    if handle == 0 {
        return 0;
    }
    status(inside(|| {
        let held = TABLE.enter()?.take(handle);
        held.map(drop).ok_or(Code::BadParam)
    }))
}

/// Takes the fields away.
#[unsafe(no_mangle)]
extern "C" fn neotuple_clear(handle: i32) -> i32 {
    status(with(handle, |held| {
        held.builder.clear();
        let builder = std::mem::take(&mut held.builder);
        *held = Held { builder, ..Held::default() };
        Ok(())
    }))
}

/// Adds a value.
///
/// # Safety
/// `value` points to one of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_add(handle: i32, number: i32, value: *const c_void) -> i32 {
    add(handle, |held| {
        let kind = kind(number)?;
        if !kind.has_shape() {
            return Err(Code::BadParam);
        }
        // SAFETY: `value` points to one item of this kind; `to_tuple` copies it.
        unsafe {
            to_tuple(kind, value, 1, |item| built(held.builder.actual(kind, Shape::Scalar, item)))
        }
    })
}

/// Adds an array.
///
/// # Safety
/// There are `count` items.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_add_array(
    handle: i32,
    number: i32,
    items: *const c_void,
    count: u64,
) -> i32 {
    add(handle, |held| {
        let (kind, count) = (kind(number)?, size(count)?);
        if !kind.has_shape() {
            return Err(Code::BadParam);
        }
        let add = |items: &[u8]| built(held.builder.actual(kind, Shape::Array, items));
        // SAFETY: `items` has `count` items of this kind; `to_tuple` copies them.
        unsafe { to_tuple(kind, items, count, add) }
    })
}

/// Adds text, bytes or a struct.
///
/// # Safety
/// `data` has `bytes` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_add_bytes(
    handle: i32,
    number: i32,
    data: *const c_void,
    bytes: u64,
) -> i32 {
    add(handle, |held| {
        let (kind, count) = (kind(number)?, size(bytes)?);
        if kind.has_shape() {
            return Err(Code::BadParam);
        }
        // SAFETY: `data` has `count` bytes, or is null, which `array` refuses unless there are
        // none.
        let data = unsafe { crate::pointer::array(data.cast::<u8>(), count) }?;
        built(held.builder.actual(kind, Shape::Scalar, data))
    })
}

/// Adds a formal.
#[unsafe(no_mangle)]
extern "C" fn neotuple_add_formal(handle: i32, number: i32, shape_number: i32, bytes: u64) -> i32 {
    add(handle, |held| {
        let kind = kind(number)?;
        let shape = if kind.has_shape() { shape(shape_number)? } else { Shape::Scalar };
        built(held.builder.formal(kind, shape, bytes))
    })
}

/// Stores the number of fields.
///
/// # Safety
/// `count` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_fields(handle: i32, count: *mut u64) -> i32 {
    status(with(handle, |held| {
        let fields = held.tuple().map_or(0, |tuple| tuple.arity() as u64);
        // SAFETY: `count` points to a number, or is null, which `store` skips.
        unsafe { store(count, fields) };
        Ok(())
    }))
}

/// A field as this host has it; its data lie in the tuple, or beside it.
fn field(held: &mut Held, index: u64) -> Result<Field, Code> {
    let index = size(index)?;
    let Held { tuple: Some(tuple), converted, .. } = with_tuple(held)? else {
        return Err(Code::BadParam);
    };
    let view = tuple.field(index).ok_or(Code::BadParam)?;
    let (data, bytes) = match view.data {
        None => (std::ptr::null(), 0),
        Some(data) => {
            let known = converted.iter().position(|(of, _)| *of == index);
            let place = match known {
                Some(place) => Some(place),
                None => native::converted(view.kind, data, alignment(view.kind))?.map(|aligned| {
                    converted.push((index, aligned));
                    converted.len() - 1
                }),
            };
            match place {
                Some(place) => converted[place].1.place(),
                None => (data.as_ptr().cast(), data.len()),
            }
        }
    };
    Ok(Field {
        kind: view.kind as i32,
        shape: view.shape as i32,
        formal: i32::from(view.data.is_none()),
        reserved: 0,
        count: view.count,
        bytes: bytes as u64,
        data,
    })
}

fn with_tuple(held: &mut Held) -> Result<&mut Held, Code> {
    held.tuple().ok_or(Code::BadParam)?;
    Ok(held)
}

/// Describes a field.
///
/// # Safety
/// `out` points to a field.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_field(handle: i32, index: u64, out: *mut Field) -> i32 {
    status(with(handle, |held| {
        let field = field(held, index)?;
        // SAFETY: `out` points to a field, or is null, which `store` skips.
        unsafe { store(out, field) };
        Ok(())
    }))
}

/// Copies a field.
///
/// # Safety
/// `data` has `room` bytes; `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_get(
    handle: i32,
    index: u64,
    number: i32,
    shape_number: i32,
    data: *mut c_void,
    room: u64,
    count: *mut u64,
) -> i32 {
    status(with(handle, |held| {
        let (kind, field) = (kind(number)?, field(held, index)?);
        let shape = if kind.has_shape() { shape(shape_number)? } else { Shape::Scalar };
        if (field.kind, field.shape) != (kind as i32, shape as i32) || field.formal != 0 {
            return Err(Code::Mismatch);
        }
        // SAFETY: `count` points to a number, or is null, which `store` skips.
        unsafe { store(count, field.count) };
        if field.bytes > room || (data.is_null() && field.bytes > 0) {
            return Err(Code::Overflow);
        }
        // SAFETY: there is room for them, as the caller promises.
        unsafe { give(field.data, size(field.bytes)?, data) };
        Ok(())
    }))
}

/// Stores the number of times that a claim of the tuple came back.
///
/// # Safety
/// `tries` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_tries(handle: i32, tries: *mut u64) -> i32 {
    status(with(handle, |held| {
        // SAFETY: `tries` points to a number, or is null, which `store` skips.
        unsafe { store(tries, u64::from(held.tries)) };
        Ok(())
    }))
}
