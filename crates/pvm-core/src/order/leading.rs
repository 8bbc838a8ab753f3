//! The leader, the time without one, and what the library wants done.

use super::leadership::Report;
use super::{Order, Output};
use crate::Time;
use crate::io::Act;
use crate::quorum::{Member, QuorumInput, QuorumOutput};
use pvm_wire::peer::PeerMessage;
use pvm_wire::{Blob, HostIndex};

const SECOND_NS: u64 = 1_000_000_000;

impl Order {
    /// Does what the library wants done.
    pub(super) fn follow(&mut self, output: QuorumOutput) {
        match output {
            QuorumOutput::Send { host, bytes, hasty } if self.hearing.is_up(host) => {
                let message = match hasty {
                    true => PeerMessage::Hasty { bytes },
                    false => PeerMessage::Quorum { bytes },
                };
                self.put_out(Output::Act(Act::Say { host, message }));
            }
            QuorumOutput::Apply { number, command } => self.take(number, &command.0),
            QuorumOutput::Passed { number } => self.pass(number),
            QuorumOutput::Adopt { number, state } => self.put_out(Output::Adopt { number, state }),
            QuorumOutput::StateWanted { to } => self.put_out(Output::StateWanted { to }),
            QuorumOutput::Leader { term, leader } => self.led(term, leader),
            QuorumOutput::Confirmed { mark } => self.put_out(Output::Confirmed { mark }),
            QuorumOutput::Overtaken => self.put_out(Output::Overtaken),
            QuorumOutput::Send { .. } | QuorumOutput::Save { .. } => {}
        }
    }

    /// There is a new leader, or no leader is known any more.
    fn led(&mut self, term: u64, leader: Option<Member>) {
        self.consensus.set_leader(term, leader);
        self.leads_since = self.now;
        if leader.is_none() {
            self.leadership.lost(self.now.0);
        } else if self.leadership.found() {
            self.put_out(Output::Log("a leader is known again".to_owned()));
        }
        let Some(leader) = leader.filter(|_| self.consensus.is_joined()) else { return };
        self.hearing.suspicion.begin_term();
        self.put_out(Output::Led { term, leader: leader.host() });
        let suspects = self.hearing.suspicion.hosts();
        self.report_silent(&suspects);
    }

    /// The first input since this daemon began: from here on it waits for a leader. Only now is it
    /// known what time it is, which the library must know before it acts. Returns true if the
    /// library is to be told the hosts now.
    pub(crate) fn wake(&mut self, now: u64) -> bool {
        self.leadership.wake(now) && self.consensus.is_joined()
    }

    /// The computers of members, to the library. It is told of those that are known.
    pub(super) fn tell_computers(&mut self, computers: Vec<(HostIndex, Blob)>) {
        let known = computers.into_iter().filter(|(_, computer)| !computer.0.is_empty());
        let member = |(host, computer)| Some((self.consensus.member(host)?, computer));
        let of = known.filter_map(member).collect();
        self.tell(QuorumInput::Computers { of });
    }

    /// A member that has come, or a host that is no member any more, to the library.
    pub(super) fn tell_member(&mut self, host: HostIndex) {
        // As for all members, below.
        self.pair.forget_told();
        let input = match self.consensus.member(host) {
            Some(member) => QuorumInput::Joined { member },
            None => QuorumInput::Left { host },
        };
        self.tell(input);
    }

    /// The members, to the library.
    pub(super) fn tell_members(&mut self) {
        // The library forgets the members that a sole voter needs, so they are told again.
        self.pair.forget_told();
        let members = self.consensus.members();
        self.tell(QuorumInput::Members { members });
    }

    /// Without a leader this host says so after a while, and ends after a minute.
    pub(super) fn end_waits(&mut self) {
        if self.leadership.ends_at().is_some_and(|at| at <= self.now.0) {
            self.put_out(Output::Lost);
        }
        let is_joined = self.consensus.is_joined();
        let Some(report) = self.leadership.due_report(self.now.0) else { return };
        if !is_joined {
            return report.put_off(self.now.0);
        }
        *report = Report::Given;
        self.put_out(Output::Leaderless);
    }

    /// A description of why no commands are ordered at this time; empty if there is a leader.
    pub(crate) fn why_leaderless(&self, now: Time) -> String {
        if !self.leadership.is_reported() {
            return String::new();
        }
        let voters = self.consensus.voters();
        let is_heard = |host: &&HostIndex| **host == self.me || self.hearing.is_up(**host);
        let heard = voters.iter().filter(is_heard).count();
        let count = voters.len();
        let why = if self.consensus.members().len() == 2 {
            "the other of two hosts is not heard".to_owned()
        } else if heard > count / 2 {
            "the leader of the hosts that vote is not heard here".to_owned()
        } else {
            let least = count / 2 + 1;
            format!("of the {count} hosts that vote {heard} are heard here, and {least} are needed")
        };
        let ends_at = self.leadership.ends_at().unwrap_or(u64::MAX);
        let left = ends_at.saturating_sub(now.0) / SECOND_NS;
        format!(
            "no leader: {why}. Names, groups and hosts cannot be changed or read; \
             this host ends in {left} s unless they come back"
        )
    }
}
