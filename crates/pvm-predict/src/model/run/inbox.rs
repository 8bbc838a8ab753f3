//! Messages that have arrived, by receiver, sender and tag, each with the causes of its arrival.

use crate::action::{Matching, TaskNumber};
use crate::blame::{Chain, Phase, Told};
use crate::kernel::Map;
use crate::unit::Time;
use std::collections::VecDeque;
use std::fmt::Debug;

/// A message that was handed over, or has arrived.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Message {
    pub(in crate::model) serial: u64,
    pub(in crate::model) bytes: u64,
    pub(in crate::model) tag: i32,
    pub(in crate::model) began: Time,
    pub(in crate::model) handed: Time,
    /// The chain of causes of its begin.
    pub(in crate::model) chain: Chain,
}

/// The transfer of a message over the network.
pub(in crate::model) trait Transfer: Copy + Debug + Send {
    /// Tells what held the message up, from the moment at which it was handed over.
    fn tell(&self, told: &mut Told);
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Arrived<W> {
    message: Message,
    left: u64,
    /// Its transfer over the network; none for a message of a task to itself.
    way: Option<W>,
    /// The time of its arrival through memory.
    there: Time,
}

/// A receive that waits, or has just begun.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Receive {
    pub(in crate::model) from: TaskNumber,
    pub(in crate::model) tag: i32,
    pub(in crate::model) bytes: u64,
    pub(in crate::model) left: u64,
    pub(in crate::model) time: Time,
    pub(in crate::model) began: Time,
    pub(in crate::model) wait: Told,
    /// The chain of causes of the last message that it has taken.
    pub(in crate::model) cause: Chain,
    /// The message whose last byte it took.
    pub(in crate::model) message: Option<u64>,
    pub(in crate::model) is_done: bool,
}

impl<W: Transfer> Arrived<W> {
    pub(in crate::model) fn new(message: Message, way: Option<W>) -> Self {
        Self { message, left: message.bytes, way, there: message.handed }
    }

    /// A message that arrived through memory at this time.
    pub(in crate::model) fn through_memory(message: Message, there: Time) -> Self {
        Self { message, left: message.bytes, way: None, there }
    }

    /// Adds the causes of the message's delay.
    fn tell(&self, told: &mut Told) {
        told.until(Phase::Late, self.message.began);
        told.until(Phase::Host, self.there);
        self.way.iter().for_each(|way| way.tell(told));
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

/// The messages of one sender with one tag, in their order.
type List<W> = VecDeque<Box<Arrived<W>>>;

/// Messages that have arrived and were not taken.
#[derive(Debug)]
pub(in crate::model) struct Inbox<W> {
    lists: Map<(TaskNumber, TaskNumber, i32), List<W>>,
    matching: Matching,
}

impl<W: Transfer> Inbox<W> {
    pub(in crate::model) fn new(matching: Matching) -> Self {
        Self { lists: Map::default(), matching }
    }

    /// True if a message of this sender with this tag has arrived.
    pub(in crate::model) fn has(&self, task: TaskNumber, from: TaskNumber, tag: i32) -> bool {
        self.lists.contains_key(&(task, from, self.matching.tag(tag)))
    }

    pub(in crate::model) fn put(
        &mut self,
        to: TaskNumber,
        from: TaskNumber,
        arrived: Box<Arrived<W>>,
    ) {
        let key = (to, from, self.matching.tag(arrived.message.tag));
        // A list has one message in most cases.
        let list = self.lists.entry(key).or_insert_with(|| VecDeque::with_capacity(1));
        list.push_back(arrived);
    }

    /// A receive takes what has arrived. It has ended then, or waits for more.
    pub(in crate::model) fn take(&mut self, task: TaskNumber, receive: &mut Receive) {
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
