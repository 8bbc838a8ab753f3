//! Links that come and go, and hosts that are silent.

use super::{Order, Output};
use crate::io::Act;
use crate::quorum::QuorumInput;
use pvm_wire::HostIndex;
use pvm_wire::peer::Said;

/// The number of a host's watchers that are asked to tell it something.
const MEET_COUNT: usize = 2;

impl Order {
    pub(super) fn link_up(&mut self, host: HostIndex) {
        self.hearing.link_up(host);
        self.pair.meet();
        self.tell(QuorumInput::Linked { host, up: true });
    }

    pub(super) fn link_down(&mut self, host: HostIndex) {
        self.hearing.link_down(host, self.now.0);
        self.tell(QuorumInput::Linked { host, up: false });
    }

    /// The link was not used, so both sides have closed it.
    pub(super) fn link_rests(&mut self, host: HostIndex) {
        self.hearing.forget_link(host);
        self.tell(QuorumInput::Linked { host, up: false });
    }

    /// The shell has heard nothing of a host for too long, or its daemon says that it ends. If it
    /// is the other one of two, this one may have to go on alone.
    pub(super) fn silent(&mut self, host: HostIndex, certain: bool) {
        self.hearing.suspicion.add(host);
        self.report_silent(&[host]);
        if certain {
            self.hearing.suspicion.set_dead(host);
            self.tell(QuorumInput::Gone { host });
        }
        if self.consensus.is_joined() {
            self.other_silent(host, certain);
        }
    }

    /// A host does not answer where it can be called: the leader has a link to it, so it is asked
    /// to call here. Where the leader has not, those have one that watch it.
    pub(super) fn unreached(&mut self, host: HostIndex) {
        let me = self.me;
        if self.consensus.kin().is_some() {
            let watch = self.consensus.neighbours(host);
            for by in watch.into_iter().filter(|by| *by != me).take(MEET_COUNT) {
                self.say(by, Said::Meet { host, with: me });
            }
            return;
        }
        let leader = self.consensus.leader().map(|(_, leader)| leader);
        if let Some(leader) = leader.filter(|leader| *leader != me && *leader != host) {
            self.say(leader, Said::Meet { host, with: me });
        }
    }

    /// Nothing is heard here of these hosts: the leader may not have noticed, or is a new one.
    pub(super) fn report_silent(&mut self, hosts: &[HostIndex]) {
        let leader = self.consensus.leader().map(|(_, leader)| leader);
        let Some(leader) = leader.filter(|leader| *leader != self.me) else { return };
        for &host in hosts.iter().filter(|host| **host != leader) {
            self.say(leader, Said::Silent { host });
        }
    }

    /// As a leader: another host hears nothing of one that is not heard here either.
    pub(super) fn silent_for(&mut self, by: HostIndex, host: HostIndex) {
        let known = self.consensus.member(host).is_some() && host != self.me && host != by;
        if !known || !self.consensus.is_leader() || self.hearing.is_up(host) {
            return;
        }
        if self.hearing.report(host, self.now.0) {
            self.put_out(Output::Act(Act::Reach { host }));
        }
        self.hearing.count_reports(&self.consensus, self.now.0);
    }
}
