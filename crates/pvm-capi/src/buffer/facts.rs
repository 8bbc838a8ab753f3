//! The facts of a message, and the calls that tell and change them.

use std::ffi::c_int;

use pvm::Buffer;
use pvm_wire::{Code, Tid};

use super::numbers::{get, occupied};
use crate::guard::{call, inside};
use crate::slot::Content;
use crate::trace::{int_at, traced};
use crate::{globals, session};

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
