//! Groups: membership, barrier, broadcast, and the collective calls.
//!
//! The machine owns the groups. Reduce, gather and scatter are messages between the members and
//! the root, in a context of their own, so that no wildcard receive of a program takes them.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};

use pvm::{Buffer, Gate};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Encoding, Kind, Tid};

use crate::buffer;
use crate::guard::{self, Limit, Look, call, failed, inside, wait_for};
use crate::handler;
use crate::pack::{self, Items};
use crate::selection::pattern;
use crate::session::unexpected;
use crate::slot::Slot;
use crate::trace::{ints_at, text_at, traced};
use crate::{message, pointer, session};

/// Where collective messages travel; PVM's `SYSCTX_SG`.
const CONTEXT: c_int = 0x7_fffd;

/// A user's operation of `pvm_reduce`.
pub(crate) type Operation =
    unsafe extern "C" fn(*const c_int, *mut c_void, *const c_void, *const c_int, *mut c_int);

/// # Safety
/// `name` is null or ends with 0.
pub(crate) unsafe fn group_name<'a>(name: *const c_char) -> Result<&'a [u8], Code> {
    // SAFETY: the caller's promise.
    let name = unsafe { pointer::text_or_none(name) }.unwrap_or_default();
    if name.is_empty() { Err(Code::NullGroup) } else { Ok(name) }
}

fn blob(name: &[u8]) -> Blob {
    name.to_vec().into()
}

/// Members of the groups that this task has frozen. As in PVM they are asked no more, whoever leaves.
static FROZEN: Gate<BTreeMap<Vec<u8>, Vec<Tid>>> = Gate::new(BTreeMap::new());

/// Ids by instance; `NONE` where nobody is.
pub(crate) fn members(name: &[u8]) -> Result<Vec<Tid>, Code> {
    session::task()?;
    if let Some(tids) = FROZEN.enter()?.get(name) {
        return Ok(tids.clone());
    }
    current_members(name)
}

fn current_members(name: &[u8]) -> Result<Vec<Tid>, Code> {
    match session::task()?.request(&Request::GroupMembers { group: blob(name) })? {
        Reply::Members { tids, .. } => Ok(tids),
        _ => Err(unexpected()),
    }
}

fn number(request: &Request) -> Result<c_int, Code> {
    match session::task()?.request(request)? {
        Reply::Number { value } => Ok(value),
        Reply::Done => Ok(0),
        _ => Err(unexpected()),
    }
}

/// Joins a group and returns the instance number.
pub(crate) fn join(name: &[u8]) -> Result<c_int, Code> {
    session::task()?;
    if FROZEN.enter()?.contains_key(name) {
        return Err(Code::NotInGroup);
    }
    number(&Request::JoinGroup { group: blob(name) })
}

/// Leaves a group.
pub(crate) fn leave(name: &[u8]) -> Result<(), Code> {
    FROZEN.enter()?.remove(name);
    number(&Request::LeaveGroup { group: blob(name) }).map(drop)
}

/// Waits until `count` members have called. Called outside of the library.
pub(crate) fn barrier<'a>(
    name: impl FnOnce() -> Result<&'a [u8], Code>,
    count: c_int,
) -> Result<(), Code> {
    guard::ask(|_| Ok(Request::Barrier { group: blob(name()?), count })).map(drop)
}

/// Joins a group and returns the instance number.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_joingroup(name: *const c_char) -> c_int {
    traced!(unsafe JOINGROUP, pvm_joingroup(name), [GN: text_at(name)], |r| [CC: r]);
    // SAFETY: the program's promise.
    call("pvm_joingroup", || join(unsafe { group_name(name) }?))
}

/// Leaves a group.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_lvgroup(name: *const c_char) -> c_int {
    traced!(unsafe LVGROUP, pvm_lvgroup(name), [GN: text_at(name)], |r| [CC: r]);
    // SAFETY: the program's promise.
    call("pvm_lvgroup", || leave(unsafe { group_name(name) }?).map(|()| 0))
}

/// The task with an instance number.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_gettid(name: *const c_char, instance: c_int) -> c_int {
    traced!(unsafe GETTID, pvm_gettid(name, instance), [GN: text_at(name), GI: instance], |r| [GT: r]);
    call("pvm_gettid", || {
        // SAFETY: the program's promise.
        let tids = members(unsafe { group_name(name) }?)?;
        member(&tids, instance).map(Tid::as_c_int)
    })
}

fn member(tids: &[Tid], instance: c_int) -> Result<Tid, Code> {
    let found = usize::try_from(instance).ok().and_then(|i| tids.get(i));
    found.copied().filter(|&tid| tid != Tid::NONE).ok_or(Code::NoInst)
}

/// The instance number of a task.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_getinst(name: *const c_char, tid: c_int) -> c_int {
    traced!(unsafe GETINST, pvm_getinst(name, tid), [GN: text_at(name), GT: tid], |r| [GI: r]);
    call("pvm_getinst", || {
        // SAFETY: the program's promise.
        let tids = members(unsafe { group_name(name) }?)?;
        instance(&tids, Tid::from_c_int(tid))
    })
}

