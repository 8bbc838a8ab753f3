//! The interface with handles, `neopvm.h`, on which the bindings stand.
//!
//! A handle is a number of the buffer table, so both interfaces can be mixed. No call prints, keeps
//! an error or has a current buffer; each answers a status.

mod fast;
mod info;
mod items;
mod limits;
mod machine;
mod memory;
pub(crate) mod probes;
mod until;
mod waiting;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::time::{Duration, Instant};

use pvm::{Awaited, Buffer, Forked, Gate, Glance, Pattern, Task};
use pvm_wire::record::calls;
use pvm_wire::{Code, Encoding, Kind, RunList};

use crate::buffer;
use crate::guard::{self, inside};
use crate::handler;
use crate::held;
use crate::message::fast::{FirstLook, receive_new};
use crate::pack::{self, Items};
use crate::pointer::{store, text};
use crate::process;
use crate::selection::{self, Selection};
use crate::trace::noted;
use crate::trace::noting::{Begun, taken_within};
use crate::waiting::{Limit, Look, wait_for};
use crate::{globals, group, message, probe, session};
use info::Info;

/// `NEOPVM_INTERFACE`
const INTERFACE: i32 = 8;

/// The status of a call without an answer.
fn status(result: Result<(), Code>) -> i32 {
    result.map_or_else(Code::number, |()| 0)
}

/// Runs a call and puts its answer where the caller wants it.
///
/// # Safety
/// `out` points to a `T`.
unsafe fn answer<T>(out: *mut T, body: impl FnOnce() -> Result<T, Code>) -> i32 {
    status(inside(|| {
        if out.is_null() {
            return Err(Code::BadParam);
        }
        let value = body()?;
        // SAFETY: `out` is null or has room for the answer, by the call's contract.
        unsafe { store(out, value) };
        Ok(())
    }))
}

fn context(context: i32) -> Result<i32, Code> {
    // The context of a spawned task is known once it is enrolled.
    session::task()?;
    Ok(session::or_current(context))
}

fn size(number: u64) -> Result<usize, Code> {
    usize::try_from(number).map_err(|_| Code::BadParam)
}

fn kind(number: i32) -> Result<Kind, Code> {
    Kind::from_number(number).ok_or(Code::BadParam)
}

/// Runs `body` on the buffer of a handle.
fn with<T>(handle: i32, body: impl FnOnce(&mut Buffer) -> Result<T, Code>) -> Result<T, Code> {
    buffer::get(handle)?.with(body)?
}

/// The version of the interface.
#[unsafe(no_mangle)]
extern "C" fn neopvm_interface() -> i32 {
    INTERFACE
}

/// The text of a status.
#[unsafe(no_mangle)]
extern "C" fn neopvm_text(status: i32) -> *const c_char {
    let text: &CStr = if status >= 0 { c"Success" } else { globals::error_text(status) };
    text.as_ptr()
}

/// Enrols.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_enrol(tid: *mut i32, parent: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_ENROL, neopvm_enrol(tid, parent));
    status(inside(|| {
        let mut users = USERS.enter()?;
        if session::current().is_none() {
            *users = 0;
            session::may_enrol(true);
        }
        let task = session::task()?;
        *users = users.saturating_add(1);
        drop(users);
        // SAFETY: `tid` is null or has room for the answer, by the call's contract.
        unsafe { store(tid, task.tid().as_c_int()) };
        let known = task.welcome().parent;
        let known = if known == 0 { Code::NoParent.number() } else { known };
        // SAFETY: `parent` is null or has room for the answer, by the call's contract.
        unsafe { store(parent, known) };
        Ok(())
    }))
}

/// The number of times that the process has enrolled here and not left: several runtimes in it are
/// one task.
static USERS: Gate<u32> = Gate::new(0);

pub(crate) fn reset_after_fork(forked: &Forked) {
    USERS.reset_after_fork(forked, || 0);
    if let Ok(mut users) = USERS.enter() {
        *users = 0;
    }
}

/// Leaves the machine, if no other part of the process goes on. No call but one that says so makes
/// it a task again: a call of another thread that comes a little later than this one would make one
/// that nobody knows of.
#[unsafe(no_mangle)]
extern "C" fn neopvm_leave() -> i32 {
    noted!(NEOPVM_LEAVE, neopvm_leave());
    let is_last = inside(|| {
        let mut users = USERS.enter()?;
        *users = if session::current().is_some() { users.saturating_sub(1) } else { 0 };
        let is_last = *users == 0;
        if is_last {
            session::may_enrol(false);
        }
        Ok(is_last)
    });
    status(is_last.and_then(|is_last| if is_last { process::leave() } else { Ok(()) }))
}

