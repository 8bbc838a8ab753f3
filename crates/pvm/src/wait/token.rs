//! A mark of the arrivals before a look; later ones end the wait that follows.

use crate::orders;
use crate::sys::{Pinned, gate};
use pvm_wire::Tid;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A wait for one sender was in vain for long: until a message is found, looks and waits are for
/// all senders. The awaited one may itself wait for a task whose send waits until its messages
/// leave their lane.
static IN_VAIN: AtomicBool = AtomicBool::new(false);

/// A mark of what had arrived when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct WaitToken {
    pub(crate) generation: u32,
    pub(super) watched: Option<Watched>,
    pub(super) source: Option<Tid>,
}

impl WaitToken {
    pub(crate) const fn new(generation: u32) -> Self {
        Self { generation, watched: None, source: None }
    }

    /// Like `new`, for a wait that a change of a word ends as well.
    pub(crate) const fn with(self, watched: Watched) -> Self {
        Self { watched: Some(watched), ..self }
    }

    /// The token for a wait for messages of one sender only, if that is a task of this host, which
    /// is `own`'s: messages of others do not end the wait, where they may stay in their lanes.
    #[must_use]
    pub fn narrow(self, own: Tid, source: Option<Tid>) -> Self {
        let near = source.filter(|source| source.is_task() && source.host() == own.host());
        Self { source: near, ..self }
    }

    /// The sender whose rings concern the wait; none if all do.
    pub(super) fn source(self) -> Option<Tid> {
        self.source.filter(|_| may_wait_for_one())
    }

    pub(super) fn is_over(self) -> bool {
        self.watched.is_some_and(Watched::has_changed)
    }
}

/// True if a thread that waits for one sender's message may leave those of others in their lanes:
/// no other thread looks for them, no function of the program's takes them as they come, and the
/// wait has not been [in vain](waited_in_vain).
pub(crate) fn may_wait_for_one() -> bool {
    gate::is_alone()
        && !IN_VAIN.load(Ordering::Relaxed)
        && orders::ASIDE.load(Ordering::Acquire) == 0
}

/// A wait for one sender was in vain for long.
pub(super) fn waited_in_vain() {
    IN_VAIN.store(true, Ordering::Relaxed);
}

/// A message was found.
#[inline]
pub(crate) fn has_found() {
    if IN_VAIN.load(Ordering::Relaxed) {
        IN_VAIN.store(false, Ordering::Relaxed);
    }
}

/// A word in a roster, and its value at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    word: Pinned<AtomicU64>,
    mask: u64,
    value: u64,
}

impl Watched {
    pub(crate) const fn new(word: &AtomicU64, mask: u64, value: u64) -> Self {
        Self { word: Pinned::new(word), mask, value }
    }

    fn has_changed(self) -> bool {
        self.word.get().load(Ordering::Acquire) & self.mask != self.value
    }
}
