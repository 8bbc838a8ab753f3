//! One word that says whether this process has ever done something that a receive has to look for beside its message.
//!
//! Each of these calls sets its bit for ever, before it does anything else; a receive on the fast path looks at the word once.
//! What a task itself has to look for stands in a word of its own (`pvm::task::aside`), and what comes by messages in
//! [`pvm::orders::MORE`].

use std::sync::atomic::{AtomicU32, Ordering};

/// Output of tasks is caught (`pvm_catchout`).
pub(crate) const CATCHES: u32 = 1;
/// Messages were shown to a function of the program and wait in [`crate::held`].
pub(crate) const SHOWS: u32 = 2;
/// There was a matching function of the program's (`pvm_recvf`), or it asked for every context.
pub(crate) const MATCHES: u32 = 4;

static WORD: AtomicU32 = AtomicU32::new(0);

/// From now on receives look for it.
pub(crate) fn set(bit: u32) {
    WORD.fetch_or(bit, Ordering::Release);
}

/// True once any of these was done.
#[inline(always)]
pub(crate) fn has(bits: u32) -> bool {
    WORD.load(Ordering::Acquire) & bits != 0
}
