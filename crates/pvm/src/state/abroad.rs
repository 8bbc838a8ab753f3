//! A task's messages to and from other hosts: by the daemons, and by direct routes.

use super::State;
use super::parts::{Parts, join};
use crate::buffer::Store;
use crate::buffer::sending::Prepared;
use crate::order::Stamp;
use crate::route::DONT_ROUTE;
use crate::route::direct::Direct;
use crate::route::notices::Notice;
use pvm_shm::lane::INLINE_MAX;
use pvm_shm::{Pushed, Sent};
use pvm_wire::record::{RouteKind, RouteStep};
use pvm_wire::request::{Reply, Request};
use pvm_wire::route::Route;
use pvm_wire::spread::Receiver;
use pvm_wire::{Code, Encoding, Envelope, HostIndex, Kind, RunList, Tid};
use rustix::fd::{AsRawFd as _, OwnedFd};

impl State {
    /// The stamp of the next message to a task: within the host its number, to another host also
    /// the life of this task.
    pub(super) fn next_stamp(&self, to: Tid) -> u64 {
        let number = self.next_number(to);
        match to.host() == self.me.host() {
            true => number,
            false => Stamp::new(self.routes.life(), number).raw(),
        }
    }

    /// A message goes by a lane. A number counts when its message is on its way: later messages
    /// would wait for one that never comes.
    pub(super) fn is_on_its_way(&mut self, to: Tid, stamp: u64) {
        self.note_number(to, Stamp::from_raw(stamp).number());
        if to.host() != self.me.host() {
            self.routes.begin(to);
        }
    }

