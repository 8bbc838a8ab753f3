//! The departure of a drained host: it first makes sure that the messages of its tasks arrive, then
//! it asks to be let go.

use crate::records::{Change, Slot};

/// The progress of a drained host's departure.
#[derive(Debug)]
pub(crate) struct Departure {
    /// It has asked to be let go.
    asked: Slot<bool>,
    /// Its tasks' messages are on their way. Not stored: a new shell is asked again.
    flushing: bool,
}

impl Departure {
    pub(crate) const fn new() -> Self {
        Self { asked: Slot::new(b'R', false), flushing: false }
    }

    /// True from the flush on, until the host is let go or stays.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.flushing || self.has_asked()
    }

    /// True once it has asked to be let go.
    pub(crate) const fn has_asked(&self) -> bool {
        *self.asked.get()
    }

    /// Nothing goes on here: what tasks have sent is to be made safe.
    pub(crate) const fn flush(&mut self) {
        self.flushing = true;
    }

    /// These messages are safe. Returns false if no departure waits for that any more.
    pub(crate) const fn flushed(&mut self) -> bool {
        std::mem::replace(&mut self.flushing, false)
    }

    /// It asks to be let go.
    pub(crate) fn ask(&mut self) {
        self.asked.set(true);
    }

    /// It stays after all.
    pub(crate) fn stop(&mut self) {
        self.flushing = false;
        if *self.asked.get() {
            self.asked.set(false);
        }
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.asked.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.asked.restore(key, value)
    }
}
