//! Messages that are few items of one type, in one call each: what other languages would do in three or four.

use std::ffi::c_void;

use pvm_wire::Code;

use super::info::Info;
use super::{neopvm_free, neopvm_new, neopvm_pack, neopvm_receive, neopvm_send};
use crate::buffer;
use crate::guard::{self, inside, swiftly};
use crate::pointer::store;
use crate::slot::Content;

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
    let mut handle = 0;
    // SAFETY: a handle of our own.
    let status = unsafe { neopvm_receive(source, tag, context, limit_ns, &raw mut handle) };
    // SAFETY: the caller's promise.
    let put = |handle, kind| unsafe {
        store(&raw mut (*received).buffer, handle);
        store(&raw mut (*received).kind, kind);
    };
    put(handle, 0);
    if status < 0 || handle == 0 {
        return status;
    }
    // SAFETY: the caller's promise.
    match unsafe { take_out(handle, received) } {
        Ok(0) => {}
        Ok(kind) => {
            put(0, kind);
            neopvm_free(handle);
        }
        Err(code) => return code.number(),
    }
    0
}

/// Tells the head of a message, and copies its items where they are few and of one type: that is told then, else 0.
///
/// # Safety
/// `received` points to its type.
unsafe fn take_out(handle: i32, received: *mut Received) -> Result<i32, Code> {
    let copy = |content: &Content| {
        // SAFETY: the caller's promise.
        unsafe { store(&raw mut (*received).info, Info::of(content)) };
        let Some((kind, items)) = content.buffer.only_items() else { return 0 };
        if items.len() > ITEMS_MAX {
            return 0;
        }
        // SAFETY: as above, and there is room for so many.
        unsafe {
            let to = (&raw mut (*received).items).cast::<u8>();
            to.copy_from_nonoverlapping(items.as_ptr(), items.len());
            store(&raw mut (*received).count, (items.len() / kind.size()) as u64);
        }
        i32::from(kind as u8)
    };
    let swift = buffer::short::find(handle).and_then(
        |slot| swiftly!(swift => Some(copy(&slot.enter_swiftly(swift.owner)?.content)), else None),
    );
    match swift {
        Some(kind) => Ok(kind),
        None => inside(|| buffer::get(handle)?.content(|content| copy(content))),
    }
}
