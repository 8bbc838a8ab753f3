//! Direct routes that are being made: what one side has heard of and the other has not yet.

use crate::link::direct::DirectConnection;
use pvm_wire::route::Route;
use pvm_wire::{HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The time for which one half waits for the other.
const WAIT: Duration = Duration::from_secs(5);

/// One end of a connection, and its socket.
pub(crate) type End = (OwnedFd, Route);

/// The task here and the task there.
type Pair = (Tid, Tid);

#[derive(Debug)]
struct Agreed {
    since: Instant,
    /// A connection has come of it.
    used: bool,
}

/// Routes on their way.
///
/// Two tasks may ask for each other at the same time. Then the machines agree twice, the host that
/// calls may do so once or twice, and the other one cannot know; so it takes every call within
/// [`WAIT`] of an agreement. The newest counts.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Agreed on; the other host calls, or is being called.
    agreed: BTreeMap<Pair, Agreed>,
    /// Called, but not agreed on yet.
    called: BTreeMap<Pair, (Instant, End)>,
}

impl Routes {
    /// The machines have agreed. The end, if the other host has called already; true if this
    /// was not known before.
    pub(crate) fn agree(&mut self, pair: Pair, now: Instant) -> (Option<End>, bool) {
        let end = self.called.remove(&pair).map(|(_, end)| end);
        let agreed = Agreed { since: now, used: end.is_some() };
        let before = self.agreed.insert(pair, agreed);
        let is_new = end.is_none() && before.is_none_or(|before| before.used);
        (end, is_new)
    }

    /// A connection was made, or not. The end, if it is to be handed to the task.
    pub(crate) fn made(&mut self, made: DirectConnection, now: Instant) -> Option<End> {
        let pair = (made.local, made.peer);
        let end = made.route?;
        if made.key.is_none() {
            return self.agreed.remove(&pair).map(|_| end);
        }
        if let Some(agreed) = self.agreed.get_mut(&pair) {
            agreed.used = true;
            return Some(end);
        }
        self.called.insert(pair, (now, end));
        None
    }

    /// These are the members: with hosts that are none any more nothing is made.
    pub(crate) fn members_are(&mut self, members: &BTreeSet<HostIndex>) {
        self.agreed.retain(|pair, _| members.contains(&pair.1.host()));
        self.called.retain(|pair, _| members.contains(&pair.1.host()));
    }

    /// A route that was agreed on will not be made.
    pub(crate) fn give_up(&mut self, pair: Pair) -> bool {
        self.agreed.remove(&pair).is_some_and(|agreed| !agreed.used)
    }

    /// When a route has waited long enough.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let called = self.called.values().map(|(since, _)| since);
        self.agreed
            .values()
            .map(|agreed| &agreed.since)
            .chain(called)
            .min()
            .map(|since| *since + WAIT)
    }

    /// The routes that have.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<Pair> {
        self.called.retain(|_, (since, _)| *since + WAIT > now);
        let over = self.agreed.extract_if(.., |_, agreed| agreed.since + WAIT <= now);
        over.filter(|(_, agreed)| !agreed.used).map(|(pair, _)| pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::route::{Cipher, RecordKey, Secret};

    const PAIR: Pair = (Tid(0x40001), Tid(0x80001));

    fn made(called_us: bool) -> DirectConnection {
        let key = RecordKey {
            cipher: Cipher::Aes128,
            key: Secret(vec![1; 16]),
            iv: Secret(vec![2; 12]),
            sequence: 0,
        };
        let route = Route { peer: PAIR.1, first: !called_us, seal: key.clone(), open: key };
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        DirectConnection {
            local: PAIR.0,
            peer: PAIR.1,
            key: called_us.then(Vec::new),
            route: Some((socket.into(), route)),
        }
    }

    #[test]
    fn wishes_that_cross_leave_no_end_that_nobody_reads() {
        let now = Instant::now();
        // Both agreements come before the first call, and the other host calls for each.
        let mut routes = Routes::default();
        assert!(routes.agree(PAIR, now).1);
        assert!(!routes.agree(PAIR, now).1);
        assert!(routes.made(made(true), now).is_some());
        assert!(routes.made(made(true), now).is_some(), "its task would wait for five seconds");
        // One before and one between; and the calls before either.
        assert!(routes.agree(PAIR, now).0.is_none());
        assert!(routes.made(made(true), now).is_some());
        let mut routes = Routes::default();
        assert!(routes.made(made(true), now).is_none());
        assert!(routes.agree(PAIR, now).0.is_some());
        assert!(routes.made(made(true), now).is_some());
        assert!(routes.overdue(now + WAIT).is_empty(), "all were fulfilled");
    }

    #[test]
    fn a_call_to_a_host_that_was_taken_out_meanwhile_makes_no_route() {
        let now = Instant::now();
        let members = BTreeSet::from([PAIR.0.host()]);
        let mut routes = Routes::default();
        assert!(routes.agree(PAIR, now).1);
        routes.members_are(&members);
        assert!(routes.made(made(false), now).is_none());
        assert!(routes.made(made(true), now).is_none());
        routes.members_are(&members);
        assert!(routes.agree(PAIR, now).0.is_none(), "the host that called before was another one");
    }

    #[test]
    fn who_calls_does_so_once_for_wishes_that_cross_and_again_later() {
        let now = Instant::now();
        let mut routes = Routes::default();
        assert!(routes.agree(PAIR, now).1);
        assert!(!routes.agree(PAIR, now).1);
        assert!(routes.made(made(false), now).is_some());
        assert!(routes.made(made(false), now).is_none(), "nobody wants it");
        assert!(routes.agree(PAIR, now).1);
        assert_eq!(routes.overdue(now + WAIT), [PAIR]);
        assert!(!routes.give_up(PAIR));
    }
}
