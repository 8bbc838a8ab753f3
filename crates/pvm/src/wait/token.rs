//! A mark of the arrivals before a look; later ones end the wait that follows.

use crate::sys::Pinned;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mark of what had arrived when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct WaitToken {
    pub(crate) generation: u32,
    pub(super) watched: Option<Watched>,
}

impl WaitToken {
    pub(crate) const fn new(generation: u32) -> Self {
        Self { generation, watched: None }
    }

    /// Like `new`, for a wait that a change of a word ends as well.
    pub(crate) const fn with(self, watched: Watched) -> Self {
        Self { watched: Some(watched), ..self }
    }

    pub(super) fn is_over(self) -> bool {
        self.watched.is_some_and(Watched::has_changed)
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
