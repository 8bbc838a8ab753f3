//! Groups: membership, barrier and broadcast. The work is done by crate pvm; here are the arguments
//! of C and the waits, during which handlers of the program may run.

pub(crate) mod collective;

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use pvm::Members;
use pvm::group::barrier::BarrierWait;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Tid};

use crate::buffer;
use crate::guard::{call, failed, inside};
use crate::session::unexpected;
use crate::slot::Slot;
use crate::trace::{ints_at, text_at, traced};
use crate::waiting::{self, Patience};
use crate::{message, pointer, session};

/// # Safety
/// `name` is null or ends with 0.
pub(crate) unsafe fn group_name<'a>(name: *const c_char) -> Result<&'a [u8], Code> {
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let name = unsafe { pointer::text_or_none(name) }.unwrap_or_default();
    if name.is_empty() { Err(Code::NullGroup) } else { Ok(name) }
}

fn members(name: &[u8]) -> Result<Arc<Members>, Code> {
    session::task()?.members(name)
}

/// Waits until `count` members have called. Called outside of the library.
pub(crate) fn barrier<'a>(
    name: impl Fn() -> Result<&'a [u8], Code>,
    count: c_int,
) -> Result<(), Code> {
    barrier_until(name, count, Patience::FOR_EVER).map(drop)
}

/// [`barrier`] for a caller that may give up: false if it did, and was not counted.
pub(crate) fn barrier_until<'a>(
    name: impl Fn() -> Result<&'a [u8], Code>,
    count: c_int,
    patience: Patience<'_>,
) -> Result<bool, Code> {
    let (task, mut waiting) = inside(|| {
        let task = session::task()?;
        Ok((task, task.enter_barrier(name()?, count)?))
    })?;
    let look = |waiting: &mut BarrierWait, token| {
        *waiting = inside(|| task.look_at_barrier(*waiting, name()?, count))?;
        Ok(waiting.step(token))
    };
    if let Some(met) = task.until(patience, |token| look(&mut waiting, token))? {
        return Ok(met);
    }
    waiting = inside(|| task.leave_barrier(waiting))?;
    task.until(Patience::last(), |token| look(&mut waiting, token))?.ok_or(Code::SysErr)
}

/// Joins a group and returns the instance number.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_joingroup(name: *const c_char) -> c_int {
    traced!(unsafe JOINGROUP, pvm_joingroup(name), [GN: text_at(name)], |r| [CC: r]);
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    call("pvm_joingroup", || session::task()?.join_group(unsafe { group_name(name) }?))
}

/// Leaves a group.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_lvgroup(name: *const c_char) -> c_int {
    traced!(unsafe LVGROUP, pvm_lvgroup(name), [GN: text_at(name)], |r| [CC: r]);
    call("pvm_lvgroup", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { group_name(name) }?;
        session::task()?.leave_group(name).map(|()| 0)
    })
}

/// The task with an instance number.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_gettid(name: *const c_char, instance: c_int) -> c_int {
    traced!(
        unsafe GETTID,
        pvm_gettid(name, instance),
        [GN: text_at(name), GI: instance],
        |r| [GT: r]
    );
    call("pvm_gettid", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let members = members(unsafe { group_name(name) }?)?;
        members.tid(instance).map(Tid::as_c_int)
    })
}

/// The number that the next member will have: what PVM says for task -1.
fn free_instance(members: &Members) -> c_int {
    (0..c_int::MAX).find(|&instance| members.tid(instance).is_err()).unwrap_or(c_int::MAX)
}

/// The instance number of a task, for -1 the first one that nobody has.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_getinst(name: *const c_char, tid: c_int) -> c_int {
    traced!(unsafe GETINST, pvm_getinst(name, tid), [GN: text_at(name), GT: tid], |r| [GI: r]);
    call("pvm_getinst", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let members = members(unsafe { group_name(name) }?)?;
        if tid == -1 {
            return Ok(free_instance(&members));
        }
        members.instance(Tid::from_c_int(tid))
    })
}

/// Returns the number of members.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_gsize(name: *const c_char) -> c_int {
    traced!(unsafe GSIZE, pvm_gsize(name), [GN: text_at(name)], |r| [GS: r]);
    call("pvm_gsize", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let members = members(unsafe { group_name(name) }?)?;
        c_int::try_from(members.size()).map_err(|_| Code::Overflow)
    })
}

/// Waits until `count` members have called.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_barrier(name: *const c_char, count: c_int) -> c_int {
    traced!(unsafe BARRIER, pvm_barrier(name, count), [GN: text_at(name), GBC: count], |r| [CC: r]);
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    finish("pvm_barrier", barrier(|| unsafe { group_name(name) }, count))
}

/// Fixes the members of a group once it has `size` of them, and returns how many they are.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_freezegroup(name: *const c_char, size: c_int) -> c_int {
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let frozen = freeze(|| unsafe { group_name(name) }, size);
    frozen.unwrap_or_else(|code| failed("pvm_freezegroup", code))
}

/// Waits for the others as a barrier does: as long as it takes, with nothing held meanwhile.
fn freeze<'a>(name: impl Fn() -> Result<&'a [u8], Code>, size: c_int) -> Result<c_int, Code> {
    freeze_until(name, size, Patience::FOR_EVER)?.ok_or(Code::SysErr)
}

/// [`freeze`] for a caller that may give up: none if it did, and was not counted.
pub(crate) fn freeze_until<'a>(
    name: impl Fn() -> Result<&'a [u8], Code>,
    size: c_int,
    patience: Patience<'_>,
) -> Result<Option<c_int>, Code> {
    let request = |_| Ok(Request::FreezeGroup { group: Blob(name()?.to_vec()), size });
    if waiting::ask_until(request, patience)?.is_none() {
        return Ok(None);
    }
    inside(|| session::task()?.keep_frozen(name()?)).map(Some)
}

/// Sends a buffer to all members but this task.
pub(crate) fn broadcast(
    slot: impl FnOnce() -> Result<&'static Slot, Code>,
    name: &[u8],
    tag: c_int,
) -> Result<(), Code> {
    let own = session::task()?.tid();
    let members = members(name)?;
    let tids: Vec<c_int> = members.present().filter(|&tid| tid != own).map(Tid::as_c_int).collect();
    if tids.is_empty() {
        return Err(Code::NoInst);
    }
    message::sending::multicast(slot()?, &tids, tag, session::context())
}

/// Sends the send buffer to all members but this task.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_bcast(name: *const c_char, tag: c_int) -> c_int {
    traced!(
        unsafe BCAST,
        pvm_bcast(name, tag),
        [GN: text_at(name), MC: tag],
        |r| [CC: r, MDL: ints_at(std::ptr::null(), 0)]
    );
    call("pvm_bcast", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        broadcast(buffer::sending, unsafe { group_name(name) }?, tag)?;
        Ok(0)
    })
}

fn finish(name: &str, result: Result<(), Code>) -> c_int {
    result.map_or_else(|code| failed(name, code), |()| 0)
}

/// Prints the groups, as PVM's group server did on request.
#[unsafe(no_mangle)]
extern "C" fn pvm_gsdump() -> c_int {
    call("pvm_gsdump", || {
        let Reply::Groups { groups } = session::task()?.request(&Request::Groups)? else {
            return Err(unexpected());
        };
        for group in groups {
            let tids: Vec<String> = group.members.iter().map(ToString::to_string).collect();
            let line = format!("{}: {}\n", group.name.to_text(), tids.join(" "));
            crate::say::say(line.as_bytes());
        }
        Ok(0)
    })
}
