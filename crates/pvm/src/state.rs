//! What a task holds behind its gate: its lanes, its routes, what has come and what was sent.

mod parts;
mod probes;

use crate::buffer::sending::Prepared;
use crate::buffer::{Buffer, Store};
use crate::connection::Connection;
use crate::order::Order;
use crate::probe::Negotiation;
use crate::rosters::Rosters;
use crate::route::direct::Direct;
use crate::route::notices::Notice;
use crate::route::{Arrived, DONT_ROUTE, Routes};
use crate::sys::memory::ProgramMemory;
use parts::{Parts, join};
use pvm_core::{Mailbox, MessageKey, Pattern};
use pvm_shm::lane::{INLINE_MAX, Wanted};
use pvm_shm::probe::Probes;
use pvm_shm::recent::Recent;
use pvm_shm::{Glance, Inlet, Outbox, Pushed, Sent};
use pvm_wire::request::{Reply, Request};
use pvm_wire::route::Route;
use pvm_wire::spread::Receiver;
use pvm_wire::{Code, Encoding, Envelope, HostIndex, Kind, Run, RunList, Tid};
use rustix::fd::{AsRawFd as _, OwnedFd};
use std::collections::VecDeque;
use std::sync::Arc;

/// An in-place message is told of each time so many bytes more are written: they are in the cache still.
const STEP: usize = 16 << 10;
/// Of so many fruitless looks one goes to the host as well.
const LOOKS: u32 = 64;

/// A message that waits: its bytes.
pub(crate) type Waiting = Store;

/// What a task holds.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) me: Tid,
    pub(crate) connection: Connection,
    pub(crate) outbox: Outbox,
    pub(crate) inlet: Inlet,
    /// Messages of other hosts whose turn has come.
    arrivals: VecDeque<Arrived>,
    pub(crate) mailbox: Mailbox<Waiting>,
    /// Something was put aside that another thread may wait for.
    pub(crate) news: bool,
    /// Messages sent to each task.
    sequences: Recent<Tid, u64>,
    /// What has come from tasks of other hosts.
    order: Order<Arrived>,
    pub(crate) routes: Routes,
    pub(crate) groups: Rosters,
    /// Looks that found nothing.
    fruitless: u32,
    pub(crate) probes: Arc<Probes>,
    /// What senders were told of the messages that wait, in thousands.
    told: u32,
}

/// A message that fits a pattern and a [`Buffer`] that has memory for a cell: its only run.
struct PlainMatch<'a>(&'a Pattern);

impl Wanted for PlainMatch<'_> {
    type Found = Option<Run>;
    #[inline(always)]
    fn find(&self, envelope: &Envelope) -> Option<Option<Run>> {
        if self.0.matches(envelope) { Buffer::plain_run(envelope) } else { None }
    }
}

impl State {
    /// Of a task that has just enrolled.
    pub(crate) fn new(
        me: Tid,
        connection: Connection,
        outbox: Outbox,
        inlet: Inlet,
        probes: Arc<Probes>,
    ) -> Self {
        Self {
            me,
            connection,
            outbox,
            inlet,
            arrivals: VecDeque::new(),
            mailbox: Mailbox::new(),
            news: false,
            sequences: Recent::new(),
            order: Order::new(),
            routes: Routes::new(me),
            groups: Rosters::default(),
            fruitless: 0,
            probes,
            told: 0,
        }
    }

    /// The number of the next message to a task.
    #[inline(always)]
    pub(crate) fn next_number(&self, to: Tid) -> u64 {
        self.sequences.get(to).copied().unwrap_or(0) + 1
    }

    /// Others may hear of what this task does next sooner than of the messages that it has sent.
    pub(crate) fn tell_clock(&mut self) {
        self.outbox.follow(self.inlet.seen());
        self.outbox.tell_clock();
    }

    /// Sends by the lane of the receiver, or by that of its host. False if there is no credit now.
    pub(crate) fn send(
        &mut self,
        to: Tid,
        mut envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        envelope.dst = to;
        envelope.sequence = self.next_number(to);
        // A task of another host is reached through our daemon, by a lane for that host.
        let next = if to.host() == self.me.host() { to } else { Tid::host_id(to.host()) };
        let mut whole = Parts::of(body);
        let body = whole.body();
        self.outbox.follow(self.inlet.seen());
        // A receiver that is gone is no error: PVM drops such messages silently. A number counts
        // when the message is on its way: what follows would wait for one that never comes.
        let sent = self.outbox.send(&mut self.connection, next, &envelope, body)?;
        if sent == Sent::Delivered {
            self.sequences.insert(to, envelope.sequence);
        }
        Ok(sent != Sent::Full)
    }

