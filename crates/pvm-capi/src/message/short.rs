//! The short ways of sending and receiving a small message within the host.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use pvm::{Glance, Owner};
use pvm_wire::Tid;

use crate::guard::{Swift, swiftly};
use crate::selection::pattern;
use crate::{handler, held, probe, session};

/// False as long as no program has ever set a matching function of its own (`pvm_recvf`): receives then need not look.
pub(super) static MATCHING: AtomicBool = AtomicBool::new(false);

/// True once there was such a function.
#[inline]
pub(super) fn custom_is_possible() -> bool {
    MATCHING.load(Ordering::Acquire)
}

/// The short way of `pvm_send`; none if it did nothing.
#[inline(always)]
pub(super) fn send(tid: c_int, tag: c_int) -> Option<()> {
    if probe::is_on() || tag < 0 {
        return None;
    }
    swiftly!(swift => send_by(&swift, tid, tag), else None)
}

#[inline(always)]
fn send_by(swift: &Swift<impl Owner>, tid: c_int, tag: c_int) -> Option<()> {
    let task = session::current()?;
    let mut place = swift.thread.sending.slot()?.enter_swiftly(swift.owner)?;
    let to = (Tid::from_c_int(tid), tag, session::context());
    task.send_inline(swift.owner, &mut place.content.buffer, to).then_some(())
}

/// The short way of a receive, for a small message that lies next in a busy lane. It changes nothing if
/// it gives none.
#[inline(always)]
pub(super) fn receive(tid: c_int, tag: c_int) -> Glance<c_int> {
    if tag < -1 || custom_is_possible() || handler::is_possible() || held::is_possible() {
        return Glance::More;
    }
    // Whatever is wrong, the long way tells it.
    swiftly!(swift => receive_by(&swift, tid, tag), else Glance::More)
}

#[inline(always)]
fn receive_by(swift: &Swift<impl Owner>, tid: c_int, tag: c_int) -> Glance<c_int> {
    let (Some(task), Some(slot)) = (session::current(), swift.thread.receiving.slot()) else {
        return Glance::More;
    };
    let Some(mut place) = slot.enter_swiftly(swift.owner) else { return Glance::More };
    let wanted = pattern(session::context(), tid, tag);
    match task.take_inline(swift.owner, &wanted, &mut place.content.buffer) {
        Glance::Taken(()) => {
            (place.content.reading, place.content.shown) = (true, None);
            Glance::Taken(swift.thread.receiving.id())
        }
        Glance::Nothing => Glance::Nothing,
        Glance::More => Glance::More,
    }
}
