//! Hosts that are silent, and when this host gives up.

use super::{Handler, OrderInput};
use crate::pending::HostTableRequest;
use crate::planted::{self, Bug};
use pvm_wire::HostIndex;
use pvm_wire::peer::Command;
use pvm_wire::request::{Reply, Request};

impl Handler<'_> {
    /// The shell has heard nothing of a host for too long, or its daemon says that it ends.
    pub(super) fn host_dead(&mut self, host: HostIndex, certain: bool) {
        if host == self.me() || (*self.host.joined.get() && !self.agreed.hosts().contains(host)) {
            return;
        }
        self.link_down(host);
        self.host.halt.forgo(host);
        self.tell_order(OrderInput::Silent { host, certain });
        if planted::is(Bug::SuspicionDecides) {
            self.propose(crate::pending::Asker::Nobody, Command::RemoveHost { host, dead: true });
        }
    }

    /// A host says that this one is no member any more.
    pub(super) fn fenced(&mut self, era: u64) {
        if era >= self.order.log().era() {
            self.log("the machine went on without this host: it ends here".to_owned());
            self.host.ending = true;
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
        for mark in self.host.proposals.marks_of(goes) {
            if let Some(proposal) = self.host.pending.proposals.remove(&mark) {
                self.answer(proposal.asker, Reply::Done);
            }
        }
    }

    /// The other hosts have gone on without this one.
    pub(super) fn overtaken(&mut self) {
        self.fenced(u64::MAX);
    }

    /// Without a leader for a while this host says so in its log file, and answers waiting requests
    /// for the host table from the table that it has.
    pub(super) fn say_leaderless(&mut self) {
        let text = self.order.why_leaderless(self.host.now);
        self.log(text);
        let waits =
            |_: &u64, held: &HostTableRequest| held.after == 0 && held.request == Request::Config;
        for number in self.host.pending.held.keys_where(waits) {
            if let Some(held) = self.host.pending.held.remove(&number) {
                self.serve_now(held.asker, held.tid, held.request);
            }
        }
    }

    /// There was no leader for too long.
    pub(super) fn give_up(&mut self) {
        self.log("this host has lost its machine and ends".to_owned());
        self.host.ending = true;
    }
}
