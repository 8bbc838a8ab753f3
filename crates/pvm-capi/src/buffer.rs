//! The table of message buffers, and the calls about buffers as such.
//!
//! PVM has one kind of buffer: packed or received, it has a small number, the most recently freed
//! number being given out first. A thread has a current send and a current receive buffer; both
//! belong to the thread, the table to the process, so a buffer can be handed to another thread.

pub(crate) mod fast;
mod places;
mod table;

use std::ffi::c_int;

use pvm::{Buffer, Forked};
use pvm_wire::{Code, Encoding, Envelope, Tid};

use crate::guard::{brief_call, call, call_here, inside};
use crate::own::{Own, ThreadOwned as _};
use crate::slot::{Content, Role, Slot};
use crate::thread::{self, Thread};
use crate::trace::{int_at, traced};
use crate::{globals, session};
use table::{PLACES, TABLE, Table};

/// The facts of a buffer that a tracer gets.
pub(crate) struct BufferFacts {
    pub(crate) bytes: c_int,
    pub(crate) tag: c_int,
    pub(crate) context: c_int,
    pub(crate) source: c_int,
}

/// The head of a buffer for events; -1 for facts that it does not have.
pub(crate) fn told(id: c_int) -> BufferFacts {
    let head = |content: &mut Content| {
        let envelope = content.buffer.envelope();
        BufferFacts {
            bytes: c_int::try_from(content.size()).unwrap_or(c_int::MAX),
            tag: envelope.tag,
            context: envelope.context,
            source: envelope.src.as_c_int(),
        }
    };
    let none = BufferFacts { bytes: -1, tag: -1, context: session::context(), source: -1 };
    inside(|| get(id)?.content(head)).unwrap_or(none)
}

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
fn watch(thread: &Thread) {
    if !thread.watched.replace(true) {
        KEEPER.kept(|keeper| {
            keeper.borrow_mut().get_or_insert(Keeper);
        });
    }
}

/// In the child of a fork no other thread is left that could hold the table, and messages in shared
/// memory are not there: their numbers are void.
pub(crate) fn reset_after_fork(forked: &Forked) {
    TABLE.reset_fast_after_fork(forked, || Table::behind(PLACES.last()));
    for slot in (1..=PLACES.last()).filter_map(|id| PLACES.at(id)) {
        // A void number is not given out again, because a part of the program may still use it.
        slot.reset_after_fork(forked);
    }
}

/// The task leaves: the messages that it has packed stay its own in another life.
pub(crate) fn sign_all(tid: Tid) {
    for slot in (1..=PLACES.last()).filter_map(|id| PLACES.at(id)) {
        // An empty place, or one that another thread is looking at and will send from, has nothing
        // to be signed.
        let _ = slot.with(|buffer| {
            buffer.edit(|about| about.src = if about.src == Tid::NONE { tid } else { about.src });
        });
    }
}

/// A number for a buffer that is packed.
pub(crate) fn insert_packed(buffer: Buffer) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: false, role: Role::Own })?.0)
}

/// A number for a buffer that is read.
pub(crate) fn insert_received(buffer: Buffer) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: true, role: Role::Own })?.0)
}

/// A number for a message that a matching function is shown.
pub(crate) fn insert_held(buffer: Buffer, place: u64) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: true, role: Role::Held(place) })?.0)
}

fn insert(content: Content) -> Result<(c_int, &'static Slot), Code> {
    let (id, slot) = reserve()?;
    slot.put(content)?;
    Ok((id, slot))
}

fn reserve() -> Result<(c_int, &'static Slot), Code> {
    TABLE.enter()?.reserve()
}

/// The place of a number that a program gave. It may be empty, which its use tells.
pub(crate) fn get(id: c_int) -> Result<&'static Slot, Code> {
    if id <= 0 {
        return Err(Code::BadParam);
    }
    PLACES.at(id).ok_or(Code::NoSuchBuf)
}

/// Like `get`, if there is a buffer.
pub(crate) fn occupied(id: c_int) -> Result<&'static Slot, Code> {
    let slot = get(id)?;
    slot.content(|_| ()).map(|()| slot)
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

/// A current buffer that another thread has freed is none.
pub(crate) fn not_current(code: Code) -> Code {
    if code == Code::NoSuchBuf { Code::NoBuf } else { code }
}

/// Frees a number that may be none.
pub(crate) fn free(id: c_int) {
    let Some(slot) = PLACES.at(id) else { return };
    // The remains are dropped when no thread waits for the slot or the table any more.
    if let Ok((true, _remains)) = slot.free() {
        let _ = give_back(id);
    }
}

/// The number of an empty place is free.
fn give_back(id: c_int) -> Result<(), Code> {
    TABLE.enter()?.free.push(id);
    Ok(())
}

/// Takes a buffer of this role out of its place; none if none is there. Its number is free.
pub(crate) fn withdraw(id: c_int, role: Role) -> Result<Option<Buffer>, Code> {
    let Some(mut buffer) = get(id)?.take(role)? else { return Ok(None) };
    give_back(id)?;
    buffer.rewind();
    Ok(Some(buffer))
}

