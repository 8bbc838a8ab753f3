//! Receiving into the current receive buffer.

use std::ffi::{c_int, c_long};
use std::time::{Duration, Instant};

use pvm::{Awaited, Glance, Pattern, Task, orders};
use pvm_wire::Code;

use super::matching::{self, Match, Stop};
use super::{fast, never_comes};
use crate::buffer::{self, told};
use crate::guard::{brief_call, inside, plain};
use crate::selection::{Partner, source};
use crate::timeval::Timeval;
use crate::trace::traced;
use crate::waiting::{Limit, Look, wait_for};
use crate::{handler, held, pointer, probe, session};

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
            plain((), buffer::give_up_receiving);
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
