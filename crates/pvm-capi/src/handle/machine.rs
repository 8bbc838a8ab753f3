//! The calls of `neopvm.h` about the machine: tasks, hosts, groups, names, notices.

use std::ffi::c_char;

use pvm_wire::Code;

use super::{answer, context, size, status, with};
use crate::guard::inside;
use crate::pointer::{array, store, text, text_or_none};
use crate::process::{self, Notice, Spawn};
use crate::trace::noted;
use crate::{buffer, group, machine, registry, session};

/// `struct neopvm_host`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    tid: i32,
    speed: i32,
    signature: i32,
    cores: u32,
    name: [u8; 256],
    arch: [u8; 64],
}

/// `struct neopvm_task`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLine {
    tid: i32,
    parent: i32,
    host: i32,
    flags: i32,
    pid: u32,
    reserved: u32,
    name: [u8; 256],
}

/// A text in a field of fixed size: cut if need be, always ended by 0.
fn field<const N: usize>(text: &[u8]) -> [u8; N] {
    let mut field = [0; N];
    let length = text.len().min(N - 1);
    field[..length].copy_from_slice(&text[..length]);
    field
}

/// Puts a message under a name.
///
/// # Safety
/// `name` is null or ends with 0; `index` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_put(
    name: *const c_char,
    handle: i32,
    flags: i32,
    index: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_PUT, neopvm_put(name, handle, flags, index));
    status(inside(|| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { text(name) }?;
        let placed = with(handle, |buffer| registry::put(name, buffer, flags))?;
        // SAFETY: `index` is null or has room for the answer, by the call's contract.
        unsafe { store(index, placed) };
        Ok(())
    }))
}

/// Gets the message under a name.
///
/// # Safety
/// `name` is null or ends with 0; `buffer` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_get(
    name: *const c_char,
    index: i32,
    flags: i32,
    buffer: *mut i32,
) -> i32 {
    noted!(unsafe NEOPVM_GET, neopvm_get(name, index, flags, buffer));
    if buffer.is_null() {
        return Code::BadParam.number();
    }
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let received = registry::receive(|| unsafe { text(name) }, index, flags);
    // SAFETY: `buffer` is null or has room for the answer, by the call's contract.
    unsafe { answer(buffer, || buffer::insert_received(received?.0)) }
}

/// Starts programs.
///
/// # Safety
/// The texts are null or end with 0, `args` is null or ends with null, `outcomes` has `count`
/// elements, `started` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_spawn(
    program: *const c_char,
    args: *const *const c_char,
    flags: i32,
    place: *const c_char,
    count: i32,
    outcomes: *mut i32,
    started: *mut i32,
) -> i32 {
    noted!(
        unsafe NEOPVM_SPAWN,
        neopvm_spawn(program, args, flags, place, count, outcomes, started)
    );
    status(inside(|| {
        // SAFETY: the texts are null or end with 0, and live until this call returns.
        let results = process::spawn(unsafe { wish(program, args, flags, place, count) }?)?;
        // SAFETY: `outcomes` has `count` elements, one for each result, and `started` is null or a
        // number's.
        unsafe { told(&results, outcomes, started) }
    }))
}

/// The wish that `neopvm_spawn` makes.
///
/// # Safety
/// The texts are null or end with 0, `args` is null or ends with null; all live for `'a`.
pub(super) unsafe fn wish<'a>(
    program: *const c_char,
    args: *const *const c_char,
    flags: i32,
    place: *const c_char,
    count: i32,
) -> Result<Spawn<'a>, Code> {
    // SAFETY: `program` is null or ends with 0, by the call's contract.
    let file = unsafe { text(program) }?;
    // SAFETY: `place` is null or ends with 0, by the call's contract.
    let place = unsafe { text_or_none(place) }.unwrap_or_default();
    // SAFETY: `args` is null or ends with null, and its texts live for `'a`.
    let args = unsafe { process::arguments(args) };
    Ok(Spawn { file, args, flags, place, count })
}

/// Tells the outcome of a spawn.
///
/// # Safety
/// `outcomes` is null or has room for all results, `started` is null or points to a number.
pub(super) unsafe fn told(
    results: &[i32],
    outcomes: *mut i32,
    started: *mut i32,
) -> Result<(), Code> {
    for (i, &result) in results.iter().enumerate().filter(|_| !outcomes.is_null()) {
        // SAFETY: not null, and it has room for all results, of which this is one.
        unsafe { outcomes.add(i).write(result) };
    }
    // SAFETY: `started` is null or has room for the answer, by the call's contract.
    unsafe { store(started, process::started(results)?) };
    Ok(())
}

/// Fills the caller's array with as many lines as it has room for.
///
/// # Safety
/// `out` is null or has `room` elements; `count` is null or points to a number.
unsafe fn fill<T>(lines: &[T], out: *mut T, room: u64, count: *mut u64) -> Result<(), Code>
where
    T: Copy,
{
    let room = if out.is_null() { 0 } else { size(room)? };
    for (i, &line) in lines.iter().enumerate().take(room) {
        // SAFETY: not null, and `i` is below `room`, the number of its elements.
        unsafe { out.add(i).write(line) };
    }
    // SAFETY: `count` is null or has room for the answer, by the call's contract.
    unsafe { store(count, lines.len() as u64) };
    Ok(())
}