/// A new buffer.
///
/// # Safety
/// `buffer` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_new(encoding: i32, buffer: *mut i32) -> i32 {
    if !buffer.is_null()
        && let Some(handle) = fast::new(encoding)
    {
        // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
        unsafe { store(buffer, handle) };
        return 0;
    }
    noted!(unsafe NEOPVM_NEW, neopvm_new(encoding, buffer));
    let new = || buffer::insert_packed(Buffer::new(buffer::encoding(encoding)?));
    // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
    unsafe { answer(buffer, new) }
}

/// Frees a buffer.
#[unsafe(no_mangle)]
extern "C" fn neopvm_free(handle: i32) -> i32 {
    if fast::free(handle).is_some() {
        return 0;
    }
    noted!(NEOPVM_FREE, neopvm_free(handle));
    status(inside(|| {
        if handle != 0 {
            buffer::occupied(handle)?;
            buffer::free_everywhere(handle);
        }
        Ok(())
    }))
}

/// Packs items.
///
/// # Safety
/// They can be read; with an in-place buffer until it is freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_pack(
    handle: i32,
    kind_number: i32,
    items: *const c_void,
    count: u64,
    stride: i64,
) -> i32 {
    // SAFETY: the items can be read for as long as the buffer refers to them; null is checked
    // there.
    if unsafe { fast::pack(handle, kind_number, items, count, stride) }.is_some() {
        return 0;
    }
    noted!(unsafe NEOPVM_PACK, neopvm_pack(handle, kind_number, items, count, stride));
    status(inside(|| {
        let kind = kind(kind_number)?;
        let stride = isize::try_from(stride).map_err(|_| Code::BadParam)?;
        let items = Items::of_any_count(items.cast_mut(), size(count)?, stride)?;
        let slot = buffer::get(handle)?;
        // SAFETY: `Items::new` has checked the numbers, and the items can be read, by the call's
        // contract.
        slot.write(kind, |buffer| unsafe { pack::pack(buffer, kind, items) })?
    }))
}

/// Packs a text.
///
/// # Safety
/// `text` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_pack_text(handle: i32, text: *const c_char, length: u64) -> i32 {
    noted!(unsafe NEOPVM_PACK_TEXT, neopvm_pack_text(handle, text, length));
    status(inside(|| {
        // SAFETY: `text` is null or has `length` bytes, by the call's contract.
        let text = unsafe { crate::pointer::array(text.cast::<u8>(), size(length)?) }?;
        if text.contains(&0) {
            return Err(Code::BadParam);
        }
        buffer::get(handle)?.write(Kind::Int, |buffer| pack::pack_text(buffer, text))?
    }))
}

/// Sends a buffer.
#[unsafe(no_mangle)]
extern "C" fn neopvm_send(handle: i32, tid: i32, tag: i32, in_context: i32) -> i32 {
    if fast::send(handle, tid, tag, in_context).is_some() {
        return 0;
    }
    noted!(NEOPVM_SEND, neopvm_send(handle, tid, tag, in_context));
    if guard::is_inside() {
        return status(message::put_off(handle, &[tid], tag, session::or_current(in_context)));
    }
    status(inside(|| {
        let slot = buffer::get(handle)?;
        message::send(slot, tid, tag, context(in_context)?)
    }))
}

/// Sends a buffer to many.
///
/// # Safety
/// `tids` has `count` elements.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_multicast(
    handle: i32,
    tids: *const i32,
    count: u64,
    tag: i32,
    in_context: i32,
) -> i32 {
    noted!(unsafe NEOPVM_MULTICAST, neopvm_multicast(handle, tids, count, tag, in_context));
    // SAFETY: `tids` is null, which `array` refuses, or has `count` elements.
    let list = || unsafe { crate::pointer::array(tids, size(count)?) };
    if guard::is_inside() {
        let context = session::or_current(in_context);
        return status(list().and_then(|tids| message::put_off(handle, tids, tag, context)));
    }
    status(inside(|| {
        let slot = buffer::get(handle)?;
        let tids = list()?;
        message::multicast(slot, tids, tag, context(in_context)?)
    }))
}

/// Sends a buffer to the members of a group.
///
/// # Safety
/// `group` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_broadcast(handle: i32, group: *const c_char, tag: i32) -> i32 {
    noted!(unsafe NEOPVM_BROADCAST, neopvm_broadcast(handle, group, tag));
    status(inside(|| {
        // SAFETY: `group` is null or ends with 0, by the call's contract.
        let name = unsafe { text(group) }?;
        if name.is_empty() {
            return Err(Code::NullGroup);
        }
        group::broadcast(|| buffer::get(handle), name, tag)
    }))
}

