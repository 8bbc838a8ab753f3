//! Data without copies and without the other side: views, memory for sending, exposed memory.

use std::ffi::c_void;
use std::slice;

use pvm_wire::request::Change;
use pvm_wire::{Code, Tid};

use super::{answer, kind, size, status, with};
use crate::guard::inside;
use crate::pointer::store;
use crate::trace::noted;
use crate::{buffer, session};

/// `NEOPVM_MAY_READ`
const MAY_READ: i32 = 1;
/// `NEOPVM_MAY_WRITE`
const MAY_WRITE: i32 = 3;

/// The next items where they lie.
///
/// # Safety
/// `data` points to an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_view_items(
    handle: i32,
    kind_number: i32,
    count: u64,
    data: *mut *const c_void,
) -> i32 {
    noted!(unsafe NEOPVM_VIEW_ITEMS, neopvm_view_items(handle, kind_number, count, data));
    let view = || {
        let (kind, count) = (kind(kind_number)?, size(count)?);
        let viewed = buffer::get(handle)?.content(|content| {
            // Data that a reader has seen must stay where they are: packing begins a new message.
            content.reading = true;
            content.buffer.view_items(kind, count)
        })??;
        Ok(viewed.cast())
    };
    // SAFETY: `data` is null or has room for the answer, by the call's contract.
    unsafe { answer(data, view) }
}

/// Packs items that are filled in later.
///
/// # Safety
/// `items` points to an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_allocate(
    handle: i32,
    kind_number: i32,
    count: u64,
    items: *mut *mut c_void,
) -> i32 {
    noted!(unsafe NEOPVM_ALLOCATE, neopvm_allocate(handle, kind_number, count, items));
    let allocate = || {
        let (kind, count) = (kind(kind_number)?, size(count)?);
        // Shared memory is a task's.
        session::task()?;
        let place = buffer::get(handle)?.write(kind, |buffer| buffer.allocate(kind, count))??;
        Ok(place.cast())
    };
    // SAFETY: `items` is null or has room for the answer, by the call's contract.
    unsafe { answer(items, allocate) }
}

/// Reports whether a receiver still reads the sent message.
///
/// # Safety
/// `reading` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_is_being_read(handle: i32, reading: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_IS_BEING_READ, neopvm_is_being_read(handle, reading));
    let look = || with(handle, |buffer| Ok(i32::from(buffer.is_being_read())));
    // SAFETY: `reading` is null or has room for the answer, by the call's contract.
    unsafe { answer(reading, look) }
}

/// The older name of [`neopvm_is_being_read`].
///
/// # Safety
/// `reading` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_is_read(handle: i32, reading: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_IS_READ, neopvm_is_read(handle, reading));
    // SAFETY: both functions ask the caller for the same.
    unsafe { neopvm_is_being_read(handle, reading) }
}

/// Exposes memory.
///
/// # Safety
/// `address` points to an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_expose(
    number: u32,
    bytes: u64,
    rights: i32,
    address: *mut *mut c_void,
) -> i32 {
    noted!(unsafe NEOPVM_EXPOSE, neopvm_expose(number, bytes, rights, address));
    let expose = || {
        if !matches!(rights, MAY_READ | MAY_WRITE) {
            return Err(Code::BadParam);
        }
        let memory = session::task()?.expose(number, bytes, rights == MAY_WRITE)?;
        Ok(memory.address.cast())
    };
    // SAFETY: `address` is null or has room for the answer, by the call's contract.
    unsafe { answer(address, expose) }
}

/// Exposes it no more.
#[unsafe(no_mangle)]
extern "C" fn neopvm_withdraw(number: u32) -> i32 {
    noted!(NEOPVM_WITHDRAW, neopvm_withdraw(number));
    status(inside(|| session::task()?.withdraw(number)))
}

/// The memory that a task exposes.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_exposed(
    tid: i32,
    number: u32,
    bytes: *mut u64,
    rights: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_EXPOSED, neopvm_exposed(tid, number, bytes, rights));
    status(inside(|| {
        let (size, writable) = session::task()?.exposed(Tid::from_c_int(tid), number)?;
        // SAFETY: `bytes` is null or has room for the answer, by the call's contract.
        unsafe { store(bytes, size) };
        // SAFETY: `rights` is null or has room for the answer, by the call's contract.
        unsafe { store(rights, if writable { MAY_WRITE } else { MAY_READ }) };
        Ok(())
    }))
}

