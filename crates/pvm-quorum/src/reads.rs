//! Linearizable reads.
//!
//! A lease guarantees that no other member leads as long as clocks run, but the clock of a paused
//! virtual machine does not run. So a leader that answers from its state first asks a majority
//! whether it still leads (Ongaro, "Consensus: Bridging Theory and Practice", 2014, 6.4): an answer
//! to a message that was sent after the request arrived proves that the leader led at that time.
//! All requests that arrive meanwhile share the next round, and a regular heartbeat is a round,
//! too.

use crate::core::Core;
use pvm_core::Time;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::{Member, Quorum as _, QuorumOutput};

impl Core {
    /// The time stamp of the next message. It is later than all before, even if the clock stands
    /// still.
    pub(crate) fn next_stamp(&mut self) -> u64 {
        self.stamp = self.now.max(self.stamp + 1);
        self.stamp
    }

    /// See [`pvm_core::quorum::QuorumInput::Confirm`].
    pub(crate) fn confirm(&mut self, mark: u64) {
        self.reads.push_back((mark, self.stamp.max(self.now)));
    }

    /// Reports which requests may be answered, and begins a round for those that have none.
    pub(crate) fn serve_reads(&mut self) {
        if self.reads.is_empty() {
            return;
        }
        if !self.is_leader() {
            return self.reads.clear();
        }
        let through = self.confirmed_through();
        let mut confirmed = None;
        while let Some((mark, _)) = self.reads.pop_front_if(|read| read.1 < through) {
            confirmed = Some(mark);
        }
        if let Some(mark) = confirmed {
            self.put(QuorumOutput::Confirmed { mark });
        }
        let waits = self.reads.front().is_some_and(|read| self.round <= read.1);
        // There is one round at a time: reads that come meanwhile share the next one.
        if waits && self.round <= self.confirmed_at() {
            self.stamp = self.stamp.max(self.now);
            let all = self.others().into_iter().filter(|member| self.decides(*member)).collect();
            self.round = self.spread_beat_to(all);
        }
    }

    /// Reads that came before this time of the leader may be answered.
    fn confirmed_through(&self) -> u64 {
        let own = self.log.term(self.commit) == Some(self.term());
        let ready = own || planted::is(Bug::ReadBeforeOwnEntry);
        let leased = planted::is(Bug::LeaseOverAPause) && self.is_current(Time(self.now));
        match ready {
            true if leased || planted::is(Bug::StaleRead) => u64::MAX,
            true => self.confirmed_at(),
            false => 0,
        }
    }

    /// The time of the latest message that a majority and all leased members have answered.
    fn confirmed_at(&self) -> u64 {
        if self.need_is_unknown() { 0 } else { self.answered_at().min(self.leased_at()) }
    }

    /// True for voters and leased members: without the others another member could lead.
    pub(crate) fn decides(&self, member: Member) -> bool {
        self.voters().contains(&member) || self.is_leased_to(member)
    }
}