fn limit(nanoseconds: i64) -> Limit {
    match u64::try_from(nanoseconds) {
        Err(_) => Limit::Never,
        Ok(0) => Limit::Now,
        Ok(n) => {
            Instant::now().checked_add(Duration::from_nanos(n)).map_or(Limit::Never, Limit::At)
        }
    }
}

/// Receives.
///
/// # Safety
/// `buffer` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_receive(
    source: i32,
    tag: i32,
    in_context: i32,
    limit_ns: i64,
    buffer: *mut i32,
) -> i32 {
    if buffer.is_null() {
        return Code::BadParam.number();
    }
    let wanted = Selection { source, tag, context: in_context };
    if probe::is_on()
        && let Glance::Taken(handle) = receive_noted(wanted)
    {
        // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
        unsafe { store(buffer, handle) };
        return 0;
    }
    noted!(unsafe NEOPVM_RECEIVE, neopvm_receive(source, tag, in_context, limit_ns, buffer));
    let looked = FirstLook::now(|| look_for(wanted));
    let handle = match looked.seen {
        Glance::Taken(handle) => Ok(Some(handle)),
        Glance::Nothing | Glance::More => {
            linger_and_receive(source, tag, in_context, limit_ns, looked)
        }
    };
    status(handle.map(|handle| {
        // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
        unsafe { store(buffer, handle.unwrap_or(0)) };
    }))
}

/// The fast path of a receive within its long one.
#[inline]
fn look_for(wanted: Selection) -> Glance<i32> {
    receive_new(wanted, |buffer| taken_within(buffer, wanted.source, wanted.tag))
}

#[inline(never)]
fn receive_noted(wanted: Selection) -> Glance<i32> {
    let Some(begun) = Begun::now() else { return Glance::More };
    receive_new(wanted, |buffer| {
        begun.taken(calls::NEOPVM_RECEIVE, 0, buffer, wanted.partner());
    })
}

#[inline(never)]
fn linger_and_receive(
    source: i32,
    tag: i32,
    in_context: i32,
    limit_ns: i64,
    looked: FirstLook,
) -> Result<Option<i32>, Code> {
    let limit = limit(limit_ns);
    let wanted = Selection { source, tag, context: in_context };
    let look = || look_for(wanted);
    match looked.linger(limit, look) {
        Glance::Taken(handle) => Ok(Some(handle)),
        Glance::Nothing => long_receive(wanted, limit, false),
        Glance::More => long_receive(wanted, limit, true),
    }
}

/// The long way of a receive. `is_near`: the fast path has left something for it, most likely the
/// message.
fn long_receive(
    Selection { source, tag, context: in_context }: Selection,
    limit: Limit,
    is_near: bool,
) -> Result<Option<i32>, Code> {
    wait_for(limit, selection::source(source), |task, awaited| {
        if let Some(due) = handler::arrivals(task)? {
            return Ok(Look::Handler(due));
        }
        let wanted = Selection { source, tag, context: context(in_context)? }.pattern();
        let handle = receive_once(task, &wanted, awaited, is_near)?;
        Ok(handle.map_or(Look::Nothing, Look::Done))
    })
}

/// One look for a message, which gets a number of its own.
fn receive_once(
    task: &Task,
    wanted: &Pattern,
    awaited: Awaited,
    is_near: bool,
) -> Result<Option<i32>, Code> {
    if !held::is_possible() {
        let handle = if is_near {
            buffer::receive_new(|buffer| task.receive_awaited(wanted, awaited, buffer))?
        } else {
            let mut message = Buffer::vacant();
            let found = task.receive_awaited(wanted, awaited, &mut message)?;
            found.then(|| buffer::insert_received(message)).transpose()?
        };
        if handle.is_some() || !held::is_possible() {
            return Ok(handle);
        }
        // Another thread has shown messages meanwhile, and took them out of the queue.
    }
    held::receive(task, wanted)?.map(buffer::insert_received).transpose()
}

/// Tells of a message.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_probe(
    source: i32,
    tag: i32,
    in_context: i32,
    info: *mut Info,
    found: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_PROBE, neopvm_probe(source, tag, in_context, info, found));
    handler::run_all();
    let probe = || {
        let wanted = Selection { source, tag, context: context(in_context)? }.pattern();
        let Some((envelope, bytes)) = held::probe(session::task()?, &wanted)? else {
            return Ok(0);
        };
        // SAFETY: `info` is null or has room for the answer, by the call's contract.
        unsafe { store(info, Info::new(&envelope, envelope.encoding, bytes, bytes)) };
        Ok(1)
    };
    // SAFETY: `found` is null or has room for the answer, by the call's contract.
    unsafe { answer(found, probe) }
}

