//! The state of a task behind its gate: its lanes, its routes, the messages that have come, and the
//! numbers of those that were sent.

mod abroad;
mod looking;
mod parts;
mod probes;
mod told;

use crate::buffer::Store;
use crate::buffer::sending::Prepared;
use crate::connection::Connection;
use crate::mailbox::{Mailbox, MessageKey};
use crate::order::Order;
use crate::pattern::Pattern;
use crate::probe;
use crate::rosters::Rosters;
use crate::route::{Arrived, Routes};
use crate::sys::memory::ProgramMemory;
use crate::task::aside::{ARRIVALS, MAILBOX, ROUTES};
use parts::Parts;
use pvm_shm::lane::Head;
use pvm_shm::probe::Probes;
use pvm_shm::recent::Recent;
use pvm_shm::{Inlet, Outbox, Sent};
use pvm_wire::record::RouteKind;
use pvm_wire::{Address, Code, Envelope, Layout, Tid};
use std::collections::VecDeque;
use std::sync::Arc;
use told::BacklogReport;

/// The receiver of an in-place message is told of each piece of this many bytes, while they are
/// still in the cache.
const STEP: usize = 16 << 10;
/// One of this many looks that find nothing also reads the connection to the host.
const LOOKS: u32 = 64;
/// A message that waits: its bytes.
pub(crate) type Waiting = Store;

/// A message that was found, with its name where others may wait behind it.
type Found = (Option<MessageKey>, Envelope, Store);

/// The place of the messages of other senders after a look for one sender's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Others {
    /// In the mailbox.
    Come,
    /// In their lanes, if they can stay there: the caller then waits for the one sender only
    /// ([`Awaited`](crate::Awaited)).
    Stay,
}

/// The state of a task.
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
    /// Messages sent to each task that there is no lane to: those of other hosts, and this one.
    sequences: Recent<Tid, u64>,
    /// The order of messages from tasks of other hosts.
    order: Order<Arrived>,
    pub(crate) routes: Routes,
    pub(crate) groups: Rosters,
    /// Looks that found nothing.
    fruitless: u32,
    pub(crate) probes: Arc<Probes>,
    /// The number of waiting messages that senders were told, in thousands.
    told: BacklogReport,
}

impl State {
    /// The state of a task that has just enrolled.
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
            told: BacklogReport::default(),
        }
    }

    /// The number of the next message to a task.
    #[inline]
    pub(crate) fn next_number(&self, to: Tid) -> u64 {
        self.last_number(to) + 1
    }

    /// The number of the last message to a task.
    #[inline]
    pub(crate) fn last_number(&self, to: Tid) -> u64 {
        let by_lane = self.outbox.last_number(to);
        by_lane.unwrap_or_else(|| self.sequences.get(to).copied().unwrap_or(0))
    }

    /// The number of a message that was sent.
    pub(crate) fn note_number(&mut self, to: Tid, number: u64) {
        if !self.outbox.note_number(to, number) {
            self.sequences.insert(to, number);
        }
    }

    /// A number for a message that the task sends to itself.
    pub(crate) fn number_own(&mut self) -> u64 {
        let number = self.next_number(self.me);
        self.sequences.insert(self.me, number);
        number
    }

    /// Called before this task does something of which others may hear sooner than of the messages
    /// that it has sent.
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
        envelope.sequence = self.next_stamp(to);
        // A task of another host is reached through our daemon, by a lane for that host.
        let next = if to.host() == self.me.host() { to } else { Tid::host_id(to.host()) };
        let mut whole = Parts::of(body);
        let body = whole.body();
        self.outbox.follow(self.inlet.seen());
        // A receiver that is gone is no error: PVM drops such messages silently.
        let sent = self.outbox.send(&mut self.connection, next, &envelope, body)?;
        if sent == Sent::Delivered {
            self.is_on_its_way(to, envelope.sequence);
        }
        Ok(sent != Sent::Full)
    }

    /// The fast path of [`State::send`] for a message that rides in its lane, to a task of this
    /// host that has been sent to before: its number. None if that is not open.
    // One copy, out of line: it does not disturb the registers of its callers.
    #[inline(never)]
    pub(crate) fn send_small(&mut self, to: Address, head: &mut Head, data: &[u8]) -> Option<u64> {
        self.outbox.follow(self.inlet.seen());
        let number = self.outbox.send_small(self.me, to, head, data)?;
        self.inlet.has_spoken();
        Some(number)
    }

    /// [`State::send_small`] of a few bytes to the receiver of the last send, in place: for callers
    /// that do nothing else. If the message was published, the answer is whether its receiver looks
    /// there by itself.
    #[inline]
    pub(crate) fn send_few<'a>(
        &mut self,
        to: Address,
        message: impl FnOnce() -> Option<(&'a mut Head, &'a [u8])>,
    ) -> Option<bool> {
        let is_seen = self.outbox.send_few((self.me, self.inlet.seen()), to, message)?;
        self.inlet.has_spoken();
        Some(is_seen)
    }

    /// The bits of the state that stand against the fast path of a receive.
    #[inline]
    pub(crate) fn stands_aside(&self) -> u32 {
        let bit = |is_so: bool, bit| if is_so { bit } else { 0 };
        bit(self.routes.is_asking() || !self.routes.open.is_empty(), ROUTES)
            | bit(!self.arrivals.is_empty(), ARRIVALS)
            | bit(!self.mailbox.is_empty(), MAILBOX)
    }

    /// Sends an in-place message to a task of this host that waits for it, which reads while this
    /// writes. False if it does not wait.
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
                let begin = probe::moment(&self.probes).filter(|_| size > STEP);
                slab.write(at, step);
                at += step.len();
                slab.fill_stream(at);
                if let Some(begin) = begin {
                    let told = (&envelope, step.len());
                    probe::note_piece(&self.probes, begin, (to, RouteKind::Memory), told);
                }
            }
        }
        if self.outbox.end_stream(to) == Sent::Delivered {
            self.note_number(to, envelope.sequence);
        }
        Ok(true)
    }

    /// The message that is waited for, if it is being written just now.
    pub(crate) fn take_stream(&mut self, pattern: &Pattern) -> Option<(Envelope, Waiting)> {
        let plain = self.arrivals.is_empty() && self.mailbox.find(pattern).is_none();
        if !plain || self.routes.is_asking() || !self.routes.open.is_empty() {
            return None;
        }
        let wants = |envelope: &Envelope| is_plain(envelope) && pattern.matches(envelope);
        let (envelope, payload) =
            self.inlet.take_stream(&mut self.connection, pattern.source, wants)?;
        Some((envelope, Store::from(payload)))
    }

    /// Nothing was found: confirms messages to the tasks that wait for that, and looks whether the
    /// host has handed out a route. A sleeping task is woken for that; one that only looks must
    /// look there, too.
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

    /// Nothing was found: a moment to give back the memory that a burst has left.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.outbox.is_large() {
            self.outbox.shrink(&mut self.connection);
        }
        self.told.tell(self.mailbox.len(), &self.inlet);
    }
}

/// Bytes as they are, of this layout.
fn is_plain(envelope: &Envelope) -> bool {
    envelope.layout == Layout::NATIVE && envelope.only_run().is_ok()
}
