//! The state of a task behind its gate: its lanes, its routes, the messages that have come, and the
//! numbers of those that were sent.

mod abroad;
mod parts;
mod probes;
mod told;

use crate::buffer::Store;
use crate::buffer::sending::Prepared;
use crate::connection::Connection;
use crate::mailbox::{Mailbox, MessageKey};
use crate::order::Order;
use crate::orders;
use crate::pattern::Pattern;
use crate::probe;
use crate::rosters::Rosters;
use crate::route::{self, Arrived, Routes};
use crate::sys::memory::ProgramMemory;
use crate::task::aside::{ARRIVALS, MAILBOX, ROUTES};
use crate::wait::may_wait_for_one;
use parts::Parts;
use pvm_shm::lane::Head;
use pvm_shm::probe::Probes;
use pvm_shm::recent::Recent;
use pvm_shm::{Glance, Inlet, Outbox, Sent};
use pvm_wire::record::Way;
use pvm_wire::{Address, Code, Envelope, Layout, Tid};
use std::collections::VecDeque;
use std::sync::Arc;
use told::Told;

/// The receiver of an in-place message is told of each piece of this many bytes, while they are
/// still in the cache.
const STEP: usize = 16 << 10;
/// One of this many looks that find nothing also reads the connection to the host.
const LOOKS: u32 = 64;
/// Messages that one look puts aside before it draws a line: some 5 ms of a sender that does not
/// stop.
const LOOK_MAX: usize = 1 << 14;
/// A look that has found its message stops once it has put this many others into the mailbox.
const ENOUGH: usize = 1 << 10;
/// A look tells the senders how many messages wait, each time it has put this many aside.
const TOLD_EVERY: usize = 1 << 10;

/// A message that waits: its bytes.
pub(crate) type Waiting = Store;

/// A message that was found, with its name where others may wait behind it.
type Found = (Option<MessageKey>, Envelope, Store);

