//! The word that a task's probe points look at, and the ring that they note into.
//!
//! The word lies in the task's inbox, on a cache line that is only written to switch something:
//! off, a probe point is one look at it and a branch. The host's parent and every task of the
//! machine's user can switch it, without the task's taking part.

use crate::inbox::Inbox;
use crate::recorder::Recorder;
use crate::sync::{AtomicU32, Ordering};
use std::ptr::NonNull;
use std::sync::OnceLock;

pub use crate::inbox::{RECORDS, UNRECORDED};
/// Calls of the C library send PVM's trace events. Set by the task itself.
pub const EVENTS: u32 = 2;

/// The probe points of a task.
#[derive(Debug)]
pub struct Probes {
    word: NonNull<AtomicU32>,
    /// Keeps the word where it is.
    _inbox: Inbox,
    recorder: OnceLock<Recorder>,
}

// SAFETY: an atomic in a mapping that lives as long as this.
unsafe impl Send for Probes {}
// SAFETY: as above.
unsafe impl Sync for Probes {}

impl Probes {
    /// The probe points of the owner of this inbox.
    pub fn new(inbox: &Inbox) -> Self {
        let word = NonNull::from(inbox.probes());
        Self { word, _inbox: inbox.clone(), recorder: OnceLock::new() }
    }

    /// The word: 0 while nothing is noted.
    #[inline]
    pub const fn word(&self) -> &AtomicU32 {
        // SAFETY: in the mapping of the inbox, which this holds.
        unsafe { self.word.as_ref() }
    }

    /// True if something is to be noted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.word().load(Ordering::Relaxed) & RECORDS != 0
    }

    /// The ring, once there is one.
    #[inline]
    pub fn recorder(&self) -> Option<&Recorder> {
        self.recorder.get()
    }

    /// From now on records go there; the first ring stays.
    pub fn set_recorder(&self, recorder: Recorder) {
        let _ = self.recorder.set(recorder);
    }
}
