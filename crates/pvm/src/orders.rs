//! Messages by which others steer this task: those that PVM's daemons and consoles send in a
//! context of their own to set where it traces, and which events.
//!
//! A thread that takes in messages notes here that one has come; a receive then has more to look
//! for. One word tells this for all that a receive may have to look for, so that it costs one look.

use pvm_wire::Envelope;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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

/// The things that a receive has to look for beside its own message, a bit for each; the library
/// above has bits of its own.
pub static ASIDE: AtomicU32 = AtomicU32::new(0);
/// An order, or a function of the program that takes messages as they arrive.
pub const MORE: u32 = 1;

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
        ASIDE.fetch_or(MORE, Ordering::Release);
    }
}
