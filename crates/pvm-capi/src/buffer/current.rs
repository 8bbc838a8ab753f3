//! The current buffers of a thread, and their end with the thread.

use std::ffi::c_int;

use pvm_wire::Code;

use super::numbers::{free, get};
use crate::guard::inside;
use crate::own::{Own, ThreadOwned as _};
use crate::slot::Slot;
use crate::thread::{self, Thread};

/// Frees the buffers of a thread that ends.
struct Keeper;

impl Drop for Keeper {
    fn drop(&mut self) {
        thread::here(|thread| {
            thread.watched.set(false);
            if thread.inside.is_set() {
                // A handler has interrupted the library and ends the process: the interrupted work
                // is not to be touched.
                return;
            }
            for current in [&thread.sending, &thread.receiving, &thread.probed] {
                free(current.clear());
            }
        });
    }
}

thread_local! {
    static KEEPER: Own<Option<Keeper>> = const { Own::new() };
}

/// From now on the end of this thread is noticed.
pub(super) fn watch(thread: &Thread) {
    if !thread.watched.replace(true) {
        KEEPER.kept(|keeper| {
            keeper.borrow_mut().get_or_insert(Keeper);
        });
    }
}

/// The current send buffer.
#[inline]
pub(crate) fn sending() -> Result<&'static Slot, Code> {
    thread::here(|thread| thread.sending.slot()).ok_or(Code::NoBuf)
}

/// The current receive buffer.
#[inline]
pub(crate) fn receiving() -> Result<&'static Slot, Code> {
    thread::here(|thread| thread.receiving.slot()).ok_or(Code::NoBuf)
}

/// The place of a number that becomes current.
fn place(id: c_int) -> Option<&'static Slot> {
    get(id).ok()
}

/// Makes `id` the send buffer; the old one, if there was one, is returned.
fn exchange_sending(id: c_int) -> c_int {
    set_sending(id, place(id))
}

pub(super) fn set_sending(id: c_int, slot: Option<&'static Slot>) -> c_int {
    thread::here(|thread| {
        watch(thread);
        if id != 0 && thread.receiving.id() == id {
            thread.receiving.clear();
        }
        thread.sending.set(id, slot)
    })
}

/// Makes `id` the receive buffer; the old one, if there was one, is returned.
pub(crate) fn exchange_receiving(id: c_int) -> c_int {
    set_receiving(id, place(id))
}

pub(crate) fn set_receiving(id: c_int, slot: Option<&'static Slot>) -> c_int {
    thread::here(|thread| {
        watch(thread);
        if id != 0 && thread.sending.id() == id {
            thread.sending.clear();
        }
        thread.receiving.set(id, slot)
    })
}

/// Begins a receive: the old receive buffer is given up.
pub(crate) fn give_up_receiving() {
    free(thread::here(|thread| thread.receiving.clear()));
}

/// Frees a buffer and forgets it as this thread's current one.
pub(crate) fn free_everywhere(id: c_int) {
    forget_current(id);
    free(id);
}

/// It is none of this thread's current buffers any more.
pub(crate) fn forget_current(id: c_int) {
    thread::here(|thread| {
        for current in [&thread.sending, &thread.receiving, &thread.probed] {
            if current.id() == id {
                current.clear();
            }
        }
    });
}

/// Current buffers of this thread while a program's handler runs, which may change them.
#[derive(Clone, Copy)]
pub(crate) struct Saved {
    send: c_int,
    receive: c_int,
}

/// Puts both current buffers aside.
pub(crate) fn save() -> Saved {
    Saved { send: exchange_sending(0), receive: exchange_receiving(0) }
}

/// Puts them back; the buffers that the handler left as current are freed.
pub(crate) fn restore(saved: Saved) {
    // A failure means that the library is busy, and then nothing was left behind either.
    let _ = inside(|| {
        free(exchange_sending(0));
        free(exchange_receiving(0));
        exchange_sending(saved.send);
        exchange_receiving(saved.receive);
        Ok(())
    });
}
