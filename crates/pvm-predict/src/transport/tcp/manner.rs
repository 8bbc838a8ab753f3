//! The manner of a conversation, from which an end guesses whether an acknowledgement should wait.
//!
//! Linux acknowledges at once while a stream begins, also after a pause, unless the end answers
//! what it gets: then the answer takes the acknowledgement along. It counts as one that answers
//! from the first segment on that it sends shortly after it has got one, until an acknowledgement
//! has waited in vain. A short segment is the end of a write, so it is acknowledged as soon as a
//! program has read it; in a conversation the second one is.

use crate::unit::Time;

/// The number of segments that are acknowledged at once at first (Linux: `TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;

/// The conversation of one end with the other one.
#[derive(Debug)]
pub(super) struct Manner {
    /// Acknowledgements left that go at once, unless it answers.
    quick: u32,
    answers: bool,
    /// An answer comes within this time: at least as long as an acknowledgement waits.
    patience: Time,
    least: Time,
    /// The time of the last segment with data.
    last: Option<Time>,
    /// Short segments since the last acknowledgement.
    short: u32,
}

impl Manner {
    /// `least` is the time for which an acknowledgement waits.
    pub(super) const fn new(least: Time) -> Self {
        Self { quick: QUICK, answers: false, patience: least, least, last: None, short: 0 }
    }

    /// Handles a segment with data, while data without an acknowledgement would be sent again after
    /// `timeout`.
    pub(super) fn arrived(&mut self, now: Time, is_short: bool, timeout: Time) {
        self.short += u32::from(is_short);
        let half = Time(self.least.0 / 2);
        let Some(last) = self.last.replace(now) else { return };
        let pause = now.since(last);
        if pause <= half {
            self.patience = Time(self.patience.0 / 2) + half;
        } else if pause < self.patience {
            self.patience = (Time(self.patience.0 / 2) + pause).min(timeout);
        } else if pause > timeout {
            self.quick = QUICK;
        }
    }

    /// True if an acknowledgement goes at once.
    pub(super) const fn is_prompt(&self) -> bool {
        !self.answers && self.quick > 0
    }

    /// True if an acknowledgement goes when the program has read.
    pub(super) const fn is_prompt_when_read(&self) -> bool {
        self.short > 1 || (!self.answers && self.short > 0)
    }

    /// An acknowledgement is sent; true if one was due.
    pub(super) const fn acknowledged(&mut self, was_due: bool) {
        self.short = 0;
        if was_due {
            self.quick = self.quick.saturating_sub(1);
        }
    }

    /// Data are sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.answers |= self.last.is_some_and(|last| now.since(last) < self.patience);
    }

    /// An acknowledgement has waited in vain.
    pub(super) const fn waited(&mut self) {
        self.patience = if self.answers { self.least } else { self.patience.times(2) };
        self.answers = false;
    }
}
