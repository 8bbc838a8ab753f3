//! Messages of other hosts, each once and in the order of their sending.
//!
//! They may come by the daemons, by a direct route, by both, and more than once: a daemon that was
//! replaced and a link that broke send unconfirmed messages again. The number in the envelope
//! decides.
//!
//! Task ids are used again after many others. A sender keeps counting although its receiver's id
//! may belong to a new task by now; so a task that hears from a sender for the first time begins
//! with the number that it finds. Messages by the daemons come in the order of their sending, so
//! the first of them is the beginning - unless two daemons have handed messages on, one after the
//! other, each by a lane of its own: then all lanes are read first. A message by a direct route is
//! never taken for a sender's first one, because it may overtake earlier ones. No message is lost
//! by that: a route is first used behind a message by the daemons. The stamp tells whether a
//! sender's id still belongs to the same task.

mod stamp;

use pvm_wire::Tid;
pub(crate) use stamp::{Life, Stamp};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The messages of one sender.
#[derive(Debug)]
struct Pair<M> {
    life: Life,
    /// The number that comes next; none before the first one is known.
    next: Option<u64>,
    /// Messages that came before their turn, each with whether it may be the first.
    early: BTreeMap<u64, (bool, M)>,
}

/// The tasks of one id: the one that was heard of last, and the one before it, whose messages may
/// still be repeated.
#[derive(Debug)]
struct Lives<M> {
    newest: Pair<M>,
    former: Option<Pair<M>>,
}

/// The order of all senders.
#[derive(Debug)]
pub(crate) struct Order<M> {
    senders: BTreeMap<Tid, Lives<M>>,
    /// Messages that wait for one before them.
    early: usize,
    /// Senders that are heard of for the first time, in the middle of their messages.
    beginning: BTreeSet<Tid>,
}

impl<M> Pair<M> {
    const fn new(life: Life) -> Self {
        Self { life, next: None, early: BTreeMap::new() }
    }

    /// True if it waits for its turn now.
    fn take(&mut self, stamp: Stamp, message: M, out: &mut VecDeque<M>) -> bool {
        let number = stamp.number();
        let begins = !stamp.is_direct();
        if self.next.is_none() && begins && number == 1 {
            self.next = Some(1);
        }
        match self.next {
            Some(next) if number < next => false,
            Some(next) if number == next => {
                out.push_back(message);
                self.next = Some(next + 1);
                false
            }
            _ => self.early.insert(number, (begins, message)).is_none(),
        }
    }

    /// Takes out the messages whose turn has come, and returns how many.
    fn follow(&mut self, out: &mut VecDeque<M>) -> usize {
        let before = out.len();
        while let Some(next) = self.next
            && let Some((_, message)) = self.early.remove(&next)
        {
            self.next = Some(next + 1);
            out.push_back(message);
        }
        out.len() - before
    }

    /// No earlier message can come any more, so the first one that may begin does. Returns how many
    /// were dropped.
    fn begin(&mut self) -> usize {
        let first = self.early.iter().find(|(_, (begins, _))| *begins);
        let (None, Some((&first, _))) = (self.next, first) else { return 0 };
        let before = self.early.len();
        self.next = Some(first);
        self.early = self.early.split_off(&first);
        before - self.early.len()
    }
}

impl<M> Lives<M> {
    /// The pair of this life, and how many messages of an older one were dropped for it.
    fn of(&mut self, life: Life) -> (&mut Pair<M>, usize) {
        if self.newest.life == life {
            return (&mut self.newest, 0);
        }
        if self.former.as_ref().is_none_or(|former| former.life != life) {
            let former = std::mem::replace(&mut self.newest, Pair::new(life));
            let dropped = self.former.replace(former).map_or(0, |oldest| oldest.early.len());
            return (&mut self.newest, dropped);
        }
        (self.former.as_mut().unwrap_or(&mut self.newest), 0)
    }
}

impl<M> Order<M> {
    /// Nothing has come.
    pub(crate) const fn new() -> Self {
        Self { senders: BTreeMap::new(), early: 0, beginning: BTreeSet::new() }
    }

    /// A message has come: it goes to `out` when all before it have, and with it those that it
    /// was missing for; one that has come before is dropped.
    pub(crate) fn take(&mut self, from: Tid, stamp: Stamp, message: M, out: &mut VecDeque<M>) {
        let lives = || Lives { newest: Pair::new(stamp.life()), former: None };
        let (pair, dropped) = self.senders.entry(from).or_insert_with(lives).of(stamp.life());
        let waits = pair.take(stamp, message, out);
        self.early = self.early + usize::from(waits) - dropped - pair.follow(out);
        if pair.next.is_none() && waits && !stamp.is_direct() {
            self.beginning.insert(from);
        }
    }

    /// All lanes are empty: a sender that is heard of for the first time begins with its first
    /// message that is here.
    pub(crate) fn settle(&mut self, out: &mut VecDeque<M>) {
        while let Some(from) = self.beginning.pop_first() {
            let Some(lives) = self.senders.get_mut(&from) else { continue };
            for pair in lives.former.iter_mut().chain([&mut lives.newest]) {
                self.early -= pair.begin() + pair.follow(out);
            }
        }
    }

    /// True until [`Order::settle`], where that would find something.
    pub(crate) fn is_beginning(&self) -> bool {
        !self.beginning.is_empty()
    }

    /// True where something waits for one before it, which may come another way.
    pub(crate) const fn is_waiting(&self) -> bool {
        self.early > 0
    }

    /// The last message of a sender up to which nothing is missing; number 0 if there is none.
    pub(crate) fn last(&self, from: Tid) -> Stamp {
        let pair = self.senders.get(&from).map(|lives| &lives.newest);
        pair.map_or(Stamp::from_raw(0), |pair| {
            Stamp::new(pair.life, pair.next.map_or(0, |next| next.saturating_sub(1)))
        })
    }
}

#[cfg(test)]
mod tests;