/// Reads exposed memory.
///
/// # Safety
/// `data` has `bytes` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_get_memory(
    tid: i32,
    number: u32,
    offset: u64,
    data: *mut c_void,
    bytes: u64,
) -> i32 {
    noted!(unsafe NEOPVM_GET_MEMORY, neopvm_get_memory(tid, number, offset, data, bytes));
    status(inside(|| {
        let bytes = size(bytes)?;
        if data.is_null() && bytes > 0 || isize::try_from(bytes).is_err() {
            return Err(Code::BadParam);
        }
        let task = session::task()?;
        if bytes == 0 {
            return task.get(Tid::from_c_int(tid), number, offset, &mut []);
        }
        // SAFETY: `data` has `bytes` bytes. They may be uninitialised for C; `get` only writes to
        // them.
        let out = unsafe { slice::from_raw_parts_mut(data.cast::<u8>(), bytes) };
        task.get(Tid::from_c_int(tid), number, offset, out)
    }))
}

/// Writes exposed memory.
///
/// # Safety
/// `data` has `bytes` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_put_memory(
    tid: i32,
    number: u32,
    offset: u64,
    data: *const c_void,
    bytes: u64,
) -> i32 {
    noted!(unsafe NEOPVM_PUT_MEMORY, neopvm_put_memory(tid, number, offset, data, bytes));
    status(inside(|| {
        // SAFETY: `data` is null or has `bytes` bytes, by the call's contract.
        let bytes = unsafe { crate::pointer::array(data.cast::<u8>(), size(bytes)?) }?;
        session::task()?.put(Tid::from_c_int(tid), number, offset, bytes)
    }))
}

/// Four or eight bytes of memory as C's `int64_t` tells them.
#[derive(Clone, Copy)]
enum WordSize {
    Four,
    Eight,
}

impl WordSize {
    fn of(bytes: u32) -> Result<Self, Code> {
        match bytes {
            4 => Ok(Self::Four),
            8 => Ok(Self::Eight),
            _ => Err(Code::BadParam),
        }
    }

    /// With its sign, as `int32_t` or `int64_t` has it.
    fn signed(self, value: u64) -> i64 {
        match self {
            Self::Four => i64::from(value as u32 as i32),
            Self::Eight => value as i64,
        }
    }
}

/// A value that four bytes can hold, with or without a sign.
fn four_bytes(value: i64) -> Result<u32, Code> {
    let signed = i32::try_from(value).map(|value| value as u32);
    signed.or_else(|_| u32::try_from(value)).map_err(|_| Code::BadParam)
}

/// # Safety
/// `before` is null or points to a number.
unsafe fn change(
    (tid, number, offset): (i32, u32, u64),
    word: WordSize,
    change: Change,
    before: *mut i64,
) -> Result<(), Code> {
    let value = session::task()?.change(Tid::from_c_int(tid), number, offset, change)?;
    // SAFETY: `before` is null or has room for the answer, by the call's contract.
    unsafe { store(before, word.signed(value)) };
    Ok(())
}

/// Adds to a word of exposed memory.
///
/// # Safety
/// `before` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_add_memory(
    tid: i32,
    number: u32,
    offset: u64,
    bytes: u32,
    add: i64,
    before: *mut i64,
) -> i32 {
    noted!(unsafe NEOPVM_ADD_MEMORY, neopvm_add_memory(tid, number, offset, bytes, add, before));
    status(inside(|| {
        let word = WordSize::of(bytes)?;
        let wanted = match word {
            WordSize::Four => Change::Add4 { add: four_bytes(add)? },
            WordSize::Eight => Change::Add8 { add: add as u64 },
        };
        // SAFETY: `before` is null or points to a number, by the call's contract.
        unsafe { change((tid, number, offset), word, wanted, before) }
    }))
}

/// Sets a word of exposed memory if it has the expected value.
///
/// # Safety
/// `before` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_exchange_memory(
    tid: i32,
    number: u32,
    offset: u64,
    bytes: u32,
    expected: i64,
    wanted: i64,
    before: *mut i64,
) -> i32 {
    noted!(
        unsafe NEOPVM_EXCHANGE_MEMORY,
        neopvm_exchange_memory(tid, number, offset, bytes, expected, wanted, before)
    );
    status(inside(|| {
        let word = WordSize::of(bytes)?;
        let exchange = match word {
            WordSize::Four => {
                let (expected, wanted) = (four_bytes(expected)?, four_bytes(wanted)?);
                Change::Exchange4 { expected, wanted }
            }
            WordSize::Eight => {
                Change::Exchange8 { expected: expected as u64, wanted: wanted as u64 }
            }
        };
        // SAFETY: `before` is null or points to a number, by the call's contract.
        unsafe { change((tid, number, offset), word, exchange, before) }
    }))
}
