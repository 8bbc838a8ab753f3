//! Sending and receiving.

pub(crate) mod bulk;
pub(crate) mod fast;
pub(crate) mod matching;

use std::ffi::{c_int, c_long};
use std::time::{Duration, Instant};

use pvm::{Awaited, Biased, Buffer, Glance, Pattern, Task, orders};
use pvm_wire::{Code, Context, Tag, Tid};

use crate::buffer;
use crate::buffer::told;
use crate::guard::{self, Fast, brief, brief_call, call, call_here, failed, inside};
use crate::handler;
use crate::held;
use crate::pointer;
use crate::selection::{Partner, address, source};
use crate::slot::Slot;
use crate::thread::Parcel;
use crate::timeval::Timeval;
use crate::trace::{self, OWN_EVENT, ints_at, list_at, traced};
use crate::waiting::{Limit, Look, wait_for};
use crate::{probe, session};
use matching::{Match, Stop};

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

/// Receives into the current receive buffer; 0 if the limit is over.
#[inline(never)]
fn receive(name: &str, tid: c_int, tag: c_int, limit: Limit) -> c_int {
    let look = || fast::receive_within(tid, tag);
    let looked = fast::FirstLook::now(look);
    if let Glance::Taken(id) = looked.seen {
        return id;
    }
    let awaited = session::current().filter(|_| limit == Limit::Never);
    if let Some(task) = awaited {
        task.await_message(Some(&Partner { tid, tag }.pattern()));
    }
    let id = match looked.linger(limit, look) {
        Glance::Taken(id) => id,
        Glance::Nothing | Glance::More => receive_any(name, tid, tag, limit),
    };
    if let Some(task) = awaited {
        task.await_message(None);
    }
    id
}

/// The long way.
fn receive_any(name: &str, tid: c_int, tag: c_int, limit: Limit) -> c_int {
    let received =
        begin_receive(limit, tid, tag).map_err(Stop::from).and_then(|custom| match custom {
            Some(function) => receive_matching(function, Partner { tid, tag }, limit),
            None => receive_plain(Partner { tid, tag }, limit).map_err(Stop::from),
        });
    // One that came before the message is obeyed before the program goes on.
    if orders::are_waiting() {
        handler::run_all();
    }
    match received {
        Ok(id) => id.unwrap_or(0),
        Err(stop) => {
            // The library is busy if this fails, and then the buffer is another call's.
            let _ = inside(|| {
                buffer::give_up_receiving();
                Ok(())
            });
            stop.report(name)
        }
    }
}

/// A receive by PVM's own matching.
fn receive_plain(Partner { tid, tag }: Partner, limit: Limit) -> Result<Option<c_int>, Code> {
    wait_for(limit, source(tid), |task, awaited| {
        if let Some(due) = handler::arrivals(task)? {
            buffer::give_up_receiving();
            return Ok(Look::Handler(due));
        }
        let wanted = Partner { tid, tag }.pattern();
        let id = receive_current(task, &wanted, awaited)?;
        Ok(id.map_or(Look::Nothing, Look::Done))
    })
}

/// One look for a message, which becomes the receive buffer; the old one is given up in any case.
fn receive_current(task: &Task, wanted: &Pattern, awaited: Awaited) -> Result<Option<c_int>, Code> {
    if !held::is_possible() {
        let id = buffer::receive(|buffer| task.receive_awaited(wanted, awaited, buffer))?;
        if id.is_some() || !held::is_possible() {
            return Ok(id);
        }
        // Another thread has shown messages meanwhile, and took them out of the queue.
    }
    buffer::give_up_receiving();
    held::receive(task, wanted)?.map(buffer::receive_into).transpose()
}

/// A receive with the program's own matching.
fn receive_matching(function: Match, wanted: Partner, limit: Limit) -> Result<Option<c_int>, Stop> {
    let found = matching::receive(function, wanted, limit)?;
    if let Some(id) = found {
        buffer::exchange_receiving(id);
    }
    Ok(found)
}

