//! Spaces: how they are opened, made, closed and deleted.

use std::ffi::c_char;

use pvm_space::{Error, Plan, Space};
use pvm_tuples::frames::{Full, Options};
use pvm_wire::{Blob, Code};

use super::{TABLE, name, spaces, status, within};
use crate::pointer::{load, store, text};
use crate::trace::noted;

/// `NEOTUPLE_CREATE`, `NEOTUPLE_NEW`, `NEOTUPLE_OWNED`
const CREATE: i32 = 1;
const NEW: i32 = 2;
const OWNED: i32 = 4;
/// `NEOTUPLE_WAIT`, `NEOTUPLE_FAIL`, `NEOTUPLE_SPILL`
const WAIT: i32 = 0;
const FAIL: i32 = 1;
const SPILL: i32 = 2;
/// The limit of a space whose options give none.
const LIMIT_BYTES: u64 = 1 << 30;
/// The number of copies that can be asked for.
const COPIES_MAX: u8 = 2;

/// `struct neotuple_options`
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct OptionsOfC {
    size: u32,
    copies: i32,
    limit_bytes: u64,
    when_full: i32,
    reserved: i32,
}

fn options(given: Option<OptionsOfC>) -> Result<Options, Code> {
    let given = given.unwrap_or_default();
    if given.size != 0 && given.size as usize != size_of::<OptionsOfC>() || given.reserved != 0 {
        return Err(Code::BadParam);
    }
    let copies = u8::try_from(given.copies).ok().filter(|copies| *copies <= COPIES_MAX);
    Ok(Options {
        copies: copies.ok_or(Code::BadParam)?,
        limit_bytes: if given.limit_bytes == 0 { LIMIT_BYTES } else { given.limit_bytes },
        when_full: match given.when_full {
            WAIT => Full::Wait,
            FAIL => Full::Fail,
            SPILL => Full::Spill,
            _ => return Err(Code::BadParam),
        },
        loss_ms: 0,
    })
}

/// Gives an open space a handle.
///
/// # Safety
/// `out` is null or points to a handle.
unsafe fn give(opened: Space, out: *mut i32) -> Result<(), Error> {
    let handle = TABLE.enter()?.add_space(spaces()?.task().tid(), opened);
    // SAFETY: `out` points to a handle, or is null, which `store` skips.
    unsafe { store(out, handle.ok_or(Code::OutOfRes)?) };
    Ok(())
}

/// Opens a space.
///
/// # Safety
/// `given_name` ends with 0; `given` is null or points to options, `out` to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_open(
    given_name: *const c_char,
    flags: i32,
    given: *const OptionsOfC,
    out: *mut i32,
) -> i32 {
    noted!(unsafe NEOTUPLE_OPEN, neotuple_open(given_name, flags, given, out));
    status(within(|| {
        if out.is_null() || flags & !(CREATE | NEW | OWNED) != 0 {
            return Err(Code::BadParam.into());
        }
        // SAFETY: `given_name` ends with 0, and `given` is null or points to options, which are
        // copied.
        let (name, given) = unsafe { (name(given_name)?, load(given)) };
        let (owned, directory) = (flags & OWNED != 0, Blob::default());
        let plan = Plan { options: options(given)?, owned, directory };
        let opened = match flags & CREATE {
            0 => spaces()?.open(&name)?,
            _ => spaces()?.open_or_create(&name, &plan, flags & NEW != 0)?.0,
        };
        // SAFETY: `out` points to a handle.
        unsafe { give(opened, out) }
    }))
}

/// Makes a durable space.
///
/// # Safety
/// `given_name` and `directory` end with 0; `given` is null or points to options, `out` to a
/// handle; `note` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_create_durable(
    given_name: *const c_char,
    given: *const OptionsOfC,
    directory: *const c_char,
    sync_every_ns: i64,
    note: *mut c_char,
    room: u64,
    out: *mut i32,
) -> i32 {
    noted!(
        unsafe NEOTUPLE_CREATE_DURABLE,
        neotuple_create_durable(given_name, given, directory, sync_every_ns, note, room, out)
    );
    status(within(|| {
        if out.is_null() {
            return Err(Code::BadParam.into());
        }
        // SAFETY: `given_name` ends with 0, and `given` is null or points to options, which are
        // copied.
        let (name, given) = unsafe { (name(given_name)?, load(given)) };
        // SAFETY: `directory` ends with 0, or is null, which `text` refuses.
        let directory = unsafe { text(directory) }?;
        let loss_ms = window(sync_every_ns).ok_or(Code::BadParam)?;
        let plan = Plan {
            options: Options { loss_ms, ..options(given)? },
            owned: false,
            directory: pvm_space::directory(directory).ok_or(Code::BadParam)?,
        };
        let (opened, words) = spaces()?.create(&name, &plan)?;
        // SAFETY: `note` has `room` bytes, or is null.
        unsafe { copy_text(&words.0, note, room) };
        // SAFETY: `out` points to a handle.
        unsafe { give(opened, out) }
    }))
}

/// A loss window in milliseconds; 0 for none.
fn window(nanoseconds: i64) -> Option<u32> {
    u32::try_from(u64::try_from(nanoseconds).ok()?.div_ceil(1_000_000)).ok()
}

/// Copies as much of a text as there is room for, with an end mark.
///
/// # Safety
/// `to` is null or has `room` bytes.
unsafe fn copy_text(text: &[u8], to: *mut c_char, room: u64) {
    let Some(most) = usize::try_from(room).ok().and_then(|room| room.checked_sub(1)) else {
        return;
    };
    let text = &text[..text.len().min(most)];
    if to.is_null() {
        return;
    }
    for (at, byte) in text.iter().copied().chain([0]).enumerate() {
        // SAFETY: `at` is at most `most`, which is below `room`.
        unsafe { store(to.wrapping_add(at), c_char::from_ne_bytes([byte])) };
    }
}

/// Closes a space.
#[unsafe(no_mangle)]
extern "C" fn neotuple_close(handle: i32) -> i32 {
    if handle == 0 {
        return 0;
    }
    status(within(|| {
        let (task, space) = TABLE.enter()?.take_space(handle).ok_or(Code::BadParam)?;
        let spaces = spaces()?;
        if spaces.task().tid() == task {
            spaces.close(space);
        }
        Ok(())
    }))
}

/// Deletes a space.
///
/// # Safety
/// `given` ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_delete(given: *const c_char) -> i32 {
    noted!(unsafe NEOTUPLE_DELETE, neotuple_delete(given));
    status(within(|| {
        // SAFETY: `given` ends with 0, or is null, which `name` refuses.
        let name = unsafe { name(given) }?;
        spaces()?.delete(&name)
    }))
}
