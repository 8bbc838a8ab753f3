//! The leader, suspected hosts, the removal of hosts, and when a host gives up.

use super::Machine;
use crate::leadership::Report;
use crate::pending::Held;
use crate::planted::{self, Bug};
use crate::quorum::{Member, QuorumInput};
use pvm_wire::HostIndex;
use pvm_wire::peer::Command;
use pvm_wire::request::{Reply, Request};

impl Machine {
    /// There is a new leader, or no leader is known any more.
    pub(super) fn led(&mut self, term: u64, leader: Option<Member>) {
        self.consensus.set_leader(term, leader);
        self.note_leader(leader.is_some());
        let Some(leader) = leader.filter(|_| *self.joined.get()) else { return };
        self.fencing.clear();
        self.doubts.clear();
        self.report(term, leader.host());
        let suspects: Vec<_> = self.suspects.iter().copied().collect();
        self.report_silent(&suspects);
        self.put_again();
    }

    /// Does what follows from an input, until nothing is left to do. A step may give the consensus
    /// library an input; its outputs wait for the next round, so each step sees everything that was
    /// ordered before it.
    pub(super) fn come_to_rest(&mut self) {
        loop {
            self.follow_outputs();
            self.lead_on();
            if !self.consensus.has_output() {
                return;
            }
        }
    }

    /// As a leader, or as one of two hosts: the steps that are due once all committed commands are
    /// applied. The first step says whether the other one of two hosts is needed: nothing is
    /// ordered before the library knows it.
    fn lead_on(&mut self) {
        if !*self.joined.get() || self.ending {
            return;
        }
        // Commands come last: an answer to a question may be one.
        let steps = [
            Self::arrange_two,
            Self::arranged,
            Self::ask_opinions,
            Self::lead_home,
            Self::order_held,
        ];
        for step in steps {
            step(self);
            if self.consensus.has_output() {
                return;
            }
        }
    }

    /// The shell has heard nothing of a host for too long, or its daemon says that it ends.
    pub(super) fn host_dead(&mut self, host: HostIndex, certain: bool) {
        if host == self.me() || (*self.joined.get() && !self.agreed.hosts().contains(host)) {
            return;
        }
        self.suspects.insert(host);
        self.link_down(host);
        self.report_silent(&[host]);
        if certain {
            self.doubts.set_dead(host);
            self.consensus.input(self.now, QuorumInput::Gone { host });
        }
        if *self.joined.get() {
            self.other_silent(host, certain);
        }
        if planted::is(Bug::SuspicionDecides) {
            self.propose(crate::pending::Asker::Nobody, Command::RemoveHost { host, dead: true });
        }
    }

    /// As a leader: the next host to take out, because neither this host nor others hear it. They
    /// go one after the other: each may be a voter that is to be replaced first.
    pub(super) fn next_fenced(&mut self) -> Option<Member> {
        if self.suspects.is_empty() || !self.consensus.is_current(self.now) {
            return None;
        }
        self.suspects.retain(|host| self.agreed.hosts().contains(*host));
        if self.suspects.intersection(&self.fencing).next().is_some() {
            return None;
        }
        let dead = self.suspects.iter().find(|host| self.doubts.is_dead(**host));
        dead.and_then(|host| self.consensus.member(*host))
    }

    /// As a leader: proposes the command that takes out a host.
    pub(super) fn order_fence(&mut self, member: Member) {
        let host = member.host();
        self.fencing.insert(host);
        let command = Command::Fence { host, incarnation: member.incarnation() };
        self.consensus.order(self.now, self.me(), 0, command);
    }

    /// A host is dead, on every host at this place of the log. Only a leader orders that. Returns
    /// the command to apply if this incarnation of the host is the present member.
    pub(super) fn fence(
        &self,
        host: HostIndex,
        incarnation: u64,
        by: HostIndex,
    ) -> Option<Command> {
        let meant = self.consensus.member(host).is_some_and(|m| m.incarnation() == incarnation);
        (meant && host != by).then_some(Command::RemoveHost { host, dead: true })
    }

    /// A host says that this one is no member any more.
    pub(super) fn fenced(&mut self, era: u64) {
        if era >= self.consensus.era() {
            self.log("the machine went on without this host: it ends here".to_owned());
            self.ending = true;
            self.answer_own_removal();
        }
    }

    /// Another host says that this one is out, perhaps before this one's own removal command is
    /// applied here. It will not be applied any more, so its askers are answered now.
    fn answer_own_removal(&mut self) {
        let me = self.me();
        let goes = |command: &Command| match command {
            Command::RemoveHost { host, .. } | Command::Retire { host } => *host == me,
            _ => false,
        };
        for mark in self.consensus.marks_of(goes) {
            if let Some(proposal) = self.pending.proposals.remove(&mark) {
                self.answer(proposal.asker, Reply::Done);
            }
        }
    }

    /// The other hosts have gone on without this one.
    pub(super) fn overtaken(&mut self) {
        self.fenced(u64::MAX);
    }

    /// Notes whether a leader is known from now on.
    fn note_leader(&mut self, known: bool) {
        if !known {
            self.leadership.lost(self.now.0);
        } else if self.leadership.found() {
            self.log("a leader is known again".to_owned());
        }
    }

    /// True if this host has reported that it knows no leader.
    pub(super) const fn is_leaderless(&self) -> bool {
        self.leadership.is_reported()
    }

    /// Without a leader for a while this host says so in its log file, and answers waiting requests
    /// for the host table from the table that it has.
    pub(super) fn say_leaderless(&mut self) {
        let Some(report) = self.leadership.due_report(self.now.0) else { return };
        if !*self.joined.get() {
            return report.put_off(self.now.0);
        }
        *report = Report::Given;
        let text = self.order_state();
        self.log(text);
        let waits = |_: &u64, held: &Held| held.after == 0 && held.request == Request::Config;
        for number in self.pending.held.keys_where(waits) {
            if let Some(held) = self.pending.held.remove(&number) {
                self.serve_now(held.asker, held.tid, held.request);
            }
        }
    }

    /// A description of why no commands are ordered; empty if there is a leader.
    pub(super) fn order_state(&self) -> String {
        if !self.is_leaderless() {
            return String::new();
        }
        let voters = self.consensus.voters();
        let is_heard = |host: &&HostIndex| **host == self.me() || self.sessions.is_up(**host);
        let heard = voters.iter().filter(is_heard).count();
        let count = voters.len();
        let why = if self.agreed.hosts().count() == 2 {
            "the other of two hosts is not heard".to_owned()
        } else if heard > count / 2 {
            "the leader of the hosts that vote is not heard here".to_owned()
        } else {
            let least = count / 2 + 1;
            format!("of the {count} hosts that vote {heard} are heard here, and {least} are needed")
        };
        let ends_at = self.leadership.ends_at().unwrap_or(u64::MAX);
        let left = ends_at.saturating_sub(self.now.0) / super::SECOND_NS;
        format!(
            "no leader: {why}. Names, groups and hosts cannot be changed or read; \
             this host ends in {left} s unless they come back"
        )
    }

    /// There was no leader for too long.
    pub(super) fn give_up(&mut self) {
        if self.leadership.ends_at().is_some_and(|at| at <= self.now.0) {
            self.log("this host has lost its machine and ends".to_owned());
            self.ending = true;
        }
    }

    /// The first input since this daemon began: from here on it waits for a leader. Only now is it
    /// known what time it is, which the library that orders must know before it acts.
    pub(super) fn wake(&mut self) {
        if self.leadership.wake(self.now.0) && *self.joined.get() {
            self.tell_quorum_hosts();
            self.come_to_rest();
        }
    }
}