fn instance(tids: &[Tid], tid: Tid) -> Result<c_int, Code> {
    let found = tids.iter().position(|&other| other == tid && tid != Tid::NONE);
    found.and_then(|i| c_int::try_from(i).ok()).ok_or(Code::NotInGroup)
}

/// How many members there are.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_gsize(name: *const c_char) -> c_int {
    traced!(unsafe GSIZE, pvm_gsize(name), [GN: text_at(name)], |r| [GS: r]);
    call("pvm_gsize", || {
        // SAFETY: the program's promise.
        let tids = members(unsafe { group_name(name) }?)?;
        let size = tids.iter().filter(|&&tid| tid != Tid::NONE).count();
        c_int::try_from(size).map_err(|_| Code::Overflow)
    })
}

/// Waits until `count` members have called.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_barrier(name: *const c_char, count: c_int) -> c_int {
    traced!(unsafe BARRIER, pvm_barrier(name, count), [GN: text_at(name), GBC: count], |r| [CC: r]);
    // SAFETY: the program's promise.
    finish("pvm_barrier", barrier(|| unsafe { group_name(name) }, count))
}

/// Fixes the members of a group once it has `size` of them, and returns how many they are.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_freezegroup(name: *const c_char, size: c_int) -> c_int {
    call("pvm_freezegroup", || {
        // SAFETY: the program's promise.
        let name = unsafe { group_name(name) }?;
        number(&Request::FreezeGroup { group: blob(name), size })?;
        let tids = current_members(name)?;
        let count = c_int::try_from(tids.len()).map_err(|_| Code::Overflow)?;
        FROZEN.enter()?.insert(name.to_vec(), tids);
        Ok(count)
    })
}

/// Sends a buffer to all members but this task.
pub(crate) fn broadcast(
    slot: impl FnOnce() -> Result<&'static Slot, Code>,
    name: &[u8],
    tag: c_int,
) -> Result<(), Code> {
    let own = session::task()?.tid();
    let tids: Vec<c_int> = members(name)?
        .into_iter()
        .filter(|&tid| tid != Tid::NONE && tid != own)
        .map(Tid::as_c_int)
        .collect();
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
    traced!(unsafe BCAST, pvm_bcast(name, tag), [GN: text_at(name), MC: tag], |r| [CC: r, MDL: ints_at(std::ptr::null(), 0)]);
    call("pvm_bcast", || {
        // SAFETY: the program's promise.
        broadcast(buffer::sending, unsafe { group_name(name) }?, tag)?;
        Ok(0)
    })
}

/// One collective call of one member.
struct Collective {
    /// The members in the order of their instances, holes left out.
    tids: Vec<Tid>,
    own: Tid,
    root: Tid,
    kind: Kind,
    count: usize,
    tag: c_int,
}

/// Arguments that the three calls share.
#[derive(Clone, Copy)]
struct Arguments {
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
}

impl Collective {
    /// Checks the arguments of a collective call and asks who the members are.
    ///
    /// # Safety
    /// The name is null or ends with 0.
    unsafe fn new(arguments: Arguments) -> Result<Self, Code> {
        // SAFETY: the caller's promise.
        let name = unsafe { group_name(arguments.name) }?;
        let count = usize::try_from(arguments.count).unwrap_or(0);
        if count == 0 {
            return Err(Code::BadParam);
        }
        // PVM takes strings for bytes here.
        let kind = if arguments.kind == 0 { 1 } else { arguments.kind };
        let kind = Kind::from_number(kind).ok_or(Code::BadParam)?;
        if matches!(kind, Kind::Ushort | Kind::Uint | Kind::Ulong) {
            return Err(Code::BadParam);
        }
        let tids = members(name)?;
        let own = session::task()?.tid();
        instance(&tids, own)?;
        let root = member(&tids, arguments.root)?;
        let tids = tids.into_iter().filter(|&tid| tid != Tid::NONE).collect();
        Ok(Self { tids, own, root, kind, count, tag: arguments.tag })
    }

    fn is_root(&self) -> bool {
        self.own == self.root
    }

    fn bytes(&self) -> usize {
        self.count.saturating_mul(self.kind.size())
    }

    /// Sends `count` items.
    ///
    /// # Safety
    /// They can be read.
    unsafe fn send(&self, to: Tid, items: *const c_void) -> Result<(), Code> {
        let mut buffer = Buffer::new(Encoding::Default);
        let items = Items::of_any_count(items.cast_mut(), self.count, 1)?;
        // SAFETY: the caller's promise.
        unsafe { pack::pack(&mut buffer, self.kind, items) }?;
        session::task()?.send(&mut buffer, to, self.tag, CONTEXT)
    }

