//! Groups: membership, barrier, broadcast, and the collective calls. The work is done by crate pvm;
//! here are the arguments of C and the waits, during which handlers of the program may run.

use std::ffi::{c_char, c_int, c_void};
use std::slice;
use std::sync::Arc;

use pvm::group::barrier::BarrierWait;
use pvm::group::collective::{Arguments, Collective, Combination, Read};
use pvm::probe::tell_group;
use pvm::{Buffer, Members, Task};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Kind, Tid};

use crate::buffer;
use crate::guard::{call, failed, inside};
use crate::session::unexpected;
use crate::slot::Slot;
use crate::trace::{ints_at, text_at, traced};
use crate::waiting::{self, Look, Patience, look_until};
use crate::{handler, message, pointer, probe, reduction, session};

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
    message::multicast(slot()?, &tids, tag, session::context())
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

/// Arguments that the three calls share, as C gives them.
#[derive(Clone, Copy)]
struct CollectiveArguments {
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
}

/// `PVM_USHORT`.
const FIRST_UNSIGNED: c_int = 9;

/// Checks the arguments of a collective call in PVM's order, and finds the members. `kind_first`: a
/// wrong type counts more than a wrong group.
///
/// # Safety
/// The name is null or ends with 0.
unsafe fn collective<'a>(
    given: CollectiveArguments,
    kind_first: bool,
) -> Result<(&'static Task, Collective<'a>), Code> {
    let count = usize::try_from(given.count).unwrap_or(0);
    if count == 0 {
        return Err(Code::BadParam);
    }
    // PVM takes strings for bytes here.
    let number = if given.kind == 0 { 1 } else { given.kind };
    // The unsigned ones, which have the highest numbers, cannot be reduced, gathered or scattered.
    let known = Kind::from_number(number).filter(|_| number < FIRST_UNSIGNED);
    let known = known.ok_or(Code::BadParam);
    if kind_first {
        known?;
    }
    // SAFETY: `given.name` is null or ends with 0, by the call's contract.
    let group = unsafe { group_name(given.name) }?;
    let kind = known.unwrap_or(Kind::Byte);
    let arguments = Arguments { group, root: given.root, tag: given.tag, kind, count };
    let task = session::task()?;
    let call = Collective::new(task, arguments)?;
    if probe::is_on() {
        tell_group(|told| {
            told.members = u32::try_from(call.size()).unwrap_or(0);
            told.instance = u32::try_from(call.own_place()).unwrap_or(u32::MAX);
            (told.root, told.count) = (given.root, count as u64);
        });
    }
    known.map(|_| (task, call))
}

/// Waits for the message of a member, and runs handlers meanwhile.
fn take(
    call: &Collective<'_>,
    from: Tid,
    message: &mut Buffer,
    read: Read<'_>,
) -> Result<(), Code> {
    let mut vigil = call.vigil(from);
    // Most messages are there at the first look, which does not ask whether the member lives.
    let (task, first) = inside(|| {
        let task = session::task()?;
        if let Some(due) = handler::arrivals(task)? {
            return Ok((task, Look::Handler(due)));
        }
        if call.receive(task, &vigil, message)? {
            return read(message).map(|()| (task, Look::Done(())));
        }
        Ok((task, Look::Nothing))
    })?;
    match first {
        Look::Done(()) => return Ok(()),
        Look::Handler(due) => due.run(),
        _ => {}
    }
    let result = look_until(Patience::FOR_EVER, |task, token| {
        let in_vain = vigil.is_in_vain(task)?;
        let token = vigil.narrow(task, token);
        if let Some(due) = handler::arrivals(task)? {
            return Ok(Look::Handler(due));
        }
        if call.receive(task, &vigil, message)? {
            return read(message).map(Look::Done);
        }
        if in_vain { Err(Code::NoTask) } else { Ok(Look::Sleep(token)) }
    });
    vigil.end(task);
    result.map(drop)
}

/// A C array as bytes.
///
/// # Safety
/// It has `bytes` bytes, which nobody else touches during the call.
unsafe fn array<'a>(first: *mut c_void, bytes: usize) -> Result<&'a mut [u8], Code> {
    if first.is_null() || isize::try_from(bytes).is_err() {
        return Err(Code::BadParam);
    }
    // SAFETY: not null, and it has `bytes` bytes that nobody else touches before the call returns.
    Ok(unsafe { slice::from_raw_parts_mut(first.cast(), bytes) })
}

