//! Flow control between the leader and another member.
//!
//! A leader that does not know where another member's log ends *probes* the member: it sends a
//! message without entries, and nothing more until that is answered. From then on it *replicates*:
//! it sends entries as they are appended, up to a window of unconfirmed bytes. A new member first
//! gets the
//! *state*, in pieces, within this window. As long as a link is open it loses nothing, so nothing
//! is sent twice over it. After a link has been reopened, the member is probed. The member is also
//! probed if nothing is confirmed for a while: the probe arrives after everything that is in
//! flight, so its answer tells what was lost.

use crate::limits::Limits;
use crate::log::Start;
use pvm_core::planted::{self, Bug};
use pvm_wire::Blob;
use std::collections::VecDeque;

/// The time for which a leader waits for the answer to a probe before it sends another one.
const PROBE_NS: u64 = 300_000_000;
/// If no entry under way is confirmed for this long, the member is probed.
const ENTRIES_NS: u64 = 600_000_000;
/// If no part of the state is confirmed for this long, the rest is sent again: the first time
/// limit, and the longest one.
const PATIENCE_FIRST_NS: u64 = 1_200_000_000;
const PATIENCE_MAX_NS: u64 = 5_000_000_000;

/// The knowledge of a leader about another member.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The member's log agrees with the leader's up to this entry.
    pub(crate) matched: u64,
    /// The number of the next entry to send.
    pub(crate) next: u64,
    /// The leader's time at which it sent the latest message that was answered.
    pub(crate) heard: u64,
    /// The leader's time of the latest message from the member.
    pub(crate) seen: u64,
    /// The member and all below it in the tree have the log up to this entry.
    pub(crate) below: u64,
    pub(crate) flow: Flow,
    /// Unconfirmed messages with entries: the last entry of each, and its bytes.
    sent: VecDeque<(u64, usize)>,
    sent_bytes: usize,
    /// When something was confirmed last, or when the first unconfirmed message was sent.
    progress_at: u64,
    patience: u64,
}

/// The mode of sending to another member.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// The leader does not know where the member's log ends.
    Probe {
        /// The first probe: when it was sent, and after which entry. An answer to any later probe
        /// counts for this one, too: where answers take longer than the interval of probes, no
        /// answer to the last one would be in time.
        asked: Option<(u64, u64)>,
        /// The probe is to be sent once more.
        again: bool,
    },
    /// The member's log is known, and it gets new entries.
    Replicate,
    /// The member gets the state, or the state has been requested for it.
    State(Option<Box<Sending>>),
}

/// The state on its way to a new member.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    /// The beginning of the log behind the state.
    pub(crate) start: Start,
    pub(crate) state: Blob,
    /// The bytes that were sent, and the bytes that were confirmed.
    pub(crate) sent: usize,
    pub(crate) confirmed: usize,
}

/// A follower's knowledge of its leader's log, in one term.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) term: u64,
    /// This log agrees with the leader's up to this entry.
    pub(crate) verified: u64,
    /// The leader's commit number that this follower has been sent.
    pub(crate) commit: u64,
}

/// The state on its way to this member.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    pub(crate) start: Start,
    pub(crate) state: Vec<u8>,
    /// When a piece of it came last.
    pub(crate) came_at: u64,
}

impl Arriving {
    pub(crate) const fn new(start: Start, now: u64) -> Self {
        Self { start, state: Vec::new(), came_at: now }
    }

    /// True if a piece of another state replaces this one: a later state always does, and any state
    /// if no piece of this one has come for too long.
    pub(crate) const fn gives_way_to(&self, start: &Start, now: u64) -> bool {
        start.number > self.start.number || self.came_at + PATIENCE_MAX_NS <= now
    }
}

impl Sending {
    /// The next piece, where it begins, and whether it is the last one.
    pub(crate) fn take_piece(&mut self, limits: &Limits) -> Option<(usize, Blob, bool)> {
        let whole = self.state.0.len();
        if self.sent > whole || self.sent - self.confirmed >= limits.window_bytes {
            return None;
        }
        let offset = self.sent;
        let end = (offset + limits.piece_bytes).min(whole);
        let last = end == whole;
        // After the end there is nothing more to send.
        self.sent = if last { whole + 1 } else { end };
        Some((offset, Blob(self.state.0[offset..end].to_vec()), last))
    }
}