/// Where the messages of other senders are to be after a look for one sender's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Others {
    /// In the mailbox.
    Come,
    /// In their lanes, if they can stay there: the caller then waits for the one sender only
    /// ([`WaitToken::narrow`](crate::WaitToken::narrow)).
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
    told: Told,
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
            told: Told::default(),
        }
    }

    /// The number of the next message to a task.
    #[inline(always)]
    pub(crate) fn next_number(&self, to: Tid) -> u64 {
        self.last_number(to) + 1
    }

    /// The number of the last message to a task.
    #[inline(always)]
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
    #[inline(always)]
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
                    probe::note_piece(&self.probes, begin, (to, Way::Memory), told);
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

    /// Puts a message into the mailbox; `count` counts those that this look has put there.
    #[inline]
    fn put_aside(&mut self, (envelope, store): Arrived, count: &mut usize) {
        self.news = true;
        orders::taken_in(&envelope);
        self.mailbox.insert(envelope, store);
        *count += 1;
        if count.is_multiple_of(TOLD_EVERY) {
            self.told.tell(self.mailbox.len(), &self.inlet);
        }
        if *count == LOOK_MAX {
            self.inlet.draw_line();
        }
    }

    /// Takes the earliest match, its body in memory. A message that makes no sense is dropped.
    ///
    /// # Errors
    /// [`Code::NoMem`] where there is no room for the body: the message stays where it was.
    #[inline]
    pub(crate) fn find_at_hand(
        &mut self,
        pattern: &Pattern,
        how: (bool, Others),
    ) -> Result<Option<Arrived>, Code> {
        let mut lacked = false;
        loop {
            let before = self.inlet.findings();
            let found = self.find(pattern, how);
            // A handler of signals may have interrupted a wait for a message whose mark this look
            // has taken: that wait is over.
            self.news |= self.inlet.findings() != before && self.inlet.holds_more();
            let Some((key, envelope, store)) = found else {
                if !self.inlet.watch().take_lack() {
                    return Ok(None);
                }
                if lacked {
                    // The wanted message may be behind it, and nothing would wake a thread that
                    // waits for room.
                    return Err(Code::NoMem);
                }
                // The lack may be an earlier look's, and there may be room now.
                lacked = true;
                continue;
            };
            if !matches!(store, Store::Spilled(_) | Store::Unmapped(_)) {
                return Ok(Some((envelope, store)));
            }
            let key = key.unwrap_or_else(|| self.mailbox.name());
            if let Some(store) = self.bring(key, envelope, store)? {
                return Ok(Some((envelope, store)));
            }
        }
    }

    /// The body of a message of this name, in memory; none if it cannot be read.
    ///
    /// # Errors
    /// [`Code::NoMem`] where there is no room for it: the message is back in the mailbox.
    #[cold]
    pub(crate) fn bring(
        &mut self,
        key: MessageKey,
        envelope: Envelope,
        store: Store,
    ) -> Result<Option<Store>, Code> {
        let brought = match self.nearer(store) {
            Ok(Store::Spilled(view)) => {
                let loaded = self.inlet.load(&mut self.connection, &view, None);
                loaded.map(Store::Heap).map_err(|code| (code, Store::Spilled(view)))
            }
            other => other,
        };
        match brought {
            Ok(brought) => Ok(Some(brought)),
            Err((Code::NoMem, store)) => {
                self.mailbox.restore(key, envelope, store);
                Err(Code::NoMem)
            }
            Err(_) => Ok(None),
        }
    }

    /// A body whose segment is mapped, or why it is not. The result must be kept: it holds the
    /// message, and lets go of it when it is dropped.
    fn nearer(&mut self, store: Store) -> Result<Store, (Code, Store)> {
        let Store::Unmapped(body) = store else { return Ok(store) };
        let mapped = self.inlet.map_now(&mut self.connection, &body);
        mapped.map(Store::from).map_err(|code| (code, Store::Unmapped(body)))
    }

    /// The run list of a waiting message that lies in a file; a message that could not be mapped
    /// is, if there is room now.
    pub(crate) fn distant_list(&mut self, key: MessageKey) -> Option<Vec<u8>> {
        if matches!(self.mailbox.get(key)?.1, Store::Unmapped(_)) {
            let (envelope, store) = self.mailbox.remove(key)?;
            let store = self.nearer(store).unwrap_or_else(|(_, store)| store);
            self.mailbox.restore(key, envelope, store);
        }
        let Self { mailbox, inlet, connection, .. } = self;
        match mailbox.get(key)? {
            (envelope, Store::Spilled(view)) => {
                let from = usize::try_from(envelope.data_size).ok()?;
                inlet.load(connection, view, Some(from)).ok()
            }
            _ => None,
        }
    }

    /// The earliest match, from the mailbox, the lanes or the routes. `alone`: no other thread
    /// sleeps until it comes, so later messages may stay where they are.
    #[inline]
    fn find(&mut self, pattern: &Pattern, (alone, others): (bool, Others)) -> Option<Found> {
        if let Some((key, envelope, store)) = self.mailbox.take(pattern) {
            return Some((Some(key), envelope, store));
        }
        self.read_routes();
        if alone
            && self.arrivals.is_empty()
            && let Some(source) = pattern.source.filter(|source| source.host() == self.me.host())
        {
            // Messages of other senders may stay where they are. Where other messages are to be put
            // aside before, that is done in the order of all senders' messages.
            let wants = |envelope: &Envelope| pattern.matches(envelope);
            if let Some((envelope, payload)) =
                self.inlet.next_of(&mut self.connection, source, wants)
            {
                return Some((None, envelope, Store::from(payload)));
            }
            if others == Others::Stay && !self.order.is_beginning() && may_wait_for_one() {
                let only = (source, orders::CONTEXT);
                match self.inlet.next_from(&mut self.connection, only, wants) {
                    Glance::Taken((envelope, payload)) => {
                        return Some((None, envelope, Store::from(payload)));
                    }
                    Glance::Nothing => return None,
                    Glance::More => {}
                }
            }
        }
        let (mut found, mut taken) = (None, 0);
        while let Some((envelope, store)) = self.next_arrival(alone) {
            if found.is_none() && pattern.matches(&envelope) {
                if alone {
                    self.inlet.erase_line();
                    return Some((None, envelope, store));
                }
                found = Some((Some(self.mailbox.name()), envelope, store));
            } else {
                self.put_aside((envelope, store), &mut taken);
                if found.is_some() && taken >= ENOUGH {
                    // A thread that waits for the rest looks again: see `holds_more`.
                    break;
                }
            }
        }
        self.inlet.erase_line();
        found
    }

    /// True if something was taken in that only another look finds.
    #[inline]
    pub(crate) fn holds_more(&self) -> bool {
        self.inlet.holds_more() || !self.arrivals.is_empty() || self.order.is_beginning()
    }

    /// The next message that has come; those of other hosts come in the order of their numbers.
    #[inline]
    fn next_arrival(&mut self, alone: bool) -> Option<Arrived> {
        let mut lacked = false;
        loop {
            if let Some(arrived) = self.arrivals.pop_front() {
                return Some(arrived);
            }
            let Some((envelope, payload)) = self.inlet.next(&mut self.connection, alone) else {
                if !self.order.is_beginning() {
                    return None;
                }
                // A message that is out of reach now may be a sender's first one; it would count as
                // repeated if a later one began.
                if self.inlet.watch().is_lacking() {
                    if lacked {
                        return None;
                    }
                    // It may have been an earlier look that lacked.
                    lacked = self.inlet.watch().take_lack();
                    continue;
                }
                self.order.settle(&mut self.arrivals);
                continue;
            };
            let arrived = (envelope, Store::from(payload));
            let from = envelope.src;
            if from.host() == self.me.host() || !from.is_task() {
                return Some(arrived);
            }
            route::take(&mut self.order, (arrived, Way::Daemons), &mut self.arrivals);
        }
    }

    /// Puts all that has arrived into the mailbox.
    pub(crate) fn pull(&mut self, alone: bool) {
        self.read_routes();
        let mut taken = 0;
        while let Some(arrived) = self.next_arrival(alone) {
            self.put_aside(arrived, &mut taken);
        }
        self.inlet.erase_line();
        self.told.tell(self.mailbox.len(), &self.inlet);
    }
}

/// Bytes as they are, of this layout.
fn is_plain(envelope: &Envelope) -> bool {
    envelope.layout == Layout::NATIVE && envelope.only_run().is_ok()
}
