//! The table of message buffers, and the calls about buffers as such.
//!
//! PVM has one kind of buffer: packed or received, it has a small number, the most recently freed
//! number being given out first. A thread has a current send and a current receive buffer; both
//! belong to the thread, the table to the process, so a buffer can be handed to another thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pvm::{Buffer, Gate};
use pvm_wire::{Code, Encoding, Envelope, Tid};

use crate::guard::{call, inside};
use crate::{globals, session};

/// A buffer in the table.
pub(crate) struct Slot {
    /// The buffer.
    pub(crate) buffer: Gate<Buffer>,
    /// True once it is read from: packing into it then begins anew, as in PVM.
    reading: AtomicBool,
    /// For a message that stays in the queue and is only shown: its length.
    shown: Option<usize>,
}

impl Slot {
    /// Bytes as `pvm_bufinfo` tells them.
    pub(crate) fn size(&self, buffer: &Buffer) -> usize {
        self.shown.unwrap_or_else(|| buffer.reported_size())
    }

    /// Runs `body` on the buffer, which begins anew if it has been read from.
    pub(crate) fn write<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        let mut buffer = self.buffer.enter()?;
        if self.reading.swap(false, Ordering::Relaxed) {
            *buffer = Buffer::new(buffer.encoding());
        }
        Ok(body(&mut buffer))
    }

    /// Runs `body` on the buffer.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        Ok(body(&mut *self.buffer.enter()?))
    }

    /// Runs `body` on the buffer as a reader, without moving where it is read.
    pub(crate) fn read<T>(&self, body: impl FnOnce(&Buffer) -> T) -> Result<T, Code> {
        // What a reader has seen must stay where it is: packing begins a new message.
        self.reading.store(true, Ordering::Relaxed);
        Ok(body(&*self.buffer.enter()?))
    }

    /// From now on it is read; a packed one from its first item, a received one from where its
    /// reader is.
    fn start_reading(&self) -> Result<(), Code> {
        if !self.reading.swap(true, Ordering::Relaxed) {
            self.buffer.enter()?.rewind();
        }
        Ok(())
    }
}

/// Numbers and what they stand for; number n is at n - 1.
struct Table {
    slots: Vec<Option<Arc<Slot>>>,
    free: Vec<c_int>,
}

static TABLE: Gate<Table> = Gate::new(Table { slots: Vec::new(), free: Vec::new() });

impl Table {
    fn insert(&mut self, slot: Arc<Slot>) -> Result<c_int, Code> {
        if let Some(id) = self.free.pop() {
            *self.at(id).ok_or(Code::SysErr)? = Some(slot);
            return Ok(id);
        }
        let id = c_int::try_from(self.slots.len() + 1).map_err(|_| Code::OutOfRes)?;
        self.slots.push(Some(slot));
        Ok(id)
    }

    fn at(&mut self, id: c_int) -> Option<&mut Option<Arc<Slot>>> {
        let index = usize::try_from(id).ok()?.checked_sub(1)?;
        self.slots.get_mut(index)
    }

    fn remove(&mut self, id: c_int) -> Option<Arc<Slot>> {
        let slot = self.at(id)?.take()?;
        self.free.push(id);
        Some(slot)
    }
}

/// A thread's current buffers, 0 for none.
struct Current {
    send: Cell<c_int>,
    receive: Cell<c_int>,
    /// What the last `pvm_probe` gave out.
    probed: Cell<c_int>,
}

impl Drop for Current {
    fn drop(&mut self) {
        for id in [&self.send, &self.receive, &self.probed] {
            free(id.take());
        }
    }
}

thread_local! {
    static CURRENT: Current =
        const { Current { send: Cell::new(0), receive: Cell::new(0), probed: Cell::new(0) } };
}

/// In the child of a fork no other thread is left that could hold the table, and messages in shared
/// memory are not there: their numbers are void, and nothing of them is touched.
fn reset_after_fork() {
    TABLE.reset_after_fork();
    let Ok(mut table) = TABLE.enter() else { return };
    for place in &mut table.slots {
        let Some(slot) = place.take() else { continue };
        slot.buffer.reset_after_fork();
        if slot.buffer.enter().is_ok_and(|buffer| buffer.is_private()) {
            *place = Some(slot);
        } else {
            // The number is not given out again: somebody may still think that it is his.
            std::mem::forget(slot);
        }
    }
}

/// A number for a buffer that is packed.
pub(crate) fn insert_packed(buffer: Buffer) -> Result<c_int, Code> {
    insert(buffer, false, None)
}

/// A number for a buffer that is read.
pub(crate) fn insert_received(buffer: Buffer) -> Result<c_int, Code> {
    insert(buffer, true, None)
}

