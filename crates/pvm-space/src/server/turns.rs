//! Requests that have arrived and are not served yet. They are served one of each client in turn.
//!
//! So a client with thousands of requests delays the others by one of them at a time. Requests
//! beyond a bound are dropped as if they had been lost, because clients repeat a request without an
//! answer. Each client has a bound of its own. When all clients together exceed a bound, the
//! longest queue loses its later half, so a client with few requests loses none.

use pvm_tuples::frames::Ask;
use pvm_wire::Tid;
use std::collections::{BTreeMap, VecDeque};

/// The most waiting requests of one client ...
const WAITING_MAX: usize = 1 << 16;
/// ... and the most bytes of them, unless it is a single request.
const BYTES_MAX: usize = 64 << 20;
/// The most bytes of all waiting requests. A request that has more than [`BYTES_MAX`] is not
/// counted, because only one of these waits at a time.
const ALL_BYTES_MAX: usize = 256 << 20;
/// The bytes that each waiting request counts besides its message: its place in a queue.
const PLACE: usize = size_of::<(Ask, usize)>();
/// The number of clients whose request may be served as it arrives.
const AT_ONCE_MAX: usize = 8;

/// The waiting requests of one client, each with the bytes that it counts.
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
    /// The other requests; no queue is empty.
    queues: BTreeMap<Tid, Queue>,
    /// The clients with a queue, the next one first.
    next: VecDeque<Tid>,
    /// The bytes of all queues but the one with the huge request.
    bytes: usize,
    /// The client with a request of more than [`BYTES_MAX`].
    huge: Option<Tid>,
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
        let cost = bytes.saturating_add(PLACE);
        if !self.takes(client, cost) {
            return;
        }
        if cost > BYTES_MAX {
            self.huge = Some(client);
        } else {
            self.bytes += cost;
        }
        let queue = self.queues.entry(client).or_default();
        if queue.asks.is_empty() {
            self.next.push_back(client);
        }
        queue.bytes += cost;
        queue.asks.push_back((ask, cost));
        while self.bytes > ALL_BYTES_MAX {
            self.halve_longest();
        }
    }

    /// True if one more request is within the bounds of its client.
    fn takes(&self, client: Tid, cost: usize) -> bool {
        let Some(queue) = self.queues.get(&client) else {
            return cost <= BYTES_MAX || self.huge.is_none();
        };
        queue.asks.len() < WAITING_MAX && queue.bytes.saturating_add(cost) <= BYTES_MAX
    }

    /// Drops the later half of the longest queue.
    fn halve_longest(&mut self) {
        let counted = self.queues.iter_mut().filter(|(client, _)| self.huge != Some(**client));
        let Some((&client, queue)) = counted.max_by_key(|(_, queue)| queue.bytes) else { return };
        let dropped = queue.asks.split_off(queue.asks.len() / 2);
        let bytes: usize = dropped.iter().map(|(_, cost)| cost).sum();
        queue.bytes -= bytes;
        self.bytes -= bytes;
        if queue.asks.is_empty() {
            self.forget(client);
        }
    }

    /// Takes the request that is served next.
    pub(super) fn pop(&mut self) -> Option<(Tid, Ask)> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let client = self.next.pop_front()?;
        let queue = self.queues.get_mut(&client)?;
        let (ask, cost) = queue.asks.pop_front()?;
        queue.bytes -= cost;
        if self.huge.take_if(|huge| *huge == client).is_none() {
            self.bytes -= cost;
        }
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
        if let Some(queue) = self.queues.remove(&client) {
            self.next.retain(|other| *other != client);
            if self.huge.take_if(|huge| *huge == client).is_none() {
                self.bytes -= queue.bytes;
            }
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

    fn is_sound(turns: &ClientQueues) -> bool {
        let counted = turns.queues.iter().filter(|(client, _)| turns.huge != Some(**client));
        let bytes: usize = counted.map(|(_, queue)| queue.bytes).sum();
        let mut next: Vec<Tid> = turns.next.iter().copied().collect();
        next.sort_unstable();
        let has_all = next.iter().eq(turns.queues.keys());
        bytes == turns.bytes && bytes <= ALL_BYTES_MAX && has_all
    }

    #[test]
    fn many_clients_that_each_kept_to_their_bound_filled_the_servers_memory() {
        const HOSTILE: u32 = 1000;
        let mut turns = ClientQueues::default();
        let honest = Tid(0x4_ffff);
        turns.push(FLOOD, ask(0), 1);
        turns.push(honest, ask(1), 100);
        for number in 1..=40 {
            for client in 0..HOSTILE {
                turns.push(Tid(0x8_0000 + client), ask(number), 1 << 20);
            }
            assert!(is_sound(&turns), "{number}");
        }
        turns.push(honest, ask(2), 100);
        assert!(is_sound(&turns) && turns.bytes > ALL_BYTES_MAX / 4, "{}", turns.bytes);
        turns.forget(Tid(0x8_0001));
        let mut last = BTreeMap::new();
        while let Some((client, ask)) = turns.pop() {
            assert!(last.insert(client, ask.number()) < Some(ask.number()), "in their order");
            assert!(is_sound(&turns));
        }
        assert_eq!((last.get(&honest), turns.is_empty(), turns.bytes), (Some(&2), true, 0));
    }

    #[test]
    fn one_huge_request_waits_at_a_time_and_is_served_in_its_turn() {
        let mut turns = ClientQueues::default();
        let [one, other] = [2, 3].map(|number| Tid(0x4_0000 + number));
        turns.push(FLOOD, ask(0), 1);
        turns.push(one, ask(1), ALL_BYTES_MAX);
        turns.push(other, ask(2), ALL_BYTES_MAX);
        turns.push(other, ask(3), 1);
        assert!(is_sound(&turns));
        let served: Vec<_> =
            std::iter::from_fn(|| turns.pop()).map(|(_, ask)| ask.number()).collect();
        assert_eq!((served.as_slice(), turns.huge), ([0, 1, 3].as_slice(), None));
        turns.push(FLOOD, ask(4), 1);
        turns.push(other, ask(5), ALL_BYTES_MAX);
        turns.forget(other);
        assert!(is_sound(&turns) && turns.huge.is_none());
    }
}
