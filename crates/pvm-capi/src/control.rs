//! Names that PVM's library exports without a word in its manual, and that programs link all the
//! same: leaving without a word, descriptors, and the functions that take the messages by which
//! PVM's daemons steer tasks.
//!
//! What they do was asked of PVM 3.4.6 (`conformance/c/inner_names.c`).

use std::ffi::{c_char, c_int, c_long};

use pvm_wire::{Code, Kind};

use crate::guard::{inside, plain};
use crate::masks::{CHILD_MASK, MASK_LETTERS, OWN_MASK, store_mask};
use crate::say::tell;
use crate::{buffer, pointer, process, session};

/// As many descriptors as `select` knows.
const DESCRIPTORS: c_int = 1024;

/// Waiting time of PVM's group server; nothing reads it.
#[unsafe(no_mangle)]
static mut pvmgs_tmout: *mut c_long = std::ptr::null_mut();

/// Makes this process a task.
#[unsafe(no_mangle)]
extern "C" fn pvmbeatask() -> c_int {
    inside(session::task).map_or_else(Code::number, |_| 0)
}

/// This process is no task any more; caught output is not waited for.
#[unsafe(no_mangle)]
extern "C" fn pvmendtask() -> c_int {
    // As in PVM it tells nothing.
    let _ = process::leave();
    0
}

/// Gives the process another name before it is a task.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmsettaskname(name: *const c_char) -> c_int {
    let named = inside(|| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { pointer::text(name) }?;
        session::set_program(name)
    });
    named.map_or_else(Code::number, |()| 0)
}

/// True for the superuser, whom PVM asks to think again.
#[unsafe(no_mangle)]
const extern "C" fn pvmchkuid(user: c_int) -> c_int {
    (user == 0) as c_int
}

/// Has no effect on a task; PVM's daemon calls it when it ends itself.
#[unsafe(no_mangle)]
const extern "C" fn pvmbailout(_: c_int) {}

/// The checksum of CRC-32 with nothing before and nothing behind it, which goes on from `sum`.
///
/// # Safety
/// There are `count` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmcrcappend(bytes: *const u8, count: c_int, sum: u32) -> u32 {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: `bytes` is null or has `count` elements, by the call's contract.
    let bytes = unsafe { pointer::array(bytes, count) }.unwrap_or_default();
    let shift = |sum: u32, _| (sum >> 1) ^ if sum & 1 != 0 { 0xedb8_8320 } else { 0 };
    bytes.iter().fold(sum, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), shift))
}

fn check_descriptor(call: &str, descriptor: c_int) -> c_int {
    let good = (0..DESCRIPTORS).contains(&descriptor);
    if !good {
        tell(format_args!("{call}() bad fd {descriptor}"));
    }
    c_int::from(!good)
}

/// The library waits for its own descriptors only; this says whether it is one at all.
#[unsafe(no_mangle)]
extern "C" fn pvm_fd_add(descriptor: c_int, _sets: c_int) -> c_int {
    check_descriptor("pvm_fd_add", descriptor)
}

/// See [`pvm_fd_add`].
#[unsafe(no_mangle)]
extern "C" fn pvm_fd_delete(descriptor: c_int, _sets: c_int) -> c_int {
    check_descriptor("pvm_fd_delete", descriptor)
}

/// The next int of the receive buffer.
fn next() -> Result<c_int, Code> {
    let mut item = [0; 4];
    buffer::receiving()?.with(|buffer| buffer.unpack(Kind::Int, &mut item))??;
    Ok(c_int::from_ne_bytes(item))
}

/// The next text, if it is a trace mask.
fn next_mask(call: &str) -> Result<Vec<u8>, Code> {
    let text = buffer::receiving()?.with(pvm::Buffer::unpack_str)??;
    if text.len() == MASK_LETTERS {
        return Ok(text);
    }
    tell(format_args!("{call}() bogus trace mask"));
    Err(Code::BadMsg)
}

/// Carries out the message in the receive buffer, and frees it. Faults in it are not reported.
fn obey(message: c_int, order: impl FnOnce() -> Result<(), Code>) -> c_int {
    plain((), || {
        let _ = order();
        buffer::free_everywhere(message);
    });
    0
}

/// A message that says nothing.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_noop(message: c_int) -> c_int {
    obey(message, || Ok(()))
}

/// Sets the calls that are traced.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_settmask(message: c_int) -> c_int {
    obey(message, || {
        let mask = next_mask("pvm_tc_settmask")?;
        store_mask(OWN_MASK, &mask);
        session::announce_trace(session::task()?)
    })
}

/// Sets the destinations of events and output, the events, and the manner in which they are sent,
/// for this task and for those that it spawns.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_settrace(message: c_int) -> c_int {
    obey(message, || {
        let (events, output) = ([next()?, next()?, next()?], [next()?, next()?, next()?]);
        let mask = next_mask("pvm_tc_settrace")?;
        let (buffer, options) = (next()?, next()?);
        session::lead_events(events);
        [OWN_MASK, CHILD_MASK].into_iter().for_each(|whose| store_mask(whose, &mask));
        session::set_option(session::OWN_TRACE_BUFFER, buffer);
        session::set_option(session::OWN_TRACE_OPTIONS, options);
        if output[0] != 0 {
            session::lead_output(output);
            session::announce_output(session::task()?)?;
        }
        session::announce_trace(session::task()?)
    })
}

/// Sets the number of bytes of events that are collected.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_settrcbuf(message: c_int) -> c_int {
    obey(message, || {
        session::set_option(session::OWN_TRACE_BUFFER, next()?);
        session::announce_trace(session::task()?)
    })
}

/// Sets the manner in which events are sent.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_settrcopt(message: c_int) -> c_int {
    obey(message, || {
        session::set_option(session::OWN_TRACE_OPTIONS, next()?);
        session::announce_trace(session::task()?)
    })
}

/// The tasks that were spawned together with this one.
#[unsafe(no_mangle)]
extern "C" fn pvm_tc_siblings(message: c_int) -> c_int {
    obey(message, || {
        let count = usize::try_from(next()?).map_err(|_| Code::BadMsg)?;
        let mut tids = Vec::new();
        for _ in 0..count {
            // The message ends before a count that lies does.
            tids.push(next()?);
        }
        process::set_siblings(tids)
    })
}

/// Facts about a group and its hosts. Its arguments are told nowhere, so nothing that a
/// program passes is touched.
#[unsafe(no_mangle)]
const extern "C" fn pvm_grphostinfo() -> c_int {
    Code::NotImpl.number()
}

/// See [`pvm_grphostinfo`].
#[unsafe(no_mangle)]
const extern "C" fn pvm_grpvhostinfo() -> c_int {
    Code::NotImpl.number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_pvms() {
        for (text, before, sum) in [
            (&b"abc"[..], 0, (-899_311_408i32).cast_unsigned()),
            (b"abc", u32::MAX, (-891_568_579i32).cast_unsigned()),
            (b"123456789", 0, 771_566_984),
            (b"", 5, 5),
        ] {
            let count = c_int::try_from(text.len()).expect("short");
            // SAFETY: `text` has `count` bytes.
            assert_eq!(unsafe { pvmcrcappend(text.as_ptr(), count, before) }, sum);
        }
    }
}
