//! Who leads, who is suspected, who is taken out, and when a host gives up.

use super::Machine;
use crate::planted::{self, Bug};
use crate::quorum::{Member, QuorumInput};
use pvm_wire::HostIndex;
use pvm_wire::peer::Command;
use pvm_wire::request::Reply;

/// How long a host goes on that hears of no leader: others have gone on without it, or cannot.
pub(super) const LOST_NS: u64 = 60 * super::SECOND_NS;

impl Machine {
    /// Somebody leads from here on, or nobody is known to.
    pub(super) fn led(&mut self, term: u64, leader: Option<Member>) {
        self.consensus.set_leader(term, leader);
        self.lost_at = if leader.is_some() { u64::MAX } else { self.after(LOST_NS) };
        let Some(leader) = leader.filter(|_| *self.joined.get()) else { return };
        self.fencing.clear();
        self.report(term, leader.host());
        self.put_again();
    }

    /// What follows from what has just happened, once all of it is done.
    pub(super) fn lead_on(&mut self) {
        if !*self.joined.get() || self.ending {
            return;
        }
        self.arrange_two();
        self.arranged();
        self.order_held();
        self.lead_home();
    }

    /// The shell has heard nothing of a host for too long, or its daemon says that it ends.
    pub(super) fn host_dead(&mut self, host: HostIndex, certain: bool) {
        if host == self.me() || (*self.joined.get() && !self.hosts.contains(host)) {
            return;
        }
        self.suspects.insert(host);
        self.link_down(host);
        if certain {
            self.consensus.input(self.now, QuorumInput::Gone { host });
            self.follow_quorum();
        }
        if *self.joined.get() {
            self.other_silent(host, certain);
        }
        if planted::is(Bug::SuspicionDecides) {
            self.propose(crate::pending::Asker::Nobody, Command::RemoveHost { host, dead: true });
        }
        self.lead_on();
    }

    /// As a leader: whom the order is to take out next, as this host does not hear it. One after
    /// the other: each may be a voter that is to be replaced first.
    pub(super) fn next_fenced(&mut self) -> Option<Member> {
        if self.suspects.is_empty() || !self.consensus.is_current(self.now) {
            return None;
        }
        self.suspects.retain(|host| self.hosts.contains(*host));
        if self.suspects.intersection(&self.fencing).next().is_some() {
            return None;
        }
        self.suspects.first().and_then(|host| self.consensus.member(*host))
    }

    /// As a leader: has the order take out a host.
    pub(super) fn order_fence(&mut self, member: Member) {
        let host = member.host();
        self.fencing.insert(host);
        let command = Command::Fence { host, incarnation: member.incarnation() };
        self.consensus.order(self.now, self.me(), 0, command);
    }

    /// A host is dead, on every host at this place of the order. Only a leader orders that.
    pub(super) fn fence(&mut self, host: HostIndex, incarnation: u64, by: HostIndex) -> Reply {
        let meant = self.consensus.member(host).is_some_and(|m| m.incarnation() == incarnation);
        if meant && host != by {
            return self.host_removed(host, true);
        }
        Reply::Done
    }

    /// A host says that this one is no member any more.
    pub(super) fn fenced(&mut self, era: u64) {
        if era >= self.consensus.era() {
            self.log("the machine went on without this host: it ends here".to_owned());
            self.ending = true;
        }
    }

    /// The order has gone on elsewhere.
    pub(super) fn overtaken(&mut self) {
        self.fenced(u64::MAX);
    }

    /// Nobody has led for too long.
    pub(super) fn give_up(&mut self) {
        if self.lost_at <= self.now.0 {
            self.log("this host has lost its machine and ends".to_owned());
            self.ending = true;
        }
    }

    /// The first input since this daemon began: from here on it waits for a leader. Only now is it
    /// known what time it is, which the library that orders must know before it acts.
    pub(super) fn wake(&mut self) {
        if self.lost_at == 0 {
            self.lost_at = self.after(LOST_NS);
            if *self.joined.get() {
                self.tell_quorum_hosts();
            }
        }
    }
}
