//! One word that says whether this process has ever done something that a receive has to look for
//! beside its message.
//!
//! Each of these calls sets its bit for ever, before it does anything else; a receive on the fast
//! path looks at the word once. The word lies in crate `pvm`, which notes in it what comes by
//! messages. What a task itself has to look for stands in a word of its own (`pvm::task::aside`).

use std::sync::atomic::Ordering;

use pvm::orders::ASIDE;
pub(crate) use pvm::orders::MORE;

/// Output of tasks is caught (`pvm_catchout`).
pub(crate) const CATCHES: u32 = 2;
/// Messages were shown to a function of the program and wait in [`crate::held`].
pub(crate) const SHOWS: u32 = 4;
/// There was a matching function of the program's (`pvm_recvf`), or it asked for every context.
pub(crate) const MATCHES: u32 = 8;

/// From now on receives look for it.
pub(crate) fn set(bit: u32) {
    ASIDE.fetch_or(bit, Ordering::Release);
}

/// There is no order and no function any more that takes messages as they arrive.
pub(crate) fn clear_more() {
    ASIDE.fetch_and(!MORE, Ordering::Release);
}

/// True once any of these was done.
#[inline]
pub(crate) fn has(bits: u32) -> bool {
    ASIDE.load(Ordering::Acquire) & bits != 0
}