    /// The short way of [`State::send`] for a message that rides in its lane, to a task of this host that
    /// has been sent to before. False if that way is not open.
    #[inline(always)]
    pub(crate) fn send_inline(&mut self, mut envelope: Envelope, payload: &[u8]) -> bool {
        let to = envelope.dst;
        let number = self.sequences.or_insert(to, 0);
        envelope.sequence = *number + 1;
        self.outbox.follow(self.inlet.seen());
        match self.outbox.send_inline(to, &mut envelope, payload) {
            Some(Sent::Delivered) => *number = envelope.sequence,
            _ => return false,
        }
        self.inlet.has_spoken();
        true
    }

    /// Sends an in-place message to a task of this host that waits for it, which reads while this writes.
    /// False if it does not wait.
    pub(crate) fn send_stream(
        &mut self,
        mut envelope: Envelope,
        (size, pieces): (usize, &[ProgramMemory]),
    ) -> Result<bool, Code> {
        let to = envelope.dst;
        if !self.outbox.is_awaited(to, &envelope) {
            return Ok(false);
        }
        // Without memory or credit the long way knows what to do.
        let Ok(mut slab) = self.outbox.slab(&mut self.connection, size) else { return Ok(false) };
        envelope.sequence = self.next_number(to);
        self.outbox.follow(self.inlet.seen());
        if self.outbox.begin_stream(to, &envelope, &mut slab).is_none() {
            return Ok(false);
        }
        let mut at = 0;
        for piece in pieces {
            for step in piece.bytes().chunks(STEP) {
                slab.write(at, step);
                at += step.len();
                slab.fill_stream(at);
            }
        }
        if self.outbox.end_stream(to) == Sent::Delivered {
            self.sequences.insert(to, envelope.sequence);
        }
        Ok(true)
    }

    /// The message that is waited for, if it is being written just now.
    pub(crate) fn take_stream(&mut self, pattern: &Pattern) -> Option<(Envelope, Waiting)> {
        let plain = self.arrivals.is_empty() && self.mailbox.find(pattern).is_none();
        if !plain || self.routes.is_asking() || !self.routes.open.is_empty() {
            return None;
        }
        let wants = |envelope: &Envelope| {
            Buffer::plain_run(envelope).is_some() && pattern.matches(envelope)
        };
        let (envelope, payload) =
            self.inlet.take_stream(&mut self.connection, pattern.source, wants)?;
        Some((envelope, Store::from(payload)))
    }

    /// The short way of [`State::find`] for a small message that lies next in a lane that is watched.
    #[inline(always)]
    pub(crate) fn take_wanted(
        &mut self,
        pattern: &Pattern,
        room: &mut [u8],
    ) -> Glance<(Envelope, usize, Option<Run>)> {
        let waits = |mailbox: &Mailbox<Waiting>| mailbox.find(pattern).is_some();
        if !self.arrivals.is_empty() || !self.mailbox.is_empty() && waits(&self.mailbox) {
            return Glance::More;
        }
        // What comes from another host may come by a route; a task of this host has its lane.
        let near = pattern.source.is_some_and(|source| source.host() == self.me.host());
        if !near && (self.routes.is_asking() || !self.routes.open.is_empty()) {
            return Glance::More;
        }
        self.inlet.take_wanted(pattern.source, &PlainMatch(pattern), room)
    }

    /// Sends to a task of another host: directly where that is possible now, else by the daemons.
    /// False if there is no credit now.
    pub(crate) fn send_abroad(
        &mut self,
        to: Tid,
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        if self.routes.is_asking() {
            // An answer may have come since; its end is noticed elsewhere.
            let _ = self.connection.receive();
            self.adopt();
        }
        if self.routes.open.contains_key(&to) {
            if self.send_directly(to, envelope, body)? {
                return Ok(true);
            }
        } else if self.routes.ask(to) {
            self.connection.tell(&Request::OpenRoute { to })?;
            self.probe_route(to, Negotiation::Asked);
        }
        self.send(to, envelope, body)
    }

