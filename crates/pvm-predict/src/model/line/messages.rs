//! The messages that nobody has taken.

use super::task::{Causes, Receive};
use crate::action::TaskNumber;
use crate::blame::{Chain, Phase, Told};
use crate::error::Error;
use crate::kernel::Map;
use crate::unit::Time;
use std::collections::hash_map::Entry;

/// The most messages that are kept until they are taken.
const MESSAGES_MAX: usize = 1 << 26;
/// The index that is in no list.
const NOBODY: u32 = u32::MAX;

/// Receiver, sender and tag; if bytes are taken, the tag is always 0.
pub(super) type Key = (TaskNumber, TaskNumber, i32);

/// A message that has not been taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) serial: u64,
    /// The bytes that were not taken.
    pub(super) left: u64,
    pub(super) began: Time,
    pub(super) handed: Time,
    pub(super) entered: Time,
    pub(super) arrived: Time,
    /// The chain of causes of its begin.
    pub(super) chain: Causes,
}

/// The messages of one key, in their order.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// All of them, each with the next one of its key or the next free place.
#[derive(Debug)]
pub(super) struct Messages {
    lists: Map<Key, List>,
    all: Vec<(Message, u32)>,
    free: u32,
}

impl Messages {
    pub(super) fn new() -> Self {
        Self { lists: Map::default(), all: Vec::new(), free: NOBODY }
    }

    /// Keeps a message behind the others of its key.
    pub(super) fn put(&mut self, key: Key, message: Message) -> Result<(), Error> {
        let place = self.place((message, NOBODY)).ok_or(Error::TooMany {
            task: key.1,
            what: "its sends",
            limit: MESSAGES_MAX,
        })?;
        match self.lists.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(List { first: place, last: place });
            }
            Entry::Occupied(entry) => {
                let last = std::mem::replace(&mut entry.into_mut().last, place);
                self.all[last as usize].1 = place;
            }
        }
        Ok(())
    }

    /// The most messages that were kept at one time.
    #[cfg(test)]
    pub(super) const fn most(&self) -> usize {
        self.all.len()
    }

    /// Finds a place for a message.
    fn place(&mut self, entry: (Message, u32)) -> Option<u32> {
        let place = self.free;
        if let Some(free) = self.all.get_mut(place as usize) {
            self.free = free.1;
            *free = entry;
            return Some(place);
        }
        if self.all.len() >= MESSAGES_MAX {
            return None;
        }
        self.all.push(entry);
        Some(self.all.len() as u32 - 1)
    }

    /// A receive takes of the first message of a key as much as it asks for, or the whole message;
    /// false if there is none.
    pub(super) fn take(&mut self, key: Key, receive: &mut Receive, takes_bytes: bool) -> bool {
        let Entry::Occupied(mut list) = self.lists.entry(key) else { return false };
        let place = list.get().first;
        let (message, next) = &mut self.all[place as usize];
        let some = if takes_bytes { receive.left.min(message.left) } else { message.left };
        message.left -= some;
        receive.left = if takes_bytes { receive.left - some } else { 0 };
        message.tell(receive);
        receive.message = (message.left == 0).then_some(message.serial);
        if message.left == 0 {
            let next = std::mem::replace(next, self.free);
            self.free = place;
            match next {
                NOBODY => drop(list.remove()),
                next => list.get_mut().first = next,
            }
        }
        true
    }
}

impl Message {
    /// Adds the causes of the message's delay to a receive, and the chain of its arrival if that is
    /// the last so far.
    fn tell(&self, receive: &mut Receive) {
        let wait = &mut receive.wait;
        let before = wait.end();
        let mut way = Told::since(self.began);
        for told in [wait, &mut way] {
            told.until(Phase::Late, self.began);
            told.until(Phase::Host, self.handed);
            told.until(Phase::Queue, self.entered);
            told.until(Phase::Wire, self.arrived);
        }
        if receive.wait.end() > before {
            receive.cause = Chain::from(self.chain).follow(&way.split);
        }
    }
}