    /// Sends to a task of another host: directly where that is possible now, else by the daemons.
    /// The way that the message went; none if there is no credit now.
    pub(crate) fn send_abroad(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<Option<RouteKind>, Code> {
        if self.routes.is_asking() {
            // An answer may have come since; its end is noticed elsewhere.
            let _ = self.connection.receive();
            self.adopt();
        }
        if self.routes.open.contains_key(&to) {
            if let Some(route) = self.send_directly(to, envelope, body)? {
                return Ok(Some(route));
            }
        } else if self.routes.ask(to) {
            self.connection.tell(&Request::OpenRoute { to })?;
            self.probe_route(to, RouteStep::Asked);
        }
        Ok(self.send(to, envelope, body)?.then_some(RouteKind::Daemons))
    }

    /// The way that the message went: by the daemons after all where the route ended meanwhile.
    /// None if the message was not taken and must be given to the daemons.
    fn send_directly(
        &mut self,
        to: Tid,
        mut envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<Option<RouteKind>, Code> {
        let number = self.next_number(to);
        envelope.dst = to;
        envelope.sequence = Stamp::new(self.routes.life(), number).direct().raw();
        let Self { outbox, connection, routes, order, arrivals, .. } = self;
        let Some(direct) = routes.open.get_mut(&to).filter(|direct| direct.may_speak()) else {
            return Ok(None);
        };
        if direct.wants_renewal() {
            connection.tell(&Request::OpenRoute { to })?;
        }
        if let Prepared::Bytes(data, list) = body
            && data.len() + list.len() > INLINE_MAX
        {
            let Ok(slab) = outbox.slab(connection, data.len() + list.len()) else {
                return Ok(None);
            };
            slab.write(0, data);
            slab.write(data.len(), list);
            *body = Prepared::Copy(slab);
        }
        let mut pushed =
            outbox.push_pair(connection, &mut direct.pair, &envelope, Parts::of(body).body())?;
        while pushed == Pushed::Full {
            let mut slab = |size| outbox.slab(connection, size).ok();
            let around = (&mut *order, &mut *arrivals);
            let moved = routes
                .with(to, around, &mut slab, |direct, _, around| direct.await_confirmation(around));
            let direct = match moved {
                Some(Ok(true)) => routes.open.get_mut(&to),
                Some(Err(_)) => {
                    self.break_route(to);
                    return Ok(None);
                }
                _ => None,
            };
            let Some(direct) = direct else { break };
            pushed = outbox.push_pair(
                connection,
                &mut direct.pair,
                &envelope,
                Parts::of(body).body(),
            )?;
        }
        self.news |= !self.arrivals.is_empty();
        match pushed {
            Pushed::Full => return Ok(None),
            Pushed::Released => {
                self.break_route(to);
                return Ok(None);
            }
            Pushed::Taken => {
                self.sequences.insert(to, number);
                self.break_route(to);
                return Ok(Some(RouteKind::Daemons));
            }
            Pushed::Kept => {}
        }
        self.sequences.insert(to, number);
        let mut put = |offset: usize, out: &mut [u8]| match body {
            Prepared::Bytes(data, list) => join(data, list, offset, out),
            Prepared::Slab(slab) => slab.read(offset, out),
            Prepared::Copy(slab) => slab.read(offset, out),
        };
        let Self { outbox, connection, routes, order, arrivals, .. } = self;
        let mut slab = |size| outbox.slab(connection, size).ok();
        let sent = routes.with(to, (order, arrivals), &mut slab, |direct, heard, around| {
            direct.send(&envelope, &mut put, heard, around)
        });
        self.news |= !self.arrivals.is_empty();
        if matches!(sent, Some(Err(_))) {
            // It lies in the lane of the route, which is the daemon's now.
            self.break_route(to);
            return Ok(Some(RouteKind::Daemons));
        }
        Ok(Some(RouteKind::Direct))
    }

    /// One copy for all receivers on one other host. False if there is no credit now.
    pub(crate) fn send_spread(
        &mut self,
        host: HostIndex,
        to: &[Tid],
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        let receiver = |&tid: &Tid| Receiver { tid, sequence: self.next_stamp(tid) };
        let receivers: Vec<Receiver> = to.iter().map(receiver).collect();
        let mut whole = Parts::of(body);
        let body = whole.body();
        let (connection, host) = (&mut self.connection, Tid::host_id(host));
        let sent = self.outbox.send_spread(connection, host, &envelope, (body, &receivers))?;
        if sent == Sent::Delivered {
            for receiver in &receivers {
                self.is_on_its_way(receiver.tid, receiver.sequence);
            }
        }
        Ok(sent != Sent::Full)
    }

    /// Takes over the routes that the host has handed out.
    pub(crate) fn adopt(&mut self) {
        while let Some((reply, socket)) = self.connection.take_told() {
            match (reply, socket) {
                (Reply::Route { route }, Some(socket)) => self.adopt_route(&route, socket),
                // This process has no number left for the socket: the hosts, which hold it open,
                // end it.
                (Reply::Route { route }, None) => {
                    self.routes.refused(route.peer);
                    let _ = self.connection.tell(&Request::RouteBroken { peer: route.peer });
                }
                // The wish is made again after a while.
                (Reply::NoRoute { peer }, _) => {
                    self.routes.refused(peer);
                    self.probe_route(peer, RouteStep::Refused);
                }
                _ => {}
            }
        }
    }

    fn adopt_route(&mut self, route: &Route, socket: OwnedFd) {
        let peer = route.peer;
        // The new one counts: whatever the old one has not brought goes by the daemons.
        self.break_route(peer);
        if let Err(socket) = self.take_route(route, socket) {
            // The host holds the socket open, too. The other task must hear of the end by the
            // socket itself: what the hosts tell each other may come before it has its own end, and
            // begins to use it.
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
            let _ = self.connection.tell(&Request::RouteBroken { peer });
            return;
        }
        self.probe_route(peer, RouteStep::Stands);
        let descriptor = self.routes.open.get(&peer).map_or(-1, |direct| direct.socket.as_raw_fd());
        let notices = self.routes.notices.added(peer, descriptor);
        self.tell_self(notices);
        if route.first {
            self.confirm_to(peer);
        }
    }

    /// The socket comes back if it is of no use.
    fn take_route(&mut self, route: &Route, socket: OwnedFd) -> Result<(), OwnedFd> {
        let peer = route.peer;
        let refused = self.routes.option == DONT_ROUTE;
        let is_far = peer.is_task() && peer.host() != self.me.host();
        if refused || !is_far || self.routes.descriptor().is_none() {
            return Err(socket);
        }
        let Ok(pair) = self.outbox.open_pair(&mut self.connection, peer) else {
            return Err(socket);
        };
        let ends = (socket, pair, self.probes.clone());
        let direct = Direct::new(self.me, route, ends, (self.routes.life(), self.routes.limit()))?;
        self.routes.add(peer, direct);
        Ok(())
    }

    /// A route is of no more use, here and there.
    fn break_route(&mut self, peer: Tid) {
        let Some(direct) = self.routes.remove(peer) else { return };
        self.outbox.release_pair(&direct.pair);
        self.probe_route(peer, RouteStep::Broke);
        // If the daemon is gone, that is noticed elsewhere.
        let _ = self.connection.tell(&Request::RouteBroken { peer });
        let notices = self.routes.notices.deleted(peer);
        self.tell_self(notices);
    }

    /// Messages of the task to itself, of two ints each.
    pub(crate) fn tell_self(&mut self, notices: Vec<Notice>) {
        for Notice { mut envelope, peer, descriptor } in notices {
            let body = [peer.as_c_int(), descriptor].map(i32::to_ne_bytes).concat();
            let mut runs = RunList::new();
            runs.push(Kind::Int, 2);
            envelope.describe(Encoding::Default, body.len(), &runs);
            self.news = true;
            crate::orders::taken_in(&envelope);
            self.mailbox.insert(envelope, Store::Heap(body));
        }
    }

    /// In the child of a fork: the sockets are its parent's.
    pub(crate) fn close_routes(&self) {
        for direct in self.routes.open.values() {
            crate::sys::close(direct.socket.as_raw_fd());
        }
    }

    /// The task leaves: the daemon sends the unconfirmed messages.
    pub(crate) fn end_routes(&mut self) {
        let peers: Vec<Tid> = self.routes.open.keys().copied().collect();
        for peer in peers {
            self.break_route(peer);
        }
    }

    pub(super) fn confirm_to(&mut self, peer: Tid) {
        let Self { outbox, connection, routes, order, arrivals, .. } = self;
        let mut slab = |size| outbox.slab(connection, size).ok();
        let told = routes.with(peer, (order, arrivals), &mut slab, |direct, heard, around| {
            direct.confirm(heard, around)
        });
        self.news |= !self.arrivals.is_empty();
        if matches!(told, Some(Err(_))) {
            self.break_route(peer);
        }
    }

    /// Takes the messages that the routes hold.
    pub(super) fn read_routes(&mut self) {
        if self.routes.open.is_empty() {
            return;
        }
        for peer in self.routes.ready() {
            let Self { outbox, connection, routes, order, arrivals, .. } = self;
            let mut slab = |size| outbox.slab(connection, size).ok();
            let read = routes.with(peer, (order, arrivals), &mut slab, |direct, _, around| {
                direct.receive(around)
            });
            if matches!(read, Some(Err(_))) {
                self.break_route(peer);
            }
        }
    }
}
