//! Links that rest, and questions of others whether this host hears a host.

use super::{Handler, OrderInput};
use crate::io::Act;
use crate::pending::Asker;
use crate::probes::REACH_NS;
use pvm_wire::HostIndex;
use pvm_wire::peer::Said;
use pvm_wire::request::Reply;

impl Handler<'_> {
    /// The link was not used, so both sides have closed it.
    pub(super) fn link_rests(&mut self, host: HostIndex) {
        if self.host.sessions.link_rests(host) {
            self.act(Act::Reach { host });
        }
        self.tell_order(OrderInput::LinkRests { host });
    }

    /// After a restart: what others have not heard waits for links to them.
    pub(super) fn reach_unheard(&mut self) {
        for host in self.host.sessions.unreached() {
            self.act(Act::Reach { host });
        }
    }

    /// Two hosts are to have a link: this is the one that is to call, or one that has a link to it,
    /// which hands that on once until it is heard.
    pub(super) fn meet(&mut self, host: HostIndex, with: HostIndex) {
        if host != self.me() {
            let said = Said::Meet { host, with };
            if !self.host.sessions.is_waiting(host, &said) {
                self.say(host, said);
            }
        } else if self.agreed.hosts().contains(with) && !self.order.hearing().is_up(with) {
            self.act(Act::Reach { host: with });
        }
    }

    /// There is a link now: the askers that wait for it are told.
    pub(super) fn reached(&mut self, host: HostIndex) {
        for asker in self.host.probes.take_reached(host) {
            self.answer_heard(asker, true);
        }
    }

    /// Hosts that others have asked about and that could not be reached.
    pub(super) fn end_probes(&mut self) {
        for asker in self.host.probes.take_overdue(self.host.now.0) {
            self.answer_heard(asker, false);
        }
    }

    /// Another member asks whether a host is heard here. With one that rests a link is made first.
    pub(super) fn tell_opinion(&mut self, asker: Asker, host: HostIndex) {
        let (known, up) = (self.agreed.hosts().contains(host), self.order.hearing().is_up(host));
        if known && !up && self.order.hearing().may_rest(host) {
            let until = self.after(REACH_NS);
            self.host.probes.add(host, asker, until);
            return self.act(Act::Reach { host });
        }
        let heard = known && up;
        self.answer_heard(asker, heard);
    }

    fn answer_heard(&mut self, asker: Asker, heard: bool) {
        let unheard = self.order.hearing().unheard_count(self.order.log());
        self.answer(asker, Reply::Heard { heard, unheard });
    }
}