/// The hosts.
///
/// # Safety
/// `hosts` is null or has `room` elements; `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_hosts(hosts: *mut Host, room: u64, count: *mut u64) -> i32 {
    noted!(unsafe NEOPVM_HOSTS, neopvm_hosts(hosts, room, count));
    status(inside(|| {
        let lines: Vec<Host> = machine::hosts()?
            .iter()
            .map(|host| Host {
                tid: host.tid.as_c_int(),
                speed: host.speed,
                signature: host.signature,
                cores: host.cores,
                name: field(&host.name.0),
                arch: field(&host.arch.0),
            })
            .collect();
        // SAFETY: `hosts` is null or has `room` elements, and `count` is null or points to a
        // number.
        unsafe { fill(&lines, hosts, room, count) }
    }))
}

/// The tasks.
///
/// # Safety
/// `tasks` is null or has `room` elements; `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_tasks(
    place: i32,
    tasks: *mut TaskLine,
    room: u64,
    count: *mut u64,
) -> i32 {
    noted!(unsafe NEOPVM_TASKS, neopvm_tasks(place, tasks, room, count));
    status(inside(|| {
        let lines: Vec<TaskLine> = machine::tasks(place)?
            .iter()
            .map(|task| TaskLine {
                tid: task.tid.as_c_int(),
                parent: task.parent.as_c_int(),
                host: task.host.as_c_int(),
                flags: task.flags,
                pid: task.pid,
                reserved: 0,
                name: field(&task.name.0),
            })
            .collect();
        // SAFETY: `tasks` is null or has `room` elements, and `count` is null or points to a
        // number.
        unsafe { fill(&lines, tasks, room, count) }
    }))
}

/// Sends a signal to a task.
#[unsafe(no_mangle)]
extern "C" fn neopvm_signal(tid: i32, number: i32) -> i32 {
    noted!(NEOPVM_SIGNAL, neopvm_signal(tid, number));
    status(inside(|| process::signal(tid, number).map(drop)))
}

/// Asks for notices.
///
/// # Safety
/// `tids` has `count` elements, unless it is null.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_notify(
    kind: i32,
    tag: i32,
    in_context: i32,
    tids: *const i32,
    count: i32,
) -> i32 {
    noted!(unsafe NEOPVM_NOTIFY, neopvm_notify(kind, tag, in_context, tids, count));
    status(inside(|| {
        let listed = if tids.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        // SAFETY: `tids` is null or has `listed` elements, by the call's contract.
        let tids = unsafe { array(tids, listed) }?;
        let context = context(in_context)?;
        process::notify(Notice { kind, tag, context, count, tids })
    }))
}

/// Joins a group.
///
/// # Safety
/// `name` is null or ends with 0; `instance` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_join(name: *const c_char, instance: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_JOIN, neopvm_join(name, instance));
    status(inside(|| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let joined = session::task()?.join_group(unsafe { group::group_name(name) }?)?;
        // SAFETY: `instance` is null or has room for the answer, by the call's contract.
        unsafe { store(instance, joined) };
        Ok(())
    }))
}

/// Leaves a group.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_leave_group(name: *const c_char) -> i32 {
    noted!(unsafe NEOPVM_LEAVE_GROUP, neopvm_leave_group(name));
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    status(inside(|| session::task()?.leave_group(unsafe { group::group_name(name) }?)))
}

/// The members of a group.
///
/// # Safety
/// `name` is null or ends with 0; `tids` is null or has `room` elements; `count` is null or points
/// to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_members(
    name: *const c_char,
    tids: *mut i32,
    room: u64,
    count: *mut u64,
) -> i32 {
    noted!(unsafe NEOPVM_MEMBERS, neopvm_members(name, tids, room, count));
    status(inside(|| {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let members = session::task()?.members(unsafe { group::group_name(name) }?)?;
        let lines: Vec<i32> = members.tids.iter().map(|tid| tid.as_c_int()).collect();
        // SAFETY: `tids` is null or has `room` elements, and `count` is null or points to a number.
        unsafe { fill(&lines, tids, room, count) }
    }))
}

/// Waits until `count` members have called.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_barrier(name: *const c_char, count: i32) -> i32 {
    noted!(unsafe NEOPVM_BARRIER, neopvm_barrier(name, count));
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    status(group::barrier(|| unsafe { group::group_name(name) }, count))
}

/// Removes a named message.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_delete(name: *const c_char, index: i32) -> i32 {
    noted!(unsafe NEOPVM_DELETE, neopvm_delete(name, index));
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    status(inside(|| registry::delete(unsafe { text(name) }?, index, 0).map(drop)))
}

/// A context that nobody else has.
///
/// # Safety
/// `new` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_new_context(new: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_NEW_CONTEXT, neopvm_new_context(new));
    // SAFETY: `new` is null or has room for the answer, by the call's contract.
    unsafe { answer(new, registry::new_context) }
}

/// Gives a context back.
#[unsafe(no_mangle)]
extern "C" fn neopvm_free_context(old: i32) -> i32 {
    noted!(NEOPVM_FREE_CONTEXT, neopvm_free_context(old));
    status(inside(|| registry::free_context(old).map(drop)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_no_holes_that_a_binding_could_miss() {
        assert_eq!(size_of::<Host>(), 16 + 256 + 64);
        assert_eq!(size_of::<TaskLine>(), 24 + 256);
    }

    #[test]
    fn a_text_in_a_field_always_ends() {
        assert_eq!(field::<4>(b"ab"), *b"ab\0\0");
        assert_eq!(field::<4>(b"abcdef"), *b"abc\0");
    }
}