    /// False if the message must go by the daemons.
    fn send_directly(
        &mut self,
        to: Tid,
        mut envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        envelope.dst = to;
        envelope.sequence = self.next_number(to);
        let Self { outbox, connection, routes, order, arrivals, .. } = self;
        let Some(direct) = routes.open.get_mut(&to).filter(|direct| direct.may_speak()) else {
            return Ok(false);
        };
        if direct.wants_renewal() {
            connection.tell(&Request::OpenRoute { to })?;
        }
        if let Prepared::Bytes(data, list) = body
            && data.len() + list.len() > INLINE_MAX
        {
            let Ok(slab) = outbox.slab(connection, data.len() + list.len()) else {
                return Ok(false);
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
                    return Ok(false);
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
            Pushed::Full => return Ok(false),
            Pushed::Released => {
                self.break_route(to);
                return Ok(false);
            }
            Pushed::Taken => {
                self.sequences.insert(to, envelope.sequence);
                self.break_route(to);
                return Ok(true);
            }
            Pushed::Kept => {}
        }
        self.sequences.insert(to, envelope.sequence);
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
        }
        Ok(true)
    }

    /// One copy for all receivers on one other host. False if there is no credit now.
    pub(crate) fn send_spread(
        &mut self,
        host: HostIndex,
        to: &[Tid],
        envelope: Envelope,
        body: &mut Prepared<'_>,
    ) -> Result<bool, Code> {
        let receiver = |&tid: &Tid| Receiver { tid, sequence: self.next_number(tid) };
        let receivers: Vec<Receiver> = to.iter().map(receiver).collect();
        let mut whole = Parts::of(body);
        let body = whole.body();
        let (connection, host) = (&mut self.connection, Tid::host_id(host));
        let sent = self.outbox.send_spread(connection, host, &envelope, (body, &receivers))?;
        if sent == Sent::Delivered {
            for receiver in &receivers {
                self.sequences.insert(receiver.tid, receiver.sequence);
            }
        }
        Ok(sent != Sent::Full)
    }