/// # Safety
/// As [`pvm_reduce`].
unsafe fn reduce(
    operation: Option<reduction::Function>,
    data: *mut c_void,
    given: CollectiveArguments,
) -> Result<(), Code> {
    if data.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the name is null or ends with 0: `pvm_reduce` asks the program for it.
    let (task, call) = inside(|| unsafe { collective(given, false) })?;
    let operation = operation.ok_or(Code::BadParam)?;
    // SAFETY: `data` has `count` items of this type, by the call's contract.
    let items = unsafe { array(data, call.bytes()) }?;
    if !call.is_root() {
        return inside(|| call.hand_in(task, items));
    }
    let mut function = |x: &mut [u8], y: &mut [u8]| {
        let (mut info, x, y) = (0, x.as_mut_ptr().cast(), y.as_mut_ptr().cast());
        // SAFETY: the program registered the operation for such arrays.
        unsafe { operation(&given.kind, x, y, &given.count, &mut info) };
        Code::from_number(info).map_or(Ok(()), Err)
    };
    let mut how = match reduction::known(operation) {
        Some(operation) => Combination::Known(operation),
        None => Combination::Function(&mut function),
    };
    call.combine(items, &mut how, &mut take)
}

fn finish(name: &str, result: Result<(), Code>) -> c_int {
    result.map_or_else(|code| failed(name, code), |()| 0)
}

/// Combines the data of all members in the root's array.
///
/// # Safety
/// `data` has `count` elements of the type; the name is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_reduce(
    operation: Option<reduction::Function>,
    data: *mut c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
) -> c_int {
    traced!(
        unsafe REDUCE,
        pvm_reduce(operation, data, count, kind, tag, name, root),
        [GN: text_at(name), MC: tag],
        |r| [CC: r]
    );
    let given = CollectiveArguments { count, kind, tag, name, root };
    // SAFETY: `reduce` needs what this call asks of the program: `count` elements, a text or null.
    finish("pvm_reduce", unsafe { reduce(operation, data, given) })
}

/// # Safety
/// As [`pvm_gather`].
unsafe fn gather(
    result: *mut c_void,
    data: *const c_void,
    given: CollectiveArguments,
) -> Result<(), Code> {
    if data.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the name is null or ends with 0: `pvm_gather` asks the program for it.
    let (task, call) = inside(|| unsafe { collective(given, true) })?;
    if !call.is_root() {
        // SAFETY: `data` has `count` items of this type, by the call's contract.
        let items = unsafe { array(data.cast_mut(), call.bytes()) }?;
        return inside(|| call.hand_in(task, items));
    }
    // SAFETY: the root's `result` has an array for each member, and only this call writes to it.
    let result = unsafe { array(result, call.bytes().saturating_mul(call.size())) }?;
    let own = result[call.own_place() * call.bytes()..].as_mut_ptr();
    // SAFETY: both have `call.bytes()` bytes; the arrays may be one.
    unsafe { std::ptr::copy(data.cast::<u8>(), own, call.bytes()) };
    call.gather(result, None, &mut take)
}

/// Collects the data of all members in the root's result, in the order of their instances.
///
/// # Safety
/// `data` has `count` elements, the root's `result` as many for each member; the name is null or
/// ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_gather(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
) -> c_int {
    traced!(
        unsafe GATHER,
        pvm_gather(result, data, count, kind, tag, name, root),
        [GN: text_at(name), MC: tag],
        |r| [CC: r]
    );
    let given = CollectiveArguments { count, kind, tag, name, root };
    // SAFETY: `gather` needs what this call asks of the program, for both arrays and the name.
    finish("pvm_gather", unsafe { gather(result, data, given) })
}

/// # Safety
/// As [`pvm_scatter`].
unsafe fn scatter(
    result: *mut c_void,
    data: *const c_void,
    given: CollectiveArguments,
) -> Result<(), Code> {
    if result.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the name is null or ends with 0: `pvm_scatter` asks the program for it.
    let (task, call) = inside(|| unsafe { collective(given, true) })?;
    if !call.is_root() {
        // SAFETY: `result` has `count` items of this type, by the call's contract.
        return call.receive_part(unsafe { array(result, call.bytes()) }?, &mut take);
    }
    let all = call.bytes().saturating_mul(call.size());
    // SAFETY: the root's `data` has an array for each member; `parts` is only read.
    let parts = unsafe { array(data.cast_mut(), all) }?;
    let own = inside(|| call.deal(task, parts))?;
    let part = parts[own * call.bytes()..].as_ptr();
    // SAFETY: both have `call.bytes()` bytes; the arrays may be one.
    unsafe { std::ptr::copy(part, result.cast(), call.bytes()) };
    Ok(())
}

/// Gives each member its part of the root's data, in the order of their instances.
///
/// # Safety
/// `result` has `count` elements, the root's `data` as many for each member; the name is null or
/// ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_scatter(
    result: *mut c_void,
    data: *const c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
) -> c_int {
    traced!(
        unsafe SCATTER,
        pvm_scatter(result, data, count, kind, tag, name, root),
        [GN: text_at(name), MC: tag],
        |r| [CC: r]
    );
    let given = CollectiveArguments { count, kind, tag, name, root };
    // SAFETY: `scatter` needs what this call asks of the program, for both arrays and the name.
    finish("pvm_scatter", unsafe { scatter(result, data, given) })
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