impl Peer {
    /// A member whose log is not known yet; `next` is a guess.
    pub(crate) const fn new(next: u64, heard: u64) -> Self {
        Self {
            matched: 0,
            next,
            heard,
            seen: heard,
            below: 0,
            flow: Flow::Probe { asked: None, again: false },
            sent: VecDeque::new(),
            sent_bytes: 0,
            progress_at: 0,
            patience: PATIENCE_FIRST_NS,
        }
    }

    /// The private fields that the search tells apart: the unconfirmed messages, the time of the
    /// last progress, and the patience.
    #[cfg(test)]
    pub(crate) const fn under_way(&self) -> (&VecDeque<(u64, usize)>, u64, u64) {
        (&self.sent, self.progress_at, self.patience)
    }

    /// Probes from `next` on, because messages under way may be lost.
    pub(crate) fn probe(&mut self, next: u64) {
        self.next = next.max(self.matched + 1);
        self.flow = Flow::Probe { asked: None, again: false };
        self.sent.clear();
        self.sent_bytes = 0;
    }

    /// Probes over a new link: the member's daemon may be another one.
    pub(crate) fn restart(&mut self, last: u64) {
        self.patience = PATIENCE_FIRST_NS;
        self.probe(if self.matched == 0 { last + 1 } else { self.matched + 1 });
    }

    /// True if a probe, or a message with entries, may be sent now.
    pub(crate) fn may_send(&self, last: u64, limits: &Limits) -> bool {
        match self.flow {
            Flow::Probe { asked, again } => asked.is_none() || again,
            Flow::Replicate => {
                let room = self.sent_bytes < limits.window_bytes || planted::is(Bug::NoWindow);
                room && self.next <= last
            }
            Flow::State(_) => false,
        }
    }

    /// Notes that `count` entries after `before` were sent.
    pub(crate) fn note_sent(&mut self, now: u64, before: u64, count: u64, bytes: usize) {
        self.next = before + 1 + count;
        if let Flow::Probe { asked, again } = &mut self.flow {
            asked.get_or_insert((now, before));
            *again = false;
            self.progress_at = now;
        } else if count > 0 {
            if self.sent.is_empty() {
                self.progress_at = now;
            }
            self.sent.push_back((before + count, bytes));
            self.sent_bytes += bytes;
        }
    }

    /// Handles the answer to a message that overtakes nothing. If that was the probe, the member
    /// has no more than it has confirmed.
    pub(crate) fn note_answer(&mut self, stamp: u64) {
        if let Flow::Probe { asked: Some((at, before)), .. } = self.flow
            && at <= stamp
            && before <= self.matched
        {
            self.next = self.matched + 1;
            self.flow = Flow::Replicate;
        }
    }

    /// True while the end of the member's log is not known: messages to it carry no entries.
    pub(crate) const fn is_probed(&self) -> bool {
        matches!(self.flow, Flow::Probe { .. })
    }

    /// The member's log agrees with the leader's up to this entry.
    pub(crate) fn note_matched(&mut self, now: u64, through: u64) {
        if through > self.matched {
            self.matched = through;
            self.progress_at = now;
            self.patience = PATIENCE_FIRST_NS;
        }
        while let Some(&(last, bytes)) = self.sent.front()
            && last <= self.matched
        {
            self.sent.pop_front();
            self.sent_bytes -= bytes;
        }
        let known = self.matched + 1 >= self.next;
        self.next = self.next.max(self.matched + 1);
        let tail = !planted::is(Bug::SnapshotWithoutTail);
        if known && tail && matches!(self.flow, Flow::State(_)) {
            self.flow = Flow::Replicate;
        }
    }

    /// The member has this many bytes of the state.
    pub(crate) fn note_state(&mut self, now: u64, through: usize) {
        let Flow::State(Some(sending)) = &mut self.flow else { return };
        if through == 0 {
            // It has none of the state, whatever it confirmed before.
            (sending.sent, sending.confirmed) = (0, 0);
        } else if through > sending.confirmed && through <= sending.state.0.len() {
            sending.confirmed = through;
            // These bytes may have been sent before the state was begun again.
            sending.sent = sending.sent.max(through);
            self.progress_at = now;
            self.patience = PATIENCE_FIRST_NS;
        }
    }

