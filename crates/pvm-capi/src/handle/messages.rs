//! Messages by handle: sent, received, looked for.

use std::ffi::c_char;

use pvm::{Awaited, Buffer, Glance, Pattern, Task};
use pvm_wire::Code;
use pvm_wire::record::calls;

use super::info::Info;
use super::{answer, context, fast, limit, size, status};
use crate::guard::{self, inside};
use crate::message::fast::{FirstLook, receive_new};
use crate::message::sending::{multicast, put_off, send};
use crate::pointer::{store, text};
use crate::selection::{self, Selection};
use crate::trace::noted;
use crate::trace::noting::{Begun, taken_within};
use crate::waiting::{Limit, Look, wait_for};
use crate::{buffer, group, handler, held, probe, session};

/// Sends a buffer.
#[unsafe(no_mangle)]
extern "C" fn neopvm_send(handle: i32, tid: i32, tag: i32, in_context: i32) -> i32 {
    if fast::send(handle, tid, tag, in_context).is_some() {
        return 0;
    }
    noted!(NEOPVM_SEND, neopvm_send(handle, tid, tag, in_context));
    if guard::is_inside() {
        return status(put_off(handle, &[tid], tag, session::or_current(in_context)));
    }
    status(inside(|| {
        let slot = buffer::get(handle)?;
        send(slot, tid, tag, context(in_context)?)
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
        return status(list().and_then(|tids| put_off(handle, tids, tag, context)));
    }
    status(inside(|| {
        let slot = buffer::get(handle)?;
        let tids = list()?;
        multicast(slot, tids, tag, context(in_context)?)
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
pub(super) fn long_receive(
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
