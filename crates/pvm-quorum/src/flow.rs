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

/// How long a leader waits for the answer to a probe before it sends another one.
const PROBE_NS: u64 = 300_000_000;
/// How long nothing may be confirmed of entries that are under way before the member is probed.
const ENTRIES_NS: u64 = 600_000_000;
/// How long nothing may be confirmed of the state before it is sent again from there: first, and at
/// most.
const PATIENCE_FIRST_NS: u64 = 1_200_000_000;
const PATIENCE_MAX_NS: u64 = 5_000_000_000;

/// The knowledge of a leader about another member.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The member's log agrees with the leader's up to this entry.
    pub(crate) matched: u64,
    /// The number of the next entry to send.
    pub(crate) next: u64,
    /// The leader's time when it said what was answered last.
    pub(crate) heard: u64,
    /// The leader's time when anything came from it.
    pub(crate) seen: u64,
    /// Up to here it and all below it in the tree have everything.
    pub(crate) below: u64,
    pub(crate) flow: Flow,
    /// Entries under way: up to which place each message goes, and its bytes.
    sent: VecDeque<(u64, usize)>,
    sent_bytes: usize,
    /// When something was confirmed, or the first of what is under way was sent.
    progress_at: u64,
    patience: u64,
}

/// The mode of sending to another member.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// The leader does not know where the member's log ends.
    Probe {
        /// What was asked first: when, and behind which place. An answer to any later probe is one
        /// to this, too, and where answers take longer than the time between two, there is no other
        /// one.
        asked: Option<(u64, u64)>,
        /// It is to be asked once more.
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
    /// Where its log begins.
    pub(crate) start: Start,
    pub(crate) state: Blob,
    /// How much of it was sent, and how much has come.
    pub(crate) sent: usize,
    pub(crate) confirmed: usize,
}

/// What a follower knows of its leader's log, in one term.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) term: u64,
    /// Up to here this log is the leader's.
    pub(crate) verified: u64,
    /// Up to here everything is ordered for good, as far as was said.
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

    /// True where a piece of another state takes its place: of a later one, or of any when no more
    /// of this comes.
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
        // Behind the end there is nothing more to send.
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

    /// What of this the search tells apart besides the public fields: what is under way, since when
    /// nothing was confirmed, and how long that may go on.
    #[cfg(test)]
    pub(crate) const fn under_way(&self) -> (&VecDeque<(u64, usize)>, u64, u64) {
        (&self.sent, self.progress_at, self.patience)
    }

    /// What is under way may be lost: from `next` on it is probed.
    pub(crate) fn probe(&mut self, next: u64) {
        self.next = next.max(self.matched + 1);
        self.flow = Flow::Probe { asked: None, again: false };
        self.sent.clear();
        self.sent_bytes = 0;
    }

    /// A new link: its daemon may be another one.
    pub(crate) fn restart(&mut self, last: u64) {
        self.patience = PATIENCE_FIRST_NS;
        self.probe(if self.matched == 0 { last + 1 } else { self.matched + 1 });
    }

    /// True where a message with entries may go, if there are any.
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

    /// Entries behind `before` have gone out.
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

    /// A message has been answered that stayed in order: if that was the probe, what is confirmed
    /// is all that the member has.
    pub(crate) fn note_answer(&mut self, stamp: u64) {
        if let Flow::Probe { asked: Some((at, before)), .. } = self.flow
            && at <= stamp
            && before <= self.matched
        {
            self.next = self.matched + 1;
            self.flow = Flow::Replicate;
        }
    }

    /// True while it is not known how far it is: a message to it carries no entries.
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

    /// So much of the state has come.
    pub(crate) fn note_state(&mut self, now: u64, through: usize) {
        let Flow::State(Some(sending)) = &mut self.flow else { return };
        if through == 0 {
            // It has none of it, whatever it said before.
            (sending.sent, sending.confirmed) = (0, 0);
        } else if through > sending.confirmed && through <= sending.state.0.len() {
            sending.confirmed = through;
            // It may have been sent before it was begun again.
            sending.sent = sending.sent.max(through);
            self.progress_at = now;
            self.patience = PATIENCE_FIRST_NS;
        }
    }

    /// It gets this state from here on.
    pub(crate) fn note_state_begun(&mut self, now: u64, sending: Sending) {
        self.probe(sending.start.number + 1);
        self.flow = Flow::State(Some(Box::new(sending)));
        self.progress_at = now;
    }

    /// True where the state has to be asked for: it is neither being sent nor expected.
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

    /// An answer that its log does not agree behind what was sent at `stamp`; true if that was not
    /// known already.
    pub(crate) fn is_news(&self, stamp: u64) -> bool {
        match self.flow {
            Flow::Probe { asked, .. } => asked.is_some_and(|(at, _)| at <= stamp),
            Flow::Replicate => true,
            Flow::State(_) => false,
        }
    }

    /// Nothing has been confirmed for too long: it is looked what became of what is under way.
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
