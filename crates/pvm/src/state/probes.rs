//! The probe points of sending, receiving and routes. Off, each is one look and a branch.

use super::State;
use crate::buffer::sending::Prepared;
use crate::pattern::Pattern;
use crate::probe::{self, Negotiation};
use pvm_shm::recorder::{Point, Record, Way};
use pvm_wire::{Code, Envelope, HostIndex, Tid};

impl State {
    /// [`State::send`], noted.
    #[inline]
    pub(crate) fn probed_send(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        if !self.probes.is_on() {
            return self.send(to, envelope, body);
        }
        self.probe_send(to, Way::Memory, envelope, |state| state.send(to, envelope, body))
    }

    /// [`State::send_abroad`], noted.
    pub(crate) fn probed_send_abroad(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        if !self.probes.is_on() {
            return self.send_abroad(to, envelope, body);
        }
        let way = self.way_to(to);
        self.probe_send(to, way, envelope, |state| state.send_abroad(to, envelope, body))
    }

    /// [`State::send_spread`], noted once for the host.
    pub(crate) fn probed_send_spread(
        &mut self,
        host: HostIndex,
        to: &[Tid],
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        if !self.probes.is_on() {
            return self.send_spread(host, to, envelope, body);
        }
        let id = Tid::host_id(host);
        let send = |state: &mut Self| state.send_spread(host, to, envelope, body);
        self.probe_send(id, Way::Daemons, envelope, send)
    }

    #[cold]
    fn probe_send(
        &mut self,
        to: Tid,
        way: Way,
        mut envelope: Envelope,
        send: impl FnOnce(&mut Self) -> Result<bool, Code>,
    ) -> Result<bool, Code> {
        envelope.sequence = self.next_number(to);
        self.probes.note(probe::sending(Point::SendBegin, to.0, way, &envelope));
        let sent = send(self);
        // A route can end, or come to stand, while it is used.
        let way = if way == Way::Memory || to.is_host() { way } else { self.way_to(to) };
        let result = match sent {
            Ok(true) => 0,
            // It is tried again when there is credit.
            Ok(false) => Code::OutOfRes.number(),
            Err(code) => code.number(),
        };
        let end = probe::sending(Point::SendEnd, to.0, way, &envelope);
        self.probes.note(Record { result, ..end });
        sent
    }

    fn way_to(&self, peer: Tid) -> Way {
        if peer == self.me {
            Way::Own
        } else if peer.host() == self.me.host() || !peer.is_task() {
            Way::Memory
        } else if self.routes.open.contains_key(&peer) {
            Way::Direct
        } else {
            Way::Daemons
        }
    }

    /// A message that the task sends to itself.
    pub(crate) fn probe_own(&self, envelope: &Envelope) {
        if self.probes.is_on() {
            self.probes.note(probe::sending(Point::SendEnd, self.me.0, Way::Own, envelope));
        }
    }

    /// A receive has found a message.
    #[inline]
    pub(crate) fn probe_received(&self, envelope: &Envelope, pattern: &Pattern) {
        if self.probes.is_on() {
            self.probes.note(probe::received(envelope, self.way_to(envelope.src), pattern));
        }
    }

    /// A direct route is negotiated.
    pub(crate) fn probe_route(&self, peer: Tid, step: Negotiation) {
        if self.probes.is_on() {
            let record = Record { peer: peer.0, result: step as i32, ..probe::at(Point::Route) };
            self.probes.note(Record { way: Way::Direct as u8, ..record });
        }
    }
}
