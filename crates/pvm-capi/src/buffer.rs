//! The table of message buffers, and the calls about buffers as such.
//!
//! PVM has one kind of buffer: packed or received, it has a small number, the most recently freed
//! number being given out first. A thread has a current send and a current receive buffer; both
//! belong to the thread, the table to the process, so a buffer can be handed to another thread.

mod current;
mod facts;
pub(crate) mod fast;
mod numbers;
mod places;
mod received;
mod table;

use std::ffi::c_int;

use pvm::Buffer;
use pvm_wire::{Code, Encoding};

use crate::guard::{brief_call, call, call_here};
use crate::slot::{Content, Role};
use crate::thread::{self, Thread};
use crate::trace::traced;
use current::set_sending;
use numbers::insert;

pub(crate) use current::{
    exchange_receiving, forget_current, free_everywhere, give_up_receiving, receiving, restore,
    save, sending, set_receiving,
};
pub(crate) use facts::{pvm_bufinfo, told};
pub(crate) use numbers::{
    get, insert_held, insert_packed, insert_received, not_current, occupied, reset_after_fork,
    sign_all, withdraw,
};
pub(crate) use received::{probed, receive, receive_into, receive_new};

/// The encoding of a number that `pvm_initsend` knows.
pub(crate) fn encoding(number: c_int) -> Result<Encoding, Code> {
    Encoding::from_number(number).ok_or(Code::BadParam)
}

/// `pvm_initsend` without the frame of a call. The number of the old send buffer would be the next
/// to be given out, so its place and its memory are used again.
pub(crate) fn begin_sending(encoding: Encoding) -> Result<c_int, Code> {
    thread::here(|thread| begin_sending_of(thread, encoding))
}

#[inline]
fn begin_sending_of(thread: &Thread, encoding: Encoding) -> Result<c_int, Code> {
    let (old, slot) = (thread.sending.id(), thread.sending.slot());
    let begun = slot.map(|slot| {
        slot.content(|content| {
            content.buffer.begin(encoding);
            (content.reading, content.role) = (false, Role::Own);
        })
    });
    match begun {
        Some(Ok(())) => return Ok(old),
        None | Some(Err(Code::NoSuchBuf)) => {}
        Some(Err(code)) => return Err(code),
    }
    let content = Content { buffer: Buffer::new(encoding), reading: false, role: Role::Own };
    let (id, slot) = insert(content)?;
    set_sending(id, Some(slot));
    Ok(id)
}

/// Frees the send buffer and begins a new one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_initsend(number: c_int) -> c_int {
    brief_call(|thread, owner| fast::begin(thread, owner, number), || begin(number))
}

#[inline(never)]
fn begin(number: c_int) -> c_int {
    fast::begin_any(number).unwrap_or_else(|| long_begin(number))
}

#[inline(never)]
fn long_begin(number: c_int) -> c_int {
    traced!(INITSEND, pvm_initsend(number), [ME: number], |r| [MSB: r]);
    call_here("pvm_initsend", |thread| begin_sending_of(thread, encoding(number)?))
}

/// A new buffer that is not current.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_mkbuf(number: c_int) -> c_int {
    traced!(MKBUF, pvm_mkbuf(number), [ME: number], |r| [MB: r]);
    call("pvm_mkbuf", || insert_packed(Buffer::new(encoding(number)?)))
}

/// Frees a buffer; it is current no more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_freebuf(id: c_int) -> c_int {
    traced!(FREEBUF, pvm_freebuf(id), [MB: id], |r| [CC: r]);
    call("pvm_freebuf", || {
        if id == 0 {
            return Ok(0);
        }
        occupied(id)?;
        free_everywhere(id);
        Ok(0)
    })
}

/// The send buffer, 0 for none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getsbuf() -> c_int {
    traced!(GETSBUF, pvm_getsbuf(), [], |r| [MSB: r]);
    thread::here(|thread| thread.sending.id())
}

/// The receive buffer, 0 for none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getrbuf() -> c_int {
    traced!(GETRBUF, pvm_getrbuf(), [], |r| [MRB: r]);
    thread::here(|thread| thread.receiving.id())
}

/// Changes the send buffer and returns the old one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setsbuf(id: c_int) -> c_int {
    traced!(SETSBUF, pvm_setsbuf(id), [MB: id], |r| [MSB: r]);
    call("pvm_setsbuf", || {
        let slot = if id == 0 { None } else { Some(occupied(id)?) };
        if let Some(slot) = slot {
            // As in PVM, a second reading begins with its first item, however far it was read, or
            // past its end.
            slot.content(|content| content.buffer.rewind())?;
        }
        Ok(set_sending(id, slot))
    })
}

/// Changes the receive buffer and returns the old one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setrbuf(id: c_int) -> c_int {
    traced!(SETRBUF, pvm_setrbuf(id), [MB: id], |r| [MRB: r]);
    call("pvm_setrbuf", || {
        let slot = if id == 0 { None } else { Some(get(id)?) };
        if let Some(slot) = slot {
            slot.content(|content| {
                // A packed one is read from its first item, a received one from where its reader
                // is.
                if !std::mem::replace(&mut content.reading, true) {
                    content.buffer.rewind();
                }
            })?;
        }
        Ok(set_receiving(id, slot))
    })
}