    /// The member gets this state from now on.
    pub(crate) fn note_state_begun(&mut self, now: u64, sending: Sending) {
        self.probe(sending.start.number + 1);
        self.flow = Flow::State(Some(Box::new(sending)));
        self.progress_at = now;
    }

    /// True if the state has to be requested: it is neither being sent nor expected.
    pub(crate) fn lacks_state(&mut self, now: u64) -> bool {
        let lacks = match &self.flow {
            Flow::State(Some(_)) => false,
            Flow::State(None) => self.progress_at + PATIENCE_FIRST_NS <= now,
            _ => true,
        };
        if lacks {
            self.flow = Flow::State(None);
            self.progress_at = now;
        }
        lacks
    }

    /// Takes the answer that the member's log differs from what was sent at `stamp`; true if that
    /// was not known yet.
    pub(crate) fn is_news(&self, stamp: u64) -> bool {
        match self.flow {
            Flow::Probe { asked, .. } => asked.is_some_and(|(at, _)| at <= stamp),
            Flow::Replicate => true,
            Flow::State(_) => false,
        }
    }

    /// If nothing has been confirmed for too long, finds out what became of the messages under way.
    pub(crate) fn look_after(&mut self, now: u64) {
        if planted::is(Bug::ResentOnBeat) && matches!(self.flow, Flow::Replicate) {
            self.probe(self.matched + 1);
            self.flow = Flow::Replicate;
            return;
        }
        let since = now.saturating_sub(self.progress_at);
        match &mut self.flow {
            Flow::Probe { asked: Some(_), again } if since >= PROBE_NS => *again = true,
            Flow::Replicate if since >= ENTRIES_NS && !self.sent.is_empty() => {
                self.probe(self.matched + 1);
            }
            Flow::State(Some(sending)) if since >= self.patience => {
                self.patience = (self.patience * 2).min(PATIENCE_MAX_NS);
                self.progress_at = now;
                sending.sent = sending.confirmed;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: usize = 400;

    fn next(peer: &mut Peer) -> Option<(usize, bool)> {
        let limits = Limits { window_bytes: 300, piece_bytes: 100, ..Limits::USUAL };
        let Flow::State(Some(sending)) = &mut peer.flow else { return None };
        sending.take_piece(&limits).map(|(offset, _, last)| (offset, last))
    }

    #[test]
    fn a_probe_whose_answer_took_longer_than_the_time_to_the_next_one_was_never_answered() {
        let mut peer = Peer::new(8, 0);
        for turn in 0..4 {
            let now = 1 + turn * PROBE_NS;
            peer.look_after(now);
            assert!(peer.may_send(9, &Limits::USUAL), "probe {turn}");
            peer.note_sent(now, 7, 0, 0);
            assert!(!peer.may_send(9, &Limits::USUAL));
        }
        peer.note_matched(4 * PROBE_NS, 7);
        peer.note_answer(0);
        assert!(peer.is_probed(), "that was said before it was asked");
        peer.note_answer(1);
        assert!(!peer.is_probed() && peer.may_send(9, &Limits::USUAL));
    }

    #[test]
    fn what_had_come_of_a_state_that_was_sent_again_was_more_than_had_been_sent() {
        let start = Start { number: 5, term: 1, voters: Vec::new() };
        let state = Blob(vec![7; WHOLE]);
        let mut peer = Peer::new(1, 0);
        peer.note_state_begun(0, Sending { start, state, sent: 0, confirmed: 0 });
        assert_eq!(
            [0; 4].map(|_| next(&mut peer).map(|p| p.0)),
            [Some(0), Some(100), Some(200), None]
        );
        peer.look_after(PATIENCE_FIRST_NS);
        assert_eq!(next(&mut peer), Some((0, false)), "it is sent again");
        // The answers to what was sent first are late.
        peer.note_state(PATIENCE_FIRST_NS, 300);
        assert_eq!([0; 2].map(|_| next(&mut peer)), [Some((300, true)), None]);
        peer.look_after(3 * PATIENCE_FIRST_NS);
        peer.note_state(3 * PATIENCE_FIRST_NS, WHOLE);
        assert_eq!(
            [0; 2].map(|_| next(&mut peer)),
            [Some((WHOLE, true)), None],
            "that was the end"
        );
    }
}