    /// Waits for the items of a member.
    ///
    /// # Safety
    /// They can be written.
    unsafe fn receive(&self, from: Tid, items: *mut c_void) -> Result<(), Code> {
        let items = Items::of_any_count(items, self.count, 1)?;
        let wanted = pattern(CONTEXT, from.as_c_int(), self.tag);
        wait_for(Limit::Never, |task| {
            if let Some(due) = handler::arrivals(task)? {
                return Ok(Look::Handler(due));
            }
            let Some(mut message) = task.receive(&wanted)? else { return Ok(Look::Nothing) };
            // SAFETY: the caller's promise.
            unsafe { pack::unpack(&mut message, self.kind, items) }.map(Look::Done)
        })
        .map(drop)
    }

    /// The items of the member at `index` in an array of all.
    fn part(&self, array: *mut c_void, index: usize) -> *mut c_void {
        array.wrapping_byte_add(index.wrapping_mul(self.bytes()))
    }
}

/// Memory for the items of one member while the root waits for it. It outlives the wait only on
/// the way of `longjmp`, and then is lost.
struct Received(Vec<u8>);

/// # Safety
/// As [`pvm_reduce`].
unsafe fn reduce(
    operation: Operation,
    data: *mut c_void,
    arguments: Arguments,
) -> Result<(), Code> {
    if data.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the caller's promise.
    let call = inside(|| unsafe { Collective::new(arguments) })?;
    if !call.is_root() {
        // SAFETY: the caller's promise.
        return inside(|| unsafe { call.send(call.root, data) });
    }
    let mut received = Received(vec![0; call.bytes()]);
    let mut info = 0;
    for &tid in call.tids.iter().filter(|&&tid| tid != call.own) {
        let items = received.0.as_mut_ptr().cast::<c_void>();
        // SAFETY: the memory has room for the items.
        unsafe { call.receive(tid, items) }?;
        // SAFETY: the program registered the operation for such arrays.
        unsafe { operation(&arguments.kind, data, items, &arguments.count, &mut info) };
        if let Some(code) = Code::from_number(info) {
            return Err(code);
        }
    }
    Ok(())
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
    operation: Option<Operation>,
    data: *mut c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    name: *const c_char,
    root: c_int,
) -> c_int {
    traced!(unsafe REDUCE, pvm_reduce(operation, data, count, kind, tag, name, root), [GN: text_at(name), MC: tag], |r| [CC: r]);
    let arguments = Arguments { count, kind, tag, name, root };
    let result = match operation {
        // SAFETY: the program's promise.
        Some(operation) => unsafe { reduce(operation, data, arguments) },
        None => Err(Code::BadParam),
    };
    finish("pvm_reduce", result)
}

/// # Safety
/// As [`pvm_gather`].
unsafe fn gather(
    result: *mut c_void,
    data: *const c_void,
    arguments: Arguments,
) -> Result<(), Code> {
    if data.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the caller's promise.
    let call = inside(|| unsafe { Collective::new(arguments) })?;
    if !call.is_root() {
        // SAFETY: the caller's promise.
        return inside(|| unsafe { call.send(call.root, data) });
    }
    if result.is_null() {
        return Err(Code::BadParam);
    }
    for (i, &tid) in call.tids.iter().enumerate() {
        let part = call.part(result, i);
        if tid == call.own {
            // SAFETY: the caller's promise; the arrays may be one.
            unsafe { std::ptr::copy(data.cast::<u8>(), part.cast(), call.bytes()) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { call.receive(tid, part) }?;
        }
    }
    Ok(())
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
    traced!(unsafe GATHER, pvm_gather(result, data, count, kind, tag, name, root), [GN: text_at(name), MC: tag], |r| [CC: r]);
    let arguments = Arguments { count, kind, tag, name, root };
    // SAFETY: the program's promise.
    finish("pvm_gather", unsafe { gather(result, data, arguments) })
}

/// # Safety
/// As [`pvm_scatter`].
unsafe fn scatter(
    result: *mut c_void,
    data: *const c_void,
    arguments: Arguments,
) -> Result<(), Code> {
    if result.is_null() {
        return Err(Code::BadParam);
    }
    // SAFETY: the caller's promise.
    let call = inside(|| unsafe { Collective::new(arguments) })?;
    if !call.is_root() {
        // SAFETY: the caller's promise.
        return unsafe { call.receive(call.root, result) };
    }
    if data.is_null() {
        return Err(Code::BadParam);
    }
    inside(|| {
        for (i, &tid) in call.tids.iter().enumerate() {
            let part = call.part(data.cast_mut(), i);
            if tid == call.own {
                // SAFETY: the caller's promise; the arrays may be one.
                unsafe { std::ptr::copy(part.cast::<u8>(), result.cast(), call.bytes()) };
            } else {
                // SAFETY: the caller's promise.
                unsafe { call.send(tid, part) }?;
            }
        }
        Ok(())
    })
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
    traced!(unsafe SCATTER, pvm_scatter(result, data, count, kind, tag, name, root), [GN: text_at(name), MC: tag], |r| [CC: r]);
    let arguments = Arguments { count, kind, tag, name, root };
    // SAFETY: the program's promise.
    finish("pvm_scatter", unsafe { scatter(result, data, arguments) })
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
