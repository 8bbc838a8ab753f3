//! The hosts with permanent links, and what becomes of links that rest.

use super::Machine;
use crate::io::Act;
use crate::near::{REACH_NS, neighbours};
use crate::pending::Asker;
use crate::quorum::QuorumInput;
use pvm_wire::HostIndex;
use pvm_wire::peer::Said;
use pvm_wire::request::Reply;
use std::collections::BTreeSet;

/// The number of a host's watchers that are asked to tell it something.
const MEET_COUNT: usize = 2;

impl Machine {
    /// Tells the shell which hosts are to have permanent links, if that has changed.
    pub(super) fn tell_near(&mut self) {
        if !*self.joined.get() || self.ending {
            return;
        }
        let kin = self.consensus.kin();
        let changes = kin.as_ref().map(|(changes, _)| *changes);
        let cause = (
            self.agreed.hosts().epoch(),
            self.consensus.leader(),
            self.consensus.voters(),
            changes,
        );
        if !self.near.is_news(&cause) {
            return;
        }
        let hosts = match kin {
            Some((_, kin)) => self.near_in_tree(kin),
            None => self.near_hosts(),
        };
        for &host in hosts.iter().filter(|host| !self.sessions.is_up(**host)) {
            self.near.lacks(host, self.now.0);
        }
        if self.near.set(cause, hosts.clone()) {
            self.act(Act::Near { hosts });
        }
    }

    fn near_hosts(&self) -> BTreeSet<HostIndex> {
        let (all, me) = (self.agreed.hosts().indices(), self.me());
        let leader = self.consensus.leader().map(|(_, host)| host);
        if leader == Some(me) {
            return all.into_iter().filter(|host| *host != me).collect();
        }
        let voters = self.consensus.voters();
        let mut near: BTreeSet<_> = neighbours(&all, me).into_iter().collect();
        near.extend(leader);
        // Without a leader, one of the voters will be the next one.
        if leader.is_none() || voters.contains(&me) {
            near.extend(voters);
        }
        near.retain(|host| *host != me && self.agreed.hosts().contains(*host));
        near
    }

    /// Where the log goes along a tree: this host's neighbours there, and its neighbours in the
    /// ring.
    fn near_in_tree(&self, kin: Vec<HostIndex>) -> BTreeSet<HostIndex> {
        let me = self.me();
        let watch = neighbours(&self.agreed.hosts().indices(), me);
        let near = kin.into_iter().chain(watch);
        near.filter(|host| *host != me && self.agreed.hosts().contains(*host)).collect()
    }

    /// The link was not used, so both sides have closed it.
    pub(super) fn link_rests(&mut self, host: HostIndex) {
        self.near.lacks_no_more(host);
        if self.sessions.link_rests(host) {
            self.act(Act::Reach { host });
        }
        self.consensus.input(self.now, QuorumInput::Linked { host, up: false });
    }

    /// After a restart: what others have not heard waits for links to them.
    pub(super) fn reach_unheard(&mut self) {
        for host in self.sessions.unreached() {
            self.act(Act::Reach { host });
        }
    }

    /// A host does not answer where it can be called: the leader has a link to it, so it is asked
    /// to call here. Where the leader has not, those have one that watch it.
    pub(super) fn unreached(&mut self, host: HostIndex) {
        let me = self.me();
        if self.consensus.kin().is_some() {
            let watch = neighbours(&self.agreed.hosts().indices(), host);
            let others = watch.into_iter().filter(|by| *by != me).take(MEET_COUNT);
            for by in others.collect::<Vec<_>>() {
                self.say(by, Said::Meet { host, with: me });
            }
            return;
        }
        let leader = self.consensus.leader().map(|(_, leader)| leader);
        if let Some(leader) = leader.filter(|leader| *leader != me && *leader != host) {
            self.say(leader, Said::Meet { host, with: me });
        }
    }

    /// Two hosts are to have a link: this is the one that is to call, or one that has a link to it,
    /// which hands that on once until it is heard.
    pub(super) fn meet(&mut self, host: HostIndex, with: HostIndex) {
        if host != self.me() {
            let said = Said::Meet { host, with };
            if !self.sessions.is_waiting(host, &said) {
                self.say(host, said);
            }
        } else if self.agreed.hosts().contains(with) && !self.sessions.is_up(with) {
            self.act(Act::Reach { host: with });
        }
    }

    /// There is a link now: the askers that wait for it are told.
    pub(super) fn reached(&mut self, host: HostIndex) {
        for asker in self.near.take_reached(host) {
            self.answer_heard(asker, true);
        }
    }

    /// Hosts that others have asked about and that could not be reached.
    pub(super) fn end_probes(&mut self) {
        for asker in self.near.take_overdue(self.now.0) {
            self.answer_heard(asker, false);
        }
    }

    /// Another member asks whether a host is heard here. With one that rests a link is made first.
    pub(super) fn tell_opinion(&mut self, asker: Asker, host: HostIndex) {
        let may_rest = !self.near.contains(host) && !self.sessions.is_lost(host);
        if self.agreed.hosts().contains(host) && !self.sessions.is_up(host) && may_rest {
            let until = self.after(REACH_NS);
            self.near.probe(host, asker, until);
            return self.act(Act::Reach { host });
        }
        let heard = self.agreed.hosts().contains(host) && self.sessions.is_up(host);
        self.answer_heard(asker, heard);
    }

    fn answer_heard(&mut self, asker: Asker, heard: bool) {
        let unheard = self.unheard_hosts();
        self.answer(asker, Reply::Heard { heard, unheard });
    }

    /// How many members this host should hear and does not.
    pub(super) fn unheard_hosts(&self) -> u32 {
        let is_unheard = |host: &HostIndex| {
            let wanted = self.near.contains(*host) || self.sessions.is_lost(*host);
            *host != self.me() && wanted && !self.sessions.is_up(*host)
        };
        let count = self.agreed.hosts().indices().into_iter().filter(is_unheard).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Nothing is heard here of a host: the leader may not have noticed, or is a new one.
    pub(super) fn report_silent(&mut self, hosts: &[HostIndex]) {
        let me = self.me();
        let leader = self.consensus.leader().map(|(_, leader)| leader);
        let Some(leader) = leader.filter(|leader| *leader != me) else { return };
        for &host in hosts.iter().filter(|host| **host != leader) {
            self.say(leader, Said::Silent { host });
        }
    }

    /// As a leader: another host hears nothing of one that is not heard here either.
    pub(super) fn silent_for(&mut self, by: HostIndex, host: HostIndex) {
        let known = self.agreed.hosts().contains(host) && host != self.me() && host != by;
        if !known || !self.consensus.is_leader() || self.sessions.is_up(host) {
            return;
        }
        self.near.report(host, self.now.0);
        if !self.near.contains(host) {
            // Along a tree there need be no link from here: one is made.
            self.act(Act::Reach { host });
        }
        self.count_reports();
    }

    /// A report that a host is silent counts only if this leader has had no link to it for a while,
    /// or could not make one: so a host whose daemon is just being started again is not taken out.
    pub(super) fn count_reports(&mut self) {
        let leads = self.consensus.is_leader();
        let silent = self.near.take_reported(self.now.0);
        let count = |host: &HostIndex| leads && self.agreed.hosts().contains(*host);
        let silent: Vec<_> = silent.into_iter().filter(count).collect();
        self.suspects.extend(silent);
    }
}
