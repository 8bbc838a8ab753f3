//! Records of waits: their reason, and the processor's clock around the sleeps in them.

use super::{CURRENT, moment, note_part};
use crate::sys;
use pvm_shm::probe::Probes;
use pvm_wire::record::{Processor, Reason, What, calls};
use std::cell::Cell;

thread_local! {
    static SLEPT: Cell<Option<Processor>> = const { Cell::new(None) };
}

/// The reason for which this thread's call waits.
fn reason() -> Reason {
    match CURRENT.get().call {
        calls::RECV | calls::NRECV | calls::TRECV | calls::PRECV | calls::PROBE => Reason::Message,
        calls::NEOPVM_RECEIVE | calls::NEOPVM_RECEIVE_ITEMS | calls::NEOPVM_WAIT => Reason::Message,
        calls::BARRIER | calls::REDUCE | calls::GATHER | calls::SCATTER => Reason::Group,
        calls::NEOPVM_BARRIER | calls::NEOPVM_BARRIER_UNTIL => Reason::Group,
        calls::SEND | calls::PSEND | calls::MCAST | calls::BCAST => Reason::Room,
        calls::NEOPVM_SEND | calls::NEOPVM_SEND_ITEMS => Reason::Room,
        calls::NEOPVM_MULTICAST | calls::NEOPVM_BROADCAST => Reason::Room,
        calls::PYTHON_RECEIVE | calls::PYTHON_RECV_ITEMS | calls::PYTHON_WAIT => Reason::Message,
        calls::PYTHON_BARRIER | calls::PYTHON_REDUCE => Reason::Group,
        calls::PYTHON_GATHER | calls::PYTHON_SCATTER => Reason::Group,
        calls::PYTHON_SEND | calls::PYTHON_SEND_ITEMS | calls::PYTHON_BROADCAST => Reason::Room,
        calls::NONE => Reason::Other,
        _ => Reason::Answer,
    }
}

/// A wait for room that began at this moment is over.
#[cold]
pub(crate) fn note_for_room(probes: &Probes, begin: u64) {
    let (reason, processor) = (Reason::Room, take_sleep());
    note_part(probes, begin, What::Wait { reason, processor });
}

/// A wait, noted. Nothing in here has a destructor: a handler may leave it by longjmp.
#[inline]
pub(crate) fn wait<T>(probes: &Probes, wait: impl FnOnce() -> T) -> T {
    let Some(begin) = moment(probes) else { return wait() };
    SLEPT.set(None);
    let done = wait();
    note_part(probes, begin, What::Wait { reason: reason(), processor: SLEPT.take() });
    done
}

/// The earlier sleep of this thread counts no more.
pub(crate) fn forget_sleep() {
    SLEPT.set(None);
}

/// The processor's clock around the sleeps since [`forget_sleep`].
pub(crate) fn take_sleep() -> Option<Processor> {
    SLEPT.take()
}

/// A sleep of this thread within a wait: processor time is asked for here only, where its price
/// does not count.
#[inline]
pub(crate) fn sleep<T>(is_noted: bool, sleep: impl FnOnce() -> T) -> T {
    if !is_noted {
        return sleep();
    }
    let begin = sys::processor_time();
    let done = sleep();
    // One wait may sleep twice; then the first begin counts.
    let begin = SLEPT.get().map_or(begin, |before| before.begin);
    SLEPT.set(Some(Processor { begin, end: sys::processor_time() }));
    done
}