/// The head of a message.
///
/// # Safety
/// `info` points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_info(handle: i32, info: *mut Info) -> i32 {
    if !info.is_null()
        && let Some(known) = fast::info(handle)
    {
        // SAFETY: `info` is null or has room for the answer, by the call's contract.
        unsafe { store(info, known) };
        return 0;
    }
    noted!(unsafe NEOPVM_INFO, neopvm_info(handle, info));
    // SAFETY: `info` is null or has room for the answer, by the call's contract.
    unsafe { answer(info, || buffer::get(handle)?.content(|content| Info::of(content))) }
}

/// Unpacks items.
///
/// # Safety
/// They can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_unpack(
    handle: i32,
    kind_number: i32,
    items: *mut c_void,
    count: u64,
    stride: i64,
) -> i32 {
    // SAFETY: the items can be written, by the call's contract; null is checked there.
    if unsafe { fast::unpack(handle, kind_number, items, count, stride) }.is_some() {
        return 0;
    }
    noted!(unsafe NEOPVM_UNPACK, neopvm_unpack(handle, kind_number, items, count, stride));
    status(inside(|| {
        let kind = kind(kind_number)?;
        let stride = isize::try_from(stride).map_err(|_| Code::BadParam)?;
        let items = Items::of_any_count(items, size(count)?, stride)?;
        // SAFETY: `Items::new` has checked the numbers, and the items can be written, by the call's
        // contract.
        with(handle, |buffer| unsafe { pack::unpack(buffer, kind, items) })
    }))
}

/// Unpacks a text.
///
/// # Safety
/// `out` has `room` bytes; `length` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_unpack_text(
    handle: i32,
    out: *mut c_char,
    room: u64,
    length: *mut u64,
) -> i32 {
    noted!(unsafe NEOPVM_UNPACK_TEXT, neopvm_unpack_text(handle, out, room, length));
    status(inside(|| {
        let room = if out.is_null() { 0 } else { size(room)? };
        with(handle, |buffer| {
            let text = pack::unpack_text_up_to(buffer, room, |needed| {
                // SAFETY: `length` is null or has room for the answer, by the call's contract.
                unsafe { store(length, needed as u64) };
            })?;
            // SAFETY: `out` has `room` bytes, and the text with its end mark is no longer than
            // that.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len()) };
            Ok(())
        })
    }))
}

/// Reads again from the start.
#[unsafe(no_mangle)]
extern "C" fn neopvm_rewind(handle: i32) -> i32 {
    noted!(NEOPVM_REWIND, neopvm_rewind(handle));
    status(inside(|| buffer::get(handle)?.with(Buffer::rewind)))
}

/// True where the bytes in memory are what a reader of one type expects.
fn may_be_viewed(encoding: Encoding, runs: &RunList) -> bool {
    match encoding {
        Encoding::Raw => true,
        Encoding::Default | Encoding::Trace => runs.len() <= 1,
        Encoding::InPlace => false,
    }
}

/// The data where they lie.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_view(handle: i32, data: *mut *const c_void, bytes: *mut u64) -> i32 {
    noted!(unsafe NEOPVM_VIEW, neopvm_view(handle, data, bytes));
    status(inside(|| {
        let slot = buffer::get(handle)?;
        let (address, size) = slot.content(|content| {
            // Data that a reader has seen must stay where they are: packing begins a new message.
            content.reading = true;
            let buffer = &content.buffer;
            let native = buffer.envelope().layout == pvm_wire::Layout::NATIVE;
            let good = native && may_be_viewed(buffer.encoding(), buffer.runs());
            if good { buffer.view() } else { Err(Code::NotImpl) }
        })??;
        // SAFETY: `data` is null or has room for the answer, by the call's contract.
        unsafe { store(data, address.cast()) };
        // SAFETY: `bytes` is null or has room for the answer, by the call's contract.
        unsafe { store(bytes, size as u64) };
        Ok(())
    }))
}

/// The descriptor to wait on.
///
/// # Safety
/// `descriptor` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_descriptor(descriptor: *mut c_int) -> i32 {
    noted!(unsafe NEOPVM_DESCRIPTOR, neopvm_descriptor(descriptor));
    // SAFETY: `descriptor` is null or has room for the answer, by the call's contract.
    unsafe { answer(descriptor, || session::task()?.descriptor()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_no_holes_that_a_binding_could_miss() {
        assert_eq!(size_of::<Info>(), 40);
    }
}