    /// Takes over the routes that the host has handed out.
    pub(crate) fn adopt(&mut self) {
        while let Some((reply, socket)) = self.connection.take_told() {
            match (reply, socket) {
                (Reply::Route { route }, Some(socket)) => self.adopt_route(&route, socket),
                // This process has no number left for the socket: the hosts, which hold it open, end it.
                (Reply::Route { route }, None) => {
                    self.routes.refused(route.peer);
                    let _ = self.connection.tell(&Request::RouteBroken { peer: route.peer });
                }
                // The wish is made again after a while.
                (Reply::NoRoute { peer }, _) => {
                    self.routes.refused(peer);
                    self.probe_route(peer, Negotiation::Refused);
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
            // The host holds the socket open, too. The other task must hear of the end by the socket itself: what the
            // hosts tell each other may come before it has its own end, and begins to use it.
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
            let _ = self.connection.tell(&Request::RouteBroken { peer });
            return;
        }
        self.probe_route(peer, Negotiation::Stands);
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
        let direct = Direct::new(self.me, route, (socket, pair), self.routes.limit())?;
        self.routes.add(peer, direct);
        Ok(())
    }

    /// A route is of no more use, here and there.
    fn break_route(&mut self, peer: Tid) {
        let Some(direct) = self.routes.remove(peer) else { return };
        self.outbox.release_pair(&direct.pair);
        self.probe_route(peer, Negotiation::Broke);
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
            self.mailbox.insert(envelope, Store::Heap(body));
        }
    }

    /// In the child of a fork: the sockets are its parent's.
    pub(crate) fn close_routes(&self) {
        for direct in self.routes.open.values() {
            crate::sys::close(direct.socket.as_raw_fd());
        }
    }

    /// The task leaves: the daemon sends what was not confirmed.
    pub(crate) fn end_routes(&mut self) {
        let peers: Vec<Tid> = self.routes.open.keys().copied().collect();
        for peer in peers {
            self.break_route(peer);
        }
    }

    /// Nothing was found: time to tell those who wait for it what has come of theirs, and to
    /// look whether the host has handed out a route. A task that sleeps is woken for that; one
    /// that only looks must look there, too.
    pub(crate) fn nothing_found(&mut self) {
        self.fruitless = self.fruitless.wrapping_add(1);
        if self.order.is_waiting() || self.fruitless.is_multiple_of(LOOKS) {
            // The end of the connection is noticed elsewhere.
            let _ = self.connection.receive();
        }
        for peer in self.routes.take_owed() {
            self.confirm_to(peer);
        }
        self.tidy();
    }

    /// Nothing was found: a moment to give back what a burst has left.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.outbox.is_large() {
            self.outbox.shrink(&mut self.connection);
        }
        self.tell_unmatched();
    }

    /// Tells senders roughly how many messages wait here that nobody has asked for.
    #[inline]
    fn tell_unmatched(&mut self) {
        let thousands = (self.mailbox.len() >> 10) as u32;
        if thousands != self.told {
            self.told = thousands;
            self.inlet.inbox().tell_unmatched(thousands << 10);
        }
    }

    /// A message that was found, its body in memory. None if it cannot be read.
    #[inline]
    pub(crate) fn at_hand(&mut self, store: Store) -> Option<Store> {
        match store {
            Store::Spilled(view) => {
                let loaded = self.inlet.load(&mut self.connection, &view, None);
                loaded.ok().map(Store::Heap)
            }
            store => Some(store),
        }
    }

    /// The run list of a waiting message that lies in a file.
    pub(crate) fn spilled_list(&mut self, key: MessageKey) -> Option<Vec<u8>> {
        let Self { mailbox, inlet, connection, .. } = self;
        match mailbox.get(key)? {
            (envelope, Store::Spilled(view)) => {
                let from = usize::try_from(envelope.data_size).ok()?;
                inlet.load(connection, view, Some(from)).ok()
            }
            _ => None,
        }
    }

    fn confirm_to(&mut self, peer: Tid) {
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

    /// The earliest match, from the mailbox, the lanes or the routes. `alone`: nobody else sleeps
    /// until it comes, so what comes behind it may stay where it is.
    #[inline]
    pub(crate) fn find(&mut self, pattern: &Pattern, alone: bool) -> Option<(Envelope, Waiting)> {
        if let Some(found) = self.mailbox.take(pattern) {
            return Some(found);
        }
        self.read_routes();
        if alone
            && self.arrivals.is_empty()
            && let Some(source) = pattern.source.filter(|source| source.host() == self.me.host())
        {
            // What others have sent may stay where it is. Where something else is to be put aside before, that is done in
            // the order of all senders' messages.
            let wants = |envelope: &Envelope| pattern.matches(envelope);
            if let Some((envelope, payload)) =
                self.inlet.next_of(&mut self.connection, source, wants)
            {
                return Some((envelope, Store::from(payload)));
            }
        }
        let mut found = None;
        while let Some((envelope, store)) = self.next_arrival(alone) {
            if found.is_none() && pattern.matches(&envelope) {
                found = Some((envelope, store));
                if alone {
                    break;
                }
            } else {
                self.news = true;
                self.mailbox.insert(envelope, store);
            }
        }
        found
    }

    /// True if something was taken in that only another look finds.
    #[inline]
    pub(crate) fn holds_more(&self) -> bool {
        self.inlet.holds_more() || !self.arrivals.is_empty()
    }

    /// Takes what the routes hold.
    fn read_routes(&mut self) {
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

    /// The next of what has come, those of other hosts in the order of their numbers.
    #[inline]
    fn next_arrival(&mut self, alone: bool) -> Option<Arrived> {
        loop {
            if let Some(arrived) = self.arrivals.pop_front() {
                return Some(arrived);
            }
            let (envelope, payload) = self.inlet.next(&mut self.connection, alone)?;
            let arrived = (envelope, Store::from(payload));
            let from = envelope.src;
            if from.host() == self.me.host() || !from.is_task() {
                return Some(arrived);
            }
            self.order.take(from, envelope.sequence, arrived, &mut self.arrivals);
        }
    }

    /// Puts all that has arrived into the mailbox.
    pub(crate) fn pull(&mut self, alone: bool) {
        self.read_routes();
        while let Some((envelope, store)) = self.next_arrival(alone) {
            self.news = true;
            self.mailbox.insert(envelope, store);
        }
        self.tell_unmatched();
    }
}