/// Refuses a receive of a message that could never come. A program's own matching finds no receive
/// buffer.
fn begin_receive(limit: Limit, tid: c_int, tag: c_int) -> Result<Option<Match>, Code> {
    inside(|| {
        let custom = matching::custom()?;
        if custom.is_some() {
            buffer::give_up_receiving();
        }
        // A limit makes the call harmless.
        if custom.is_none() && never_comes(tid, tag) && matches!(limit, Limit::Never) {
            return Err(Code::BadParam);
        }
        Ok(custom)
    })
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

/// Waits for a message.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_recv(tid: c_int, tag: c_int) -> c_int {
    brief_call(|thread, owner| fast::take_few(thread, owner, tid, tag), || receive_small(tid, tag))
}

#[inline(never)]
fn receive_small(tid: c_int, tag: c_int) -> c_int {
    let taken =
        if probe::is_on() { fast::receive_noted(tid, tag) } else { fast::receive(tid, tag) };
    match taken {
        Glance::Taken(id) => id,
        Glance::Nothing | Glance::More => long_receive(tid, tag),
    }
}

#[inline(never)]
fn long_receive(tid: c_int, tag: c_int) -> c_int {
    traced!(
        RECV,
        pvm_recv(tid, tag),
        [RST: tid, RMC: tag, RCX: session::context()],
        |r| [MB: r, MNB: told(r).bytes, MC: told(r).tag, MCX: told(r).context, SRC: told(r).source]
    );
    receive("pvm_recv", tid, tag, Limit::Never)
}

/// Receives a message if there is one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_nrecv(tid: c_int, tag: c_int) -> c_int {
    traced!(
        NRECV,
        pvm_nrecv(tid, tag),
        [RST: tid, RMC: tag, RCX: session::context()],
        |r| [MB: r, MNB: told(r).bytes, MC: told(r).tag, MCX: told(r).context, SRC: told(r).source]
    );
    receive("pvm_nrecv", tid, tag, Limit::Now)
}

/// Seconds (0) or microseconds (1) of a limit, for tracers; -1 where there is none.
///
/// # Safety
/// `timeout` is null or points to a `struct timeval`.
unsafe fn limit_part(timeout: *const Timeval, part: usize) -> c_int {
    // SAFETY: `timeout` is null, which `load` answers with none, or points to a `struct timeval`.
    unsafe { pointer::load(timeout) }
        .map_or(-1, |parts| c_int::try_from(parts[part]).unwrap_or(c_int::MAX))
}

/// Waits for a message for some time.
///
/// # Safety
/// `timeout` is null or points to a `struct timeval`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_trecv(
    tid: c_int,
    tag: c_int,
    timeout: *const Timeval,
) -> c_int {
    traced!(
        unsafe TRECV,
        pvm_trecv(tid, tag, timeout),
        [
            RST: tid,
            RMC: tag,
            RCX: session::context(),
            MTS: limit_part(timeout, 0),
            MTU: limit_part(timeout, 1),
        ],
        |r| [MB: r, MNB: told(r).bytes, MC: told(r).tag, MCX: told(r).context, SRC: told(r).source]
    );
    // SAFETY: `timeout` is null, which `load` answers with none, or points to a `struct timeval`.
    let limit = match unsafe { pointer::load(timeout) } {
        None => Limit::Never,
        Some([seconds, micros]) => limit_after(seconds, micros),
    };
    receive("pvm_trecv", tid, tag, limit)
}

/// The limit after this time; a negative time is over at once.
fn limit_after(seconds: c_long, micros: c_long) -> Limit {
    let (Ok(seconds), Ok(micros)) = (u64::try_from(seconds), u64::try_from(micros)) else {
        return Limit::Now;
    };
    let length = Duration::from_secs(seconds).saturating_add(Duration::from_micros(micros));
    if length.is_zero() {
        return Limit::Now;
    }
    Instant::now().checked_add(length).map_or(Limit::Never, Limit::At)
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