/// The place of a number that becomes current.
fn place(id: c_int) -> Option<&'static Slot> {
    get(id).ok()
}

/// Makes `id` the send buffer; the old one, if there was one, is returned.
pub(crate) fn exchange_sending(id: c_int) -> c_int {
    set_sending(id, place(id))
}

fn set_sending(id: c_int, slot: Option<&'static Slot>) -> c_int {
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

/// Receives into the receive buffer and tells its number; none if `receive` gives nothing. The old
/// one is given up in any case, and as its number would be the next to be given out, its place and
/// its memory are used again.
#[inline]
pub(crate) fn receive(
    receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
) -> Result<Option<c_int>, Code> {
    let (old, slot) = thread::here(|thread| (thread.receiving.id(), thread.receiving.slot()));
    let again = match slot {
        Some(slot) => slot.receive_again(receive),
        None => Err(receive),
    };
    let (id, received) = match again {
        Ok(received) => (old, received),
        Err(receive) => {
            let (id, slot) = reserve()?;
            let received = slot.receive(receive);
            if received == Ok(true) {
                set_receiving(id, Some(slot));
            }
            (id, received)
        }
    };
    if received == Ok(true) {
        return Ok(Some(id));
    }
    give_back(id)?;
    thread::here(|thread| thread.receiving.clear());
    received.map(|_| None)
}

/// Receives into a buffer with a number of its own; none if `receive` gives nothing. The number is
/// there before the message leaves its queue, so that no message is lost for want of one. `receive`
/// holds the place.
pub(crate) fn receive_new(
    receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
) -> Result<Option<c_int>, Code> {
    let (id, slot) = reserve()?;
    let received = slot.receive(receive);
    if received == Ok(true) {
        return Ok(Some(id));
    }
    give_back(id)?;
    received.map(|_| None)
}

/// A message that is there becomes the receive buffer.
pub(crate) fn receive_into(message: Buffer) -> Result<c_int, Code> {
    let put = |buffer: &mut Buffer| {
        *buffer = message;
        Ok(true)
    };
    receive(put)?.ok_or(Code::SysErr)
}

/// A number for a message that stays in the queue: its envelope and its length, no items. The
/// number given out before is void.
pub(crate) fn probed(envelope: &Envelope, size: usize) -> Result<c_int, Code> {
    free(thread::here(|thread| thread.probed.clear()));
    let mut buffer = Buffer::new(envelope.encoding);
    buffer.edit(|about| *about = *envelope);
    let (id, slot) = insert(Content { buffer, reading: true, role: Role::Probed(size) })?;
    thread::here(|thread| {
        watch(thread);
        thread.probed.set(id, Some(slot));
    });
    Ok(id)
}

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

/// The source of a message: a buffer that is being packed is this task's.
fn source(buffer: &Buffer) -> c_int {
    match buffer.source() {
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
    traced!(
        unsafe BUFINFO,
        pvm_bufinfo(id, bytes, tag, tid),
        [MB: id],
        |r| [CC: r, INB: int_at(bytes), IMC: int_at(tag), IST: int_at(tid)]
    );
    call("pvm_bufinfo", || {
        let facts = get(id)?.content(|content| {
            let buffer = &content.buffer;
            [length(content.size()), buffer.tag(), source(buffer)]
        })?;
        for (out, value) in [bytes, tag, tid].into_iter().zip(facts) {
            // SAFETY: each pointer is null, which `store` skips, or points to an int of the
            // program's.
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

/// The envelope of a message.
///
/// # Safety
/// `info` is null or points to a `struct pvmminfo`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getminfo(id: c_int, info: *mut MessageInfo) -> c_int {
    traced!(unsafe GETMINFO, pvm_getminfo(id, info), [MB: id], |r| [CC: r]);
    call("pvm_getminfo", || {
        let slot = occupied(id)?;
        if info.is_null() {
            return Err(Code::BadParam);
        }
        let facts = slot.content(|content| {
            let buffer = &content.buffer;
            let envelope = buffer.envelope();
            MessageInfo {
                length: length(content.size()),
                context: envelope.context,
                tag: envelope.tag,
                wait_id: envelope.wait_id,
                encoding: buffer.encoding().mark(envelope.layout),
                checksum: 0,
                source: source(buffer),
                destination: envelope.dst.as_c_int(),
            }
        })?;
        // SAFETY: not null, and then it points to a `struct pvmminfo`; `store` needs no alignment.
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
    traced!(unsafe SETMINFO, pvm_setminfo(id, info), [MB: id], |r| [CC: r]);
    call("pvm_setminfo", || {
        let slot = occupied(id)?;
        // SAFETY: null, which `load` answers with none, or a `struct pvmminfo` of the program's.
        let info = unsafe { crate::pointer::load(info) }.ok_or(Code::BadParam)?;
        slot.with(|buffer| {
            buffer.edit(|envelope| {
                envelope.context = info.context;
                envelope.tag = info.tag;
                envelope.wait_id = info.wait_id;
                envelope.src = Tid::from_c_int(info.source);
                envelope.dst = Tid::from_c_int(info.destination);
            });
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
        get(id)?.with(|buffer| buffer.edit(|about| about.wait_id = wait_id))?;
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
