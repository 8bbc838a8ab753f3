//! A mark of the arrivals before a look; later ones end the wait that follows.

use crate::orders;
use crate::sys::{Pinned, gate};
use pvm_wire::Tid;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// is `own`'s: where the wait [may be for one sender](may_wait_for_one), those of others do not
    /// end it.
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
/// no other thread looks for them, and no function of the program's takes them as they come.
pub(crate) fn may_wait_for_one() -> bool {
    gate::is_alone() && orders::ASIDE.load(Ordering::Acquire) == 0
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