/// A number for a message that stays in the queue: its envelope and its length, no items.
pub(crate) fn insert_shown(envelope: &Envelope, size: usize) -> Result<c_int, Code> {
    let mut buffer = Buffer::new(Encoding::Raw);
    *buffer.envelope_mut() = *envelope;
    insert(buffer, true, Some(size))
}

fn insert(buffer: Buffer, reading: bool, shown: Option<usize>) -> Result<c_int, Code> {
    session::in_forked_child(reset_after_fork);
    let slot = Slot { buffer: Gate::new(buffer), reading: AtomicBool::new(reading), shown };
    TABLE.enter()?.insert(Arc::new(slot))
}

/// The buffer of a number that a program gave.
pub(crate) fn get(id: c_int) -> Result<Arc<Slot>, Code> {
    if id <= 0 {
        return Err(Code::BadParam);
    }
    TABLE.enter()?.at(id).and_then(|slot| slot.clone()).ok_or(Code::NoSuchBuf)
}

/// The current send buffer.
pub(crate) fn sending() -> Result<Arc<Slot>, Code> {
    get(CURRENT.with(|current| current.send.get())).map_err(|_| Code::NoBuf)
}

/// The current receive buffer.
pub(crate) fn receiving() -> Result<Arc<Slot>, Code> {
    get(CURRENT.with(|current| current.receive.get())).map_err(|_| Code::NoBuf)
}

/// Frees a number that may be none.
pub(crate) fn free(id: c_int) {
    if id > 0 {
        // The buffer itself is freed when its last user in another thread is done.
        let _slot = TABLE.enter().ok().and_then(|mut table| table.remove(id));
    }
}

/// Takes a buffer out of the table; none if the number is free.
pub(crate) fn withdraw(id: c_int) -> Result<Option<Buffer>, Code> {
    let Some(slot) = TABLE.enter()?.remove(id) else { return Ok(None) };
    let mut buffer = slot.buffer.enter()?;
    buffer.rewind();
    Ok(Some(std::mem::replace(&mut *buffer, Buffer::new(Encoding::Raw))))
}

/// Makes `id` the send buffer; the old one, if there was one, is returned.
pub(crate) fn exchange_sending(id: c_int) -> c_int {
    CURRENT.with(|current| {
        if id != 0 && current.receive.get() == id {
            current.receive.set(0);
        }
        current.send.replace(id)
    })
}

/// Makes `id` the receive buffer; the old one, if there was one, is returned.
pub(crate) fn exchange_receiving(id: c_int) -> c_int {
    CURRENT.with(|current| {
        if id != 0 && current.send.get() == id {
            current.send.set(0);
        }
        current.receive.replace(id)
    })
}

/// Begins a receive: the old receive buffer is given up.
pub(crate) fn give_up_receiving() {
    free(exchange_receiving(0));
}

/// A received buffer becomes the receive buffer.
pub(crate) fn receive_into(buffer: Buffer) -> Result<c_int, Code> {
    let id = insert_received(buffer)?;
    exchange_receiving(id);
    Ok(id)
}

/// A number for a message that stays in the queue; the one given out before is void.
pub(crate) fn probed(envelope: &Envelope, size: usize) -> Result<c_int, Code> {
    free(CURRENT.with(|current| current.probed.take()));
    let id = insert_shown(envelope, size)?;
    CURRENT.with(|current| current.probed.set(id));
    Ok(id)
}

/// The encoding of a number that `pvm_initsend` knows.
pub(crate) fn encoding(number: c_int) -> Result<Encoding, Code> {
    Encoding::from_number(number).ok_or(Code::BadParam)
}

/// `pvm_initsend` without the frame of a call.
pub(crate) fn begin_sending(encoding: Encoding) -> Result<c_int, Code> {
    free(exchange_sending(0));
    let id = insert_packed(Buffer::new(encoding))?;
    exchange_sending(id);
    Ok(id)
}

/// Frees the send buffer and begins a new one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_initsend(number: c_int) -> c_int {
    call("pvm_initsend", || begin_sending(encoding(number)?))
}

/// A new buffer that is not current.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_mkbuf(number: c_int) -> c_int {
    call("pvm_mkbuf", || insert_packed(Buffer::new(encoding(number)?)))
}

/// Frees a buffer; it is current no more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_freebuf(id: c_int) -> c_int {
    call("pvm_freebuf", || {
        if id == 0 {
            return Ok(0);
        }
        get(id)?;
        free_everywhere(id);
        Ok(0)
    })
}

/// Frees a buffer and forgets it as this thread's current one.
pub(crate) fn free_everywhere(id: c_int) {
    CURRENT.with(|current| {
        for cell in [&current.send, &current.receive, &current.probed] {
            if cell.get() == id {
                cell.set(0);
            }
        }
    });
    free(id);
}

