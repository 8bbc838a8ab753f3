//! Requests that have arrived and are not served yet. They are served one of each client in turn.
//!
//! So a client with thousands of requests delays the others by one of them at a time. Requests
//! beyond a bound are dropped as if they had been lost, because clients repeat a request without an
//! answer.

use pvm_tuples::frames::Ask;
use pvm_wire::Tid;
use std::collections::{BTreeMap, VecDeque};

/// The most waiting requests of one client ...
const WAITING_MAX: usize = 1 << 16;
/// ... and the most bytes of them, unless it is a single request.
const BYTES_MAX: usize = 64 << 20;
/// The number of clients whose request may be served as it arrives.
const AT_ONCE_MAX: usize = 8;

#[derive(Default, Debug)]
struct Queue {
    asks: VecDeque<(Ask, usize)>,
    bytes: usize,
}

/// The waiting requests of all clients.
#[derive(Default, Debug)]
pub(super) struct ClientQueues {
    /// The first request of all. It is mostly the only one, and needs no queue.
    first: Option<(Tid, Ask)>,
    queues: BTreeMap<Tid, Queue>,
    /// The clients with a queue, the next one first.
    next: VecDeque<Tid>,
    /// The clients whose request was served as it arrived, since all messages were taken in.
    at_once: Vec<Tid>,
}

impl ClientQueues {
    /// True if a request of this client is served before more messages are taken in: no other
    /// request waits, and it is the client's first since all messages were taken in. So a client
    /// that sends one request and waits for its answer does not wait for a queue.
    pub(super) fn goes_at_once(&mut self, client: Tid) -> bool {
        let is_first = self.at_once.len() < AT_ONCE_MAX && !self.at_once.contains(&client);
        let goes = self.is_empty() && is_first;
        if goes {
            self.at_once.push(client);
        }
        goes
    }

    /// Notes that all messages have been taken in.
    pub(super) fn all_taken_in(&mut self) {
        self.at_once.clear();
    }

    /// Adds a request of this size.
    pub(super) fn push(&mut self, client: Tid, ask: Ask, bytes: usize) {
        if self.is_empty() {
            self.first = Some((client, ask));
            return;
        }
        let queue = self.queues.entry(client).or_default();
        if queue.asks.is_empty() {
            self.next.push_back(client);
        } else if queue.asks.len() >= WAITING_MAX || queue.bytes.saturating_add(bytes) > BYTES_MAX {
            return;
        }
        queue.bytes += bytes;
        queue.asks.push_back((ask, bytes));
    }

    /// Takes the request that is served next.
    pub(super) fn pop(&mut self) -> Option<(Tid, Ask)> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let client = self.next.pop_front()?;
        let queue = self.queues.get_mut(&client)?;
        let (ask, bytes) = queue.asks.pop_front()?;
        queue.bytes -= bytes;
        if queue.asks.is_empty() {
            self.queues.remove(&client);
        } else {
            self.next.push_back(client);
        }
        Some((client, ask))
    }

    /// True if no request waits.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.next.is_empty()
    }

    /// Drops the requests of a client that has ended.
    pub(super) fn forget(&mut self, client: Tid) {
        self.first.take_if(|(other, _)| *other == client);
        if self.queues.remove(&client).is_some() {
            self.next.retain(|other| *other != client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOD: Tid = Tid(0x4_0001);

    fn ask(number: u64) -> Ask {
        Ask::Cancel { space: 1, number }
    }

    #[test]
    fn a_flood_delays_each_request_of_others_by_one_request_of_each_client() {
        let mut turns = ClientQueues::default();
        (0..10_000).for_each(|number| turns.push(FLOOD, ask(number), 100));
        let others: Vec<Tid> = (2..10).map(|number| Tid(0x4_0000 + number)).collect();
        for round in 0..100 {
            others.iter().for_each(|other| turns.push(*other, ask(round), 100));
            let served: Vec<Tid> =
                (0..others.len() + 2).filter_map(|_| Some(turns.pop()?.0)).collect();
            assert!(others.iter().all(|other| served.contains(other)), "{round}: {served:?}");
        }
        // The requests of one client stay in their order.
        let mut last = None;
        while let Some((client, ask)) = turns.pop() {
            assert!(client == FLOOD && Some(ask.number()) > last);
            last = Some(ask.number());
        }
        assert!(last == Some(9999) && turns.is_empty());
    }

    #[test]
    fn only_the_first_request_of_a_client_is_served_as_it_comes_and_none_before_others_that_wait() {
        let mut turns = ClientQueues::default();
        assert_eq!([(); 3].map(|()| turns.goes_at_once(FLOOD)), [true, false, false]);
        assert!(turns.goes_at_once(Tid(0x4_0002)));
        turns.push(FLOOD, ask(1), 1);
        assert!(!turns.goes_at_once(Tid(0x4_0003)), "another one waits");
        turns.pop();
        turns.all_taken_in();
        let many = (0..20).filter(|number| turns.goes_at_once(Tid(0x4_0000 + number)));
        assert_eq!(many.count(), AT_ONCE_MAX);
    }

    #[test]
    fn what_one_client_leaves_waiting_is_bounded_and_one_large_request_is_taken() {
        let mut turns = ClientQueues::default();
        turns.push(FLOOD, ask(0), 1);
        turns.push(FLOOD, ask(1), 2 * BYTES_MAX);
        turns.push(FLOOD, ask(2), 1);
        let two = [turns.pop(), turns.pop()].map(|one| one.map(|(_, ask)| ask.number()));
        assert_eq!((two, turns.is_empty()), ([Some(0), Some(1)], true));
        (0..WAITING_MAX as u64 + 9).for_each(|number| turns.push(FLOOD, ask(number), 1));
        assert_eq!(turns.queues[&FLOOD].asks.len(), WAITING_MAX);
        turns.push(Tid(0x4_0002), ask(7), 1);
        turns.forget(FLOOD);
        assert_eq!(turns.pop().map(|(client, _)| client), Some(Tid(0x4_0002)));
        assert!(turns.pop().is_none());
    }
}
