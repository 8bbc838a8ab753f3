//! Messages that have arrived, by receiver, sender and tag, and what led to each.

use super::wires::Packet;
use crate::action::{Matching, TaskNumber};
use crate::blame::{Chain, Phase, Told};
use crate::kernel::Map;
use crate::unit::Time;
use std::collections::VecDeque;

/// A message that was handed over, or has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) serial: u64,
    pub(super) bytes: u64,
    pub(super) tag: i32,
    /// In its connection's stream, the byte behind its last one.
    pub(super) end: u64,
    pub(super) began: Time,
    pub(super) handed: Time,
    /// What led to its begin.
    pub(super) chain: Chain,
}

/// One that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    message: Message,
    left: u64,
    /// The packet that was the last it waited for, unless it is one to oneself.
    last: Option<Packet>,
    /// When it was there, if it came through memory.
    there: Time,
}

/// A receive that waits, or has just begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    pub(super) from: TaskNumber,
    pub(super) tag: i32,
    pub(super) bytes: u64,
    pub(super) left: u64,
    pub(super) time: Time,
    pub(super) began: Time,
    pub(super) wait: Told,
    /// What led to the last of what it has taken.
    pub(super) cause: Chain,
    /// The message whose last byte it took.
    pub(super) message: Option<u64>,
    pub(super) is_done: bool,
}

impl Arrived {
    pub(super) const fn new(message: Message, last: Option<Packet>) -> Self {
        Self { message, left: message.bytes, last, there: message.handed }
    }

    /// Through memory, at this time.
    pub(super) const fn through_memory(message: Message, there: Time) -> Self {
        Self { message, left: message.bytes, last: None, there }
    }

    /// What held it up.
    fn tell(&self, told: &mut Told) {
        told.until(Phase::Late, self.message.began);
        told.until(Phase::Host, self.there);
        if let Some(last) = &self.last {
            told.until(Phase::Queue, last.segment.first_sent);
            told.until(Phase::Retransmission, last.segment.sent);
            last.tell(told);
        }
    }

    fn taken_by(&self, receive: &mut Receive) {
        let before = receive.wait.end();
        let mut way = Told::since(self.message.began);
        self.tell(&mut receive.wait);
        self.tell(&mut way);
        if receive.wait.end() > before {
            receive.cause = self.message.chain.follow(&way.split);
        }
    }
}

/// What has arrived and was not taken.
#[derive(Debug)]
pub(super) struct Inbox {
    lists: Map<(TaskNumber, TaskNumber, i32), VecDeque<Arrived>>,
    matching: Matching,
}

impl Inbox {
    pub(super) fn new(matching: Matching) -> Self {
        Self { lists: Map::default(), matching }
    }

    /// True if something of this sender with this tag is there.
    pub(super) fn has(&self, task: TaskNumber, from: TaskNumber, tag: i32) -> bool {
        self.lists.contains_key(&(task, from, self.matching.tag(tag)))
    }

    pub(super) fn put(&mut self, to: TaskNumber, from: TaskNumber, arrived: Arrived) {
        let key = (to, from, self.matching.tag(arrived.message.tag));
        self.lists.entry(key).or_default().push_back(arrived);
    }

    /// A receive takes what is there. It is done, or waits for more.
    pub(super) fn take(&mut self, task: TaskNumber, receive: &mut Receive) {
        let key = (task, receive.from, self.matching.tag(receive.tag));
        let is_over = |receive: &Receive| match self.matching {
            Matching::Messages | Matching::Numbers => receive.message.is_some(),
            Matching::Bytes => receive.left == 0,
        };
        while !is_over(receive) {
            let Some(list) = self.lists.get_mut(&key) else { return };
            let Some(first) = list.front_mut() else { return };
            let some = match self.matching {
                Matching::Messages | Matching::Numbers => first.left,
                Matching::Bytes => receive.left.min(first.left),
            };
            first.left -= some;
            receive.left = receive.left.saturating_sub(some);
            first.taken_by(receive);
            let is_whole = first.left == 0;
            receive.message = is_whole.then_some(first.message.serial);
            if is_whole {
                list.pop_front();
                if list.is_empty() {
                    self.lists.remove(&key);
                }
            }
        }
        receive.is_done = true;
    }
}
