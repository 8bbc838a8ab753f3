//! Messages that are few items of one type, in one call each: what other languages would do in three or four.

use std::ffi::c_void;

use pvm::{Buffer, Glance};
use pvm_wire::{Code, Encoding, Tid};

use super::info::Info;
use super::short::few;
use super::{limit, neopvm_free, neopvm_new, neopvm_pack, neopvm_send, receive_slowly, status};
use crate::guard::{self, inside};
use crate::message::short::{Few, Looked, receive_few, send_items};
use crate::pointer::store;
use crate::{buffer, session};

/// Most bytes of items that a [`Received`] holds.
const ITEMS_MAX: usize = 64;

/// `struct neopvm_received`
#[repr(C)]
pub(crate) struct Received {
    buffer: i32,
    kind: i32,
    count: u64,
    info: Info,
    items: [u8; ITEMS_MAX],
}

/// Sends a message of items that lie behind one another.
///
/// # Safety
/// As for [`neopvm_pack`].
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_send_items(
    encoding: i32,
    kind: i32,
    items: *const c_void,
    count: u64,
    tid: i32,
    tag: i32,
    context: i32,
) -> i32 {
    if guard::is_inside() {
        // A handler could not give the buffer back.
        return Code::Already.number();
    }
    // SAFETY: the caller's promise.
    if unsafe { send_swiftly(encoding, (kind, items, count), (tid, tag, context)) }.is_some() {
        return 0;
    }
    let mut handle = 0;
    // SAFETY: a handle of our own.
    let mut status = unsafe { neopvm_new(encoding, &raw mut handle) };
    if status < 0 {
        return status;
    }
    // SAFETY: the caller's promise.
    status = unsafe { neopvm_pack(handle, kind, items, count, 1) };
    if status >= 0 {
        status = neopvm_send(handle, tid, tag, context);
    }
    neopvm_free(handle);
    status
}

/// The short way; none if it did nothing.
///
/// # Safety
/// As for [`neopvm_send_items`].
#[inline(always)]
unsafe fn send_swiftly(
    encoding: i32,
    (kind, items, count): (i32, *const c_void, u64),
    (tid, tag, context): (i32, i32, i32),
) -> Option<()> {
    if tag < 0 {
        return None;
    }
    let (kind, first, bytes) = few(kind, items.cast_mut(), count, 1)?;
    // SAFETY: the caller's promise; not null.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    let to = (Tid::from_c_int(tid), tag, session::or_current(context));
    send_items(Encoding::from_number(encoding)?, (kind, data), to)
}

/// Receives, and takes the items out of a small message.
///
/// # Safety
/// `received` points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_receive_items(
    source: i32,
    tag: i32,
    context: i32,
    limit_ns: i64,
    received: *mut Received,
) -> i32 {
    if received.is_null() {
        return Code::BadParam.number();
    }
    let wanted = (source, tag, context);
    // SAFETY: the caller's promise.
    let take_out = |buffer: &Buffer| unsafe { put_items(received, buffer) };
    let look = || receive_few(wanted, take_out);
    let looked = Looked::now(look);
    let taken = match looked.seen {
        Glance::Taken(taken) => Ok(Some(taken)),
        Glance::Nothing | Glance::More => {
            // The clock is asked behind the first look only.
            let limit = limit(limit_ns);
            match looked.linger(limit, look) {
                Glance::Taken(taken) => Ok(Some(taken)),
                _ => receive_slowly(wanted, limit).map(|handle| handle.map(Few::Whole)),
            }
        }
    };
    let handle = match taken {
        Ok(Some(Few::Items)) => return 0,
        Ok(Some(Few::Whole(handle))) => Ok(handle),
        Ok(None) => Ok(0),
        Err(code) => Err(code),
    };
    // SAFETY: the caller's promise.
    status(handle.and_then(|handle| unsafe { put_head(received, handle) }))
}

/// Takes the items out of a message if they are few and of one type.
///
/// # Safety
/// `received` points to its type.
#[inline(always)]
unsafe fn put_items(received: *mut Received, buffer: &Buffer) -> bool {
    let Some((kind, items)) = buffer.only_items().filter(|(_, items)| items.len() <= ITEMS_MAX)
    else {
        return false;
    };
    let bytes = buffer.reported_size();
    let info = Info::new(buffer.envelope(), buffer.encoding(), bytes, bytes);
    // SAFETY: the caller's promise, and there is room for so many.
    unsafe {
        store(&raw mut (*received).buffer, 0);
        store(&raw mut (*received).kind, i32::from(kind as u8));
        store(&raw mut (*received).count, (items.len() / kind.size()) as u64);
        store(&raw mut (*received).info, info);
        let to = (&raw mut (*received).items).cast::<u8>();
        to.copy_from_nonoverlapping(items.as_ptr(), items.len());
    }
    true
}

/// Tells of a message that has a number, or of none; takes its items out if that is to be done.
///
/// # Safety
/// `received` points to its type.
unsafe fn put_head(received: *mut Received, handle: i32) -> Result<(), Code> {
    // SAFETY: the caller's promise.
    unsafe {
        store(&raw mut (*received).buffer, handle);
        store(&raw mut (*received).kind, 0);
    }
    if handle == 0 {
        return Ok(());
    }
    let out = inside(|| {
        buffer::get(handle)?.content(|content| {
            // SAFETY: the caller's promise.
            unsafe {
                store(&raw mut (*received).info, Info::of(content));
                put_items(received, &content.buffer)
            }
        })
    })?;
    if out {
        neopvm_free(handle);
    }
    Ok(())
}
