//! Messages: which addresses are good, what is there to be received, and the context.

pub(crate) mod bulk;
pub(crate) mod fast;
pub(crate) mod matching;
pub(crate) mod receiving;
pub(crate) mod sending;

use std::ffi::c_int;

use pvm_wire::{Code, Tid};

use crate::guard::{call, inside};
use crate::selection::Partner;
use crate::trace::{list_at, traced};
use crate::{buffer, handler, held, pointer, session};

/// Tells whether a message may be sent to `tid` under `tag`. With `PvmResvTids` any numbers will
/// do, as in PVM.
pub(crate) fn check_address(tid: Tid, tag: c_int) -> Result<(), Code> {
    let reserved = session::option(session::RESERVED) != 0;
    let good = reserved || tid.may_be_task() && tag >= 0;
    if good { Ok(()) } else { Err(Code::BadParam) }
}

/// True for a number that no task has or can have: a message to it is lost, like one to a task that
/// has ended.
const fn is_nobody(tid: Tid) -> bool {
    !tid.is_task() && !tid.is_daemon()
}

/// True for a sender or tag that no message can have: PVM waits for ever for it.
fn never_comes(tid: c_int, tag: c_int) -> bool {
    let reserved = session::option(session::RESERVED) != 0;
    tid != -1 && !Tid::from_c_int(tid).is_task() && !is_system(tid) || tag < -1 && !reserved
}

/// Daemons, whose notices can be asked for by their sender.
fn is_system(tid: c_int) -> bool {
    Tid::from_c_int(tid).is_daemon() && tid < -0x1000
}

/// Tells of a message without receiving it; 0 if there is none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_probe(tid: c_int, tag: c_int) -> c_int {
    traced!(PROBE, pvm_probe(tid, tag), [RST: tid, RMC: tag, RCX: session::context()], |r| [CC: r]);
    handler::run_all();
    let custom = inside(matching::custom).ok().flatten();
    if let Some(function) = custom {
        return match matching::choose(function, Partner { tid, tag }, &mut 0) {
            Ok(shown) => shown.map_or(0, |shown| shown.id),
            Err(stop) => stop.report("pvm_probe"),
        };
    }
    call("pvm_probe", || {
        let task = session::task()?;
        match held::probe(task, &Partner { tid, tag }.pattern())? {
            Some((envelope, size)) => buffer::probed(&envelope, size),
            None => Ok(0),
        }
    })
}

/// The descriptors that `select` can wait on.
///
/// # Safety
/// `fds` is null or points to a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getfds(fds: *mut *const c_int) -> c_int {
    traced!(unsafe GETFDS, pvm_getfds(fds), [], |r| [CC: r, FDS: list_at(fds, r)]);
    thread_local! {
        static DESCRIPTORS: std::cell::Cell<[c_int; 1]> = const { std::cell::Cell::new([-1]) };
    }
    call("pvm_getfds", || {
        let descriptor = session::task()?.descriptor()?;
        let list = DESCRIPTORS.with(|list| {
            list.set([descriptor]);
            list.as_ptr().cast_const().cast()
        });
        // SAFETY: `fds` is null, which `store` skips, or points to a pointer. The list lives as
        // long as this thread.
        unsafe { pointer::store(fds, list) };
        Ok(1)
    })
}

/// The current context.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_getcontext() -> c_int {
    traced!(GETCONTEXT, pvm_getcontext(), [], |r| [CXC: r]);
    // A task that was spawned begins in the context of its parent.
    call("pvm_getcontext", || {
        session::task()?;
        Ok(session::context())
    })
}

/// Changes the context and returns the old one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_setcontext(context: c_int) -> c_int {
    traced!(SETCONTEXT, pvm_setcontext(context), [CXS: context], |r| [CC: r]);
    call("pvm_setcontext", || {
        session::task()?;
        if context == -1 {
            matching::look_further();
        }
        Ok(session::set_context(context))
    })
}
