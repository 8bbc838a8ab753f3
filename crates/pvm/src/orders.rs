//! Messages by which others steer this task: what PVM's daemons and consoles send in a context of their own to set
//! where it traces, and what.
//!
//! Whoever takes in messages notes here that one has come; a receive then has more to look for. One word says so for
//! all that a receive may have to look for, so that it costs one look.

use pvm_wire::Envelope;
use std::sync::atomic::{AtomicBool, Ordering};

/// `SYSCTX_TC`
pub const CONTEXT: i32 = 0x7_ffff;
/// `TC_SETTRACE`
pub const SET_TRACE: i32 = 0x8003_0006_u32.cast_signed();
/// `TC_SETTMASK`
pub const SET_MASK: i32 = SET_TRACE + 1;
/// `TC_SETTRCBUF`
pub const SET_BUFFER: i32 = SET_TRACE + 2;
/// `TC_SETTRCOPT`
pub const SET_OPTIONS: i32 = SET_TRACE + 3;

/// True where a receive has more to look for than its own message: an order, or a function of the program that takes
/// messages as they arrive.
pub static MORE: AtomicBool = AtomicBool::new(false);

static WAITS: AtomicBool = AtomicBool::new(false);

/// True once an order has come that was not looked for since.
pub fn are_waiting() -> bool {
    WAITS.load(Ordering::Relaxed) && WAITS.swap(false, Ordering::Acquire)
}

/// True for a message that is an order.
pub const fn is_order(envelope: &Envelope) -> bool {
    envelope.context == CONTEXT && envelope.tag >= SET_TRACE && envelope.tag <= SET_OPTIONS
}

/// A message was taken in.
pub(crate) fn taken_in(envelope: &Envelope) {
    if is_order(envelope) {
        WAITS.store(true, Ordering::Release);
        MORE.store(true, Ordering::Release);
    }
}
