//! Reduce, gather and scatter: the arguments of C, and the waits of the root.

use std::ffi::{c_char, c_int, c_void};
use std::slice;

use pvm::group::collective::{Arguments, Collective, Combination, Read};
use pvm::probe::tell_group;
use pvm::{Buffer, Task};
use pvm_wire::{Code, Kind, Tid};

use super::{finish, group_name};
use crate::guard::inside;
use crate::trace::{text_at, traced};
use crate::waiting::{Look, Patience, look_until};
use crate::{handler, probe, reduction, session};

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
        tell(&call, given.root, count);
    }
    known.map(|_| (task, call))
}

/// Notes the group's facts in the record of the call.
fn tell(call: &Collective<'_>, root: c_int, count: usize) {
    tell_group(|told| {
        told.members = u32::try_from(call.size()).unwrap_or(0);
        told.instance = u32::try_from(call.own_place()).unwrap_or(u32::MAX);
        (told.root, told.count) = (root, count as u64);
    });
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