/// The send buffer, 0 for none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getsbuf() -> c_int {
    CURRENT.try_with(|current| current.send.get()).unwrap_or(0)
}

/// The receive buffer, 0 for none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getrbuf() -> c_int {
    CURRENT.try_with(|current| current.receive.get()).unwrap_or(0)
}

/// Changes the send buffer and returns the old one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setsbuf(id: c_int) -> c_int {
    call("pvm_setsbuf", || {
        if id != 0 {
            get(id)?;
        }
        Ok(exchange_sending(id))
    })
}

/// Changes the receive buffer and returns the old one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setrbuf(id: c_int) -> c_int {
    call("pvm_setrbuf", || {
        if id != 0 {
            get(id)?.start_reading()?;
        }
        Ok(exchange_receiving(id))
    })
}

/// Where a message comes from: a buffer being packed is this task's.
fn source(buffer: &Buffer) -> c_int {
    match buffer.envelope().src {
        Tid::NONE => globals::own_tid().max(0),
        src => src.as_c_int(),
    }
}

fn length(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

/// Bytes, tag and sender of a message.
///
/// # Safety
/// Each pointer is null or points to an int.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_bufinfo(
    id: c_int,
    bytes: *mut c_int,
    tag: *mut c_int,
    tid: *mut c_int,
) -> c_int {
    call("pvm_bufinfo", || {
        let slot = get(id)?;
        let facts =
            slot.with(|buffer| [length(slot.size(buffer)), buffer.envelope().tag, source(buffer)])?;
        for (out, value) in [bytes, tag, tid].into_iter().zip(facts) {
            // SAFETY: the caller's promise.
            unsafe { crate::pointer::store(out, value) };
        }
        Ok(0)
    })
}

/// `struct pvmminfo`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageInfo {
    length: c_int,
    context: c_int,
    tag: c_int,
    wait_id: c_int,
    encoding: c_int,
    checksum: c_int,
    source: c_int,
    destination: c_int,
}

/// What PVM calls an encoding in a message's head.
fn encoding_mark(encoding: Encoding) -> c_int {
    match encoding {
        Encoding::Default | Encoding::Trace => 0x1000_0000,
        Encoding::Raw => globals::DATA_SIGNATURE,
        Encoding::InPlace => 0x2000_0000,
    }
}

/// The envelope of a message.
///
/// # Safety
/// `info` is null or points to a `struct pvmminfo`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getminfo(id: c_int, info: *mut MessageInfo) -> c_int {
    call("pvm_getminfo", || {
        let slot = get(id)?;
        if info.is_null() {
            return Err(Code::BadParam);
        }
        let facts = slot.with(|buffer| {
            let envelope = buffer.envelope();
            MessageInfo {
                length: length(slot.size(buffer)),
                context: envelope.context,
                tag: envelope.tag,
                wait_id: envelope.wait_id,
                encoding: encoding_mark(buffer.encoding()),
                checksum: 0,
                source: source(buffer),
                destination: envelope.dst.as_c_int(),
            }
        })?;
        // SAFETY: not null, and the caller's promise.
        unsafe { crate::pointer::store(info, facts) };
        Ok(0)
    })
}

/// Changes context, tag, wait id, source and destination of a message.
///
/// # Safety
/// `info` is null or points to a `struct pvmminfo`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_setminfo(id: c_int, info: *const MessageInfo) -> c_int {
    call("pvm_setminfo", || {
        let slot = get(id)?;
        // SAFETY: the caller's promise.
        let info = unsafe { crate::pointer::load(info) }.ok_or(Code::BadParam)?;
        slot.with(|buffer| {
            let envelope = buffer.envelope_mut();
            envelope.context = info.context;
            envelope.tag = info.tag;
            envelope.wait_id = info.wait_id;
            envelope.src = Tid::from_c_int(info.source);
            envelope.dst = Tid::from_c_int(info.destination);
        })?;
        Ok(0)
    })
}

/// The wait id of a message, as PVM 3.3 asked for it.
#[unsafe(no_mangle)]
extern "C" fn pvm_getmwid(id: c_int) -> c_int {
    call("pvm_getmwid", || get(id)?.with(|buffer| buffer.envelope().wait_id))
}

/// Changes the wait id of a message, as PVM 3.3 did.
#[unsafe(no_mangle)]
extern "C" fn pvm_setmwid(id: c_int, wait_id: c_int) -> c_int {
    call("pvm_setmwid", || {
        get(id)?.with(|buffer| buffer.envelope_mut().wait_id = wait_id)?;
        Ok(0)
    })
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

/// Puts them back; what the handler left as current is freed.
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
