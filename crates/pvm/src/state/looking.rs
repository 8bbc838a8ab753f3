//! Looks of a task for messages: in the mailbox, in the lanes, and by the routes.

use super::{Arrived, Found, Others, State};
use crate::buffer::Store;
use crate::mailbox::MessageKey;
use crate::orders;
use crate::pattern::Pattern;
use crate::route;
use crate::wait::may_wait_for_one;
use pvm_shm::Glance;
use pvm_wire::record::RouteKind;
use pvm_wire::{Code, Envelope};

/// Messages that one look puts aside before it draws a line: some 5 ms of a sender that does not
/// stop.
const LOOK_MAX: usize = 1 << 14;
/// A look that has found its message stops once it has put this many others into the mailbox.
const ENOUGH: usize = 1 << 10;
/// A look tells the senders how many messages wait, each time it has put this many aside.
const TOLD_EVERY: usize = 1 << 10;

impl State {
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
            let stays = others == Others::Stay && source.is_task();
            if stays && !self.order.is_beginning() && may_wait_for_one() {
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
            route::take(&mut self.order, (arrived, RouteKind::Daemons), &mut self.arrivals);
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
