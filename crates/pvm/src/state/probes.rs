//! The probe points of sending, receiving and routes. Off, each is one look and a branch.

use super::State;
use crate::buffer::sending::Prepared;
use crate::pattern::Pattern;
use crate::probe;
use pvm_shm::lane::Head;
use pvm_wire::record::{RouteKind, RouteStep};
use pvm_wire::{Address, Code, Envelope, HostIndex, Tid};

impl State {
    /// [`State::send`], noted.
    #[inline]
    pub(crate) fn probed_send(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        let begin = probe::moment(&self.probes);
        let sent = self.send(to, envelope, body)?;
        self.probe_sent_here(begin.filter(|_| sent), to, &envelope);
        Ok(sent)
    }

    /// [`State::send_abroad`], noted.
    pub(crate) fn probed_send_abroad(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        let begin = probe::moment(&self.probes);
        let route = self.send_abroad(to, envelope, body)?;
        if let Some(route) = route {
            self.probe_sent(begin, (&[to], route), &envelope);
        }
        Ok(route.is_some())
    }

    /// [`State::send_spread`], noted for each receiver: their sending begins and ends together.
    pub(crate) fn probed_send_spread(
        &mut self,
        host: HostIndex,
        to: &[Tid],
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        let begin = probe::moment(&self.probes);
        let sent = self.send_spread(host, to, envelope, body)?;
        self.probe_sent(begin.filter(|_| sent), (to, RouteKind::Daemons), &envelope);
        Ok(sent)
    }

    /// The sent messages have their numbers by now. They went this way: that a direct route stands
    /// does not say it, because a message goes by the daemons nevertheless until the other end has
    /// spoken, or where memory lacks.
    #[inline]
    fn probe_sent(
        &self,
        begin: Option<u64>,
        (to, route): (&[Tid], RouteKind),
        envelope: &Envelope,
    ) {
        let Some(begin) = begin else { return };
        for &to in to {
            let told = Envelope { sequence: self.last_number(to), ..*envelope };
            probe::note_sent(&self.probes, begin, (to, route), &told);
        }
    }

    /// A message within the host, or to a daemon or to this task itself, was sent.
    #[inline]
    pub(crate) fn probe_sent_here(&self, begin: Option<u64>, to: Tid, envelope: &Envelope) {
        let route = if to == self.me { RouteKind::Own } else { RouteKind::Memory };
        self.probe_sent(begin, (&[to], route), envelope);
    }

    /// Like `probe_sent_here`, for a small message.
    #[inline]
    pub(crate) fn probe_small(
        &self,
        begin: Option<u64>,
        to: Address,
        (head, size): (&Head, usize),
    ) {
        let Some(begin) = begin else { return };
        let mut envelope = Envelope::new(self.me, to);
        envelope.encoding = head.encoding();
        envelope.data_size = size as u64;
        self.probe_sent_here(Some(begin), to.to, &envelope);
    }

    /// A receive has found a message.
    #[inline]
    pub(crate) fn probe_received(&self, envelope: &Envelope, pattern: &Pattern) {
        if self.probes.is_on() {
            probe::note_taken(&self.probes, self.me, envelope, pattern);
        }
    }

    /// A direct route is negotiated.
    pub(crate) fn probe_route(&self, peer: Tid, step: RouteStep) {
        probe::note_route(&self.probes, peer, step);
    }
}
