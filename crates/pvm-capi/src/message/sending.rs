//! Sending a buffer, to one task or to many.

use std::ffi::c_int;

use pvm::{Biased, Buffer, Task};
use pvm_wire::{Code, Context, Tag, Tid};

use super::{check_address, fast, is_nobody};
use crate::buffer::{self, told};
use crate::guard::{self, Fast, brief, call, call_here, failed};
use crate::selection::{Partner, address};
use crate::slot::Slot;
use crate::thread::parcels::Parcel;
use crate::trace::{self, OWN_EVENT, ints_at, traced};
use crate::{pointer, session};

/// `pvm_send` of any buffer in any context.
#[inline]
pub(crate) fn send(slot: &Slot, tid: c_int, tag: c_int, context: c_int) -> Result<(), Code> {
    check_address(Tid::from_c_int(tid), tag)?;
    slot.with(|buffer| send_buffer(buffer, tid, tag, context))?
}

/// Like `send`, for a buffer that need not have a number.
pub(crate) fn send_buffer(
    buffer: &mut Buffer,
    tid: c_int,
    tag: c_int,
    context: c_int,
) -> Result<(), Code> {
    let to = address(tid, tag, context);
    check_address(to.to, tag)?;
    let task = session::task()?;
    buffer.address(to);
    if is_nobody(to.to) { Ok(()) } else { task.send(buffer, to) }
}

/// `pvm_mcast` of any buffer in any context. The sender itself gets nothing.
pub(crate) fn multicast(
    slot: &Slot,
    tids: &[c_int],
    tag: c_int,
    context: c_int,
) -> Result<(), Code> {
    for &tid in tids {
        check_address(Tid::from_c_int(tid), tag)?;
    }
    let task = session::task()?;
    let mut to: Vec<Tid> = tids.iter().map(|&tid| Tid::from_c_int(tid)).collect();
    to.sort_unstable();
    to.dedup();
    to.retain(|&tid| tid != task.tid());
    let last = to.last().copied();
    to.retain(|tid| tid.is_task());
    slot.with(|buffer| {
        if to.is_empty()
            && let Some(last) = last
        {
            // As in PVM the buffer remembers its last sending, also if no task has the numbers.
            buffer.edit(|about| (about.tag, about.dst) = (tag, last));
        }
        task.multicast(buffer, &to, Tag(tag), Context(context))
    })?
}

/// A send from a handler that interrupted the library: kept until the interrupted call leaves. It
/// sends what the buffer holds then.
pub(crate) fn put_off(
    buffer: c_int,
    tids: &[c_int],
    tag: c_int,
    context: c_int,
) -> Result<(), Code> {
    for &tid in tids {
        check_address(Tid::from_c_int(tid), tag)?;
    }
    if buffer <= 0 {
        return Err(if buffer == 0 { Code::NoBuf } else { Code::BadParam });
    }
    let own = session::current().map(Task::tid);
    let send = |parcel: Parcel| {
        let slot = buffer::get(parcel.buffer)?;
        send(slot, parcel.tid, parcel.tag, parcel.context)
    };
    guard::put_off(tids.len(), |i| {
        // A task that is named twice, or this one among others, gets no second message.
        let tid = Tid::from_c_int(tids[i]);
        let again = tids[..i].contains(&tids[i]) || tids.len() > 1 && own == Some(tid);
        Parcel { send, buffer: if again { 0 } else { buffer }, tid: tids[i], tag, context }
    })
}

/// A handler has interrupted the library.
#[cold]
fn send_later(tid: c_int, tag: c_int) -> c_int {
    let kept = put_off(buffer::pvm_getsbuf(), &[tid], tag, session::context());
    kept.map_or_else(|code| failed("pvm_send", code), |()| 0)
}

/// Sends the send buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_send(tid: c_int, tag: c_int) -> c_int {
    brief(
        |thread, owner| fast::send_few(thread, owner, tid, tag),
        |fast, task| tell_of_few(fast, task, Partner { tid, tag }),
        || send_any(tid, tag),
    )
}

/// Notifies the receiver of a message that was published.
#[inline(never)]
fn tell_of_few(fast: Fast<Biased>, task: &Task, Partner { tid, tag }: Partner) -> c_int {
    let is_told = task.tell_of_few(fast.owner, Tid::from_c_int(tid));
    drop(fast);
    if is_told { 0 } else { send_any(tid, tag) }
}

#[inline(never)]
fn send_any(tid: c_int, tag: c_int) -> c_int {
    fast::send(tid, tag).map_or_else(|| long_send(tid, tag), |()| 0)
}

#[inline(never)]
fn long_send(tid: c_int, tag: c_int) -> c_int {
    traced!(
        SEND,
        pvm_send(tid, tag),
        [MNB: told(buffer::pvm_getsbuf()).bytes, DST: tid, MC: tag, MCX: session::context()],
        |r| [CC: r]
    );
    if guard::is_inside() {
        return send_later(tid, tag);
    }
    if (tid, tag) == OWN_EVENT {
        return call_here("pvm_send", |thread| {
            trace::own_event(thread.sending.slot().ok_or(Code::NoBuf)?).map(|()| 0)
        });
    }
    call_here("pvm_send", |thread| {
        check_address(Tid::from_c_int(tid), tag)?;
        let slot = thread.sending.slot().ok_or(Code::NoBuf)?;
        send(slot, tid, tag, session::context()).map_err(buffer::not_current)?;
        Ok(0)
    })
}

/// Sends the send buffer to many.
///
/// # Safety
/// `tids` has `count` elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_mcast(tids: *const c_int, count: c_int, tag: c_int) -> c_int {
    traced!(
        unsafe MCAST,
        pvm_mcast(tids, count, tag),
        [
            MNB: told(buffer::pvm_getsbuf()).bytes,
            MC: tag,
            MCX: session::context(),
            MDL: ints_at(tids, count),
        ],
        |r| [CC: r]
    );
    let arguments = || {
        let count = usize::try_from(count).map_err(|_| Code::BadParam)?;
        if tag < 0 && session::option(session::RESERVED) == 0 {
            return Err(Code::BadParam);
        }
        // SAFETY: `tids` is null, which `array` refuses, or has `count` elements.
        unsafe { pointer::array(tids, count) }
    };
    if guard::is_inside() {
        let context = session::context();
        let kept = arguments().and_then(|tids| put_off(buffer::pvm_getsbuf(), tids, tag, context));
        return kept.map_or_else(|code| failed("pvm_mcast", code), |()| 0);
    }
    call("pvm_mcast", || {
        let slot = buffer::sending()?;
        let tids = arguments()?;
        multicast(slot, tids, tag, session::context()).map_err(buffer::not_current)?;
        Ok(0)
    })
}
